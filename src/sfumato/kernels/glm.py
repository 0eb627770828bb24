"""Plain linear, logistic, probit and Poisson regression by Newton's method, in blocks of rows.

Columns are centred (where there is a constant column), scaled and made orthogonal before Newton's method, so that
neither large offsets nor strong correlations cost digits. Columns that depend on earlier ones are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels import threads
from sfumato.kernels.orthogonal import Basis, Columns, centred, orthogonal
from sfumato.kernels.quasi_newton import mended

__all__ = ["Blocks", "Family", "Fit", "Model", "fit", "predict"]

Floats = NDArray[np.float64]
Family = Literal["linear", "logistic", "probit"]
Model = Family | Literal["poisson"]

_ROWS = 1 << 14  # rows a block: small enough for the cache, large enough for BLAS
_MANY = 100_000
_HALVINGS = 30
_MOST = 345.0  # a logarithm whose exponential can still be squared
_FLOOR = 1e-6  # a step this small (in standard errors) that no longer helps is rounding error
_STRAIGHT = 1e-12  # of the largest curvature: a direction that has less is one along which rows part for ever
_GLANCES, _RECALLED = 100, 30  # steps by gradients alone; how many of them mend the next
_FLAT, _MOVING = 1e-3, 0.05
"""Rows are separated where a step of at most `_FLAT` standard errors still moves a linear predictor by `_MOVING` or
more, and by no less than half of what the step before did (near a maximum, Newton's steps shrink far faster)."""


class Blocks(Protocol):
    """Rows that can be read again and again: each call gives all blocks (X, y) anew, in the same order."""

    def __call__(self) -> Iterator[tuple[Floats, Floats]]:
        """Give the blocks: X of shape (m, p) and y of shape (m,)."""
        ...


@dataclass(frozen=True)
class Fit:
    """A fitted model.

    Parameters
    ----------
    coefficients
        Shape (p,); NaN for columns that were left out.
    covariance
        Estimated covariance of the coefficients, shape (p, p); NaN in rows and columns of those left out.
    log_likelihood
        Of the data at the coefficients.
    converged
        Whether the maximum was reached.
    iterations
        Steps taken.
    aliased
        Columns that were left out because earlier ones determine them.
    separated
        Whether some linear predictor grows without bound: the maximum does not exist, and the coefficients are those of
        the last step.
    n
        Rows with a positive weight.
    """

    coefficients: Floats
    covariance: Floats
    log_likelihood: float
    converged: bool
    iterations: int
    aliased: tuple[int, ...]
    separated: bool = False
    n: int = 0

    @property
    def residual_degrees(self) -> int:
        """Rows less coefficients that were estimated."""
        return self.n - (len(self.coefficients) - len(self.aliased))


def fit(
    X: Floats | Blocks,
    y: Floats | None,
    family: Model,
    weights: Floats | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 50,
    *,
    many_columns: bool = False,
) -> Fit:
    """Fit a linear, logistic, probit or Poisson regression by maximum likelihood.

    Standard errors are those that statsmodels' `OLS`, `Logit`, `Probit` and `Poisson` report: from the observed
    information (which for the probit is not the expected one that R's `glm` uses), and for the linear model with the
    residual variance of divisor n − p.

    Parameters
    ----------
    X : ndarray, shape (n, p), or Blocks
        The design matrix with its constant column, if any. Blocks are for more rows than memory holds at once.
    y : ndarray, shape (n,), or None
        The response; 0 or 1 for logistic and probit, a count for Poisson. None where `X` is blocks, which hold it.
    family
        `linear`, `logistic`, `probit` or `poisson` (with the logarithm as link).
    weights : ndarray, shape (n,), optional
        Zero or positive. For the linear model the inverse of each row's variance (statsmodels' WLS), for the others
        how many rows each row stands for.
    tolerance
        Newton's method stops where its next step is below this, in standard errors.
    max_iterations
        Most steps.
    many_columns
        Go most of the way, for logistic models, by steps that need no cross-products of columns: where there are
        hundreds, and rows are hardly told apart, that takes a fraction of the time. The result is the same.

    Returns
    -------
    Fit

    Raises
    ------
    DataError
        For no rows, shapes that do not fit, values that are missing or infinite, negative weights, or a response other
        than 0 and 1 for logistic and probit, or than counts for Poisson.

    Examples
    --------
    >>> X = np.column_stack([np.ones(4), [0.0, 1.0, 2.0, 3.0]])
    >>> fit(X, np.array([1.0, 3.0, 5.0, 7.0]), "linear").coefficients.round(9).tolist()
    [1.0, 2.0]
    """
    rows = _Rows(X, y, weights)
    columns, log_weights = _look_at_columns(rows, family)
    with one_thread(columns.n):
        basis = orthogonal(lambda: (X for X, _, _ in rows()), columns)
        start = _approached(rows, basis, columns.n) if many_columns and family == "logistic" else None
        top, steps, converged, separated = _maximise(rows, basis, family, tolerance, max_iterations, start)
    kept, p = basis.kept, len(columns.middle)
    log_likelihood, inverse = top.log_likelihood, top.inverse()
    if family == "linear":
        log_likelihood, variance = _gaussian(-2 * log_likelihood, columns.n, log_weights, len(kept))
        inverse = inverse * variance
    coefficients, covariance = np.full(p, np.nan), np.full((p, p), np.nan)
    coefficients[kept] = basis.back @ top.gamma
    covariance[np.ix_(kept, kept)] = basis.back @ inverse @ basis.back.T
    aliased = tuple(int(j) for j in np.setdiff1d(np.arange(p), kept))
    return Fit(coefficients, covariance, log_likelihood, converged, steps, aliased, separated, columns.n)


def predict(X: Floats, coefficients: Floats, family: Model) -> Floats:
    """Give the fitted mean of each row: a number, the probability of a 1, or the expected count.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Rows of a design matrix.
    coefficients : ndarray, shape (p,)
        As in a `Fit`; columns with NaN are left out.
    family
        `linear`, `logistic`, `probit` or `poisson`.

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> predict(np.array([[1.0, 0.0]]), np.array([0.0, np.nan]), "logistic").tolist()
    [0.5]
    """
    eta = X @ np.nan_to_num(coefficients, nan=0.0)
    if family == "linear":
        return np.asarray(eta)
    if family == "poisson":
        return np.exp(eta)
    return np.asarray(scipy.special.expit(eta) if family == "logistic" else scipy.special.ndtr(eta))


def one_thread(n: int, many: int = _MANY) -> AbstractContextManager[object]:
    """Keep linear algebra to one thread for long tables, which are worked on in small blocks."""
    return nullcontext() if n < many else threads.one_thread()


class _Rows:
    """Blocks (X, y, weights) of any input; weights are None where all are 1, and rows of weight 0 are left out."""

    def __init__(self, X: Floats | Blocks, y: Floats | None, weights: Floats | None) -> None:
        self.weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        if self.weights is not None and not (np.isfinite(self.weights).all() and (self.weights >= 0).all()):
            raise DataError("Weights must be zero or positive.")
        if callable(X):
            self.read: Callable[[], Iterator[tuple[Floats, Floats]]] = X
            return
        matrix, response = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if matrix.ndim != 2 or response.shape != matrix.shape[:1]:
            raise DataError("A design matrix of shape (n, p) needs a response of shape (n,).")
        starts = range(0, len(response), _ROWS)
        self.read = lambda: ((matrix[i : i + _ROWS], response[i : i + _ROWS]) for i in starts)

    def __call__(self) -> Iterator[tuple[Floats, Floats, Floats | None]]:
        at = 0
        for X, y in self.read():
            start, at = at, at + len(y)
            if self.weights is None:
                yield X, y, None
                continue
            weights = self.weights[start:at]
            if len(weights) != len(y):
                break
            use = weights > 0
            yield X[use], y[use], weights[use]
        if self.weights is not None and at != len(self.weights):
            raise DataError("There must be one weight for each row.")


def _look_at_columns(rows: _Rows, family: Model) -> tuple[Columns, float]:
    """Range and mean of each column, with a check of all values, and the sum of the logarithms of the weights."""
    n, log_weights = 0, 0.0
    low = high = total = np.zeros(0)
    for X, y, weights in rows():
        if not len(y):
            continue
        if family in ("logistic", "probit") and not np.isin(y, (0.0, 1.0)).all():
            raise DataError(f"The response of a {family} model must be 0 or 1 in every row.")
        if family == "poisson" and not ((y >= 0) & (y == np.round(y))).all():
            raise DataError("The response of a Poisson model must be a whole number, not below 0, in every row.")
        with np.errstate(over="ignore", invalid="ignore"):
            least, most, sums = X.min(axis=0), X.max(axis=0), X.sum(axis=0)
        if not (np.isfinite(sums).all() and np.isfinite(y).all()):
            raise DataError("The columns of a model must hold finite numbers only.")
        low, high = (np.minimum(low, least), np.maximum(high, most)) if n else (least, most)
        total = total + sums if n else sums
        n += len(y)
        log_weights += 0.0 if weights is None else float(np.log(weights).sum())
    if not n:
        raise DataError("A model needs at least one row with a value in every column that it uses.")
    return centred(n, low, high, total / n), log_weights


@dataclass
class _State:
    """The log-likelihood and its derivatives at one point."""

    gamma: Floats
    log_likelihood: float
    gradient: Floats
    information: Floats
    reach: float  # the largest change of a linear predictor by the step that led here

    def newton(self) -> Floats | None:
        """The next step; None where the information is singular."""
        try:
            L = np.linalg.cholesky(self.information)
        except np.linalg.LinAlgError:
            return None
        half = scipy.linalg.solve_triangular(L, self.gradient, lower=True)
        return np.asarray(scipy.linalg.solve_triangular(L, half, lower=True, trans="T"))

    def bounded(self) -> Floats | None:
        """The next step in the directions that still have curvature; None where there is none left.

        The others lead to rows that are told apart with certainty already: going on there changes no fitted mean.
        """
        try:
            curvature, turn = np.linalg.eigh(self.information)
        except np.linalg.LinAlgError:
            return None
        curved = curvature > _STRAIGHT * curvature[-1]
        along = turn[:, curved]
        return np.asarray(along @ (along.T @ self.gradient / curvature[curved])) if curvature[-1] > 0 else None

    def inverse(self) -> Floats:
        """Inverse of the information; NaN where it is singular."""
        try:
            return np.asarray(np.linalg.inv(self.information))
        except np.linalg.LinAlgError:
            return np.full(self.information.shape, np.nan)


def _look(rows: _Rows, basis: Basis, family: Model, gamma: Floats, step: Floats) -> _State:
    """Evaluate everything at `gamma`, reached by `step`, in one pass over the rows."""
    k = len(gamma)
    state = _State(gamma, 0.0, np.zeros(k), np.zeros((k, k)), 0.0)
    for X, y, weights in rows():
        if not len(y):
            continue
        E = basis.apply(X)
        log_likelihood, score, information = _rowwise(E @ gamma, y, family)
        if weights is not None:
            log_likelihood, score, information = log_likelihood * weights, score * weights, information * weights
        state.log_likelihood += float(log_likelihood.sum())
        state.gradient += E.T @ score
        state.reach = max(state.reach, float(np.abs(E @ step).max()))
        E *= np.sqrt(information)[:, None]
        state.information += E.T @ E
    return state


def _rowwise(eta: Floats, y: Floats, family: Model) -> tuple[Floats, Floats, Floats]:
    """Log-likelihood of each row, its derivative by the linear predictor, and minus its second derivative."""
    if family == "linear":
        residual = y - eta
        return -(residual**2) / 2, residual, np.ones(len(y))
    if family == "poisson":
        mean = np.exp(np.minimum(eta, _MOST))
        return y * eta - mean - scipy.special.gammaln(y + 1), y - mean, mean
    sign = 2 * y - 1
    t = sign * eta
    if family == "logistic":
        miss = scipy.special.expit(-t)
        return scipy.special.log_expit(t), sign * miss, miss * scipy.special.expit(t)
    log_cdf = scipy.special.log_ndtr(t)
    mills = np.exp(-(t**2) / 2 - 0.5 * math.log(2 * math.pi) - log_cdf)
    return log_cdf, sign * mills, np.maximum(mills * (mills + t), 0.0)


def _maximise(
    rows: _Rows, basis: Basis, family: Model, tolerance: float, max_iterations: int, start: Floats | None
) -> tuple[_State, int, bool, bool]:
    """Newton's method with step halving: the last state, steps, whether it converged, whether rows are separated."""
    zero = np.zeros(len(basis.kept))
    state = _look(rows, basis, family, zero if start is None else start, zero)
    if family == "linear":
        return (*_least_squares(rows, basis, state), True, False)
    parted = False  # whether rows are told apart with certainty, so that some directions have no curvature left
    for steps in range(max_iterations):
        step = None if parted else state.newton()
        if step is None:
            parted, step = True, state.bounded()
        if step is None:
            return state, steps, False, True
        size = math.sqrt(max(float(state.gradient @ step), 0.0))
        if size <= tolerance:
            far = start is not None and _reach(rows, basis, step) >= _MOVING  # gradients alone do not see rows part
            return state, steps, not (parted or far), parted or far
        new = _climb(rows, basis, family, state, step)
        if new is None:  # no step helps: as far as floating point goes
            return state, steps, size <= _FLOOR and not parted, parted
        if not parted and size <= _FLAT and new.reach >= _MOVING and new.reach >= state.reach / 2:
            return new, steps + 1, False, True
        state = new
    return state, max_iterations, False, parted


def _approached(rows: _Rows, basis: Basis, n: int) -> Floats:
    """A place near the maximum of a logistic likelihood, by gradients alone.

    At 0 all rows have curvature 1/4, and the basis is orthogonal, so that the curvature is known there; it is not far
    from that where rows are hardly told apart, and mended on the way.
    """
    gamma, past = np.zeros(len(basis.kept)), list[tuple[Floats, Floats]]()
    level, gradient = _glanced(rows, basis, gamma)
    for _ in range(_GLANCES):
        step = mended(gradient, lambda g: g * (4 / n), past)
        for _ in range(_HALVINGS):
            new_level, new_gradient = _glanced(rows, basis, gamma + step)
            if new_level >= level - 1e-13 * abs(level):
                break
            step = step / 2
        else:
            break
        size = math.sqrt(max(float(gradient @ step), 0.0))
        if float(step @ (gradient - new_gradient)) > 0:
            past = [*past[-_RECALLED:], (step, gradient - new_gradient)]
        gamma, level, gradient = gamma + step, new_level, new_gradient
        if size <= _FLOOR:
            break
    return gamma


def _glanced(rows: _Rows, basis: Basis, gamma: Floats) -> tuple[float, Floats]:
    """The log-likelihood of a logistic model and its gradient, without the columns of the basis."""
    slopes = basis.turn @ gamma
    level, gradient = 0.0, np.zeros(len(slopes))
    for X, y, weights in rows():
        kept = X if len(basis.kept) == X.shape[1] else X[:, basis.kept]
        eta = kept @ slopes - float(basis.middle @ slopes)
        log_likelihood, score, _ = _rowwise(eta, y, "logistic")
        if weights is not None:
            log_likelihood, score = log_likelihood * weights, score * weights
        level += float(log_likelihood.sum())
        gradient += score @ kept - score.sum() * basis.middle
    return level, basis.turn.T @ gradient


def _reach(rows: _Rows, basis: Basis, step: Floats) -> float:
    """The largest change of a linear predictor by a step."""
    return max((float(np.abs(basis.apply(X) @ step).max()) for X, y, _ in rows() if len(y)), default=0.0)


def _climb(rows: _Rows, basis: Basis, family: Model, state: _State, step: Floats) -> _State | None:
    """Take the longest of step, step/2, step/4, … that does not lower the log-likelihood."""
    slack = 1e-13 * abs(state.log_likelihood)
    for _ in range(_HALVINGS):
        new = _look(rows, basis, family, state.gamma + step, step)
        if new.log_likelihood >= state.log_likelihood - slack:
            return new
        step = step / 2
    return None


def _least_squares(rows: _Rows, basis: Basis, state: _State) -> tuple[_State, int]:
    """One step solves; a second one takes out the rounding errors of the first."""
    for _ in range(2):
        step = state.newton()
        if step is None:
            break
        state = _look(rows, basis, "linear", state.gamma + step, step)
    return state, 2


def _gaussian(rss: float, n: int, log_weights: float, rank: int) -> tuple[float, float]:
    """Log-likelihood of a linear model and the estimated residual variance."""
    log_likelihood = math.inf if rss <= 0 else -n / 2 * (math.log(2 * math.pi * rss / n) + 1)
    variance = rss / (n - rank) if n > rank else math.nan
    return log_likelihood + log_weights / 2, variance
