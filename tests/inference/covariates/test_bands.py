"""Bands as intervals of numbers."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened, Disclosure
from sfumato.errors import DataError
from sfumato.inference.covariates.bands import in_bands, read_bands

BANDS = {"below 18": (None, 18), "18 to below 40": (18, 40), "40 to below 60": (40, 60), "60 and over": (60, None)}
TOLD = Coarsened(("age",), bands=BANDS)


def test_ends_and_middles():
    table = pl.DataFrame({"age": ["60 and over", None, "18 to below 40", "below 18"]})
    found = read_bands(table, Codebook(), "age", TOLD)
    np.testing.assert_array_equal(found.low, [60, np.nan, 18, -np.inf])
    np.testing.assert_array_equal(found.high, [np.inf, np.nan, 40, 18])
    np.testing.assert_array_equal(found.middle, [70.5, np.nan, 29, 7.5])  # closed bands are 21 wide on average


def test_only_parts_with_bands_count():
    words = Coarsened(("age",), how="to broader categories")
    assert in_bands(Disclosure([words]), "age") is None
    assert in_bands(Disclosure([words, TOLD]), "age") is TOLD
    assert in_bands(Disclosure([TOLD]), "sex") is None


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (Coarsened(("age",), bands={"young": (None, 40), "old": (40, None)}), "has both ends"),
        (Coarsened(("age",), bands={"18 to below 40": (18, 40)}), "not those of its disclosure"),
    ],
)
def test_other_bands_are_refused(part, says):
    table = pl.DataFrame({"age": ["young", "old"] if "young" in part.bands else ["60 and over", "18 to below 40"]})
    with pytest.raises(DataError, match=says):
        read_bands(table, Codebook(), "age", part)


@pytest.mark.parametrize("dtype", [pl.Float64, pl.Float32, pl.Int8, pl.String])
@pytest.mark.parametrize("other", ["3", "03", "3.0"])
def test_labels_that_look_like_numbers_may_be_held_as_numbers(dtype, other):
    part = Coarsened(("age",), bands={"1": (0, 30), "2": (30, 60), other: (60, None)})
    held = ["2", None, other if dtype == pl.String else "3"]
    table = pl.DataFrame({"age": pl.Series(held).cast(pl.Float64).cast(dtype) if dtype != pl.String else held})
    found = read_bands(table, Codebook(), "age", part)
    np.testing.assert_array_equal(found.low, [30, np.nan, 60])
    np.testing.assert_array_equal(found.high, [60, np.nan, np.inf])


@pytest.mark.parametrize("values", [[1.0, 2.5], [1.0, 4.0]])
def test_numbers_that_are_no_labels_are_refused(values):
    part = Coarsened(("age",), bands={"1": (0, 30), "2": (30, 60), "unknown": (60, None)})
    with pytest.raises(DataError, match="not those of its disclosure"):
        read_bands(pl.DataFrame({"age": values}), Codebook(), "age", part)
    twice = Coarsened(("age",), bands={"1": (0, 30), "01": (30, 60)})
    with pytest.raises(DataError, match="not those of its disclosure"):
        read_bands(pl.DataFrame({"age": [1.0]}), Codebook(), "age", twice)
