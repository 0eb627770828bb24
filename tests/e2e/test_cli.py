import json
import os
import pty
import signal
import subprocess

import polars as pl
import pytest

from sfumato.cli import STOPPED
from sfumato.examples import cohort
from tests.e2e.command import SFUMATO, output, sfumato

PLAN = """sfumato: 1
title: cohort
variables:
  id: {role: record}
  smoker: {role: key, kind: categorical}
  sex: {role: key, kind: categorical}
  asthma: {role: outcome, kind: categorical}
  bmi: {role: key, kind: continuous}
  height: {role: key, kind: continuous}
steps:
  - {do: drop, columns: [name]}
  - {do: centroids, columns: [bmi, height], by: [sex, smoker], k: 3}
unknown:
  - {columns: [id], because: "asked for this test alone and told to nobody else"}
  - {columns: others, because: "asked for this test alone and told to nobody else"}
limits:
  - {measure: k_anonymity, at_least: 3}
"""
KEYS = {"measure", "variable", "group", "at", "attack", "value", "interval", "baseline", "limit", "ok"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN)
    frame = cohort(400).select("id", "name", "sex", "smoker", "asthma", "bmi", "height")
    frame.write_csv(tmp_path / "data.csv")
    (tmp_path / "key").write_bytes(bytes([0, 10, 32, 255] * 8))
    return tmp_path


