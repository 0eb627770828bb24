import itertools

import polars as pl
import pytest
from hypothesis import given
from scipy.optimize import linprog

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.risk.t_hierarchical import MEASURE, t_hierarchical
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, ORDER, distributions, records, table

TREE = {"low": ("little", "some"), "mid": ("little", "some"), "high": ("much", "some"), "top": ("most", "all")}


def distance(one, other):
    """The level of the lowest common category over the height, 3."""
    ways = [(v, *(TREE[v] if v is not None else ("gap", "gap")), "*") for v in (one, other)]
    return next(level for level, (x, y) in enumerate(zip(*ways, strict=True)) if x == y) / 3


def moved(own, whole):
    """The earth mover's distance as a transport problem."""
    levels = (*ORDER, None)  # a class without a value has a gap, which is like no value
    pairs = list(itertools.product(levels, levels))
    leave = [[float(i == v) for i, _ in pairs] for v in levels]
    arrive = [[float(j == v) for _, j in pairs] for v in levels]
    amounts = [own.get(v, 0.0) for v in levels] + [whole.get(v, 0.0) for v in levels]
    return linprog([distance(i, j) for i, j in pairs], A_eq=leave + arrive, b_eq=amounts).fun


def with_tree(rows):
    frame = table(rows).frame
    return sf.read(frame, codebook=Codebook({"ill": Variable(role="sensitive", kind="categorical", hierarchy=TREE)}))


@pytest.mark.slow
@given(records)
def test_as_a_transport_problem(rows):
    groups, whole, _ = distributions(rows)
    found = t_hierarchical(with_tree(rows), BY, "ill")
    assert found == (pytest.approx(max(moved(g, whole) for g in groups), abs=1e-9) if groups else None)


def test_none_without_a_hierarchy():
    subject = Subject(table([(1, "x", "low")]), classes=(Classes("keys", BY),), sensitive=("ill",))
    found = MEASURE.compute(subject)
    assert found[0].value is None
    assert "no hierarchy of 'ill'" in found.notes[0]


def test_values_of_one_kind_are_near():
    frame = pl.DataFrame({"a": [1, 1, 2, 2], "ill": ["low", "mid", "low", "mid"]})
    one = frame.with_columns(a=pl.Series([1, 2, 1, 2]))
    book = Codebook({"ill": Variable(hierarchy=TREE)})
    assert t_hierarchical(sf.read(frame, codebook=book), ["a"], "ill") == pytest.approx(0)
    assert t_hierarchical(sf.read(one, codebook=book), ["a"], "ill") == pytest.approx(0.5 / 3)
