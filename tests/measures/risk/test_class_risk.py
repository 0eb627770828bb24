import pytest
from hypothesis import given

from sfumato.measures.risk.class_risk import MEASURE, risk_average, risk_highest
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, keyed, records, sizes, table


@pytest.mark.slow
@given(records)
def test_as_counted_record_by_record(rows):
    size = sizes(rows)
    risks = [1 / size[row[:2]] for row in keyed(rows)]
    assert risk_average(table(rows), BY) == pytest.approx(sum(risks) / len(risks))
    assert risk_highest(table(rows), BY) == pytest.approx(max(risks))


def test_wildcards_hide_records():
    """A record without b agrees with both others of its a, so that each has two, and the one without three."""
    rows = [(1, "x", None), (1, "y", None), (1, None, None), *[(2, "x", None)] * 2, *[(2, "y", None)] * 2]
    assert risk_average(table(rows), BY) == pytest.approx(5 / 7)
    assert risk_average(table(rows), BY, missing="wildcard") == pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1 + 1) / 7)
    assert risk_highest(table(rows), BY, missing="wildcard") == 0.5


def test_nothing_to_measure():
    found = MEASURE.compute(Subject(table([(1, "x", None)]), classes=(Classes("keys", ()),)))
    assert [f.value for f in found] == [None, None]
    assert found.notes
