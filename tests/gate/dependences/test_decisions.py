"""What is found counts in decisions: what it lets an attacker see is refused."""

import numpy as np
import polars as pl
import pytest

from sfumato.gate.decision import judge
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from tests.gate.conftest import table

POLICY = Policy(interval={"count": 4, "width": 10})


def stays(seed=1, n=1000):
    """Stays of patients with two flags, the second of which says more than the first."""
    rng = np.random.default_rng(seed)
    days = rng.integers(1, 60, n)
    ward = rng.choice(["a", "b", "c"], n)
    days[ward == "c"] = 3
    days[np.flatnonzero(ward == "c")[:27]] = 20
    days[np.flatnonzero(ward == "c")[:25]] = 40
    return pl.DataFrame({"ward": ward, "over7": days > 7, "over30": days > 30})


@pytest.mark.parametrize("counted", [False, True])
def test_nested_flags_do_not_give_a_difference(counted):
    frame = stays()
    if counted:
        frame = frame.group_by(frame.columns).len("n")
    records = records_of(frame, count="n" if counted else None)
    first, second = table("ward", "over7"), table("ward", "over30")  # of ward c 27 and 25: two of 8 to 30 days
    assert judge(records, [], first, POLICY).granted
    assert judge(records, [first], second, POLICY).decision == "refused"
    unsearched = records_of(frame, count="n" if counted else None, search=False)
    assert judge(unsearched, [first], second, POLICY).granted
