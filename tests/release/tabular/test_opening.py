"""A folder of a table of totals is read again as it was, or refused."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError, FileError
from sfumato.tables.axis import Axis
from sfumato.tables.equations import equations
from sfumato.tables.rules import read_rules
from sfumato.tables.table import Table
from sfumato.tables.unions import Unions

RECORDS = pl.DataFrame(
    {
        "a": ["x", "x", "y", "y", "y", "z"] * 6,
        "b": [f"code, {i % 9} “ü”" for i in range(36)],
        "value": [float((i * 37) % 101) + 0.25 for i in range(36)],
        "who": [i % 17 for i in range(36)],
        "gave": [int(i % 5 == 0) for i in range(36)],
        "weight": [1.0 + i % 3 for i in range(36)],
    }
)
GROUPS = (
    Hierarchy((("x", "low", "all but z"), ("y", "high", "all but z"), ("z",))),
    Hierarchy((("x", "outer"), ("y",), ("z", "outer"))),
)
"""Two groupings, with branches of unequal depth."""


def same(a, b):
    assert a.axes == b.axes or [axis.codes for axis in a.axes] == [axis.codes for axis in b.axes]
    assert [axis.relations for axis in a.axes] == [axis.relations for axis in b.axes]
    assert a.variables == b.variables
    assert a.value == b.value
    for name in a.cells.columns:
        if a.cells[name].dtype == pl.String:
            assert a.cells[name].to_list() == b.cells[name].to_list()
        else:
            np.testing.assert_array_equal(a.column(name), b.column(name))


@pytest.fixture
def built():
    return sf.tables.build(
        sf.read(RECORDS), "a,b", "value", contributors="who", waived="gave", hierarchies={"a": GROUPS}, ranks=4
    )


def test_a_folder_holds_all_that_is_known_of_a_table(built, tmp_path):
    again = sf.read_table(sf.hand_out(built, tmp_path / "t"))
    same(built, again)
    rules = ["nk(4,80)", "p(10)"]  # needs the fourth contribution and waivers, which a single file does not hold
    same(sf.tables.judge(built, rules), sf.tables.judge(again, rules))


def test_the_custodians_folder_knows_whose_the_contributions_are(built, tmp_path):
    judged = sf.tables.judge(built, ["n(4)", "p(10)"])
    again = sf.read_table(sf.hand_out(judged, tmp_path / "internal"))
    rule = read_rules(["n(4)", "p(10)"])
    hidden = np.random.default_rng(1).random(equations(built).system.size) < 0.4
    told = []
    for table in (judged, again):
        found = Unions.of(table, equations(table), rule).judge(hidden)
        assert found.judged > 5
        told.append([(u.cells.tolist(), u.known.tolist(), round(u.upper_level, 9)) for u in found.unsafe])
    assert told[0]
    assert sorted(told[0]) == sorted(told[1])


def test_a_release_does_not_know_whose_the_contributions_are(built, tmp_path):
    out = sf.hand_out(sf.tables.protect(built, "n(2)"), tmp_path / "t")
    assert not list(out.glob("*contrib*"))
    assert "contributors" not in json.loads((out / "datapackage.json").read_text())["sfumato"]["table"]
    assert sf.read_table(out).contributions is None


def test_weights_are_known_again(tmp_path):
    built = sf.tables.build(sf.read(RECORDS), "a,b", "value", weight="weight")
    again = sf.read_table(sf.hand_out(built, tmp_path / "t"))
    same(sf.tables.judge(built, "p(20)"), sf.tables.judge(again, "p(20)"))


@pytest.mark.parametrize("name", ["", "data.csv", "datapackage.json"])
def test_a_folder_is_named_by_itself_or_by_a_file_in_it(name, built, tmp_path):
    done = sf.tables.protect(built, "n(2)")
    out = sf.hand_out(done, tmp_path / "t")
    same(done.table, sf.read_table(out / name))


@pytest.mark.parametrize("seed", range(20))
def test_any_tree_is_the_same_when_it_is_read_again(seed, tmp_path):
    rng = np.random.default_rng(seed)
    leaves = [f"c{i}" for i in range(12)]
    rng.shuffle(leaves)
    groupings = [Hierarchy(tuple(_path(g, leaf) for leaf in leaves)) for g in range(int(rng.integers(1, 4)))]
    axis = Axis("v", tuple(groupings))
    table = Table((axis,), pl.DataFrame({"v": axis.codes, "count": range(len(axis.codes))}))
    same(table, sf.read_table(sf.hand_out(table, tmp_path / "t")))


def _path(grouping, leaf):
    """A leaf under up to two levels of groups: the upper one is that of the lower one."""
    number = int(leaf[1:])
    group, top = f"{grouping} group {number % 5}", f"{grouping} top {number % 5 % 2}"
    short = ((leaf,), (leaf, top))[(number + grouping) % 2]
    return short if number % 5 == 4 else (leaf, group, top)


def test_other_trees_go_before_those_of_the_papers(built, tmp_path):
    out = sf.hand_out(built, tmp_path / "t")
    flat = pl.read_csv(out / "data.csv").filter(pl.col("a").is_in(["Total", "x", "y", "z"]))
    assert len(flat) < len(built)
    with pytest.raises(DataError, match="hierarchy does not list"):
        sf.read_table(out, hierarchies={"a": Hierarchy((("x",), ("y",), ("z",)))})
    again = sf.read_table(out, hierarchies={"a": GROUPS, "elsewhere": GROUPS})
    same(built, again)


def test_a_value_of_another_name_is_refused(built, tmp_path):
    out = sf.hand_out(built, tmp_path / "t")
    assert sf.read_table(out, "value").value == "value"
    with pytest.raises(DataError, match="'value'"):
        sf.read_table(out, "turnover")


@pytest.mark.parametrize("name", ["data.csv", "data.contributions.csv", "data.contributors.csv"])
def test_a_changed_file_is_refused(name, built, tmp_path):
    out = sf.hand_out(built, tmp_path / "t")
    (out / name).write_text((out / name).read_text().replace("x", "y", 1))
    with pytest.raises(FileError, match="changed"):
        sf.read_table(out)
    (out / name).unlink()
    with pytest.raises(FileError, match="cannot be read"):
        sf.read_table(out)


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.pop("resources"),
        lambda p: p["sfumato"]["table"].pop("value"),
        lambda p: p["sfumato"]["table"].pop("hierarchies"),
        lambda p: p["sfumato"]["table"]["hierarchies"].pop("b"),
        lambda p: p["sfumato"]["table"]["hierarchies"].update(b=[{"x": "y", "y": "x"}]),
        lambda p: p["sfumato"]["table"]["hierarchies"].update(b=[["x"]]),
        lambda p: p["sfumato"]["table"]["hierarchies"].update(b=3),
        lambda p: p["sfumato"]["table"].update(value="gone"),
        lambda p: p["sfumato"]["table"].update(disclosure=[{"what": "?"}]),
        lambda p: p["sfumato"].update(table=[]),
        lambda p: p.update(sfumato=[]),
        lambda p: p["resources"][0]["schema"]["fields"].pop(),
        lambda p: p["resources"][0].pop("hash"),
    ],
)
def test_damaged_papers_are_refused(change, built, tmp_path):
    out = sf.hand_out(built, tmp_path / "t")
    package = json.loads((out / "datapackage.json").read_text())
    change(package)
    (out / "datapackage.json").write_text(json.dumps(package))
    with pytest.raises(FileError, match="datapackage"):
        sf.read_table(out)


def test_folders_of_another_kind_are_refused_with_the_reason(built, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match="no release"):
        sf.read_table(tmp_path / "empty")
    (tmp_path / "empty" / "datapackage.json").write_text("[1, 2]")
    with pytest.raises(FileError, match="not a description"):
        sf.read_table(tmp_path / "empty")
    sf.protect(sf.Plan(variables={"who": {"role": "key"}}), RECORDS.select("who"), secret=bytes(16)).write(
        tmp_path / "records", force=True
    )
    with pytest.raises(FileError, match="release of records"):
        sf.read_table(tmp_path / "records")
    out = sf.hand_out(built, tmp_path / "t")
    with pytest.raises(FileError, match="table of totals"):
        sf.card(out)
    with pytest.raises(FileError, match="table of totals"):
        sf.fit("value ~ a", out)


def test_a_file_taken_out_of_its_folder_is_a_single_file(built, tmp_path):
    done = sf.tables.protect(built, "n(2)")
    shutil.copy(sf.hand_out(done, tmp_path / "t") / "data.csv", tmp_path / "data.csv")
    alone = sf.read_table(tmp_path / "data.csv", "value", hierarchies={"a": GROUPS})
    same(done.table, alone)


def test_what_the_papers_say_that_everybody_knows_is_taken_up(tmp_path):
    """Rounded totals are no contradiction, and hidden counts are known to be 1 or more, without saying so again."""
    rows = {"v": ["Total", *"abcd"], "count": [16.0, 1, 2, 5, 9], "status": [*"suxss"]}
    table = Table.of(pl.DataFrame(rows))
    done = sf.tables.protect(table, tolerance=1, lower=1)
    sf.hand_out(done, tmp_path / "release")
    again = sf.read_table(tmp_path / "release")
    assert (again.released.tolerance, again.released.reader) == (1.0, done.reader)
    found = sf.tables.audit(again)
    assert found.summary() == sf.tables.audit(again, tolerance=1, lower=1).summary()
    assert np.nanmin(found.lower[0]) >= 1
    with pytest.raises(DataError, match="no hidden cell is below 1"):
        sf.tables.audit(again, lower=0)


def test_values_that_may_be_negative_are_known_to_be_by_the_papers(tmp_path):
    rows = {"v": ["Total", *"abcd"], "x": [16.0, -3, 5, 5, 9], "status": [*"suxss"]}
    done = sf.tables.protect(Table.of(pl.DataFrame(rows), "x"))
    sf.hand_out(done, tmp_path / "release")
    again = sf.read_table(tmp_path / "release")
    assert again.released.reader.least == -np.inf
    assert sf.tables.audit(again).lower[0][1] == -np.inf
    # a single file shows it by the ends that it tells
    sf.hand_out(done, tmp_path / "t.csv")
    assert sf.tables.audit(sf.read_table(tmp_path / "t.csv", "x")).lower[0][1] == -np.inf
