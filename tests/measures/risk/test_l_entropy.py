import math

import pytest
from hypothesis import given

from sfumato.measures.measuring import Measuring
from sfumato.measures.risk.l_entropy import MEASURE, l_entropy
from sfumato.measures.subject import KEYS_AND_OTHERS, Classes, Subject
from tests.measures.tables import BY, distributions, records, table


@pytest.mark.slow
@given(records)
def test_as_counted_record_by_record(rows):
    groups, _, _ = distributions(rows)
    expected = [math.prod(q**-q for q in g.values()) for g in groups]
    assert l_entropy(table(rows), BY, "ill") == (pytest.approx(min(expected)) if groups else None)


def test_equally_frequent_values_count_each():
    rows = [(1, "x", value) for value in ("low", "mid", "high", "top")]
    assert l_entropy(table(rows), BY, "ill") == pytest.approx(4)
    assert l_entropy(table(rows), ("ill",), "a") == 1


def test_of_several_variables_each_beside_the_others():
    """Given a alone every class has two values of b and of ill; who knows the one knows the other."""
    rows = [(1, "x", "low"), (1, "y", "mid"), (2, "x", "low"), (2, "y", "mid")]
    subject = Subject(
        table(rows), classes=(Classes("keys", ("a",)),), sensitive=("ill", "b"), how=Measuring(together=True)
    )
    assert {(f.variable, f.group): pytest.approx(f.value) for f in MEASURE.compute(subject)} == {
        ("ill", "keys"): 2.0,
        ("b", "keys"): 2.0,
        ("ill", KEYS_AND_OTHERS): 1.0,
        ("b", KEYS_AND_OTHERS): 1.0,
    }
