"""What Windows lacks is simulated on this system, as far as absent modules, absent names and encodings go."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Invented people, with a name that neither ASCII nor Windows' own encoding has."""
    made, random, n = tmp_path_factory.mktemp("people"), np.random.default_rng(1), 200
    people = {
        "id": np.arange(n),
        "größe": random.normal(170, 9, n).round(1),
        "ωmega": random.choice(["α", "β"], n),
        "sex": random.choice(["f", "m"], n),
    }
    pl.DataFrame(people).write_csv(made / "people.csv")
    return made


def python(*arguments, cwd, **variables):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = os.environ | {"PYTHONPATH": path, **variables}
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=environment, capture_output=True)


@pytest.mark.slow
def test_every_module_is_imported_and_commands_run_where_what_windows_lacks_is_absent(folder):
    done = python(
        "-m",
        "tests.platforms.absent",
        "init people.csv --out plan.yaml",
        "protect plan.yaml people.csv --out release --force",
        "risk people.csv --keys sex,ωmega",
        "fit release --formula größe~sex",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert {path.name for path in folder.iterdir()} == {"people.csv", "plan.yaml", "release"}
    assert b"\r" not in b"".join(path.read_bytes() for path in (folder / "release").iterdir())


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_console_that_lacks_characters_gets_a_report_all_the_same(folder, encoding):
    done = python(
        "-m", "sfumato", "risk", "people.csv", "--keys", "sex,ωmega", "--verbose", cwd=folder, PYTHONIOENCODING=encoding
    )
    assert done.returncode == 0, done.stderr
    assert rb"sex=f, \u03c9mega=\u03b1" in done.stdout


def test_json_is_json_in_any_encoding(folder):
    asked = ("risk", "people.csv", "--keys", "größe,ωmega", "--json")
    done = python("-m", "sfumato", *asked, cwd=folder, PYTHONIOENCODING="cp1252")
    assert done.returncode == 0, done.stderr
    assert "ωmega=α" in str(json.loads(done.stdout.decode("ascii"))["findings"])
