"""Levels and codes of a covariate."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.inference.covariates.covariate import Covariate, category_codes, level_text


def test_levels_are_written_alike():
    assert [level_text(v) for v in (1, 1.0, 1.5, "1", True)] == ["1", "1", "1.5", "1", "True"]


def test_codes_are_places_among_the_levels():
    table = pl.DataFrame({"ward": [10, -9, 9, None]})
    book = Codebook({"ward": Variable(missing=[-9])})
    np.testing.assert_array_equal(category_codes(table, book, "ward", ("9", "10")), [1, np.nan, 0, np.nan])


def test_the_naive_value_of_a_noisy_code_is_the_nearest_level():
    found = Covariate("x", ("a", "b"), np.array([-0.4, 0.8, 7.0]), support=np.arange(2.0), table=np.zeros((3, 2)))
    assert found.naive.tolist() == [0, 1, 1]
    assert not found.exact
