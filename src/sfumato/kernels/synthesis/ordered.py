"""The ordered logit (proportional odds), kept from running away by weak data augmentation, and draws from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, solve_triangular
from scipy.special import expit, ndtri

from sfumato.kernels.synthesis.design import root_of
from sfumato.kernels.synthesis.logit import augmentation

__all__ = ["Ordered", "fit_ordered"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STEPS = 60
_HALVINGS = 40
_DONE = 1e-2  # of a step's square, in standard errors: the last one that is taken


@dataclass(frozen=True)
class Ordered:
    """An ordered logit: the odds of a class above the t-th are exp(Xβ − θ_t).

    Parameters
    ----------
    cuts : ndarray of float64, shape (c − 1,)
        θ, rising.
    slopes : ndarray of float64, shape (p,)
        β, of columns with mean 0 and variance 1.
    root : ndarray of float64, shape (c − 1 + p, c − 1 + p)
        Lower triangle L with LLᵀ the information of both.
    """

    cuts: Floats
    slopes: Floats
    root: Floats

    def many(self) -> int:
        """How many draws its parameters need."""
        return len(self.root)

    def draw(self, X: Floats, u: Floats, parameters: Floats | None = None) -> Ints:
        """Draw classes, shape (k,).

        Parameters
        ----------
        X : ndarray of float64, shape (k, p)
            Columns, scaled as those of the fit.
        u : ndarray of float64, shape (k,)
            Uniform draws between 0 and 1.
        parameters : ndarray of float64, shape (c − 1 + p,), optional
            Uniform draws for the coefficients, from the normal that their posterior is near to.
        """
        cuts, slopes = self.cuts, self.slopes
        if parameters is not None:
            away = solve_triangular(self.root, ndtri(parameters), lower=True, trans="T")
            cuts, slopes = np.maximum.accumulate(cuts + away[: len(cuts)]), slopes + away[len(cuts) :]
        # P(class ≤ t) = F(θ_t − η) < u: the class lies above the t-th
        at = np.log(u) - np.log1p(-u) + X @ slopes
        drawn: Ints = np.searchsorted(cuts, at, side="left").astype(np.int64)
        return drawn


def fit_ordered(X: Floats, y: Ints, classes: int) -> Ordered:
    """Fit an ordered logit by Newton's method, of data augmented as those of `logit`.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns of mean 0 and variance 1.
    y : ndarray of int64, shape (n,)
        Class of each row, 0 … `classes` − 1, each of which some row has.
    classes
        How many classes there are, at least 2.

    References
    ----------
    McCullagh (1980), doi:10.1111/j.2517-6161.1980.tb01109.x.

    Examples
    --------
    >>> x = np.repeat([-1.0, 1.0], 50)
    >>> y = np.concatenate([np.repeat([0, 1, 2], [30, 15, 5]), np.repeat([0, 1, 2], [5, 15, 30])])
    >>> fit = fit_ordered(x[:, None], y, 3)
    >>> bool(fit.slopes[0] > 0), fit.cuts.round().tolist()
    (True, [-1.0, 1.0])
    """
    share = np.bincount(y, minlength=classes) / len(y)
    more, weight = augmentation(X, share)
    rows = np.vstack([X, np.repeat(more, classes, axis=0)])
    own = np.concatenate([y, np.tile(np.arange(classes), len(more))])
    held = np.concatenate([np.ones(len(y)), weight.ravel()])
    below = np.cumsum(share)[:-1]
    cuts, slopes = np.log(below / (1 - below)), np.zeros(X.shape[1])
    level, gradient, information = _looked(rows, own, held, cuts, slopes)
    for _ in range(_STEPS):
        step = cho_solve((root_of(information), True), gradient)
        size = float(gradient @ step)
        for _ in range(_HALVINGS):
            new_cuts, new_slopes = cuts + step[: len(cuts)], slopes + step[len(cuts) :]
            if (np.diff(new_cuts) > 0).all():
                new = _looked(rows, own, held, new_cuts, new_slopes)
                if new[0] >= level - 1e-12 * abs(level):
                    break
            step = step / 2
        else:
            break
        cuts, slopes, (level, gradient, information) = new_cuts, new_slopes, new
        if size <= _DONE:
            break
    return Ordered(cuts, slopes, root_of(information))


def _looked(X: Floats, y: Ints, weight: Floats, cuts: Floats, slopes: Floats) -> tuple[float, Floats, Floats]:
    """Log-likelihood, its gradient by cuts and slopes, and the information."""
    eta, many = X @ slopes, len(cuts)
    ends = np.concatenate([[-np.inf], cuts, [np.inf]])
    high, low = ends[y + 1] - eta, ends[y] - eta
    upper = low > 0  # there differences of upper tails keep the digits
    inside = np.where(upper, expit(-low) - expit(-high), expit(high) - expit(low))
    inside = np.maximum(inside, 1e-300)
    dense = [expit(at) * expit(-at) for at in (high, low)]
    of_high, of_low = dense[0] / inside, -dense[1] / inside
    bent = [d * (expit(-at) - expit(at)) / inside for d, at in zip(dense, (high, low), strict=True)]
    by_high = weight * (of_high**2 - bent[0])
    by_low = weight * (of_low**2 + bent[1])
    by_both = weight * of_high * of_low
    first, second = weight * of_high, weight * of_low
    into = np.concatenate([_summed(first, y, many, 0) + _summed(second, y, many, 1), -X.T @ (first + second)])
    information = np.zeros((many + X.shape[1],) * 2)
    at = np.arange(many)
    information[at, at] = _summed(by_high, y, many, 0) + _summed(by_low, y, many, 1)
    between = np.bincount(y, by_both, many + 1)[1:-1]  # of the cuts below and above a class
    information[at[1:], at[:-1]] = information[at[:-1], at[1:]] = between
    crossed = _by_cut(X, by_high + by_both, y, many, 0) + _by_cut(X, by_low + by_both, y, many, 1)
    information[:many, many:], information[many:, :many] = -crossed, -crossed.T
    information[many:, many:] = X.T @ (X * (by_high + by_low + 2 * by_both)[:, None])
    return float(weight @ np.log(inside)), into, information


def _summed(values: Floats, y: Ints, many: int, shift: int) -> Floats:
    """Sums over the rows whose upper (0) or lower (1) end a cut is, shape (many,)."""
    return np.asarray(np.bincount(y, values, many + 1), dtype=np.float64)[shift : many + shift]


def _by_cut(X: Floats, values: Floats, y: Ints, many: int, shift: int) -> Floats:
    """Sums of columns over the rows whose upper (0) or lower (1) end a cut is, shape (many, p)."""
    out = np.zeros((many + 1, X.shape[1]))
    for j in range(X.shape[1]):
        out[:, j] = np.bincount(y, values * X[:, j], many + 1)
    return out[shift : many + shift]
