"""Tables built from the real files against plain group-bys of polars, on both engines."""

import itertools

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files.hierarchies import read_hierarchy
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset

FILES = {  # file, one or several tables of chains of columns, value, count
    "insee": ("insee_indiv_dt.csv", [[["A10", "A21", "A88"], ["NUTS1", "NUTS2"]]], "TURNOVER", None),
    "insee_3d": ("insee_indiv_dt.csv", [[["A10"], ["NUTS1", "NUTS2", "NUTS3"], ["SIZE"]]], "PRODUCTION", None),
    "insee_linked": ("insee_indiv_dt.csv", [[["A10", "A21"], ["SIZE"]], [["A10"], ["CJ"]]], "TURNOVER", None),
    "synth_S": ("synth_S.csv", [[["act1", "act"], ["geo1", "geo"], ["size"]]], "turnover", None),
    "ssb_d2": ("ssb_d2.csv", [[["county", "region"], ["main_income"]], [["k_group", "region"]]], None, "freq"),
    "ssb_d4": ("ssb_d4.csv", [[["county", "region"], ["months2", "months"], ["main_income"]]], None, "freq"),
    "cellkey": ("cellkey_testdata.csv", [[["sex"], ["relat"], ["age"]]], "income", None),
    "nursery": ("acro_nursery.csv", [[["recommend"], ["parents"]], [["recommend"], ["finance"]]], None, None),
}


def plain(frame, tables, value, count):
    """Every cell as its codes, its value and how many records stand behind it, by group-bys alone."""
    what = pl.col(value).cast(pl.Float64).sum() if value else pl.col(count).sum() if count else pl.len()
    many = pl.col(count).sum() if count else pl.len()
    finest = {
        chain[0]: max((c for t in tables for c in t if c[0] == chain[0]), key=len)[-1] for t in tables for chain in t
    }
    out = {}
    for table in tables:
        for depths in itertools.product(*(range(len(chain) + 1) for chain in table)):
            columns = [c for chain, depth in zip(table, depths, strict=True) for c in chain[:depth]]
            found = (
                frame.group_by(columns).agg(what.alias("_value"), many.alias("_many"))
                if columns
                else frame.select(what.alias("_value"), many.alias("_many"))
            )
            for row in found.iter_rows(named=True):
                if not row["_many"]:
                    continue
                deepest = [(chain, chain[depth - 1]) for chain, depth in zip(table, depths, strict=True) if depth]
                code = frozenset((variable_of(finest, chain), str(row[column])) for chain, column in deepest)
                out[code] = (row["_value"], row["_many"])
    return out


def variable_of(finest, chain):
    return finest.get(chain[0], chain[-1]) if len(chain) > 1 or chain[0] in finest else chain[-1]


@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of], ids=["polars", "duckdb"])
@pytest.mark.parametrize("name", FILES)
def test_every_cell_is_its_group(shared_data, name, engine):
    file, tables, value, count = FILES[name]
    frame = pl.read_csv(shared_data / "tables" / file, infer_schema_length=None)
    by = [[">".join(chain) for chain in table] for table in tables]
    table = sf.tables.build(engine(frame, Codebook()), by, value, count=count)
    expected = plain(frame, tables, value, count)
    got = {}
    for row in table.cells.iter_rows(named=True):
        code = frozenset((n, row[n].rpartition("/")[2]) for n in table.variables if row[n] != "Total")
        got.setdefault(code, []).append((row[table.value], row["contributors"]))
    assert got.keys() <= expected.keys()
    for code, (total, many) in expected.items():
        if code in got:  # a code that is all that its parent holds and has its name is one with it
            # sums of what has no decimals in common have 12 digits
            assert (pytest.approx(total, rel=1e-11, abs=1e-9), many) in got[code]


def test_a_code_under_two_parents_is_told_by_both():
    rows = pl.DataFrame({"county": [*"aabb"], "town": ["x", "y", "x", "z"], "v": [1.0, 2, 4, 8]})
    cells = sf.tables.build(sf.read(rows), "county>town", "v").cells
    assert dict(cells.select("town", "v").rows()) == {
        "Total": 15, "a": 3, "b": 12, "a/x": 1, "b/x": 4, "y": 2, "z": 8,
    }  # fmt: skip


@pytest.mark.parametrize("engine", [PolarsDataset, DuckDBDataset.of], ids=["polars", "duckdb"])
def test_unequal_depth_other_groupings_holdings_weights_missing_and_negative(engine):
    rows = pl.DataFrame(
        {
            "town": [*"abcdabcd", None],
            "firm": [1, 2, 3, 4, 1, 5, 6, 7, 8],
            "group": ["g", "g", None, None, "g", None, "h", "h", None],
            "w": [1.4, 2.6, 1.0, 1.0, 3.0, 1.0, 0.2, 1.0, 1.0],
            "v": [10.0, -4.0, 5.0, -9.0, 1.0, None, 2.5, 3.0, 7.0],
        }
    )
    book = Codebook({"v": Variable(missing=[-9])})
    deep = Hierarchy((("a", "N", "E"), ("b", "N", "E"), ("c", "E"), ("d",)))
    other = Hierarchy((("a", "coast"), ("c", "coast"), ("b", "land"), ("d", "land")))
    options = {"contributors": "firm", "holdings": "group", "hierarchies": {"town": [deep, other]}}
    cells = sf.tables.build(engine(rows, book), "town", "v", **options).cells
    told = rows.filter(pl.col("v").is_not_null() & (pl.col("v") != -9)).with_columns(
        who=pl.coalesce("group", pl.col("firm").cast(pl.String)), town=pl.col("town").fill_null("missing")
    )
    held = {"E": "abc", "N": "ab", "coast": "ac", "land": "bd", **{c: c for c in "abcd"}}
    for code, towns in {**held, "Total": [*"abcd", "missing"], "missing": ["missing"]}.items():
        mine = told.filter(pl.col("town").is_in([*towns]))
        each = mine.group_by("who").agg(pl.col("v").sum())["v"].abs().sort(descending=True).to_list()
        line = cells.filter(town=code)
        assert line["v"].item() == pytest.approx(mine["v"].sum())
        assert line["contributors"].item() == len(each)
        assert line.select("largest", "second").row(0) == pytest.approx(tuple((*each, 0.0, 0.0)[:2]))
    weighted = sf.tables.build(engine(rows, book), "town", "v", weight="w").cells
    sums = told.with_columns(x=pl.col("v") * pl.col("w")).group_by("town").agg(pl.col("x").sum())
    for code, x in sums.iter_rows():
        assert weighted.filter(town=code)["v"].item() == pytest.approx(x)


@pytest.mark.parametrize("name", ["synth_S", "synth_M"])
def test_files_of_hierarchies_give_what_nested_columns_give(shared_data, name):
    folder = shared_data / "tables"
    trees = {n: read_hierarchy(folder / f"{name}_{n}.csv") for n in ("act", "geo", "size")}
    data = sf.read(folder / f"{name}.csv")
    one = sf.tables.build(data, "act,geo,size", "turnover", hierarchies=trees)
    columns = "act1>act,geo1>geo,size"
    if name == "synth_S":
        two = sf.tables.build(data, columns, "turnover")
        assert one.cells.sort("act", "geo", "size").equals(two.cells.sort("act", "geo", "size"))
    assert len(one) == {"synth_S": 785, "synth_M": 6_833}[name]
    inner = sf.tables.build(data, "act,geo,size", "turnover", hierarchies=trees, margins=False)
    assert "Total" not in {*inner.cells["act"], *inner.cells["geo"], *inner.cells["size"]}
