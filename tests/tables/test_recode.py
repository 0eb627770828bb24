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
from sfumato.tables import Table, audit, build, judge, recode
from tests.parts import needs
from tests.real_data import real_data

TOWNS = {"N": None, "S": None, "a": "N", "b": "N", "c": "N", "d": "S", "e": "S"}
KINDS = {"x": None, "y": None, "z": "x", "w": "x"}
TREES = {"town": Hierarchy.parents(TOWNS), "kind": Hierarchy.parents(KINDS)}
records = st.lists(st.tuples(st.sampled_from("abcde"), st.sampled_from("zwy")), min_size=6, max_size=60)


def judged(rows, rule="n(3)"):
    frame = pl.DataFrame(rows, schema=["town", "kind"], orient="row")
    return judge(build(PolarsDataset(frame, Codebook()), "town,kind", hierarchies=TREES), rule)


def cuts(tree):
    """All sets of codes that are kept: with a code all its brothers, and what is above."""
    children = {}
    for code, parent in tree.items():
        children.setdefault(parent, []).append(code)

    def below(code):
        yield frozenset()
        if code in children:
            for parts in itertools.product(*(list(below(part)) for part in children[code])):
                yield frozenset(children[code]).union(*parts)

    return [one | {"Total"} for one in set(below(None))]


def entropy_loss(rows, column, tree, kept):
    """Bits that are gone, record by record."""
    lost = 0.0
    codes = [row[column] for row in rows]

    def up(code):
        while code not in kept:
            code = tree[code] or "Total"
        return code

    coarse = [up(code) for code in codes]
    for code, other in zip(codes, coarse, strict=True):
        lost += np.log2(coarse.count(other) / codes.count(code))
    return lost


@pytest.mark.slow
@settings(deadline=None)
@given(records)
def test_nothing_loses_less_than_what_brute_force_finds(rows):
    table = judged(rows)
    unsafe = {row[:2] for row in table.cells.select("town", "kind", "status").rows() if row[2] == "u"}
    best = min(
        entropy_loss(rows, 0, TOWNS, towns) + entropy_loss(rows, 1, KINDS, kinds)
        for towns in cuts(TOWNS)
        for kinds in cuts(KINDS)
        if not any(t in towns and k in kinds for t, k in unsafe)
    )
    whole = entropy_loss(rows, 0, TOWNS, {"Total"}) + entropy_loss(rows, 1, KINDS, {"Total"})
    if best >= whole - 1e-9:  # only the grand total is left, or there was nothing to lose
        return
    done = recode(table)
    assert done.optimal
    assert done.loss == pytest.approx(best, abs=1e-6)
    published = {tuple(row) for row in done.table.cells.select(done.table.variables).rows()}
    assert not published & {
        tuple(c for c, n in zip(u, ("town", "kind"), strict=True) if n in done.table.variables)
        for u in unsafe
        if all(c == "Total" for c, n in zip(u, ("town", "kind"), strict=True) if n not in done.table.variables)
    }
    coarser = recode(table, by="levels") if _some_level(table) else None
    assert coarser is None or coarser.loss >= done.loss - 1e-6
    # it adds up by its own trees, and hides nothing
    assert audit(done.table).passed


def _some_level(table):
    try:
        recode(table, by="levels")
    except DataError:
        return False
    return True


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(records)
def test_every_sum_of_published_finest_cells_is_of_three_or_more(rows):
    try:
        done = recode(judged(rows))
    except DataError:
        return
    inner = {code for axis in done.table.axes for tree in axis.trees for code in tree.values()} | {"Total"}
    finest = done.table.cells.filter(~pl.any_horizontal(pl.col(n).is_in(list(inner)) for n in done.table.variables))
    # whatever is worked out by differences is a sum of these, and none of them is of fewer than three
    assert finest["count"].min() >= 3
    assert finest["count"].sum() == len(rows)


def test_a_variable_that_is_dropped_is_said_to_be():
    rows = [("a", "z")] * 5 + [("a", "w")] * 5 + [("a", "y")] * 5 + [("d", "z")] * 1
    done = recode(judged(rows))
    gone = [name for name, kept in done.variables.items() if kept.dropped]
    assert gone == ["town"]
    assert gone[0] in done.notes[0]
    assert gone[0] not in done.table.cells.columns


def test_levels_are_cut_all_at_once():
    rows = [("a", "y")] * 5 + [("b", "y")] * 2 + [("c", "y")] * 5 + [("d", "y")] * 5 + [("e", "y")] * 5
    branches, levels = recode(judged(rows)), recode(judged(rows), by="levels")
    assert branches.variables["town"].merged == ("N",)
    assert set(branches.table.cells["town"]) == {"Total", "N", "S", "d", "e"}
    assert set(levels.table.cells["town"]) == {"Total", "N", "S"}
    assert levels.variables["town"].levels == 1


def test_nothing_unsafe_leaves_all_as_it_is():
    rows = list(itertools.product("abcde", "zwy")) * 3
    done = recode(judged(rows))
    assert done.loss == 0
    assert len(done.table) == done.cells_before
    assert done.to_plain()["cells"] == done.cells_before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.with_columns(status=["u"] * len(t)), "grand total"),
        (lambda t: Table(t.axes, t.cells.drop("status")), "no statuses"),
        (lambda t: t.with_columns(count=[None] * len(t)), "lacks the values"),
        (lambda t: Table(t.axes, t.cells.filter(pl.col("town") != "N")), "lacks totals over 'town'"),
        (lambda t: t.with_columns(status=["s"] + ["u"] * (len(t) - 1)), "nothing but the grand total"),
    ],
)
def test_what_cannot_be_recoded_is_refused(change, said):
    table = judged([("a", "z")] * 5 + [("b", "w")] * 5 + [("d", "y")] * 5)
    with pytest.raises(DataError, match=said):
        recode(change(table))


@needs("data")
@pytest.mark.parametrize("name", ["synth_S", "synth_M"])
def test_on_firms_the_result_passes_the_audit(name):
    folder = real_data() / "tables"
    firms = PolarsDataset(pl.read_csv(folder / f"{name}.csv", infer_schema_length=None), Codebook())
    table = judge(build(firms, "act1>act,geo1>geo,size", "turnover"), ["n(3)", "p(10)"])
    done = recode(table)
    assert done.optimal
    assert audit(done.table).passed
    unsafe = table.cells.filter(status="u").select("act", "geo", "size", hidden="turnover")
    lost = [n for n in table.variables if n not in done.table.variables]
    here = unsafe.filter(pl.all_horizontal(pl.lit(True), *(pl.col(n) == "Total" for n in lost)))
    assert done.table.cells.join(here, on=list(done.table.variables), how="semi").height == 0
