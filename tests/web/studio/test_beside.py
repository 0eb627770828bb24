"""Files beside the plan: written where it is kept, never over what others wrote, undone with the text."""

import pytest

from sfumato.errors import FileError
from sfumato.plan.plan import Plan
from sfumato.web.problems import Problem
from sfumato.web.studio.beside import carried, file_of, fingerprint
from sfumato.web.studio.planned import Planned

EMPTY = "sfumato: 1\nsteps: []\n"
TREES = {"one": b"Leeds;North\nBath;South\n", "two": b"Leeds;Up\nBath;Down\n"}


def text(folder: str) -> str:
    return f"sfumato: 1\nsteps:\n  - {{do: recode, columns: [town], level: 1, hierarchies: {folder}}}\n"


@pytest.fixture
def planned(tmp_path):
    (tmp_path / "data").mkdir()
    return Planned(EMPTY, tmp_path / "data", tmp_path / "private")


def take(planned, which):
    folder = planned.beside.made("towns", {"town.csv": TREES[which]})
    planned.change("*", lambda _: text(folder))
    return folder


def below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_as_long_as_the_plan_is_kept_nowhere_its_files_are_private(planned, tmp_path):
    folder = take(planned, "one")
    assert below(tmp_path / "data") == []
    assert planned.base == tmp_path / "private"
    assert carried(planned.plan, planned.base) == {f"{folder}/town.csv": TREES["one"]}
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    assert below(tmp_path / "data") == [f"{folder}/town.csv", "towns.plan.yaml"]
    assert planned.base == tmp_path / "data"
    assert Plan.load(tmp_path / "data" / "towns.plan.yaml").digest == planned.plan.digest


def test_each_text_has_its_own_files_undone_too(planned, tmp_path):
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    one, two = take(planned, "one"), take(planned, "two")
    first = fingerprint(planned.plan, planned.base)
    assert below(tmp_path / "data") == [f"{two}/town.csv", "towns.plan.yaml"]
    planned.undo()
    assert below(tmp_path / "data") == [f"{one}/town.csv", "towns.plan.yaml"]
    assert fingerprint(planned.plan, planned.base) != first
    planned.undo()
    assert below(tmp_path / "data") == ["towns.plan.yaml"]
    assert fingerprint(planned.plan, planned.base) == ""
    planned.redo()
    assert below(tmp_path / "data") == [f"{one}/town.csv", "towns.plan.yaml"]


def test_what_others_wrote_is_left_and_nothing_changes(planned, tmp_path):
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    folder = planned.beside.made("towns", {"town.csv": TREES["one"]})
    (tmp_path / "data" / folder).mkdir()
    (tmp_path / "data" / folder / "town.csv").write_text("mine")
    with pytest.raises(Problem, match="neither read nor wrote"):
        planned.change("*", lambda _: text(folder))
    assert planned.text == EMPTY
    assert (tmp_path / "data" / folder / "town.csv").read_text() == "mine"


def test_a_folder_that_others_changed_is_not_removed(planned, tmp_path):
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    one = take(planned, "one")
    (tmp_path / "data" / one / "notes.txt").write_text("mine")
    planned.undo()
    assert below(tmp_path / "data") == [f"{one}/notes.txt", "towns.plan.yaml"]


def test_nothing_is_written_through_a_link(planned, tmp_path):
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    folder = planned.beside.made("towns", {"town.csv": TREES["one"]})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "data" / folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="link"):
        planned.change("*", lambda _: text(folder))
    assert below(tmp_path / "elsewhere") == []


def test_beside_other_files_the_plan_must_be_kept_first(planned, tmp_path):
    (tmp_path / "data" / "mine").mkdir()
    (tmp_path / "data" / "mine" / "age.csv").write_text("1;low\n2;high\n")
    other = "  - {do: recode, columns: [age], level: 1, hierarchies: mine}\n"
    folder = planned.beside.made("towns", {"town.csv": TREES["one"]})
    with pytest.raises(Problem, match="kept there first"):
        planned.change("*", lambda _: text(folder) + other)
    planned.keep(tmp_path / "data" / "towns.plan.yaml")
    planned.change("*", lambda _: text(folder) + other)
    assert sorted(carried(planned.plan, planned.base)) == ["mine/age.csv", f"{folder}/town.csv"]


def test_what_lies_elsewhere_is_not_carried_but_known_again(tmp_path):
    (tmp_path / "town.csv").write_bytes(TREES["one"])
    for folder in ("../.", str(tmp_path)):
        assert carried(Plan.from_yaml(text(f'"{folder}"'), tmp_path), tmp_path) == {}
    plan = Plan.from_yaml(text(f'"{tmp_path}"'), tmp_path)
    before = fingerprint(plan, tmp_path)
    (tmp_path / "town.csv").write_bytes(TREES["two"])
    assert fingerprint(plan, tmp_path) != before


@pytest.mark.parametrize("column", ["../x", "a/b", "a\\b", ".hidden", "a\nb", "x" * 130, " x", "c:d"])
def test_columns_that_no_file_can_be_called_as(column):
    with pytest.raises(FileError):
        file_of(column)
    assert file_of("Ort (Gemeinde)") == "Ort (Gemeinde).csv"
