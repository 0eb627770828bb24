"""`sfumato table adjust` as a user runs it: what it writes, what it refuses, and what it keeps to itself."""

import json

import polars as pl
import pytest
from tests.cli.table.changing import folder_of, refused, run, told_anywhere

MORE = {
    "judged.csv": "sex,town,count,contributors,largest,second,status,lower_level,upper_level\n"
    "Total,Total,60,77701,77702,77703,s,,\nf,Total,22,77701,,,s,,\nm,Total,38,77701,,,s,,\n"
    "Total,a,41,77701,,,s,,\nTotal,b,19,77701,,,s,,\nf,a,20,77701,,,s,,\nf,b,2,77704,77705,77706,u,1.125,1.375\n"
    "m,a,21,77701,,,s,,\nm,b,17,77701,,,s,,\n",
    "safe.csv": "sex,count,status\nTotal,20,s\nf,9,s\nm,11,s\n",
    "stuck.csv": "sex,count,status\nTotal,20,z\nf,18,z\nm,2,u\n",
    "odd_levels.csv": "sex,count,status,lower_level,upper_level\nTotal,20,s,,\nf,18,s,,\nm,2,u,many,1\n",
    "odd_status.csv": "sex,count,status\nTotal,20,s\nf,18,q\nm,2,u\n",
    "half.csv": "sex,count,status\nTotal,50171.5,s\nf,50171.5,s\nm,0,s\n",
}


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path, MORE)


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--method", "fixed"), ("--cost", "unity"), ("--cost", "count"), ("--zeros",)])
def test_files_and_folders_are_written_and_read_again(folder, options):
    told = json.loads(run(folder, "adjust", "judged.csv", *options, "--out", "out.csv", "--json").stdout)
    assert (told["cells"], told["primary"], told["additive"], told["complete"]) == (9, 1, True, True)
    cells = pl.read_csv(folder / "out.csv")
    assert cells.columns == ["sex", "town", "count"]
    assert abs(cells.filter(sex="f", town="b")["count"].item() - 2) >= 2  # counts are whole, levels go up
    run(folder, "adjust", "judged.csv", *options, "--out", "released")
    assert (folder / "released" / "data.csv").read_text() == (folder / "out.csv").read_text()
    # the folder is read as a table that adds up
    again = json.loads(run(folder, "round", "released", "--base", "2", "--json").stdout)
    assert (again["cells"], again["additive"]) == (9, True)


@pytest.mark.slow
def test_a_single_file_of_a_hierarchical_table_is_taken_as_it_is(folder, shared_data):
    firms = str(shared_data / "tables" / "synth_S.csv")
    by, rules = ("--by", "act1>act,geo1>geo,size", "--value", "turnover"), ("--rule", "n(3)", "--rule", "p(10)")
    run(folder, "protect", firms, *by, *rules, "--method", "elimination", "--force", "--internal", "hier.csv")
    told = run(folder, "adjust", "hier.csv", "--value", "turnover", "--gap", "0.2", "--out", "out.csv", "--json")
    told = json.loads(told.stdout)
    assert (told["primary"], told["additive"]) == (174, True)
    assert "'act', 'geo'" in told["notes"][0]
    # what a hierarchy says adds up, by a sum of our own
    cells = pl.read_csv(folder / "out.csv")
    whole = cells.filter(geo="Total", size="Total").filter(pl.col("act") != "Total")
    broad = whole.filter(pl.col("act").str.len_chars() == 2).select("act", "turnover")
    parts = whole.filter(pl.col("act").str.len_chars() == 3).group_by(act=pl.col("act").str.slice(0, 2))
    both = broad.join(parts.agg(sum=pl.col("turnover").sum()), on="act")
    assert both.height == 4
    assert both["sum"].to_list() == pytest.approx(both["turnover"].to_list())


def test_nothing_but_values_is_written(folder):
    run(folder, "adjust", "judged.csv", "--out", "released")
    planted = [*(f"7770{i}" for i in range(1, 7)), "1.125", "1.375", "status", "lower_level", "contributors", "largest"]
    assert told_anywhere(folder / "released", planted) == []
    refused(folder, ("adjust", "judged.csv", "--out", "released"), ["--overwrite"])


def test_the_custodian_sees_sizes_and_no_cell(folder):
    done = run(folder, "adjust", "judged.csv", "--out", "out.csv")
    assert "1 unsafe cells" in done.stdout
    assert "7770" not in done.stdout + done.stderr


def test_nothing_unsafe_is_said(folder):
    done = run(folder, "adjust", "safe.csv", "--out", "out.csv")
    assert "no unsafe cell" in done.stderr
    assert (folder / "out.csv").read_text().splitlines() == ["sex,count", "Total,20", "f,9", "m,11"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("t.csv",), ["no statuses", "table protect --internal"]),
        (("hidden.csv",), ["'count'", "lacks the values", "--internal"]),
        (("not_additive.csv",), ["not additive", "--hierarchy", "--tolerance"]),
        (("negative.csv", "--value", "pay"), ["'pay'", "negative"]),
        (("half.csv",), ["fractions", "no counts"]),
        (("stuck.csv",), ["sex=m", "--capacity", "status z"]),
        (("odd_levels.csv",), ["line 4", "no number"]),
        (("odd_status.csv",), ["line 3", "u, s, x, z and w"]),
        (("judged.csv", "--method", "up"), ["--method"]),
        (("judged.csv", "--cost", "weight"), ["--cost"]),
        (("judged.csv", "--capacity", "-1"), ["--capacity"]),
        (("judged.csv", "--gap", "-1"), ["--gap"]),
        (("safe.csv", "--cost", "count"), ["'contributors'"]),
        (("nowhere.csv",), ["does not exist"]),
        (("folder",), ["is no release"]),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_written(folder, arguments, words):
    refused(folder, ("adjust", *arguments, "--out", "out.csv"), words)


def test_places_that_are_refused(folder):
    for out, word in (("judged.csv", "reads or writes"), ("out.txt", ".csv")):
        refused(folder, ("adjust", "judged.csv", "--out", out), [word])
