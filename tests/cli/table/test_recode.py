"""`sfumato table recode` as a user runs it."""

import json
import shutil

import polars as pl
import pytest
from tests.e2e.command import sfumato


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table that was judged, as a file and as a folder."""
    made = tmp_path_factory.mktemp("judged")
    towns = ["a"] * 9 + ["b"] + ["c"] * 5
    frame = pl.DataFrame({"town": towns, "pay": [10.5 + i for i in range(15)]})
    frame.with_columns(area=pl.col("town").replace_strict({"a": "N", "b": "N", "c": "S"})).write_csv(made / "p.csv")
    (made / "tree.csv").write_text("code,parent\na,N\nb,N\nc,S\n")
    by = ("--by", "area>town", "--value", "pay", "--rule", "n(3)")
    for judged in ("judged.csv", "judged"):
        run(made, "protect", "p.csv", *by, "--internal", judged)
    return made


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path, dirs_exist_ok=True)


def run(folder, *arguments, status=0):
    done = sfumato("table", *arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


TREE = ("--hierarchy", "town=tree.csv")


@pytest.mark.slow
def test_files_and_folders_are_recoded_alike(folder):
    told = json.loads(run(folder, "recode", "judged.csv", "--value", "pay", *TREE, "--out", "out.csv", "--json").stdout)
    assert (told["cells_before"], told["cells"], told["primary"], told["optimal"]) == (6, 4, 1, True)
    assert told["variables"]["town"]["merged"] == ["N"]
    assert pl.read_csv(folder / "out.csv").rows() == [("Total", 262.5), ("N", 150.0), ("S", 112.5), ("c", 112.5)]
    run(folder, "recode", "judged", "--out", "released")
    assert (folder / "released" / "data.csv").read_text() == (folder / "out.csv").read_text()
    assert "exact" in run(folder, "audit", "released", "--json").stdout
    run(folder, "audit", "out.csv", "--value", "pay", *TREE)


def test_codes_that_are_totals_are_read_off_the_sums(folder):
    given = run(folder, "recode", "judged.csv", "--value", "pay", *TREE, "--out", "given.csv")
    read = run(folder, "recode", "judged.csv", "--value", "pay", "--out", "read.csv")
    assert "read off the sums" in read.stderr
    assert "read off the sums" not in given.stderr
    assert sorted(pl.read_csv(folder / "read.csv").rows()) == sorted(pl.read_csv(folder / "given.csv").rows())


def test_totals_that_cannot_be_read_off_are_refused(folder):
    # 10 is 4 and 6, or 3 and 7
    lines = "town,count,status\nTotal,20,s\nN,10,s\na,4,s\nb,6,s\nS,10,s\nc,3,u\nd,7,s\n"
    (folder / "either.csv").write_text(lines)
    said = run(folder, "recode", "either.csv", "--out", "out.csv", status=2).stderr
    assert all(word in said for word in ("'town'", "--hierarchy", "several do", "--internal judged"))
    assert not (folder / "out.csv").exists()


def test_it_is_said_in_words(folder):
    told = run(folder, "recode", "judged.csv", "--value", "pay", *TREE).stdout
    assert "6 cells, 1 of them unsafe: 4 are published" in told
    assert "nothing loses less" in told


@pytest.mark.slow
def test_wrong_input_is_refused_and_nothing_is_written(folder):
    run(folder, "build", "p.csv", "--by", "town", "--out", "plain.csv")
    run(folder, "protect", "p.csv", "--by", "town", "--rule", "n(2)", "--out", "protected.csv")
    for arguments, said in [
        (("plain.csv",), "no statuses"),
        (("protected.csv",), "--internal"),
        (("judged.csv", "--value", "pay", *TREE, *TREE, "--cut", "none"), "--cut"),
    ]:
        assert said in run(folder, "recode", *arguments, "--out", "out.csv", status=2).stderr
    assert not (folder / "out.csv").exists()
