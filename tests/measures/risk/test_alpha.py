import pytest
from hypothesis import given

from sfumato.measures.risk.alpha import MEASURE, alpha
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, distributions, records, table


@pytest.mark.slow
@given(records)
def test_as_counted_record_by_record(rows):
    groups, _, _ = distributions(rows)
    assert alpha(table(rows), BY, "ill") == (pytest.approx(max(max(g.values()) for g in groups)) if groups else None)


def test_by_hand_with_missing_values_ignored_or_a_category():
    rows = [(1, "x", "low"), (1, "x", None), (1, "x", None), (1, "x", "mid"), (1, "x", "low")]
    assert alpha(table(rows), BY, "ill") == pytest.approx(2 / 3)
    assert alpha(table(rows), BY, "ill", missing="category") == pytest.approx(2 / 5)


def test_one_line_for_each_group_and_variable():
    rows = [(1, "x", "low"), (2, "x", "low")]
    subject = Subject(table(rows), classes=(Classes("keys", ("a",)), Classes("strata", ("b",))), sensitive=("ill",))
    assert [(f.variable, f.group, f.value) for f in MEASURE.compute(subject)] == [
        ("ill", "keys", 1.0),
        ("ill", "strata", 1.0),
    ]
