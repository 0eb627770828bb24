from itertools import combinations

import pytest
from hypothesis import given

from sfumato.measures.risk.distinction import MEASURE, distinction, separation
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, keyed, records, sizes, table


@pytest.mark.slow
@given(records)
def test_as_counted_pair_by_pair(rows):
    pairs = [one[:2] != other[:2] for one, other in combinations(keyed(rows), 2)]
    assert distinction(table(rows), BY) == pytest.approx(len(sizes(rows)) / len(keyed(rows)))
    assert separation(table(rows), BY) == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


def test_by_hand():
    """Motwani & Xu (2008), section 1: of n records in u combinations the distinct ratio is u/n."""
    rows = [(1, "x", None), (1, "x", None), (1, "y", None), (2, "y", None)]
    subject = Subject(table(rows), classes=(Classes("keys", BY), Classes("strata", ("a",))))
    assert [(f.measure, f.group, f.value) for f in MEASURE.compute(subject)] == [
        ("distinction", "keys", 0.75),
        ("separation", "keys", pytest.approx(5 / 6)),
        ("distinction", "strata", 0.5),
        ("separation", "strata", 0.5),
    ]
