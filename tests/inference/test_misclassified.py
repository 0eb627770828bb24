"""Columns whose categories were exchanged at random."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Misclassified
from sfumato.inference.covariates import read_covariate

BOOK = Codebook()


def test_misclassified_levels_may_come_in_any_order_and_twice():
    table = pl.DataFrame({"s": ["a", "b", None]})
    P = np.array([[0.9, 0.1], [0.3, 0.7]])
    once = read_covariate(table, BOOK, "s", True, [Misclassified("s", P, levels=("b", "a"))])
    assert once.levels == ("b", "a")
    np.testing.assert_allclose(np.exp(once.table), [[0.1, 0.7], [0.9, 0.3], [1, 1]])
    twice = read_covariate(table, BOOK, "s", True, [Misclassified("s", P, levels=("b", "a"))] * 2)
    np.testing.assert_allclose(np.exp(twice.table[:2]), (P @ P)[:, [1, 0]].T)


def test_numbers_that_were_misclassified_keep_their_values():
    found = read_covariate(pl.DataFrame({"x": [2, 5]}), BOOK, "x", False, [Misclassified("x", np.eye(2))])
    assert found.support.tolist() == [2.0, 5.0]
    assert found.values.tolist() == [2.0, 5.0]
