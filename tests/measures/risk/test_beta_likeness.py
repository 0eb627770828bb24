import math

import pytest
from hypothesis import given

from sfumato.measures.risk.beta_likeness import MEASURE, beta_basic, beta_enhanced
from sfumato.measures.subject import Classes, Subject
from tests.measures.tables import BY, distributions, records, table


@pytest.mark.slow
@given(records)
def test_by_definition(rows):
    """Cao & Karras (2012), definitions 2 and 3: gains of values that are more frequent than elsewhere."""
    groups, whole, _ = distributions(rows)
    gains = [((q - whole[v]) / whole[v], -math.log(whole[v])) for g in groups for v, q in g.items() if q > whole[v]]
    basic = max((gain for gain, _ in gains), default=0.0)
    holds = all(gain <= most + 1e-12 for gain, most in gains)
    assert beta_basic(table(rows), BY, "ill") == (pytest.approx(basic, abs=1e-12) if groups else None)
    expected = pytest.approx(basic, abs=1e-12) if groups and holds else None
    assert beta_enhanced(table(rows), BY, "ill") == expected


def test_a_frequent_value_may_gain_less():
    """p = 1/2, q = 1: a gain of 1, above −ln(1/2); with q = 2/3 it is 1/3, below."""
    alone = table([(1, "x", "low"), (2, "x", "mid")])
    assert beta_basic(alone, ["a"], "ill") == 1
    assert beta_enhanced(alone, ["a"], "ill") is None
    mixed = table(
        [(1, "x", "low"), (1, "x", "low"), (1, "x", "mid"), (2, "x", "mid"), (2, "x", "mid"), (2, "x", "low")]
    )
    assert beta_enhanced(mixed, ["a"], "ill") == pytest.approx(1 / 3)
    found = MEASURE.compute(Subject(alone, classes=(Classes("keys", ("a",)),), sensitive=("ill",)))
    assert [(f.measure, f.value) for f in found] == [("beta_basic", 1.0), ("beta_enhanced", None)]
    assert "no beta" in found.notes[0]
