"""Columns in codes and numbers, and back."""

import datetime

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_series_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.methods.synthesise.coding import BINS, Coded, coding_of
from tests.methods.synthesise.small import BOOK, survey

DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 58, 999_000)
COLUMNS = {
    "text": pl.Series("v", ["b", "a", None, "b"]),
    "truth": pl.Series("v", [True, False, None, True]),
    "whole": pl.Series("v", [3, -1, None, 7]),
    "small": pl.Series("v", [200, 0, None, 7], dtype=pl.UInt8),
    "number": pl.Series("v", [0.1, -2.35, None, 1e6]),
    "short": pl.Series("v", [0.5, None, 2.25], dtype=pl.Float32),
    "not a number": pl.Series("v", [0.5, float("nan"), None, 2.5]),
    "day": pl.Series("v", [DAY, None, datetime.date(1903, 1, 1)]),
    "moment": pl.Series("v", [MOMENT, None, datetime.datetime(1969, 12, 31)], dtype=pl.Datetime("ms")),
    "category": pl.Series("v", ["b", "a", None], dtype=pl.Categorical),
    "enum": pl.Series("v", ["b", "a", None], dtype=pl.Enum(["b", "a"])),
    "one value": pl.Series("v", [4, 4, 4]),
    "nothing": pl.Series("v", [None, None], dtype=pl.Int64),
}


@pytest.mark.parametrize("column", COLUMNS.values(), ids=COLUMNS)
def test_what_is_coded_comes_back(column):
    coding, coded = coding_of(column, Codebook({"v": Variable()}))
    wanted = column.fill_nan(None) if column.dtype.is_float() else column
    assert_series_equal(coding.series(coded), wanted)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32])
def test_no_zero_has_a_sign(dtype):
    """Whatever is rounded to nothing is 0.0, not -0.0, by which a file would tell it from the data's."""
    coding, coded = coding_of(pl.Series("v", [0.0, 1.0, -2.0], dtype=dtype), Codebook({"v": Variable()}))
    own = coding.series(Coded(coded.state, np.array([-0.3, -0.0, 0.3])))
    assert own.to_frame().write_csv() == "v\n0.0\n0.0\n0.0\n"


@pytest.mark.parametrize("name", [n for n in survey().columns if n != "id"])
def test_a_survey_comes_back(name):
    column = survey()[name]
    assert_series_equal(coding_of(column, BOOK)[0].series(coding_of(column, BOOK)[1]), column)


def test_missing_codes_and_spikes_are_categories():
    column = survey()["income"]
    coding, coded = coding_of(column, BOOK)
    assert set(coding.special) == {-9.0, -8.0, 0.0}
    for value in coding.special:
        np.testing.assert_array_equal(coded.state == coding.special.index(value) + 1, column == value)
    assert coding.decimals == 1


def test_few_values_and_whole_numbers_have_no_spikes():
    few = pl.Series("x", np.repeat(np.arange(1.0, 6.0), 20))
    assert coding_of(few, Codebook({"x": Variable(kind="continuous")}))[0].special == ()
    many = pl.Series("n", [0] * 50 + list(range(1, 51)))
    assert coding_of(many, Codebook({"n": Variable(kind="integer")}))[0].special == ()


def test_numbers_that_stand_for_categories_are_categories():
    coding, coded = coding_of(pl.Series("v", [2, 1, 2]), Codebook({"v": Variable(kind="categorical")}))
    assert (coding.special, len(coding.edges), coded.state.tolist()) == ((1, 2), 0, [2, 1, 2])


def test_categories_stand_in_the_order_of_the_codebook():
    coding, _ = coding_of(survey()["grade"], BOOK)
    assert coding.special == ("low", "mid", "high")
    assert coding.ordered
    assert not coding_of(survey()["town"], BOOK)[0].ordered


def test_bins_hold_about_as_many_numbers_each():
    rng = np.random.default_rng(1)
    coding, coded = coding_of(pl.Series("x", rng.lognormal(size=10_000)), Codebook({"x": Variable(kind="continuous")}))
    many = np.bincount(coding.codes(coded), minlength=coding.levels)
    assert len(many) == BINS
    assert many.min() >= 38  # 10,000 / 256 = 39.1
    assert many.max() <= 41
    assert (np.diff(coding.codes(Coded(np.zeros(3, int), np.array([-1.0, 1.0, 1e9]))).astype(int)) >= 0).all()


def test_drawn_numbers_have_the_decimals_of_the_column():
    column = pl.Series("x", [0.25, 1.5, 3.75, 8.0])
    coding, _ = coding_of(column, Codebook({"x": Variable(kind="continuous")}))
    drawn = coding.series(Coded(np.zeros(2, int), np.array([1.23456, 2.0])))
    assert drawn.to_list() == [1.23, 2.0]
