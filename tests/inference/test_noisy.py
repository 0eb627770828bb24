"""Numbers with noise, bounds and rounding."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive
from sfumato.data.error_model import Growth
from sfumato.errors import DataError
from sfumato.inference.covariates import read_covariate

BOOK = Codebook()


def test_noise_that_grows_has_its_own_strength_at_each_true_value():
    part = Additive(("x",), [[0.04]], values=(0, 10), grows={"x": Growth(centre=0, scale=1, beyond=2)})
    found = read_covariate(pl.DataFrame({"x": [9.0, 1.0]}), BOOK, "x", False, [part])
    np.testing.assert_allclose(found.table[0], [stats.norm(0, 0.2).logpdf(9), stats.norm(10, 1.0).logpdf(9)])


def test_a_number_in_c_has_levels_and_keeps_what_was_released():
    part = Additive(("x",), [[0.1]], values=(1, 2))
    found = read_covariate(pl.DataFrame({"x": [1.2, 1.9]}), BOOK, "x", True, [part])
    assert found.levels == ("1", "2")
    assert found.naive.tolist() == [0.0, 1.0]
    assert found.key.tolist() == [1.2, 1.9]


def test_only_values_at_a_bound_are_hidden_where_there_is_no_noise():
    part = Additive(("x",), [[0.0]], bounds={"x": (0.0, 4.0)})
    found = read_covariate(pl.DataFrame({"x": [0.0, 1.0, 4.0, None, 4.0]}), BOOK, "x", False, [part])
    (grid,) = found.grids
    assert grid.rows.tolist() == [0, 2, 4]
    assert np.all(grid.nodes[0] < 0)
    assert np.all(grid.nodes[1:] > 4)


def test_rounded_values_are_known_to_half_a_multiple():
    part = Additive(("x",), [[0.0]], rounded={"x": 2.0})
    found = read_covariate(pl.DataFrame({"x": [0.0, 2.0, 8.0]}), BOOK, "x", False, [part])
    for grid in found.grids:
        for row, nodes in zip(grid.rows, grid.nodes, strict=True):
            assert np.all(np.abs(nodes - found.values[row]) < 1)
            assert np.ptp(nodes) > 1.5


def test_noise_that_is_correlated_and_not_plain_is_refused():
    part = Additive(("x", "v"), [[0.1, 0.05], [0.05, 0.1]], rounded={"x": 1.0})
    with pytest.raises(DataError, match="correlated with that on other columns"):
        read_covariate(pl.DataFrame({"x": [0.0, 2.0, 8.0]}), BOOK, "x", False, [part])


DRAWN = np.random.default_rng(2).integers(0, 2, 400) + np.random.default_rng(3).normal(0, 0.5, 400)


@pytest.mark.parametrize(
    ("values", "options", "says"),
    [
        (DRAWN.round().clip(0, 1), {}, "nothing but true values"),
        (DRAWN.round().clip(0, 1), {"clipped": True}, "nothing but true values"),
        (DRAWN * 0.5, {}, "larger than all the variation"),
        (DRAWN * 3.0, {}, "spread further"),
    ],
)
def test_a_disclosure_of_other_values_is_refused(values, options, says):
    part = Additive(("x",), [[0.25]], values=(0, 1), **options)
    with pytest.raises(DataError, match=says):
        read_covariate(pl.DataFrame({"x": values}), BOOK, "x", False, [part])
    fitting = Additive(("x",), [[0.25]], values=(0, 1))
    assert read_covariate(pl.DataFrame({"x": DRAWN}), BOOK, "x", False, [fitting]).table.any()


def test_a_column_both_noisy_and_exact_is_refused():
    table = pl.DataFrame({"x": DRAWN, "s": [0, 1] * 200})
    noisy, none = Additive(("x",), [[0.25]], values=(0, 1)), Additive(("x",), [[0.0]], values=(0, 1))
    with pytest.raises(DataError, match="both that it has noise and that it has none"):
        read_covariate(table, BOOK, "x", False, [noisy, none])
    apart = [noisy.model_copy(update={"where": {"s": 0}}), none.model_copy(update={"where": {"s": 1}})]
    assert not read_covariate(table, BOOK, "x", False, apart).exact