@pytest.mark.slow
def test_the_whole_way(folder):
    out = output(
        "protect",
        "plan.yaml",
        "data.csv",
        "--out",
        "release",
        "--secret-file",
        "key",
        "--internal-report",
        "in.html",
        cwd=folder,
    )
    assert out["ok"] is True
    assert out["release"] == "release"
    assert all(set(f) == KEYS for f in out["findings"])
    names = sorted(p.name for p in (folder / "release").iterdir())
    assert names == ["data.csv", "datapackage.json", "plan.yaml", "report.html"]
    assert (folder / "in.html").exists()
    released = pl.read_csv(folder / "release" / "data.csv")
    assert released.columns == ["id", "sex", "smoker", "asthma", "bmi", "height"]
    package = json.loads((folder / "release" / "datapackage.json").read_text())
    assert package["sfumato"]["disclosure"][1]["k"] == 3

    pair = (
        "data.csv",
        "--protected",
        "release/data.csv",
        "--columns",
        "bmi,height",
        "--by",
        "sex,smoker",
        "--record",
        "id",
    )
    risk = output("risk", *pair, cwd=folder)["findings"]
    same = {(f["measure"], f["variable"], f["group"], f["at"]): f["value"] for f in out["findings"]}
    for finding in risk:
        if finding["measure"] in ("risk1", "risk2", "interval_disclosure", "linkage_nearest"):
            key = (finding["measure"], finding["variable"], finding["group"], finding["at"])
            if finding["group"] != "released":  # without a plan nothing is unknown
                assert finding["value"] == pytest.approx(same[key], rel=1e-9)

    compared = output("compare", "data.csv", "release/data.csv", "--plan", "plan.yaml", "--record", "id", cwd=folder)
    assert {"u_main", "delta", "il1s"} <= {f["measure"] for f in compared["findings"]}
    again = sfumato("protect", "release/plan.yaml", "data.csv", "--out", "again", "--secret-file", "key", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert (folder / "again" / "data.csv").read_bytes() == (folder / "release" / "data.csv").read_bytes()


@pytest.mark.slow
def test_tables_that_are_not_paired(folder):
    pl.read_csv(folder / "data.csv").head(300).write_csv(folder / "other.csv")
    out = output("compare", "data.csv", "other.csv", cwd=folder)
    assert not {"delta", "il1s"} & {f["measure"] for f in out["findings"]}
    assert out["notes"]
    refused = sfumato("risk", "data.csv", "--protected", "other.csv", "--columns", "bmi", cwd=folder)
    assert refused.returncode == 2
    assert "--record" in refused.stderr


@pytest.mark.slow
def test_a_limit_that_is_exceeded(folder):
    (folder / "plan.yaml").write_text(PLAN.replace("at_least: 3", "at_least: 500"))
    command = ("protect", "plan.yaml", "data.csv", "--out", "release", "--secret-file", "key")
    done = sfumato(*command, "--internal-report", "why.html", cwd=folder)
    assert done.returncode == 1
    assert not (folder / "release").exists()
    assert "k-anonymity" in (folder / "why.html").read_text()
    assert done.stdout.startswith("EXCEEDED")
    assert "\nNext: " in done.stdout
    forced = sfumato(
        "protect", "plan.yaml", "data.csv", "--out", "release", "--secret-file", "key", "--force", cwd=folder
    )
    assert forced.returncode == 0
    assert "exceeded" in (folder / "release" / "report.html").read_text()
    assert sfumato("risk", "data.csv", "--plan", "plan.yaml", cwd=folder).returncode == 1


@pytest.mark.slow
def test_init_and_what_it_writes(folder):
    assert sfumato("init", "data.csv", "--out", "drafted.yaml", cwd=folder).returncode == 0
    text = (folder / "drafted.yaml").read_text()
    assert "sfumato: 1" in text
    assert "role: identifier" in text
    done = sfumato("protect", "drafted.yaml", "data.csv", "--out", "r", "--force", cwd=folder)
    assert done.returncode == 0, done.stderr
    # the plan will be public: no name of anybody in it
    assert not any(name in text for name in pl.read_csv(folder / "data.csv")["name"])


def test_init_writes_over_no_plan(folder):
    before = (folder / "plan.yaml").read_bytes()
    refused = sfumato("init", "data.csv", "--out", "plan.yaml", cwd=folder)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert (folder / "plan.yaml").read_bytes() == before
    assert sfumato("init", "data.csv", "--out", "plan.yaml", "--overwrite", cwd=folder).returncode == 0
    assert (folder / "plan.yaml").read_bytes() != before


@pytest.mark.slow
def test_every_command_explains_itself_with_an_example(folder):
    commands = ("demo", "init", "protect", "risk", "compare", "anonymise", "tune", "card", "fit", "methods", "schema")
    assert all(f" {c} " in sfumato("--help", cwd=folder).stdout for c in commands)
    for command in commands:
        assert f"Example: sfumato {command}" in sfumato(command, "--help", cwd=folder).stdout


def test_schema_and_version(folder):
    assert "properties" in json.loads(sfumato("schema", cwd=folder).stdout)
    assert sfumato("--version", cwd=folder).stdout.startswith("sfumato ")


@pytest.mark.slow
def test_progress_shows_on_a_terminal_only(folder):
    quiet = sfumato("risk", "data.csv", "--plan", "plan.yaml", "--json", cwd=folder)
    assert "measuring" not in quiet.stderr
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [SFUMATO, "protect", "plan.yaml", "data.csv", "--out", "r", "--json"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=follower,
    ) as process:
        os.close(follower)
        seen = b""
        try:
            while part := os.read(leader, 4096):
                seen += part
        except OSError:
            pass
        process.wait()
    os.close(leader)
    assert b"measuring" in seen


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_leaves_nothing(folder, number):
    cohort(20_000).write_csv(folder / "data.csv")
    text = PLAN.replace("columns: [name]", "columns: [name, nhs_number, email, postcode, date_of_birth, comment]")
    (folder / "plan.yaml").write_text(text)
    before = set(folder.iterdir())
    with subprocess.Popen(
        [SFUMATO, "protect", "plan.yaml", "data.csv", "--out", "r", "--secret-file", "key"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stderr.readline()  # it has read the file and works
        process.send_signal(number)
        _, told = process.communicate()
    assert process.returncode == 130
    assert told.decode().splitlines()[-1] == STOPPED
    assert b"Traceback" not in told
    assert set(folder.iterdir()) == before


@pytest.mark.slow
@pytest.mark.parametrize("imported", ["sfumato.cli.stopping", "typer"])
def test_interrupt_while_the_program_is_loaded(folder, imported):
    """The interpreter tells what it imports; what is left of the start before that is its own, and none of ours."""
    environment = {**os.environ, "PYTHONPROFILEIMPORTTIME": "1"}
    command = [SFUMATO, "risk", "data.csv"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert any(line.rstrip().endswith(f" {imported}") for line in process.stderr)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode == 130
    assert [line for line in told.splitlines() if "import time:" not in line] == [STOPPED]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("schema",), ("protect", "--help")])
def test_a_reader_that_goes_away_is_no_fault(folder, arguments):
    command = [SFUMATO, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.slow
def test_a_stdout_that_takes_nothing_is_told_and_the_release_stands(folder):
    with open("/dev/full", "wb") as full:
        command = [SFUMATO, "protect", "plan.yaml", "data.csv", "--out", "release", "--secret-file", "key", "--json"]
        done = subprocess.run(command, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "could be written to stdout: No space left on device" in done.stderr
    assert (folder / "release" / "data.csv").exists()
