"""Rules of dominance, by hand."""

import polars as pl
import pytest

from sfumato.gate.decision import judge, together
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of


def judged(big, rules, sign=1):
    """A group of 60 who have 100 and a little each, and one who has more."""
    pay = [*(100.0 + i / 100 for i in range(60)), float(big)]
    rows = pl.DataFrame({"A": ["x"] * 61, "B": ["p", "q"] * 30 + ["p"], "pay": [sign * one for one in pay]})
    records = records_of(rows)
    return judge(records, [], Margin.of([Node("B")], value="pay"), Policy(dominance=rules)).granted


@pytest.mark.parametrize(
    ("big", "rules", "granted"),
    [
        (101, ["p(10)"], True),
        (28_000, ["p(10)"], True),  # 29 others leave 2,900: a tenth of 28,000 is 2,800
        (30_000, ["p(10)"], False),
        (3_000, ["nk(1,50)"], True),
        (3_100, ["nk(1,50)"], False),
        (28_000, ["p(10)", "nk(1,50)"], False),
    ],
)
def test_one_contributor_against_the_rest(big, rules, granted):
    assert judged(big, rules) == granted


def test_what_may_be_negative_is_refused():
    assert not judged(101, ["p(1)"], sign=-1)


def test_cells_that_two_tables_tell_together_are_looked_at():
    """By A and by B nobody is large; where both lie in one table one is."""
    rows = [(a, b, 100.0 + i / 7) for i, (a, b) in enumerate([("x", "p"), ("x", "q"), ("y", "p")] * 40)]
    rows += [("y", "q", 5000.0), ("y", "q", 99.0), ("y", "q", 98.5)]
    records = records_of(pl.DataFrame(rows, schema=["A", "B", "pay"], orient="row"))
    one, other, both = (Margin.of([Node(name) for name in own], value="pay") for own in ("A", "B", "AB"))
    policy = Policy(dominance=["p(10)"])
    assert together(records, [one, other], policy).granted
    assert judge(records, [], both, policy).reasons == ("dominance",)
