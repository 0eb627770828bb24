import math

import pytest
from hypothesis import given

from sfumato.measures.risk.delta_disclosure import delta_disclosure
from tests.measures.tables import BY, distributions, records, table


@pytest.mark.slow
@given(records)
def test_by_definition(rows):
    groups, whole, _ = distributions(rows)
    expected = [abs(math.log(q / whole[v])) for g in groups for v, q in g.items()]
    assert delta_disclosure(table(rows), BY, "ill") == (pytest.approx(max(expected), abs=1e-12) if groups else None)


def test_rarer_values_count_as_well():
    """p = 1/2 of both: shares of 1/8 and 7/8, a quarter and 1.75 as frequent."""
    rows = [(1, "x", "low")] + [(1, "x", "mid")] * 7 + [(2, "x", "mid")] + [(2, "x", "low")] * 7
    assert delta_disclosure(table(rows), ["a"], "ill") == pytest.approx(math.log(4))
