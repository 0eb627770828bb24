import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook
from sfumato.data.files.tables import read_cells
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FormulaError
from sfumato.tables.axis import qualified
from sfumato.tables.build import build
from sfumato.tables.equations import NotAdditive, equations
from sfumato.tables.judge import judge
from sfumato.tables.table import Table


def table(rows, value="v", **options):
    return Table.of(pl.DataFrame(rows, infer_schema_length=None), value, **options)


MAGNITUDES = {
    "kind": ["Total", "a", "b", "c"],
    "v": [200.0, 100.0, 60.0, 40.0],
    "contributors": [11, 6, 2, 3],
    "largest": [90.0, 90.0, 40.0, 20.0],
    "second": [40.0, 5.0, 20.0, 15.0],
}


def status(judged):
    return "".join(judged.cells["status"])


@pytest.mark.parametrize(
    ("rules", "letters"),
    [
        ("n(3)", "ssus"),
        ("n(4)", "ssuu"),
        ("p(10)", "suus"),  # 100 - 90 - 5 < 9; 60 - 60 < 4
        ("p(5)", "ssus"),  # 5 is not below 4.5
        ("pq(10,50)", "suus"),  # 5 below 18; 40 - 35 = 5 not below 4
        ("nk(1,85)", "suss"),
        ("nk(2,85)", "suuu"),  # 35 of 40 is 87.5%
        ("p(10) and n(3)", "ssus"),
        (["n(3)", "nk(1,85)"], "suus"),
        ("n(4) and (p(10) or nk(2,85))", "ssuu"),
    ],
)
def test_rules_of_magnitudes(rules, letters):
    assert status(judge(table(MAGNITUDES), rules)) == letters


def test_levels_are_those_of_the_notes():
    judged = judge(table(MAGNITUDES), ["p(10)", "nk(1,85)"]).cells
    # a: p 9 - 5 = 4, nk 90 / 0.85 - 100 = 5.88; b: p 4 - 0 = 4
    assert judged["upper_level"].to_list() == [None, pytest.approx(90 / 0.85 - 100), pytest.approx(4.0), None]
    assert judged["lower_level"].to_list() == judged["upper_level"].to_list()
    assert judge(table(MAGNITUDES), "n(3)").cells["upper_level"].to_list() == [None, None, 0.0, None]
    assert judge(table(MAGNITUDES), "n(3,25)").cells["upper_level"].to_list() == [None, None, 15.0, None]


def test_a_cell_cannot_fall_below_zero():
    rows = MAGNITUDES | {"v": [10.0, 10.0, 0.0, 0.0], "contributors": [1, 1, 0, 0], "largest": [10.0, 10.0, 0, 0]}
    judged = judge(table(rows | {"second": [0.0] * 4}), "nk(1,20)").cells
    assert judged["upper_level"][1] == pytest.approx(40.0)
    assert judged["lower_level"][1] == pytest.approx(10.0)


def test_what_is_not_told_counts_as_unsafe():
    rows = MAGNITUDES | {"second": [40.0, None, None, 15.0], "contributors": [11, None, 2, 3]}
    judged = judge(table(rows), "p(10)")
    assert status(judged) == "suus"
    assert "too little is told" in judged.notes[0]
    # the second is 10 at most, and then nothing blurs the first: 9 - 0; of two contributors the second is the rest
    assert judged.cells["upper_level"][1] == pytest.approx(9.0)
    assert judged.cells["upper_level"][2] == pytest.approx(4.0)


def test_three_values():
    rows = {k: v for k, v in MAGNITUDES.items() if k not in ("second", "contributors")} | {
        "contributors": [9, 9, 9, None]
    }
    assert status(judge(table(rows), "n(3)")) == "sssu"
    assert status(judge(table(rows), "n(3) and nk(1,85)")) == "ssss"  # unknown and safe is safe
    assert status(judge(table(rows), "n(3) or nk(1,85)")) == "susu"


@pytest.mark.parametrize(
    ("drop", "rule", "message"),
    [
        ("contributors", "n(3)", "contributors"),
        ("largest", "p(10)", "largest"),
        ("largest", "nk(2,85)", "largest"),
        ("second", "attribute(age)", "'age'"),
    ],
)
def test_a_rule_of_which_nothing_can_be_said_is_refused(drop, rule, message):
    rows = {k: v for k, v in MAGNITUDES.items() if k != drop}
    with pytest.raises(DataError, match=message) as error:
        judge(table(rows), rule)
    assert "10" not in str(error.value)
    assert "85" not in str(error.value)


def test_statuses_that_are_there():
    rows = MAGNITUDES | {"status": ["s", "z", "s", "u"]}
    judged = judge(table(rows), "p(10)")
    assert status(judged) == "szuu"
    assert "forced safe" in judged.notes[0]
    with pytest.raises(DataError, match="wrong status"):
        judge(table(MAGNITUDES | {"status": ["s", "q", "s", "u"]}), "p(10)")


def test_zeros():
    rows = {"kind": ["Total", "a", "b"], "count": [5, 5, 0]}
    assert status(judge(table(rows, "count"), "n(3)")) == "ssw"
    judged = judge(table(rows, "count"), "zero(4)")
    assert status(judged) == "ssu"
    assert judged.cells.select("lower_level", "upper_level").row(2) == (0.0, 4.0)


