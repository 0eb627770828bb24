"""Sums beside counts with empty cells, missing values, numbers that add up: by hand."""

from dataclasses import replace

import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate.decision import judge, together
from sfumato.gate.dependences.found import Dependence
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of

A, B = Node("A"), Node("B")
SHARES = Policy(dominance=["p(10)"])


def stairs(one_more):
    """Cells of a staircase of twenty each, one of which is of few; and who else is in the cells that are empty else."""
    cells = [("x", "p", 20), ("x", "q", 20), ("y", "q", 2), ("y", "r", 20), ("z", "r", 20)]
    cells += (
        [(a, b, 20) for a in "xyz" for b in "pqr" if (a, b) not in {cell[:2] for cell in cells}] if one_more else []
    )
    lines = [(a, b) for a, b, many in cells for _ in range(many)]
    rows = [(a, b, 100 + i / 7) for i, (a, b) in enumerate(lines)]
    return records_of(pl.DataFrame(rows, schema=["A", "B", "cost"], orient="row"), search=False)


@pytest.mark.parametrize("full", [True, False])
def test_a_staircase_of_empty_cells_gives_every_sum(full):
    """By A and B together nothing of the sum is asked: without empty cells counts tell nothing of it."""
    records = stairs(full)
    counts, by_a, by_b = Margin.of([A, B]), Margin.of([A], "cost"), Margin.of([B], "cost")
    assert judge(records, [counts], by_a, SHARES).granted
    assert judge(records, [by_a], by_b, SHARES).granted
    assert together(records, [counts, by_a, by_b], SHARES).granted == full


def test_who_has_a_value_is_told_with_a_sum():
    rows = [("x", float(i) if i else None) for i in range(200)] + [("y", float(i)) for i in range(200)]
    frame = pl.DataFrame(rows, schema=["A", "cost"], orient="row")
    policy, asked = Policy(preset="research"), Margin.of([A], "cost")
    assert judge(records_of(frame), [], asked, policy).reasons == ("interval",)
    assert judge(records_of(frame, missing_told=["cost"]), [], asked, policy).granted
    with pytest.raises(DataError, match="missing_told"):
        records_of(frame, missing_told=["price"])


def test_the_few_who_have_a_value_are_protected_though_the_others_may_be_told():
    rows = [("x", float(i) if i < 3 else None) for i in range(200)] + [("y", float(i)) for i in range(200)]
    records = records_of(pl.DataFrame(rows, schema=["A", "cost"], orient="row"), missing_told=["cost"])
    assert not judge(records, [], Margin.of([A], "cost"), Policy(interval={"count": 4, "width": 10})).granted


def test_sums_of_all_but_one_number_give_the_last():
    rows = pl.DataFrame(
        {"A": ["x", "y"] * 40, "a": [1.0 + i for i in range(80)], "b": [5000.0] + [i + 7.0 for i in range(79)]}
    )
    records = records_of(rows.with_columns(c=pl.col("a") + pl.col("b")), search=False)
    adds = replace(records, found=(Dependence("adds", ("a", "b"), "c", 3, 80.0),))
    a, c = Margin.of([A], "a"), Margin.of([A], "c")
    few = Policy(dominance=["nk(1,65)"])
    assert together(records, [a, c], few).granted
    assert not together(adds, [a, c], few).granted


def test_the_other_end_of_a_range_is_looked_at_too():
    from sfumato.data.codebook import Codebook, Variable

    near = [*[99.9] * 3, *[100.0 - i / 1000 for i in range(57)], 40.0]
    frame = pl.DataFrame({"A": ["x"] * 61, "score": near})
    asked = Margin.of([A], "score")
    assert judge(records_of(frame), [], asked, SHARES).granted
    book = Codebook({"score": Variable(range=(0, 100))})
    assert not judge(records_of(frame, book), [], asked, SHARES).granted
