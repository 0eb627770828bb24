"""Files of cells by number (.jj) on the command line."""

import json

import pytest
from tests.e2e.command import sfumato

TEXT = """0
5
0 5017100 5017100 s 0 inf 0 0 0
1 4 4 u 0 inf 2 2 0
2 6 6 s 0 inf 0 0 0
3 90 90 s 0 inf 0 0 0
4 5017000 5017000 s 0 inf 0 0 0
1
0 5 : 0 (-1) 1 (1) 2 (1) 3 (1) 4 (1)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.jj").write_text(TEXT)
    return tmp_path


@pytest.mark.slow
def test_it_is_protected_audited_and_written_again(folder):
    done = sfumato("table", "protect", "a.jj", "--out", "p.csv", "--internal", "j.jj", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["primary"], told["secondary"], told["secondary_value"]) == (1, 1, 6.0)
    assert (folder / "p.csv").read_text().splitlines()[:4] == [
        "cell,value,status,lower,upper",
        "0,5017100,s,,",
        "1,,x,0,10",
        "2,,x,0,10",
    ]
    assert "2 6.0 6.0 x" in (folder / "j.jj").read_text()
    for given in (("p.csv", "--against", "a.jj"), ("p.csv", "--value", "value", "--against", "a.jj"), ("j.jj",)):
        told = json.loads(sfumato("table", "audit", *given, "--json", cwd=folder).stdout)
        assert told["audit"] == {"exact": 0, "below_level": 0, "useless": 0}
    assert sfumato("table", "audit", "a.jj", cwd=folder).returncode == 1  # the unsafe cell alone is hidden


def test_a_table_without_any_equation_is_said_to_be_one(folder):
    sfumato("table", "protect", "a.jj", "--out", "p.csv", cwd=folder)
    done = sfumato("table", "audit", "p.csv", "--value", "value", cwd=folder)
    assert "no totals" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0\n5\n", "0\nfive\n", "line 2"),
        ("1 4 4 u", "1 4 4 q", "line 4"),
        ("1 4 4 u", "1 four 4 u", "line 4"),
        ("1 4 4 u 0 inf", "1 4 4 u 5 inf", "line 4: the bounds"),
        ("1 4 4 u 0 inf", "1 4 4 u 0 3", "line 4: the bounds"),
        ("1 4 4 u", "1 4 -4 u", "line 4: a cost"),
        ("1\n0 5", "7\n0 5", "ends too early"),
        ("4 (1)", "9 (1)", "line 9"),
        ("4 (1)", "3 (1)", "line 9: an equation names a cell twice"),
        ("4 (1)", "4 (1)\n0 1 : 0 (1)", "line 10"),
        ("0 5 :", "zero 5 :", "line 9"),
        ("2 6 6", "2 7 7", "cell=0"),
    ],
)
def test_bad_files_are_refused_by_their_line_and_nothing_is_written(folder, old, new, said):
    (folder / "a.jj").write_text(TEXT.replace(old, new, 1))
    done = sfumato("table", "protect", "a.jj", "--out", "p.csv", "--internal", "j.jj", cwd=folder)
    assert done.returncode == 2
    assert said in done.stderr
    assert "50170" not in done.stderr + done.stdout
    assert [path.name for path in folder.iterdir()] == ["a.jj"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("recode", "a.jj"), "only `protect` and `audit`"),
        (("adjust", "a.jj"), "only `protect` and `audit`"),
        (("protect", "a.jj", "--out", "folder"), "ends in .csv"),
        (("protect", "a.jj", "--internal", "j.csv"), ".jj"),
        (("protect", "t.csv", "--internal", "j.jj"), "read from a .jj"),
        (("protect", "a.jj", "--hierarchy", "cell=h.csv"), "leave the hierarchies out"),
        (("audit", "t.csv", "--value", "count", "--against", "a.jj"), "no table that is audited"),
        (("audit", "few.csv", "--value", "value", "--against", "a.jj"), "not of the same cells"),
    ],
)
def test_what_does_not_go_with_such_files(folder, arguments, said):
    (folder / "t.csv").write_text("sex,count,status\nTotal,9,s\nf,,u\nm,,x\n")
    (folder / "h.csv").write_text("code,parent\n1,0\n")
    (folder / "few.csv").write_text("cell,value,status\n0,5017100,s\n1,,u\n")
    before = sorted(folder.iterdir())
    done = sfumato("table", *arguments, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert sorted(folder.iterdir()) == before
