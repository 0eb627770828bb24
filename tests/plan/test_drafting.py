"""The steps that are chosen for a table."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.drafting import K, draft_steps


def steps(frame):
    return draft_steps(frame, profile(frame, Codebook()))


N = 400
YEAR = {"do": "coarsen_date", "to": "year"}


@pytest.fixture
def rng():
    """Each test draws from its beginning, whatever ran before."""
    return np.random.default_rng(8)


def test_numbers_are_averaged_among_equal_keys(rng):
    found = steps(pl.DataFrame({"sex": ["f", "m"] * (N // 2), "pay": rng.lognormal(10, 1, N)}))
    assert (found.keys, found.averaged) == (("sex",), ("pay",))
    assert found.smallest == 2 * K
    assert found.ranges == {"pay": (0, None)}


def test_a_number_that_many_share_becomes_bands(rng):
    found = steps(pl.DataFrame({"age": rng.integers(18, 90, 5000)}))
    assert found.averaged == ()
    assert found.forms["age"].band
    assert found.smallest == K


def test_dates_become_years_or_leave(rng):
    born = [dt.date(1950 + i % 50, 1 + i % 12, 1) for i in range(N)]
    found = steps(pl.DataFrame({"birth_date": born, "pay": rng.lognormal(10, 1, N)}))
    assert found.years == {"birth_date": YEAR}
    few = steps(pl.DataFrame({"birth_date": born[:3]}))
    assert (few.years, few.dropped, few.unread) == ({}, ("birth_date",), ())


@pytest.mark.parametrize(
    ("written", "more"),
    [
        ("%Y-%m-%d", {}),
        ("%d/%m/%Y", {}),
        ("%m/%d/%Y", {}),
        ("%d %B %Y", {}),
        ("%Y%m%d", {"format": "%Y%m%d"}),
    ],
)
def test_dates_in_texts_become_years(rng, written, more):
    born = pl.Series([dt.date(1950 + i % 50, 1 + i % 12, 1 + i % 28) for i in range(N)]).dt.strftime(written)
    found = steps(pl.DataFrame({"dob": born.cast(pl.Int64) if more else born, "pay": rng.lognormal(10, 1, N)}))
    assert found.years == {"dob": YEAR | more}
    assert found.unread == ()


def test_a_few_texts_that_are_no_dates_become_missing():
    born = [f"{1 + i % 28}/{1 + i % 12}/{1950 + i % 50}" for i in range(N - 1)] + ["31/02/1960"]
    assert steps(pl.DataFrame({"dob": born})).years == {"dob": YEAR | {"invalid": "missing"}}


def test_dates_that_can_be_read_in_two_centuries_leave(rng):
    born = [f"{1 + i % 28:02}/{1 + i % 12:02}/{50 + i % 50}" for i in range(N)]
    found = steps(pl.DataFrame({"dob": born, "pay": rng.lognormal(10, 1, N)}))
    assert (found.years, found.dropped, found.unread) == ({}, ("dob",), ("dob",))


def test_postcodes_are_coarsened_as_far_as_their_combinations_need(rng):
    homes = [f"{rng.choice(['LS', 'LS', 'LS', 'W', 'EH'])}{rng.integers(1, 9)} {i % 10}AB" for i in range(2000)]
    alone = steps(pl.DataFrame({"postcode": homes}))
    assert alone.forms["postcode"].coarsen == {"do": "coarsen_postcode", "to": "district"}
    many = {f"k{j}": rng.choice(["a", "b", "c"], 2000) for j in range(3)}
    names = dict(zip(("sex", "region", "job"), many.values(), strict=True))
    beside = steps(pl.DataFrame({"postcode": homes, **names}))
    assert beside.forms["postcode"].coarsen == {"do": "coarsen_postcode", "to": "area"}
    assert steps(pl.DataFrame({"postcode": homes[:12]})).dropped == ()
    assert steps(pl.DataFrame({"postcode": [f"QA{i} 1AA" for i in range(90)]})).dropped == ("postcode",)


@pytest.mark.parametrize(
    ("name", "codes", "parameters"),
    [
        ("soc2020", [1111, 1112, 2211, 2212, 3111, 9273], {"scheme": "soc2020"}),
        ("ISCO08", ["0110", "0210", "1111", "2211", "2212"], {"scheme": "isco"}),
        ("sic", [1110, 1130, 47110, 47190], {"scheme": "sic"}),
        ("icd10", ["I21.0", "I21.9", "J45.0", "E11.9"], {"scheme": "icd10"}),
    ],
)
def test_codes_of_classifications_are_cut(name, codes, parameters):
    column = pl.Series(name, [codes[i % len(codes)] for i in range(N)])
    found = steps(column.to_frame())
    coarsen = found.forms[name].coarsen
    assert coarsen["do"] == "truncate_code"
    assert coarsen["scheme"] == parameters["scheme"]
    assert coarsen["keep"] < {"sic": 5}.get(name, 4)


def test_coordinates_leave_and_it_is_said(rng):
    found = steps(pl.DataFrame({"lat": rng.uniform(50, 51, N), "lon": rng.uniform(0, 1, N)}))
    assert found.dropped == found.coordinates == ("lat", "lon")


def test_numbers_that_too_few_have_leave(rng):
    pay = rng.lognormal(10, 1, N)
    rare = pl.Series("bonus", [1.5 + i for i in range(4)] + [None] * (N - 4))
    found = steps(pl.DataFrame({"pay": pay}).with_columns(rare))
    assert found.crowded == ("bonus",)
    assert found.averaged == ("pay",)


def test_gaps_in_many_patterns_are_a_category_of_bands(rng):
    """Of ten numbers with gaps here and there, those that make too many patterns are cut into bands, or leave."""
    holes = {f"v{j}": np.where(rng.random(2000) < 0.3, np.nan, rng.normal(size=2000)) for j in range(10)}
    found = steps(pl.DataFrame(holes))
    assert found.keys
    assert {*found.averaged, *found.keys, *found.crowded} == {*holes}
    assert all(form.band for form in found.forms.values())
    codes = np.column_stack([*found.codes.values(), *(np.isnan(holes[n]) for n in found.averaged)])
    sizes = np.unique(codes, axis=0, return_counts=True)[1]
    assert sizes[sizes < found.smallest].sum() <= 0.05 * 2000


def test_few_patterns_of_missing_values_are_kept_apart(rng):
    pay = pl.Series("pay", [*rng.lognormal(10, 1, N - 50), *[None] * 50])
    found = steps(pl.DataFrame({"bmi": rng.normal(25, 4, N)}).with_columns(pay))
    assert (found.within, found.averaged) == (True, ("bmi", "pay"))
    assert not steps(pl.DataFrame({"bmi": rng.normal(25, 4, N)})).within


def test_a_constant_needs_no_protection(rng):
    found = steps(pl.DataFrame({"bmi": [1.5] * N, "pay": rng.lognormal(10, 1, N)}))
    assert (found.constant, found.averaged) == (("bmi",), ("pay",))


def test_a_table_of_few_people_releases_no_key():
    found = steps(pl.DataFrame({"sex": ["f", "m"] * 2, "pay": [1.5, 2.5, 3.25, 4.0]}))
    assert (found.keys, found.averaged) == ((), ())
    assert set(found.crowded) == {"sex", "pay"}
