import itertools
import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import tables
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.extended import CODES
from sfumato.data.files.hierarchies import read_hierarchy
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.tables.build import build
from sfumato.tables.equations import equations

ENGINES = [PolarsDataset, DuckDBDataset.of]
TREE = Hierarchy((("a", "N"), ("b", "N"), ("c", "S"), ("d",)))
records = st.lists(
    st.tuples(
        st.sampled_from("abcd"),
        st.sampled_from(["x", "y", None]),
        st.one_of(st.none(), st.sampled_from([-9.0, 0.1, 0.2, 0.7, 3.3, 12.4])),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=25,
)


def frame(rows):
    schema = {"town": pl.String, "kind": pl.String, "v": pl.Float64, "firm": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


BOOK = Codebook({"v": Variable(missing=[-9])})


def brute(rows, contributors):
    """Every cell from its records."""
    above = {"a": ("a", "N", "Total"), "b": ("b", "N", "Total"), "c": ("c", "S", "Total"), "d": ("d", "Total")}
    cells = {}
    for i, (town, kind, v, firm) in enumerate(rows):
        if v is None or v == -9.0:
            continue
        for one, other in itertools.product(above[town], (kind or "missing", "Total")):
            own = cells.setdefault((one, other), {})
            who = firm if contributors else i
            own.setdefault(who, []).append(v)
    out = {}
    for key, own in cells.items():
        each = sorted((math.fsum(x) for x in own.values()), reverse=True)
        out[key] = (math.fsum(each), len(each), *[*each, 0.0, 0.0][:2])
    return out


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES, ids=["polars", "duckdb"])
@given(rows=records, contributors=st.booleans())
def test_every_cell_is_that_of_its_records(engine, rows, contributors):
    expected = brute(rows, contributors)
    if not expected:
        with pytest.raises(DataError, match="No record has a value"):
            build(engine(frame(rows), BOOK), ["town", "kind"], "v")
        return
    options = {"contributors": "firm"} if contributors else {}
    table = build(engine(frame(rows), BOOK), ["town", "kind"], "v", hierarchies={"town": TREE}, **options)
    got = {row[:2]: row[2:] for row in table.cells.select("town", "kind", "v", *tables_columns).iter_rows()}
    assert got.keys() == expected.keys()
    for key, (value, count, first, second) in expected.items():
        assert got[key][1] == count
        assert got[key] == pytest.approx((value, count, first, second), abs=1e-9)


tables_columns = ("contributors", "largest", "second")


@pytest.mark.slow
@given(records, st.randoms())
def test_engines_and_the_order_of_records_change_no_bit(rows, random):
    rows.append(("a", "x", 0.3, 1))
    shuffled = list(rows)
    random.shuffle(shuffled)
    made = [
        build(engine(frame(order), BOOK), ["town", "kind"], "v", contributors="firm").cells
        for engine in ENGINES
        for order in (rows, shuffled)
    ]
    assert all(made[0].equals(other) for other in made[1:])


def test_counts_leave_missing_values_and_codes_out():
    rows = frame([("a", "x", -9.0, 1), ("a", "x", 2.0, 2), ("b", "x", None, 3)])
    table = build(PolarsDataset(rows, BOOK), ["town"], "v")
    assert table.cells.select("town", "v", "contributors").rows() == [("Total", 2.0, 1), ("a", 2.0, 1)]


def test_a_row_may_stand_for_many():
    rows = pl.DataFrame({"town": ["a", "a", "b", "c"], "n": [3, 4, 1, 0], "v": [1.5, 2.0, 4.0, 9.0]})
    data = PolarsDataset(rows, Codebook())
    counts = build(data, "town", count="n")
    assert counts.cells.select("town", "count", "contributors").rows() == [("Total", 8, 8), ("a", 7, 7), ("b", 1, 1)]
    sums = build(data, "town", "v", count="n")
    assert sums.cells.select("v", "contributors", "largest", "second").rows()[1] == (12.5, 7, 2.0, 2.0)


def test_weights_count_as_often_as_they_round_to():
    rows = pl.DataFrame({"town": ["a", "a"], "w": [1.2, 2.6], "v": [10.0, 4.0]})
    table = build(PolarsDataset(rows, Codebook()), "town", "v", weight="w", ranks=4)
    row = table.cells.row(1, named=True)
    assert row["v"] == pytest.approx(22.4)
    assert (row["largest"], row["second"], row["sfumato:largest 3"], row["sfumato:largest 4"]) == (10, 4, 4, 4)
    assert row["contributors"] == 2


def test_holdings_are_one_contributor():
    rows = pl.DataFrame({"t": ["a"] * 4, "firm": [1, 2, 3, 4], "group": ["H", "H", None, None], "v": [3.0, 3, 5, 1]})
    row = build(PolarsDataset(rows, Codebook()), "t", "v", contributors="firm", holdings="group").cells.row(
        0, named=True
    )
    assert (row["contributors"], row["largest"], row["second"]) == (3, 6, 5)


def test_linked_tables_share_variables():
    rows = pl.DataFrame({"A10": ["A", "A", "B"], "A21": ["a", "b", "c"], "s": ["1", "2", "1"], "k": ["u", "u", "v"]})
    table = build(PolarsDataset(rows, Codebook()), ["A10>A21,s", "A10,k"])
    assert table.variables == ("A21", "s", "k")
    cells = set(table.cells.select("A21", "s", "k").iter_rows())
    assert ("A", "Total", "u") in cells
    assert not any(row[0] in "abc" and row[2] != "Total" for row in cells)
    assert equations(table).system.value.max() == 3


def test_margins_may_be_left_out():
    rows = pl.DataFrame({"a": ["x", "y"], "b": ["1", "2"]})
    data = PolarsDataset(rows, Codebook())
    assert set(build(data, "a,b", margins=False).cells.select("a", "b").iter_rows()) == {("x", "1"), ("y", "2")}
    assert "Total" not in build(data, "a,b", margins=["b"]).cells["a"].to_list()
    with pytest.raises(DataError, match="'c'"):
        build(data, "a,b", margins=["c"])


def test_hierarchies_of_the_codebook_are_taken():
    book = Codebook({"town": Variable(hierarchy={"a": ("N",), "b": ("N",)})})
    assert "N" in build(PolarsDataset(pl.DataFrame({"town": ["a", "b"]}), book), "town").cells["town"].to_list()


def test_codes_for_no_value_are_codes_under_the_total():
    book = Codebook({"town": Variable(missing=["-9"]), "x": Variable(missing=[".a"])})
    rows = pl.DataFrame({"town": ["a", "-9", None], "x": [1.0, CODES["a"], float("nan")]})
    table = build(PolarsDataset(rows, book), "town,x", hierarchies={"town": TREE})
    assert set(table.cells["town"]) == {"Total", "N", "a", "-9", "missing"}
    assert set(table.cells["x"]) == {"Total", "1", ".a", "missing"}
    assert equations(table).system.value.max() == 3


ROWS = pl.DataFrame({"town": ["a", "z"], "n": [1.5, -1.0], "firm": [1, None], "t": ["x", "y"], "N": ["N", "N"]})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "nowhere"}, "nowhere"),
        ({"by": []}, "needs a variable"),
        ({"by": "town,town"}, "twice"),
        ({"by": "town>"}, "empty name"),
        ({"by": "town", "value": "t"}, "holds no numbers"),
        ({"by": "town", "value": "town"}, "one part"),
        ({"by": "town", "count": "n"}, "negative"),
        ({"by": "town", "contributors": "firm"}, "missing values"),
        ({"by": "town", "hierarchies": {"town": TREE}}, "does not list"),
        ({"by": "N", "hierarchies": {"N": TREE}}, "totals of others"),
        ({"by": "town", "hierarchies": {"t": TREE}}, "no variable"),
        ({"by": "town", "waived": "n"}, "0 and 1"),
        ({"by": "town", "count": "n", "weight": "n"}, "one of both"),
    ],
)
def test_bad_requests_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        build(PolarsDataset(ROWS, Codebook()), **options)


