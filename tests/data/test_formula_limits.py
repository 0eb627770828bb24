"""What a formula cuts off or rounds, against the formula's own values."""

import math

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.expression import parse
from sfumato.data.formula_limits import formula_limits


@pytest.mark.parametrize(
    ("formula", "expected", "inside"),
    [
        ("min(x, 5)", (-math.inf, 5, 0), "x"),
        ("max(5, x, -1)", (5, math.inf, 0), "x"),
        ("max(min(x, 9), 1)", (1, 9, 0), "x"),
        ("min(x, y, 5)", (-math.inf, 5, 0), "min(x, y)"),
        ("round(x, 1)", (-math.inf, math.inf, 0.1), "x"),
        ("round(x / 5) * 5", (-math.inf, math.inf, 5), "x"),
        ("min(round(x / 5) * 5, 10)", (-math.inf, 10, 5), "x"),
        ("round(min(x, 7.5), -0)", (-math.inf, 7.5, 1), "x"),
        ("1000 * min(x, 5)", (-math.inf, 5000, 0), "1000 * x"),
        ("3 - min(x, 5) / 2", (0.5, math.inf, 0), "3 - x / 2"),
        ("-max(x, 2)", (-math.inf, -2, 0), "-x"),
        ("round(x) + 2", (-math.inf, math.inf, 1), "x + 2"),
        ("min(sqrt(x), 2)", (-math.inf, 2, 0), "sqrt(x)"),
    ],
)
def test_what_comes_out_is_what_is_inside_cut_off_then_rounded(formula, expected, inside):
    found = formula_limits(parse(formula).tree)
    low, high, step = expected
    assert (found.low, found.high) == (low, high)
    assert found.step == pytest.approx(step)
    frame = pl.DataFrame({"x": np.linspace(0, 23, 301), "y": np.linspace(23, 0, 301)})
    made, true = (
        frame.select(parse(f).polars(Codebook(), frame.schema)).to_series().to_numpy() for f in (formula, inside)
    )
    cut = np.clip(true, low, high)
    if not step:
        np.testing.assert_allclose(made, cut, rtol=1e-12)
    else:  # halves may go either way
        assert np.abs(made - cut).max() <= step / 2 + 1e-9
        np.testing.assert_allclose(made / step, np.round(made / step), atol=1e-9)


@pytest.mark.parametrize(
    "formula",
    [
        "x",
        "x + 1",
        "min(x, y)",
        "floor(x)",
        "round(round(x, 1))",
        "min(round(x), 2.5)",
        "round(x) + 0.5",
        "min(x, 5) + y",
        "min(x, 5) ** 2",
        "min(x, 5) * 0",
        "2 / min(x, 5)",
        "max(min(x, 1), 2)",
        "min(x, 5) > 3",
        "log(min(x, 5))",
        "min(2, 3)",
        "if_else(x > 1, min(x, 5), 0)",
    ],
)
def test_nothing_is_said_where_no_interval_is_left(formula):
    assert formula_limits(parse(formula).tree) is None
