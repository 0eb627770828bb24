import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.codebook import Codebook
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.tables.build import build
from sfumato.tables.equations import NotAdditive, equations
from sfumato.tables.table import Table

TOWNS = Hierarchy((("a", "N"), ("b", "N"), ("c", "S"), ("d",)))
records = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 9)), min_size=1, max_size=20
)


def frame(rows):
    return pl.DataFrame(rows, schema={"town": pl.String, "kind": pl.String, "v": pl.Int64}, orient="row")


def built(rows, by=("town", "kind"), **options):
    trees = {"town": TOWNS} if "town" in by else None
    return build(PolarsDataset(frame(rows), Codebook()), list(by), "v", hierarchies=trees, **options)


def plain(table):
    """Every sum of a table, from its codes alone: total and parts as sets of lines."""
    lines = {row: i for i, row in enumerate(table.cells.select(table.variables).iter_rows())}
    out = []
    for at, axis in enumerate(table.axes):
        for total, parts in axis.relations:
            for row, i in lines.items():
                if row[at] == axis.codes[total]:
                    inner = [lines.get((*row[:at], axis.codes[j], *row[at + 1 :])) for j in parts]
                    if any(j is not None for j in inner):
                        out.append((i, [j for j in inner if j is not None]))
    return out


def span(matrix):
    """The row space, as a projection."""
    if not len(matrix):
        return np.zeros((matrix.shape[1],) * 2)
    return np.linalg.pinv(matrix) @ matrix


@pytest.mark.slow
@settings(max_examples=30)
@given(records)
def test_the_equations_say_what_the_codes_say(rows):
    """Beside cells that are the same, the system spans the sums that are written down from codes alone."""
    table = built(rows)
    merged = equations(table)
    cell = merged.cell[0]
    out = []
    for total, parts in plain(table):
        one = np.zeros(len(table))
        one[total] -= 1
        np.add.at(one, parts, 1)
        out.append(one)
    wide = np.zeros((merged.system.matrix.shape[0], len(table)))
    first = {int(c): i for i, c in reversed(list(enumerate(cell)))}
    for row, column in zip(*merged.system.matrix.nonzero(), strict=True):
        wide[row, first[int(column)]] = merged.system.matrix[row, column]
    same = [(i, first[int(c)]) for i, c in enumerate(cell) if first[int(c)] != i]
    links = np.zeros((len(same), len(table)))
    for row, (i, j) in enumerate(same):
        links[row, i], links[row, j] = 1, -1
    assert np.allclose(span(np.array(out).reshape(-1, len(table))), span(np.concatenate([wide, links])), atol=1e-8)
    assert np.allclose(merged.system.matrix @ merged.system.value, 0)


@pytest.mark.slow
@settings(max_examples=30)
@given(records)
def test_equal_cells_are_one_and_their_costs_add_up(rows):
    table = built(rows)
    merged = equations(table)
    copies = merged.gather([np.ones(len(table))], "sum")
    assert copies.sum() == len(table)
    assert np.array_equal(merged.spread(merged.system.value, 0.0)[0], table.values)
    # no total has a single part any more
    assert np.all(np.diff(merged.system.matrix.indptr) > 2)


def test_linked_tables_are_one_system():
    rows = list(zip("aabbcd", "xyzxyz", [5, 3, 2, 7, 1, 4], strict=True))
    data = PolarsDataset(frame(rows).with_columns(sex=pl.Series(list("fmfmfm"))), Codebook())
    both = build(data, [["town", "kind"], ["kind", "sex"]], "v", hierarchies={"town": TOWNS})
    one = build(data, ["town", "kind"], "v", hierarchies={"town": TOWNS})
    other = build(data, ["kind", "sex"], "v")
    apart, together = equations(one, other), equations(both)
    assert apart.system.size == together.system.size
    assert np.array_equal(apart.system.matrix.toarray(), together.system.matrix.toarray())
    assert np.array_equal(apart.system.value, together.system.value)


def test_linked_tables_of_protecting_one_by_one():
    """sdcTable issue 136: regions in counties and in groups of another kind share their cells."""
    regions = dict(zip("ABIJKLMN", [2, 2, 8, 8, 3, 3, 3, 7], strict=True))
    county = Hierarchy(tuple((r, "ABIJ" if r in "ABIJ" else "KLMN") for r in regions))
    group = Hierarchy(tuple((r, "LM" if r in "LM" else "ABIJKN") for r in regions))
    values = regions | {"Total": 36, "ABIJ": 20, "KLMN": 16, "ABIJKN": 30, "LM": 6}
    rows = pl.DataFrame({"region": list(values), "count": list(values.values())})
    system = equations(Table.of(rows, hierarchies={"region": [county, group]})).system
    assert system.matrix.shape == (6, 13)
    assert not (system.matrix @ system.value).any()


def test_totals_that_are_not_sums_are_refused_with_what_they_are():
    rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [7.0, 3.0, 3.0]})
    with pytest.raises(NotAdditive, match="totals over 'sex'") as error:
        equations(Table.of(rows))
    assert error.value.where.rows() == [("Total", "sex")]
    assert "7" not in str(error.value)
    assert isinstance(error.value, DataError)


