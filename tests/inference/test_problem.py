"""What is hidden of a model, and the naive design."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Misclassified
from sfumato.errors import DataError
from sfumato.inference.problem import additive_parts, check_correlations
from tests.inference.test_assemble import FRAME, problem

NOISE = pl.Series(np.random.default_rng(1).normal(0, 0.2**0.5, FRAME.height))


@pytest.mark.parametrize(("columns", "values"), [(("a", "x"), {"a": (0, 1)}), (("y", "a"), {"y": (0, 1), "a": (0, 1)})])
def test_noise_correlated_across_kinds_is_refused(columns, values):
    part = Additive(columns, [[0.2, 0.1], [0.1, 0.2]], values=values)
    with pytest.raises(DataError, match="correlated"):
        table = FRAME.with_columns(pl.col(n) + NOISE for n in columns if n in values)
        check_correlations(problem(table, "y ~ a + x", [part]), "y")


def test_covariates_are_exact_discrete_or_continuous():
    parts = [Misclassified("a", [[0.9, 0.1], [0.1, 0.9]]), Additive(("x",), [[0.1]])]
    found = problem(FRAME, "y ~ a + x + w", parts)
    names = [[c.name for c in some] for some in (found.exact, found.discrete, found.continuous)]
    assert names == [["w"], ["a"], ["x"]]
    assert additive_parts(found) == [parts[1]]


def test_the_naive_design_has_released_values_with_their_powers():
    frame = pl.DataFrame({"y": [0, 1, 1], "x": [2.0, None, -3.0], "w": [1.0, 2.0, 3.0]})
    design = problem(frame, "y ~ I(x^2) + x:w").naive_design()
    np.testing.assert_array_equal(design, [[1, 4, 2], [1, np.nan, np.nan], [1, 9, -9]])


def test_powers_beyond_numbers_are_refused():
    with pytest.raises(DataError, match="too large for a number"):
        problem(pl.DataFrame({"y": [0, 1], "x": [1e80, 1.0]}), "y ~ I(x^4)").naive_design()
