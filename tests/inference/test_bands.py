"""Bands as intervals of numbers."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened, Disclosure
from sfumato.errors import DataError
from sfumato.inference.bands import in_bands, read_bands

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