def test_rounded_values_are_made_additive():
    rows = pl.DataFrame({"sex": ["Total", "f", "m", "x"], "count": [10.0, 3.0, 3.0, 3.0]})
    merged = equations(Table.of(rows), tolerance=1.0)
    assert abs(merged.system.matrix @ merged.system.value).max() < 1e-9
    assert 0 < merged.adjusted <= 1
    with pytest.raises(NotAdditive):
        equations(Table.of(rows), tolerance=0.5)


def test_copies_that_contradict_each_other_are_refused():
    one = Table.of(pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5.0, 3.0, 2.0]}))
    other = Table.of(pl.DataFrame({"age": ["Total", "old", "young"], "count": [6.0, 3.0, 3.0]}))
    with pytest.raises(NotAdditive, match="contradict each other at age=Total, sex=Total: "):
        equations(one, other)


def test_hidden_values_stay_unknown_and_a_copy_gives_them_away():
    rows = pl.DataFrame({"town": ["Total", "N", "a", "S"], "count": [5.0, None, 3.0, None], "status": list("suxu")})
    tree = Hierarchy((("a", "N"), ("S",)))
    merged = equations(Table.of(rows, hierarchies={"town": tree}))
    assert merged.system.value[merged.cell[0][1]] == 3.0  # the North is its only town
    assert np.isnan(merged.system.value[merged.cell[0][3]])


def test_a_hidden_total_of_zeros_is_an_equation_of_its_own():
    rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [None, 0.0, 0.0], "status": list("uww")})
    merged = equations(Table.of(rows))
    assert merged.cell[0].tolist() == [0, -1, -1]
    assert merged.system.matrix.toarray().tolist() == [[-1]]


def test_zeros_with_contributors_take_part():
    rows = pl.DataFrame({"sex": ["Total", "f", "m"], "v": [4.0, 4.0, 0.0], "contributors": [3, 2, 1]})
    assert equations(Table.of(rows, "v")).system.size == 3
    assert equations(Table.of(rows.drop("contributors"), "v")).system.size == 1


def test_the_order_of_tables_and_rows_changes_nothing():
    rows = list(zip("aabbcd", "xyzxyz", [5, 3, 2, 7, 1, 4], strict=True))
    tables = [built(rows), built(rows, ("kind",))]
    systems = [equations(*order).system for order in itertools.permutations(tables)]
    assert np.array_equal(systems[0].matrix.toarray(), systems[1].matrix.toarray())


LEVELS = {"town": Hierarchy((("a", "N"), ("b", "N"), ("c", "S"), ("d", "S")))}


def test_levels_that_are_not_listed_hide_no_sum():
    """50 - 19 - 20 - 10: the tree has a level between, of which the table lists nothing, or one code only."""
    rows = pl.DataFrame({"town": ["Total", "a", "b", "c", "d"], "count": [50, None, 19, 20, 10]})
    merged = equations(Table.of(rows, hierarchies=LEVELS))
    assert merged.system.matrix.toarray().tolist() == [[-1, 1, 1, 1, 1]]
    some = pl.concat([rows, pl.DataFrame({"town": ["S"], "count": [30]})])
    table = Table.of(some, hierarchies=LEVELS)
    matrix = equations(table).system.matrix.toarray()
    order = [table.cells["town"].to_list().index(c) for c in ("Total", "a", "b", "S", "c", "d")]
    assert sorted(matrix[:, order].tolist()) == [[-1, 1, 1, 1, 0, 0], [0, 0, 0, -1, 1, 1]]


@pytest.mark.slow
@settings(max_examples=30)
@given(records)
def test_tables_without_the_total_that_they_share_are_linked(rows):
    """The kinds of a town's people and their ages have one sum, though no table lists it."""
    people = frame(rows).with_columns(age=pl.Series([str(v % 2) for *_, v in rows]), v=pl.Series([1] * len(rows)))
    tables = [build(PolarsDataset(people, Codebook()), ["town", n], "v", margins=False) for n in ("kind", "age")]
    merged = equations(*tables)
    matrix = merged.system.matrix.toarray().astype(float)
    assert np.allclose(matrix @ merged.system.value, 0)
    known = span(matrix)
    for town in people["town"].unique():
        sums = np.zeros(merged.system.size)
        for sign, table, cell in zip((1, -1), tables, merged.cell, strict=True):
            np.add.at(sums, cell[(table.cells["town"] == town).to_numpy()], sign)
        assert np.allclose(sums @ known, sums, atol=1e-9)


def test_tables_of_other_records_share_no_total():
    north = Table.of(pl.DataFrame({"town": ["a", "a"], "sex": ["f", "m"], "count": [3, 4]}))
    south = Table.of(pl.DataFrame({"town": ["a", "a"], "age": ["y", "o"], "count": [3, 9]}))
    assert equations(north, south).system.matrix.shape[0] == 0


def test_equations_say_what_they_sum_over():
    """An equation that is the same over two variables sums over both."""
    rows = {"a": ["Total", "x", "y"] * 2, "b": ["Total"] * 3 + ["one"] * 3, "v": [3.0, 1.0, 2.0] * 2}
    merged = equations(Table.of(pl.DataFrame(rows), "v"))
    assert merged.along == (("a",),)
    names = [("Total", "Total"), ("x", "Total"), ("y", "Total"), ("Total", "1"), ("Total", "2"), ("x", "1"), ("y", "2")]
    rows = dict(zip("ab", zip(*names, strict=True), strict=True)) | {"v": [3.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]}
    assert equations(Table.of(pl.DataFrame(rows), "v")).along == (("a", "b"),)
