"""Sums of a sensitive variable that tell what everybody has."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.gate.decision import judge
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of

POLICY = Policy(interval={"count": 1, "width": 2})


@pytest.mark.parametrize(("end", "granted"), [(0.0, False), (1000.0, False), (500.0, True)])
@pytest.mark.parametrize("sensitive", [True, False])
def test_a_cell_in_which_all_have_the_least_or_the_most(end, granted, sensitive):
    values = [end] * 5 + [float(i) for i in range(1, 60)] + [0.0, 1000.0]
    rows = pl.DataFrame({"A": ["x"] * 5 + ["y"] * 61, "debt": values})
    book = Codebook({"debt": Variable(role="sensitive")}) if sensitive else None
    records = records_of(rows, book)
    answer = judge(records, [], Margin.of([Node("A")], value="debt"), POLICY)
    assert answer.granted == (granted or not sensitive)
    assert answer.granted or answer.reasons == ("sum",)
