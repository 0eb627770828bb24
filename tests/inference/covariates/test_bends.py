"""Squares and products of exact covariates that a hidden number hangs on."""

import numpy as np
import polars as pl

from sfumato.data.error_model import Additive
from sfumato.inference.fit import fit

RNG = np.random.default_rng(4)
N = 2000
W, V = RNG.normal(size=(2, N))
NOISE, OWN, ERRORS = RNG.normal(0, 0.6, N), RNG.normal(size=N), RNG.normal(size=N)
TOLD = [Additive(("x",), [[0.36]])]


def bends(x):
    table = pl.DataFrame({"y": x + ERRORS, "x": x + NOISE, "w": W, "v": V})
    return fit("y ~ x + w + v", table, TOLD, method="ml", hidden=1)


def test_a_square_and_a_product_are_found():
    found = bends(0.5 * W**2 - 0.4 * W * V + OWN)
    said = found.hidden_sentences()[1]
    assert "w²" in said
    assert "w·v" in said
    assert "v²" not in said


def test_a_straight_line_asks_for_none():
    assert len(bends(0.5 * W + OWN).hidden_sentences()) == 1
