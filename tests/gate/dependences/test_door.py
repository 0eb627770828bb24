"""`gate dependences`, and what it is called in Python."""

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from tests.e2e.command import sfumato


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("hung")
    rows = [(f"s{i % 12}", f"t{i % 12 // 4}", f"code {i % 5}") for i in range(1200)]
    pl.DataFrame(rows, schema=["site", "trust", "x"], orient="row").write_csv(made / "d.csv")
    pl.DataFrame({"x": [1, 2] * 50, "y": [1, 1, 2, 2] * 25}).write_csv(made / "none.csv")
    (made / "policies.yaml").write_text("research: {preset: research}\n")
    (made / "events.txt").write_text("user ann research\nask ann site\n")
    return made


TELLS = {"kind": "tells", "from": ["site"], "to": "trust", "combinations": 24, "expected": 800.0}


def test_what_is_found_in_python_and_as_json(folder):
    assert sf.gate.dependences(sf.read(folder / "d.csv")) == [TELLS]
    done = sfumato("gate", "dependences", "d.csv", "--json", cwd=folder)
    assert json.loads(done.stdout) == {"found": [TELLS]}


def test_what_is_found_in_words(folder):
    said = sfumato("gate", "dependences", "d.csv", cwd=folder).stdout
    assert said.startswith("1 dependence between columns was found. It counts as known to everybody.")
    assert "site tells trust" in said
    assert sfumato("gate", "dependences", "none.csv", cwd=folder).stdout.startswith("No dependence")


def test_decisions_say_how_many_count(folder):
    for more, many in (([], 1), (["--dependences", "declared"], 0)):
        done = sfumato("gate", "decide", "d.csv", "--ask", "x", *more, "--json", cwd=folder)
        assert json.loads(done.stdout)["dependences"] == many
    replayed = ("gate", "replay", "d.csv", "--policies", "policies.yaml", "--events", "events.txt")
    assert sfumato(*replayed, "--dependences", "declared", cwd=folder).returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["decide", "d.csv", "--ask", "x", "--chance", "site,trust"],
        ["decide", "d.csv", "--ask", "x", "--chance", "site,x"],
        ["maximal", "d.csv", "--chance", "site,x"],
        ["replay", "d.csv", "--policies", "policies.yaml", "--events", "events.txt", "--chance", "site,x"],
        ["decide", "none.csv", "--ask", "x", "--chance", "x,y", "--dependences", "declared"],
    ],
)
def test_what_is_no_chance_is_refused(folder, arguments):
    done = sfumato("gate", *arguments, cwd=folder)
    assert done.returncode == 2
    assert "chance" in done.stderr


def test_another_word_is_refused(folder):
    with pytest.raises(DataError, match="declared"):
        sf.gate.decide(sf.read(folder / "d.csv"), ask="x", dependences="guessed")
