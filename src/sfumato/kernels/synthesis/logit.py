"""Logits of two or more classes, kept from running away by weak data augmentation, and draws from them.

Where a column tells some class apart, no maximum of the likelihood exists. Each column therefore gets a few records
more, of small weight: one standard deviation above and below its mean, the other columns at theirs, in each class.
Together they weigh as much as there are coefficients of one class (White, Daniel and Royston 2010). They are shared
among the classes as the true records are (Clogg and others 1991), so that rare classes do not become common.

References
----------
White, Daniel and Royston (2010), doi:10.1016/j.csda.2010.04.005; Clogg, Rubin, Schenker, Schultz and Weidman (1991),
doi:10.1080/01621459.1991.10475015.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from sfumato.kernels.synthesis.climbing import climbed, information_of, shares_of
from sfumato.kernels.synthesis.design import root_of

__all__ = ["Logit", "augmentation", "fit_logit"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Logit:
    """A multinomial logit.

    Parameters
    ----------
    slopes : ndarray of float64, shape (c − 1, p + 1)
        Constant and slopes of each class but the first.
    root : ndarray of float64, shape ((c − 1)(p + 1), (c − 1)(p + 1))
        Lower triangle L with LLᵀ the information of the coefficients, class after class; empty where none are drawn.
    """

    slopes: Floats
    root: Floats

    def many(self) -> int:
        """How many draws its parameters need."""
        return int(self.slopes.size)

    def shares(self, X: Floats, parameters: Floats | None = None) -> Floats:
        """The probability of each class, shape (k, c).

        Parameters
        ----------
        X : ndarray of float64, shape (k, p)
            Columns, scaled as those of the fit.
        parameters : ndarray of float64, shape ((c − 1)(p + 1),), optional
            Uniform draws for the coefficients, from the normal that their posterior is near to. None: coefficients
            as they were fitted.
        """
        slopes = self.slopes
        if parameters is not None:
            away = solve_triangular(self.root, ndtri(parameters), lower=True, trans="T")
            slopes = slopes + away.reshape(slopes.shape)
        return shares_of(_with_constant(X), slopes)

    def draw(self, X: Floats, u: Floats, parameters: Floats | None = None) -> Ints:
        """Draw classes, shape (k,), from uniform draws `u` between 0 and 1; other parameters as of `shares`."""
        above = np.cumsum(self.shares(X, parameters), axis=1)[:, :-1] < u[:, None]
        drawn: Ints = above.sum(axis=1)
        return drawn


def augmentation(X: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Records that keep coefficients finite.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns of mean 0 and variance 1.
    share : ndarray of float64, shape (c,)
        The share of each class.

    Returns
    -------
    tuple
        Their columns, shape (2p, p), and for each how much it weighs in each class, shape (2p, c): p + 1 in all.
    """
    p = X.shape[1]
    more = np.vstack([np.eye(p), -np.eye(p)])
    return more, np.tile(share * ((p + 1) / (2 * p) if p else 1.0), (2 * p, 1))


def fit_logit(X: Floats, y: Ints, classes: int, *, information: bool = True) -> Logit:
    """Fit a multinomial logit to augmented data.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns of mean 0 and variance 1.
    y : ndarray of int64, shape (n,)
        Class of each row, 0 … `classes` − 1, each of which some row has.
    classes
        How many classes there are, at least 2.
    information
        Whether coefficients are to be drawn, too; without, that takes no time.

    Examples
    --------
    >>> x = np.array([-1.0, -1.0, 1.0, 1.0])
    >>> fit = fit_logit(x[:, None], np.array([0, 0, 1, 1]), 2)  # the classes are told apart
    >>> fit.shares(x[:, None]).round(2)[:, 1].tolist()
    [0.17, 0.17, 0.83, 0.83]
    """
    share = np.bincount(y, minlength=classes) / len(y)
    more, weight = augmentation(X, share)
    start = np.zeros((classes - 1, X.shape[1] + 1))
    start[:, 0] = np.log(share[1:] / share[0])
    held = np.vstack([np.eye(classes)[y], weight])
    columns = _with_constant(np.vstack([X, more]))
    slopes = climbed(columns, held, start)
    if not information:
        return Logit(slopes, np.zeros((0, 0)))
    return Logit(slopes, root_of(information_of(columns, held.sum(axis=1), shares_of(columns, slopes))))


def _with_constant(X: Floats) -> Floats:
    return np.column_stack([np.ones(len(X)), X])
