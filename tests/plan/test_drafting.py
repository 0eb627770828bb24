"""The steps that are chosen for a table."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.drafting import K, draft_steps


def steps(frame):
    return draft_steps(frame, profile(frame, Codebook()))


RNG = np.random.default_rng(8)
N = 400


def test_numbers_are_averaged_among_equal_keys():
    found = steps(pl.DataFrame({"sex": ["f", "m"] * (N // 2), "pay": RNG.lognormal(10, 1, N)}))
    assert (found.keys, found.averaged) == (("sex",), ("pay",))
    assert found.smallest == 2 * K
    assert found.ranges == {"pay": (0, None)}


def test_a_number_that_many_share_becomes_bands():
    found = steps(pl.DataFrame({"age": RNG.integers(18, 90, 5000)}))
    assert found.averaged == ()
    assert found.forms["age"].band
    assert found.smallest == K


def test_dates_become_years_or_leave():
    born = [dt.date(1950 + i % 50, 1 + i % 12, 1) for i in range(N)]
    found = steps(pl.DataFrame({"birth_date": born, "pay": RNG.lognormal(10, 1, N)}))
    assert found.years == {"birth_date_year": "birth_date"}
    few = steps(pl.DataFrame({"birth_date": born[:3]}))
    assert (few.years, few.dropped) == ({}, ("birth_date",))


def test_numbers_that_too_few_have_leave():
    pay = RNG.lognormal(10, 1, N)
    rare = pl.Series("bonus", [1.5 + i for i in range(4)] + [None] * (N - 4))
    found = steps(pl.DataFrame({"pay": pay}).with_columns(rare))
    assert found.crowded == ("bonus",)
    assert found.averaged == ("pay",)


def test_many_patterns_of_missing_values_are_filled():
    holes = {f"v{j}": np.where(RNG.random(2000) < 0.3, np.nan, RNG.normal(size=2000)) for j in range(10)}
    found = steps(pl.DataFrame(holes))
    assert found.filled == found.averaged
    assert len(found.averaged) == 10
    assert not found.within


def test_few_patterns_of_missing_values_are_kept_apart():
    pay = pl.Series("pay", [*RNG.lognormal(10, 1, N - 50), *[None] * 50])
    found = steps(pl.DataFrame({"bmi": RNG.normal(25, 4, N)}).with_columns(pay))
    assert (found.within, found.filled) == (True, ())
    assert not steps(pl.DataFrame({"bmi": RNG.normal(25, 4, N)})).within


def test_a_constant_needs_no_protection():
    found = steps(pl.DataFrame({"bmi": [1.5] * N, "pay": RNG.lognormal(10, 1, N)}))
    assert (found.constant, found.averaged) == (("bmi",), ("pay",))


def test_a_table_of_few_people_releases_no_key():
    found = steps(pl.DataFrame({"sex": ["f", "m"] * 2, "pay": [1.5, 2.5, 3.25, 4.0]}))
    assert (found.keys, found.averaged) == ((), ())
    assert set(found.crowded) == {"sex", "pay"}
