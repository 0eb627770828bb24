"""`sfumato table round` as a user runs it: what it writes, what it refuses, and what it keeps to itself."""

import json

import polars as pl
import pytest
from tests.cli.table.changing import folder_of, refused, run, told_anywhere

MORE = {
    # a, b and c are 1 each, so that any two are 2: with 0 or 2 for each, one of the pairs is 0 or 4
    "stuck.csv": "v,count\nTotal,3\nab,2\nbc,2\nac,2\na,1\nb,1\nc,1\n",
    **{f"{pair}.csv": f"code,parent\n{pair[0]},{pair}\n{pair[1]},{pair}\n" for pair in ("ab", "bc", "ac")},
    "zeros.csv": "sex,count\nTotal,3\nf,3\nm,0\n",
    "planted.csv": "sex,count,contributors,largest,second,status,lower_level,upper_level\n"
    "Total,30,77701,77702,77703,s,,\nf,28,77704,77705,77706,s,,\nm,2,77707,77708,77709,u,77711,77712\n",
}


@pytest.fixture
def folder(tmp_path):
    return folder_of(tmp_path, MORE)


KEYED = ("--method", "random", "--secret-file", "key")


@pytest.mark.parametrize("method", [("--method", "controlled"), ("--method", "conventional"), KEYED])
def test_files_and_folders_are_written_and_read_again(folder, method):
    told = json.loads(run(folder, "round", "t.csv", "--base", "5", *method, "--out", "out.csv", "--json").stdout)
    assert (told["cells"], told["base"], told["complete"]) == (9, 5, True)
    cells = pl.read_csv(folder / "out.csv")
    assert cells.columns == ["sex", "town", "count"]
    assert (cells["count"] % 5 == 0).all()
    run(folder, "round", "t.csv", "--base", "5", *method, "--out", "released")
    assert (folder / "released" / "data.csv").read_text() == (folder / "out.csv").read_text()
    papers = json.loads((folder / "released" / "datapackage.json").read_text())["sfumato"]["table"]
    assert papers["internal"] is False
    # rounding what is rounded changes nothing, and the folder is read as a table
    if method[1] == "controlled":
        again = json.loads(run(folder, "round", "released", "--base", "5", "--json").stdout)
        assert (again["changed"], again["additive"]) == (0, True)
    refused(folder, ("round", "t.csv", "--out", "released", *method), ["--overwrite"])


def test_the_same_secret_gives_the_same_table(folder):
    for name in ("one.csv", "two.csv"):
        run(folder, "round", "t.csv", *KEYED, "--out", name)
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()


def test_the_secret_stays_where_it_is(folder):
    run(folder, "round", "t.csv", "--method", "barnardise", "--secret-file", "key", "--out", "released")
    written = b"".join(path.read_bytes() for path in (folder / "released").rglob("*"))
    key = (folder / "key").read_bytes()
    assert key not in written
    assert key.hex().encode() not in written


@pytest.mark.slow
def test_nothing_but_values_is_written(folder):
    planted = [f"777{i:02}" for i in range(1, 13)]
    for method in ("controlled", "conventional", "random", "barnardise"):
        secret = ("--secret-file", "key") if method in ("random", "barnardise") else ()
        run(folder, "round", "planted.csv", "--method", method, *secret, "--out", f"to_{method}")
        run(folder, "round", "planted.csv", "--method", method, *secret, "--out", f"to_{method}/../{method}.csv")
        assert told_anywhere(folder / f"to_{method}", [*planted, "status", "lower_level", '"u"']) == []
        assert pl.read_csv(folder / f"{method}.csv").columns == ["sex", "count"]


def test_a_listed_zero_is_listed_and_said(folder):
    assert "cells were changed" in run(folder, "round", "zeros.csv", "--base", "3", "--out", "out.csv").stdout
    assert (folder / "out.csv").read_text().splitlines() == ["sex,count", "Total,3", "f,3", "m,0"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("t.csv", "--base", "1"), ["2 or more"]),
        (("t.csv", "--base", "0"), ["2 or more"]),
        (("t.csv", "--base", "-5"), ["2 or more"]),
        (("t.csv", "--base", "2.5"), ["--base"]),
        (("t.csv", "--method", "up"), ["--method"]),
        (("t.csv", "--method", "conventional", "--steps", "1"), ["--method controlled"]),
        (("t.csv", "--keep", "2"), ["--keep"]),
        (("fractions.csv",), ["fractions", "--value"]),
        (("fractions.csv", "--method", "barnardise", "--secret-file", "key"), ["fractions"]),
        (("hidden.csv",), ["'count'", "lacks the values", "--internal"]),
        (("not_additive.csv",), ["not additive", "--hierarchy", "--tolerance"]),
        (("negative.csv", "--value", "pay"), ["'pay'", "negative"]),
        (("text.csv",), ["text.csv, line 3", "no number"]),
        (("nowhere.csv",), ["does not exist"]),
        (("folder",), ["is no release"]),
        (("t.csv", "--value", "turnover"), ["no column 'turnover'"]),
        (("t.csv", "--hierarchy", "region=t.csv"), []),
        (("t.csv", "--method", "random", "--secret-file", "no_key"), ["no_key"]),
        (("t.csv", "--method", "random", "--secret-file", "short_key"), ["16"]),
    ],
)
def test_wrong_input_is_refused_and_nothing_is_written(folder, arguments, words):
    refused(folder, ("round", *arguments, "--out", "out.csv"), words)


def test_places_that_are_refused(folder):
    for out, word in (("t.csv", "reads or writes"), ("folder.txt", ".csv"), ("key", "reads or writes")):
        refused(folder, ("round", "t.csv", *KEYED, "--out", out), [word])


def test_steps_that_do_not_suffice_name_the_remedy(folder):
    pairs = [text for pair in ("ab", "bc", "ac") for text in ("--hierarchy", f"v={pair}.csv")]
    stuck = ("round", "stuck.csv", "--base", "2", *pairs)
    refused(folder, (*stuck, "--steps", "0", "--out", "out.csv"), ["--steps 1", "--method random"])
    told = json.loads(run(folder, *stuck, "--out", "out.csv", "--json").stdout)
    assert (told["steps"], told["additive"]) == (1, True)


def test_a_missing_secret_is_refused_or_said(folder):
    done = run(folder, "round", "t.csv", "--method", "random", "--out", "out.csv")
    assert "--secret-file" in done.stderr
