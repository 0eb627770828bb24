"""The rule for the public: the share of maximal releases that hold a table, or grants to others."""

import polars as pl
import pytest

from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy, PublicRule
from sfumato.gate.public import Publishing
from sfumato.gate.reading import records_of

POLICY = Policy(interval={"count": 2, "width": 4})


@pytest.fixture
def publishing():
    """Of A and B either can be given, not both: two maximal releases."""
    rows = pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]})
    return Publishing(records_of(rows, count="n"))


def test_the_share_is_that_of_the_maximal_releases(publishing):
    a, both = Margin.of([Node("A")]), Margin.of([Node("A"), Node("B")])
    assert publishing.share(a, POLICY) == 0.5
    assert publishing.share(both, POLICY) == 0.0
    assert publishing.share(Margin(), POLICY) == 1.0


def test_half_is_enough_where_half_is_asked(publishing):
    a = Margin.of([Node("A")])
    assert publishing.allows(a, PublicRule(share=0.5), [POLICY], 0)
    assert not publishing.allows(a, PublicRule(share=0.6), [POLICY], 0)


def test_grants_to_others_open_the_door(publishing):
    a, rule = Margin.of([Node("A")]), PublicRule(share=1, grants=3)
    assert [publishing.allows(a, rule, [POLICY], grants) for grants in (0, 2, 3)] == [False, False, True]
