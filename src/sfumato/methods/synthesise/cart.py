"""Draw a column from trees: whether there is a number, and which category else; then the number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.synthesis.donors import Donors
from sfumato.kernels.synthesis.tree import Tree, grow, leaf_of
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.model import Drawing, Limits, Told

__all__ = ["Cart", "fit_cart"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = NDArray[np.uint16]


@dataclass(frozen=True)
class Cart:
    """Trees of one column. Confidential: their leaves hold true values.

    Parameters
    ----------
    states
        The states that there are, in rising order.
    which
        Tree and donors of their numbers in that order; None where there is one state alone.
    number
        Tree and donors of the numbers; None where there are none.
    smooth
        Whether numbers are drawn between donors.
    """

    states: Ints
    which: tuple[Tree, Donors] | None
    number: tuple[Tree, Donors] | None
    smooth: bool

    def draw(self, predictors: Sequence[Told], draws: Drawing, within: Limits | None = None) -> Coded:
        """Draw the column for rows with these predictors; donors whose numbers lie beyond limits are left out."""
        k, codes = draws.rows, _codes(predictors, draws.rows)
        state = np.full(k, self.states[0])
        if self.which is not None:
            tree, donors = self.which
            drawn = donors.draw(leaf_of(tree, codes), draws.uniform("state")).astype(np.int64)
            state = self.states[drawn]
        number = np.zeros(k)
        wanted = state == 0
        if self.number is not None and wanted.any():
            tree, donors = self.number
            leaf, u = leaf_of(tree, codes[:, wanted]), draws.uniform("number")[wanted]
            own = None if within is None else (within[0][wanted], within[1][wanted])
            number[wanted] = donors.between(leaf, u, own) if self.smooth else donors.draw(leaf, u, own)
        return Coded(state, number)


def fit_cart(
    target: Coded,
    predictors: Sequence[Told],
    *,
    min_leaf: int,
    smooth: bool = False,
    weights: Floats | None = None,
) -> Cart:
    """Grow the trees of a column.

    Parameters
    ----------
    target
        The column.
    predictors
        The columns that it is drawn from.
    min_leaf
        Fewest donors of a leaf.
    smooth
        Whether numbers are drawn between donors; so are not those of columns with few values.
    weights
        Of a Bayesian bootstrap, shape (n,).
    """
    n = len(target.state)
    codes = _codes(predictors, n)
    levels = np.array([own.coding.levels for own in predictors], dtype=np.int64)
    categorical = np.array([not own.coding.ordered for own in predictors], dtype=np.bool_)
    states = np.unique(target.state)
    which = number = None
    if len(states) > 1:
        y = np.searchsorted(states, target.state).astype(np.float64)
        tree = grow(codes, levels, categorical, y, len(states), min_leaf=min_leaf, weights=weights)
        which = tree, Donors(tree, y, weights)
    if states[0] == 0:
        rows = target.state == 0
        y, own = target.number[rows], None if weights is None else weights[rows]
        tree = grow(codes[:, rows], levels, categorical, y, min_leaf=min_leaf, weights=own)
        number = tree, Donors(tree, y, own)
    return Cart(states, which, number, smooth)


def _codes(predictors: Sequence[Told], rows: int) -> Codes:
    return np.stack([own.codes for own in predictors]) if predictors else np.zeros((0, rows), np.uint16)
