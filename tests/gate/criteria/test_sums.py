"""Which cells of a sum are looked at, and what each record adds."""

import numpy as np
import polars as pl

from sfumato.gate.case import Case
from sfumato.gate.criteria.sums import contributions
from sfumato.gate.margin import Margin, Node
from sfumato.gate.reading import records_of

MANY = 120
ROWS = pl.DataFrame(
    {
        "A": ["x", "y"] * (MANY // 2),
        "B": ["p", "p", "q"] * (MANY // 3),
        "pay": [float(i) if i != 7 else None for i in range(MANY)],
        "w": np.linspace(1, 2, MANY),
    }
)
RECORDS = records_of(ROWS)


def of(*margins):
    return list(contributions(Case.of(RECORDS, margins)))


def test_sums_of_one_variable_are_looked_at_together():
    by_a, by_b = (Margin.of([Node(name)], value="pay") for name in "AB")
    assert len(of(by_a, by_b)) == 2  # two tables that hang together by nothing
    (one,) = of(by_a, by_b, Margin.of([Node("A"), Node("B")], value="pay"))
    total = np.bincount(one.cell, weights=one.value, minlength=one.cells)
    expected = ROWS.group_by("A", "B").agg(pl.col("pay").sum())["pay"].sort().to_list()
    assert sorted(total.tolist()) == expected
    assert len(one.value) == MANY - 1  # a missing value adds nothing


def test_weights_are_what_is_added():
    (weights,) = of(Margin.of([Node("A")], weight="w"))
    assert np.allclose(weights.value, ROWS["w"])
    weights, both = of(Margin.of([], value="pay", weight="w"))
    assert np.isclose(both.value.sum(), (ROWS["pay"] * ROWS["w"]).sum())
    assert both.cells == 1
    told = np.bincount(weights.cell, weights=weights.value)  # of those who have a value, and of those who have none
    assert np.allclose(sorted(told[told > 0]), [ROWS["w"][7], ROWS["w"].sum() - ROWS["w"][7]])


def test_levels_of_one_variable_and_versions_are_taken_together():
    """A difference of two sums is a sum: of the third age, or of who came later."""
    levels = {"B": {"one": {"p": "1", "q": "2", "r": "2"}, "two": {"p": "1", "q": "1", "r": "2"}}}
    rows = ROWS.with_columns(id=pl.Series(range(MANY)), B=pl.Series(["p", "q", "r"] * (MANY // 3)))
    come = rows.head(6).with_columns(pl.col("id") + MANY)
    later = pl.concat([rows.tail(MANY - 8), come])
    records = records_of(rows, record="id", levels=levels, versions=[("v2", later)])
    (one,) = contributions(Case.of(records, [Margin.of([Node("B", name)], value="pay") for name in ("one", "two")]))
    assert len(np.unique(one.cell)) == 3
    both = Case.of(records, [Margin.of([], value="pay", version=v) for v in ("v1", "v2")])
    (one,) = contributions(both)
    assert sorted(np.bincount(one.cell).tolist())[:2] == [6, 7]  # who came, and who went (one of them has no value)