def test_the_functions_of_the_package_stay_functions():
    import sfumato.tables.build
    import sfumato.tables.judge  # noqa: F401

    assert callable(sf.tables.build)
    assert callable(tables.judge)
    assert "Table" in dir(tables)


def test_the_tables_of_the_notes(shared_data):
    """Cells that are not empty, and primaries with n < 3 or p = 10: notes of the method, section 1."""
    firms = sf.read(shared_data / "tables" / "insee_indiv_dt.csv")
    two = build(firms, "A10>A21>A88,NUTS1>NUTS2", "TURNOVER")
    assert len(two) == 591
    assert (tables.judge(two, ["n(3)", "p(10)"]).cells["status"] == "u").sum() == 111
    assert len(build(firms, "A10>A21>A88,NUTS1>NUTS2>NUTS3,SIZE", "TURNOVER")) == 4974
    for name, cells in (("S", 785), ("M", 6833)):
        folder = shared_data / "tables"
        data = sf.read(folder / f"synth_{name}.csv")
        trees = {n: read_hierarchy(folder / f"synth_{name}_{n}.csv") for n in ("act", "geo", "size")}
        table = build(data, "act,geo,size", "turnover", hierarchies=trees)
        assert len(table) == cells
    nested = build(sf.read(folder / "synth_S.csv"), "act1>act,geo1>geo,size", "turnover")
    assert (tables.judge(nested, ["n(3)", "p(10)"]).cells["status"] == "u").sum() == 174


def test_counts_of_other_programs(shared_data):
    folder = shared_data / "tables"
    table = build(
        sf.read(folder / "ssb_d2.csv"), ["county>region,main_income", "k_group>region,main_income"], count="freq"
    )
    assert {axis.name: len(axis.groupings) for axis in table.axes} == {"region": 2, "main_income": 1}
    assert equations(table).system.size <= len(table)
    rochdale = build(sf.read(folder / "rochdale.csv"), list("abcd"), count="n")
    assert rochdale.values.max() == 665


def test_sums_have_the_decimals_of_what_is_added_up():
    """Ten times 2.25 are 22.5, and weights of one decimal leave three in all."""
    firms = pl.DataFrame({"town": ["a"] * 10 + ["b"] * 3, "v": [2.25] * 13, "w": [0.1] * 10 + [0.3] * 3})
    weighted = build(PolarsDataset(firms, Codebook()), "town", "v", weight="w")
    assert dict(weighted.cells.select("town", "v").rows()) == {"Total": 4.275, "a": 2.25, "b": 2.025}
    people = build(PolarsDataset(firms, Codebook()), "town", weight="w")
    assert dict(people.cells.select("town", "count").rows()) == {"Total": 1.9, "a": 1.0, "b": 0.9}


def test_sums_without_decimals_in_common_have_twelve_digits():
    firms = pl.DataFrame({"town": ["a", "a", "b"], "v": [1 / 3, 2 / 7, 1e6 / 9]})
    table = build(PolarsDataset(firms, Codebook()), "town", "v")
    assert dict(table.cells.select("town", "v").rows()) == {
        "Total": 111111.730159,
        "a": 0.619047619048,
        "b": 111111.111111,
    }
    equations(table)  # and add up, as far as that can be
