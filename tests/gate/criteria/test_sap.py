"""Attribution by subtraction, where it can be said by hand."""

import polars as pl
import pytest

from sfumato.gate.decision import judge
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of


def judged(counts, known, at_most):
    rows = pl.DataFrame({"A": [str(i) for i in range(len(counts))], "n": counts})
    policy = Policy(sap={"known": known, "at_most": at_most})
    return judge(records_of(rows, count="n"), [], Margin.of([Node("A")]), policy).decision


@pytest.mark.parametrize(
    ("counts", "known", "at_most", "decision"),
    [
        ([5, 5], 4, 0.0, "granted"),  # four people use up no cell of five
        ([5, 5], 5, 0.0, "refused"),
        ([5, 5], 5, 0.01, "granted"),  # both ways of drawing five from one cell: 2 of 252
        ([5, 5], 5, 0.007, "refused"),
        ([5, 0], 0, 0.5, "refused"),  # there is a zero already
        ([2, 2], 9, 1.0, "refused"),  # more are known than there are
        ([1, 9], 1, 0.1, "granted"),
        ([1, 9], 1, 0.09, "refused"),
    ],
)
def test_who_knows_some_people(counts, known, at_most, decision):
    assert judged(counts, known, at_most) == decision
