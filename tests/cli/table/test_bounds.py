"""`sfumato table bounds` as a user runs it."""

import json

import polars as pl
import pytest
from tests.e2e.command import sfumato


@pytest.fixture(scope="module")
def margins(tmp_path_factory):
    """Tables that were built; no test changes one."""
    made = tmp_path_factory.mktemp("margins")
    people = pl.DataFrame(
        {
            "sex": ["f", "f", "f", "m", "m", "m", "m"],
            "town": ["a", "a", "b", "a", "b", "b", "b"],
            "ill": ["no", "no", "yes", "no", "no", "no", "yes"],
        }
    )
    people.write_csv(made / "people.csv")
    for by in ("sex,town", "town,ill", "sex,town,ill"):
        done = sfumato("table", "build", "people.csv", "--by", by, "--out", f"{by.replace(',', '_')}.csv", cwd=made)
        assert done.returncode == 0, done.stderr
    return made


def run(folder, *arguments, status=0):
    done = sfumato("table", "bounds", *arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


def test_margins_that_were_built_are_bounded(margins):
    told = json.loads(run(margins, "sex_town.csv", "town_ill.csv", "--json", "--out", "b.csv").stdout)
    assert told["cells"] == 8
    assert told["by"] == ["decomposable"]
    assert (told["sharp"], told["notes"]) == (True, [])
    # b: f 1, m 3; no 2, yes 2. a: all are well
    cells = pl.read_csv(margins / "b.csv")
    assert cells.columns == ["sex", "town", "ill", "lower", "upper"]
    assert cells.filter(town="b", ill="yes").select("sex", "lower", "upper").rows() == [("f", 0, 1), ("m", 1, 2)]
    assert told["exact"] == 4
    assert told["zeros"] == 2


def test_files_without_totals_and_a_column_of_another_name(tmp_path):
    (tmp_path / "a.csv").write_text("a,n\n1,7\n2,3\n")
    (tmp_path / "b.csv").write_text("b,n\nx,6\ny,4\n")
    told = run(tmp_path, "a.csv", "b.csv", "--count", "n").stdout
    assert "4 cells by a, b" in told
    assert "Mean width 3" in told


def test_the_custodian_sees_how_small_cells_fare(margins):
    arguments = ("sex_town.csv", "town_ill.csv", "--against", "sex_town_ill.csv", "--known", "1")
    told = json.loads(run(margins, *arguments, "--json").stdout)
    assert told["small"]["at_most"] == 3
    assert told["attribution"]["label"] == "reconstructed"
    assert "reconstructed" in run(margins, *arguments).stdout


def test_rounded_and_barnardised(tmp_path):
    (tmp_path / "r.csv").write_text("a,count\nTotal,9\n1,3\n2,3\n")
    told = json.loads(run(tmp_path, "r.csv", "--rounded", "3", "--json").stdout)
    assert told["mean_width"] == 3  # [2, 5] each, for the total is 7 or more
    run(tmp_path, "r.csv", "--barnardised", "--totals", "summed")
    assert "not both" in run(tmp_path, "r.csv", "--rounded", "3", "--barnardised", status=2).stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("b,n\nx,6\ny,5\n", "a.csv and b.csv contradict each other: grand totals differ"),
        ("b,n\nx,6\nx,4\n", "twice"),
        ("b,n\nx,-6\ny,16\n", "negative"),
        ("b,n\nx,6.5\ny,3.5\n", "whole"),
        ("b,m\nx,6\ny,4\n", "b.csv"),
        ("b,n\nx,six\ny,4\n", "line 2"),
    ],
)
def test_what_is_refused_leaves_nothing(tmp_path, content, message):
    (tmp_path / "a.csv").write_text("a,n\n1,7\n2,3\n")
    (tmp_path / "b.csv").write_text(content)
    done = run(tmp_path, "a.csv", "b.csv", "--count", "n", "--out", "out.csv", status=2)
    assert message in done.stderr
    assert not (tmp_path / "out.csv").exists()
    assert "Traceback" not in done.stderr


def test_columns_that_are_no_variables_are_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("a,n,largest one,remark\n1,7,3.5,\n2,3,1.5,few\n")
    (tmp_path / "b.csv").write_text("b,n\nx,6\ny,4\n")
    told = json.loads(run(tmp_path, "a.csv", "b.csv", "--count", "n", "--by", "a,b", "--json").stdout)
    assert told["variables"] == ["a", "b"]
    assert "b.csv: it has none" in run(tmp_path, "a.csv", "b.csv", "--count", "n", "--by", "a", status=2).stderr
