"""`sfumato compare --supports`: what is refused, what is written, what is shown."""

import json

import polars as pl
import pytest

from sfumato.data.finding import Findings
from sfumato.data.support import Support
from sfumato.render.layout import Following
from sfumato.render.supported import screen_of_supports

PLAN = """sfumato: 1
title: t
variables:
  id: {role: record}
  sex: {role: key, kind: categorical}
  age: {role: key, kind: integer}
steps:
  - {do: synthesise, columns: all, copies: 1, method: METHOD}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("graded")


@pytest.fixture
def released(folder, sfumato, monkeypatch):
    """A table of 200 people, and copies of it by trees and of its structure alone."""
    monkeypatch.chdir(folder)
    if not (folder / "people.csv").exists():
        n = 200
        frame = pl.DataFrame({"id": range(n), "sex": ["f", "m"] * (n // 2), "age": [20 + 7 * i % 53 for i in range(n)]})
        frame.write_csv("people.csv")
        (folder / "key").write_bytes(bytes(range(32)))
        for method in ("cart", "structure"):
            (folder / f"{method}.yaml").write_text(PLAN.replace("METHOD", method))
            said = ("--out", method, "--secret-file", "key", "--force")
            assert sfumato("protect", f"{method}.yaml", "people.csv", *said).returncode in (0, 1)
    return folder


@pytest.mark.slow
def test_grades_are_shown_and_lead_on(released, sfumato):
    done = sfumato("compare", "people.csv", "cart", "--supports", "--model", "age ~ sex")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("SUPPORTS  ")
    assert len(lines) <= 24
    assert "small answer about the true data" in " ".join(done.stdout.split())
    assert "--publish grades.json" in done.stdout
    told = json.loads(sfumato("compare", "people.csv", "cart", "--supports", "--model", "age ~ sex", "--json").stdout)
    assert [one["what"] for one in told["supports"]] == ["variable", "variable", "pair", "term", "term"]
    assert told["findings"]


@pytest.mark.slow
def test_what_is_published_is_written_once(released, sfumato):
    asked = ("compare", "people.csv", "cart", "--supports", "--publish", "out.json")
    assert sfumato(*asked).returncode == 0
    told = json.loads((released / "out.json").read_text())
    assert set(told) == {"grades", "supports"}
    assert {key for one in told["supports"] for key in one} == {"what", "columns", "term", "grade"}
    again = sfumato(*asked)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert sfumato(*asked, "--force").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (("people.csv", "--supports"), "synthetic releases alone"),
        (("structure", "--supports"), "names and kinds alone"),
        (("cart", "--publish", "new.json"), "say --supports"),
        (("cart", "--supports", "--publish", "people.csv"), "read"),
    ],
)
def test_what_is_refused_writes_nothing(released, sfumato, said, why):
    done = sfumato("compare", "people.csv", *said)
    assert done.returncode == 2
    assert why in done.stderr
    assert not (released / "new.json").exists()


def test_a_screen_fits_whatever_there_is():
    graded = tuple(
        Support("pair", (f"column number {i}", f"another long name {i}"), grade)
        for grade in ("supported", "rough", "lost")
        for i in range(60)
    )
    lines = screen_of_supports(Findings(supports=graded), Following((("sfumato risk", "a.csv"),)))
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert lines[0] == "SUPPORTS  60 of 180 grades are supported, 60 are rough, 60 are lost."
    assert any("more (--json)" in line for line in lines)
    assert screen_of_supports(Findings(supports=()), Following())[0] == (
        "SUPPORTS  nothing has a grade: no variable, pair or term of enough records."
    )
