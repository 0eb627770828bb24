"""Sums to all their digits."""

import math

import polars as pl
import pytest

from sfumato.gate.analyses.full_sums import leave_open
from sfumato.gate.margin import Margin, Node, squared
from sfumato.gate.reading import records_of


def of(many, ill, big=100.0):
    """So many people of whom so many are ill, with pays that are all different."""
    pay = [*(100 + i / 7 for i in range(many - 1)), big]
    rows = pl.DataFrame({"ill": ["y"] * ill + ["n"] * (many - ill), "pay": pay})
    return records_of(rows)


BY_ILL, ALL, SQUARES = (
    Margin.of([Node("ill")], value="pay"),
    Margin.of([], value="pay"),
    Margin.of([], value=squared("pay")),
)


@pytest.mark.parametrize(("many", "ill"), [(62, 30), (64, 32), (66, 33), (200, 10), (200, 13), (2000, 7), (2000, 8)])
def test_sets_are_counted_as_binomials_are(many, ill):
    assert leave_open(of(many, ill), [BY_ILL]) == (math.log2(math.comb(many, ill)) > 60)


def test_all_people_are_one_set_that_tells_nothing():
    assert leave_open(of(60, 10), [ALL, SQUARES])
    assert not leave_open(of(60, 10), [ALL, SQUARES, BY_ILL])


def test_tables_of_counts_are_not_looked_at():
    assert leave_open(of(60, 10), [Margin.of([Node("ill")])])
