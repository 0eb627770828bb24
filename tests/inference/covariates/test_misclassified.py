"""Columns whose categories were exchanged at random."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Misclassified
from sfumato.errors import DataError
from sfumato.inference.covariates.known import read_covariate
from sfumato.inference.fit import fit

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


LEVELS = ("never", "rarely", "often", "always")
ALPHABET = tuple(sorted(LEVELS))
STATED = Codebook({"s": Variable(kind="ordinal", order=LEVELS)})
P = np.array([[0.7, 0.1, 0.1, 0.1], [0, 0.8, 0.2, 0], [0.1, 0.1, 0.6, 0.2], [0.05, 0.05, 0, 0.9]])
"""By the alphabet: always, never, often, rarely."""


@pytest.mark.parametrize("by", ["codebook", "Enum"])
@pytest.mark.parametrize("named", [ALPHABET, ALPHABET[::-1]])
def test_levels_are_in_the_order_that_is_stated_whatever_that_of_the_matrix(by, named):
    table, book = pl.DataFrame({"s": ["rarely", "always"]}), STATED
    if by == "Enum":
        table, book = table.cast({"s": pl.Enum(LEVELS)}), BOOK
    turned = P if named == ALPHABET else P[::-1, ::-1]
    found = read_covariate(table, book, "s", True, [Misclassified("s", turned, levels=named)])
    assert found.levels == LEVELS  # also those that no record was released with
    assert found.values.tolist() == [1.0, 3.0]
    given = {level: P[ALPHABET.index(level)] for level in LEVELS}
    np.testing.assert_allclose(np.exp(found.table[0]), [given[true][ALPHABET.index("rarely")] for true in LEVELS])
    np.testing.assert_allclose(np.exp(found.table[1]), [given[true][ALPHABET.index("always")] for true in LEVELS])


def test_a_matrix_without_names_is_for_the_sorted_categories():
    table = pl.DataFrame({"s": [*LEVELS, None]})
    found = read_covariate(table, STATED, "s", True, [Misclassified("s", P)])
    named = read_covariate(table, STATED, "s", True, [Misclassified("s", P, levels=ALPHABET)])
    assert found.levels == LEVELS
    np.testing.assert_array_equal(found.table, named.table)
    enum = table.cast({"s": pl.Enum(LEVELS)})
    with pytest.raises(DataError, match="which category each of its rows is for"):
        read_covariate(enum, BOOK, "s", True, [Misclassified("s", P)])
    same = 0.6 * np.eye(4) + 0.1  # for any order
    assert read_covariate(enum, BOOK, "s", True, [Misclassified("s", same)]).levels == LEVELS


def test_numbers_are_by_size_whatever_the_order():
    table = pl.DataFrame({"x": [2, 10, 5]})
    book = Codebook({"x": Variable(kind="integer", order=(10, 5, 2))})
    told = [Misclassified("x", [[0.8, 0.1, 0.1], [0, 1, 0], [0.3, 0.1, 0.6]], levels=(10, 2, 5))]
    found = read_covariate(table, book, "x", False, told)
    assert found.support.tolist() == [2, 5, 10]
    np.testing.assert_allclose(np.exp(found.table[0]), [1, 0.1, 0.1])  # of a released 2


@pytest.mark.parametrize(("formula", "family"), [("s ~ x", "ordered"), ("y ~ C(s) + x", "linear")])
def test_identity_misclassification_keeps_the_stated_order(formula, family):
    """Limit: with the identity for a matrix it is the plain fit, to what the ascent leaves."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=600)
    code = np.searchsorted([-1, 0, 1], x + rng.normal(size=600))
    table = pl.DataFrame({"s": np.array(LEVELS)[code], "x": x, "y": code + rng.normal(size=600)})
    told = Disclosure([Misclassified("s", np.eye(4), levels=ALPHABET)])
    plain, ours = (fit(formula, table, d, family=family, codebook=STATED) for d in (None, told))
    assert ours.terms == plain.terms
    np.testing.assert_allclose(ours.estimate, plain.estimate, rtol=0, atol=1e-6)
    assert not any("alphabetical" in note for note in ours.notes)