def test_a_total_with_one_part_has_its_status():
    rows = {"town": ["Total", "N", "a", "S"], "count": [7, 2, 2, 5]}
    tree = Hierarchy((("a", "N"), ("S",)))
    assert status(judge(table(rows, "count", hierarchies={"town": tree}), "n(3)")) == "suus"


COUNTS = [("x", "1", 3), ("x", "2", 2), ("y", "1", 4), ("z", "1", 5), ("z", "2", 1)]


def counted():
    rows = pl.DataFrame(COUNTS, schema=["row", "column", "n"], orient="row")
    return build(PolarsDataset(rows, Codebook()), "row,column", count="n")


def unsafe(judged):
    return set(judged.cells.filter(pl.col("status") == "u").select("row", "column").iter_rows())


def test_attribute_disclosure():
    """All of y are in column 1: the cell, and the total that is the same."""
    both = {("y", "1"), ("y", "Total")}
    assert unsafe(judge(counted(), "attribute")) == both
    assert unsafe(judge(counted(), "attribute(column)")) == both
    assert unsafe(judge(counted(), "attribute(row)")) == set()


def test_coalitions():
    """One of z in column 2 knows that all others of z are in column 1: 6 - 1 <= 5 (Lupp and Langsrud)."""
    assert ("z", "1") in unsafe(judge(counted(), "coalition(1)"))
    assert ("x", "1") not in unsafe(judge(counted(), "coalition(1)"))
    assert ("x", "1") in unsafe(judge(counted(), "coalition(2)"))


def test_waivers_and_requests():
    rows = pl.DataFrame({"t": ["a"] * 3 + ["b"], "v": [90.0, 10.0, 1.0, 5.0], "w": [1, 0, 0, 1]})
    data = PolarsDataset(rows, Codebook())
    judged = judge(build(data, "t", "v", waived="w"), "p(10)").cells
    assert dict(judged.select("t", "status").iter_rows()) == {"Total": "s", "a": "s", "b": "s"}
    asked = judge(build(data, "t", "v", requested="w"), "p(10)").cells
    # in all, 106 - 90 - 10 = 6 is below a tenth of 90
    assert dict(asked.select("t", "status").iter_rows()) == {"Total": "u", "a": "u", "b": "u"}


def test_negative_values_are_judged_by_their_size():
    rows = pl.DataFrame({"t": ["a", "a", "a", "b"], "v": [-90.0, 50.0, 45.0, 5.0]})
    judged = judge(build(PolarsDataset(rows, Codebook()), "t", "v"), "nk(1,48)").cells
    assert dict(judged.select("t", "status").iter_rows()) == {"Total": "s", "a": "u", "b": "u"}
    assert judged["lower_level"][1] == pytest.approx(90 / 0.48 - 185)


def test_bad_rules_are_refused():
    with pytest.raises(FormulaError):
        judge(counted(), "n[3]")


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 50)), min_size=1, max_size=12), st.integers(1, 60))
def test_a_stricter_rule_finds_no_fewer(rows, p):
    data = PolarsDataset(pl.DataFrame(rows, schema=["t", "v"], orient="row"), Codebook())
    built = build(data, "t", "v")
    weak, strict = (judge(built, f"p({x})").cells["status"] == "u" for x in (p, p + 10))
    assert not (weak & ~strict).any()


def nested(folder, name):
    codes = pl.read_csv(folder / name, infer_schema=False).iter_rows()
    return Hierarchy(tuple(tuple(dict.fromkeys(reversed(path))) for path in qualified("x", codes).values()))


@pytest.mark.slow
def test_ready_made_linked_tables(shared_data):
    """Four tables of one survey, with the largest contribution alone."""
    folder = shared_data / "tables"
    trees = {
        "ACTIVITY": nested(folder, "insee_activity_corr_table.csv"),
        "NUTS": nested(folder, "insee_nuts23_fr_corr_table.csv"),
    }
    made = []
    for name in ("act_size", "act_cj", "nuts_cj", "nuts_size"):
        cells = read_cells(folder / f"insee_turnover_{name}.csv", "TOT", ("N_OBS", "MAX")).rename({"MAX": "largest"})
        own = {n: tree for n, tree in trees.items() if n in cells.columns}
        made.append(Table.of(cells, "TOT", own, contributors="N_OBS"))
    assert equations(*made).adjusted == 0
    rounded = [one.with_columns(TOT=one.cells["TOT"].round(0)) for one in made]
    with pytest.raises(NotAdditive):
        equations(*rounded)
    merged = equations(*rounded, tolerance=5)
    assert 0.5 < merged.adjusted < 5
    assert abs(merged.system.matrix @ merged.system.value).max() <= 1e-11 * merged.system.value.max()
    for one in made:
        dominated = one.column("largest") > 0.85 * one.values
        rare = one.column("contributors") < 3
        unsafe = judge(one, ["n(3)", "nk(1,85)"]).cells["status"].to_numpy() == "u"
        assert (unsafe == (dominated | rare)).all()
