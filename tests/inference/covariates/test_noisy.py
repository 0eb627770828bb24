"""Numbers with noise, bounds and rounding."""

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive
from sfumato.data.error_model import Growth
from sfumato.errors import DataError
from sfumato.inference.covariates.known import read_covariate
from sfumato.inference.covariates.noisy import refuse_misfit

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
    found = read_covariate(pl.DataFrame({"x": [0.0, 2.0, 8.0]}), BOOK, "x", False, [part])
    with pytest.raises(DataError, match="correlated with that on other columns"):
        assert found.grids


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


def test_a_number_in_c_has_its_levels_in_the_order_of_the_codebook():
    book = Codebook({"x": Variable(kind="ordinal", order=(3, 1, 2))})
    part = Additive(("x",), [[0.01]], values=(1, 2, 3))
    found = read_covariate(pl.DataFrame({"x": [1.1, 2.9, None]}), book, "x", True, [part])
    assert found.levels == ("3", "1", "2")
    assert found.naive[:2].tolist() == [1.0, 0.0]
    np.testing.assert_allclose(found.table[1], stats.norm([3, 1, 2], 0.1).logpdf(2.9))


EVERY = np.ones(400, dtype=bool)
NORMAL = np.random.default_rng(6).normal(size=400)
LAWS = {
    "normal": {},
    "laplace": {"distribution": "laplace"},
    "uniform": {"distribution": "uniform"},
    "grows": {"grows": {"x": Growth(centre=0, scale=1, beyond=2)}},
    "rounded": {"rounded": {"x": 0.5}},
    "bounds that no value meets": {"bounds": {"x": (-99, 99)}},
}


@pytest.mark.parametrize("law", LAWS)
def test_noise_beyond_all_variation_is_refused_under_every_law(law):
    z = 0.5 * np.round(NORMAL / 0.5)
    with pytest.raises(DataError, match="larger than all the variation"):
        read_covariate(pl.DataFrame({"x": z}), BOOK, "x", False, [Additive(("x",), [[25.0]], **LAWS[law])])
    read_covariate(pl.DataFrame({"x": z}), BOOK, "x", False, [Additive(("x",), [[0.9]], **LAWS[law])])


def spread_exactly(variance, n):
    """Values with the variance (divisor n − 1) that is asked for."""
    z = np.linspace(-1, 1, n)
    return z * np.sqrt(variance) / z.std(ddof=1)


@pytest.mark.parametrize(("law", "squares"), [("normal", 2.0), ("laplace", 5.0), ("uniform", 0.8)])
def test_noise_is_refused_from_three_standard_errors_on(law, squares):
    """The variance of n squared standardised values is (kurtosis − 1) / n: kurtosis 3, 6 and 9/5."""
    least = 1 - 3 * np.sqrt(squares / 400)
    told = [(Additive(("x",), [[4.0]], **LAWS[law]), EVERY)]
    refuse_misfit("x", spread_exactly(4.0 * least * 1.01, 400), told)
    with pytest.raises(DataError, match="larger than all the variation"):
        refuse_misfit("x", spread_exactly(4.0 * least * 0.99, 400), told)


def test_each_strength_of_noise_is_compared_by_itself():
    few = EVERY.copy()
    few[100:] = False
    told = [(Additive(("x",), [[0.01]]), ~few), (Additive(("x",), [[1e4]]), few)]
    refuse_misfit("x", np.where(few, 100 * NORMAL, NORMAL), told)  # the mean variance is beyond that of most
    with pytest.raises(DataError, match="larger than all the variation"):
        refuse_misfit("x", np.where(few, NORMAL, 100 * NORMAL), told)


def test_small_strata_are_taken_together():
    group = np.arange(400) // 10
    variance = 1 + group / 40
    told = [(Additive(("x",), [[1 + k / 40]]), group == k) for k in range(40)]
    refuse_misfit("x", NORMAL * np.sqrt(variance), told)
    with pytest.raises(DataError, match="larger than all the variation"):
        refuse_misfit("x", 0.5 * NORMAL * np.sqrt(variance), told)


def test_rounding_may_hide_noise_and_shared_draws_are_few():
    rounded = Additive(("x",), [[0.04]], rounded={"x": 2.0})
    refuse_misfit("x", np.full(400, 2.0), [(rounded, EVERY)])
    z = spread_exactly(0.75, 400)  # below 1 − 3 √(2 / 400), not below 1 − 3 √(2 / 80)
    refuse_misfit("x", z, [(Additive(("x",), [[1.0]], draw_by="household"), EVERY)])
    with pytest.raises(DataError, match="larger than all the variation"):
        refuse_misfit("x", z, [(Additive(("x",), [[1.0]]), EVERY)])


def test_rounding_may_hide_noise_on_known_values():
    """A rare 1 and noise of sd .3 rounded to whole numbers: 90% of the noise is rounded away."""
    rng = np.random.default_rng(8)
    z = np.round((np.arange(1000) < 10) + rng.normal(0, 0.3, 1000))
    part = Additive(("x",), [[0.09]], values=(0, 1), rounded={"x": 1.0})
    assert read_covariate(pl.DataFrame({"x": z}), BOOK, "x", False, [part]).table.shape == (1000, 2)


@pytest.mark.parametrize("values", [(), (-1, 0, 1)])
@pytest.mark.parametrize(
    ("z", "options", "says"),
    [
        ([0.0, 1.0, -0.5], {"bounds": {"x": (None, 0)}}, "beyond the bounds"),
        ([0.0, 1.0, -0.5], {"bounds": {"x": (0, None)}}, "beyond the bounds"),
        ([0.0, 1.0, -0.5], {"bounds": {"x": (-0.5, 1)}}, None),
        ([0.1, 0.4, 0.75], {"rounded": {"x": 0.1}}, "no multiples"),
        ([0.1, 0.1 + 0.2, 0.7], {"rounded": {"x": 0.1}}, None),
        ([0.1, 0.3, 0.75], {"rounded": {"x": 0.1}, "bounds": {"x": (None, 0.75)}}, None),
        ([0.1, 0.3, 0.8], {"rounded": {"x": 0.1}, "bounds": {"x": (None, 0.76)}}, None),  # the bound, then rounded
        ([0.1, 0.3, 0.9], {"rounded": {"x": 0.1}, "bounds": {"x": (None, 0.76)}}, "beyond the bounds"),
        ([1234.5, 0.1, 99.9], {"rounded": {"x": 0.1}}, None),
    ],
)
def test_values_that_the_disclosure_rules_out_are_refused(z, options, says, values):
    part = Additive(("x",), [[0.01]], values=values, **options)
    for dtype in (pl.Float64, pl.Float32):  # of the latter seven digits are left
        table = pl.DataFrame({"x": pl.Series(z, dtype=dtype)})
        if says:
            with pytest.raises(DataError, match=says):
                read_covariate(table, BOOK, "x", False, [part])
        else:
            assert not read_covariate(table, BOOK, "x", False, [part]).exact


def test_what_a_later_step_changed_need_not_be_as_an_earlier_one_left_it():
    rounded = Additive(("x",), [[0.0]], rounded={"x": 1.0})
    told = [(rounded, EVERY), (Additive(("x",), [[0.5]]), EVERY)]
    refuse_misfit("x", NORMAL, told)
    with pytest.raises(DataError, match="no multiples"):
        refuse_misfit("x", NORMAL, told[::-1])
