"""A year that is tried: requests are counted right, and a stricter policy gives no more."""

import random

import polars as pl
import pytest

from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.simulate import QUARTERS, simulate


@pytest.fixture(scope="module")
def year():
    draw = random.Random(4)
    rows = pl.DataFrame(
        {name: [draw.randrange(size) for _ in range(2000)] for name, size in zip("ABCDE", (2, 3, 4, 5, 6), strict=True)}
    )
    policies = {
        "loose": Policy(interval={"count": 2, "width": 3}),
        "strict": Policy(interval={"count": 40, "width": 80}),
    }
    levels = {"E": {"half": {str(i): str(i // 3) for i in range(6)}}}
    data = records_of(rows, levels=levels)
    return simulate(data, policies, 42, seed=3), simulate(data, policies, 42, seed=3)


def test_every_request_is_counted_once(year):
    first, again = year
    assert [(q.policy, q.quarter) for q in first] == [
        (p, q) for p in ("loose", "strict") for q in range(1, QUARTERS + 1)
    ]
    for quarter in first:
        assert quarter.granted + quarter.repeated + quarter.refused + quarter.undecided == quarter.requests
    assert [sum(q.requests for q in first if q.policy == p) for p in ("loose", "strict")] == [42, 42]
    assert [(q.granted, q.refused, q.possible) for q in first] == [(q.granted, q.refused, q.possible) for q in again]


def test_a_stricter_policy_leaves_fewer_tables_and_nobody_knows_too_much(year):
    loose, strict = ([q for q in year[0] if q.policy == p] for p in ("loose", "strict"))
    assert loose[-1].possible[2] > strict[-1].possible[2]
    assert all(q.narrow == 0 for q in year[0])
