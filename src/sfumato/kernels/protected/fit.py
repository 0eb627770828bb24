"""One front for all protected fits, and for the same fits without protection."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels import glm
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit
from sfumato.kernels.protected.regression import Family, regression
from sfumato.kernels.protected.simple import correlation, plain_correlation, plain_quantile, quantile

__all__ = ["Kind", "draws_of", "fit", "plain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kind = Literal["mean", "quantile", "correlation", "t", "linear", "logistic", "probit", "poisson"]

_ONE = ("quantile", "correlation")


def draws_of(kind: Kind, columns: int) -> int:
    """How many normal numbers a fit needs: one for each column of its design, one for a quantile or a correlation.

    Examples
    --------
    >>> draws_of("logistic", 3), draws_of("quantile", 0)
    (3, 1)
    """
    return 1 if kind in _ONE else columns


def fit(
    kind: Kind,
    X: Floats,
    y: Floats,
    *,
    keep: Mask,
    noise: Noise,
    tau: float | None = None,
    share: float = SHARE,
    share_kept: float = SUBSAMPLE,
    probability: float = 0.5,
    count: int = 4,
) -> ProtectedFit:
    """Fit what protects every single record.

    Parameters
    ----------
    kind
        What to fit. A `mean` is a linear model of a constant column, a `t` one of a constant column and an indicator;
        these, `linear`, `logistic`, `probit` and `poisson` give an estimate a column.
    X : ndarray, shape (n, p)
        Design matrix, with its constant column. For a `correlation` the other column; not looked at for a `quantile`.
    y : ndarray, shape (n,)
        Response.
    keep : ndarray, shape (n,)
        Which records the subsample holds.
    noise : ndarray, shape (`draws_of(kind, p)`,)
        Standard normal.
    tau
        Strength of the noise, τ; None: chosen by `tau_of` for `share`.
    share
        Share of an estimate's variance that noise may have.
    share_kept
        Share of records that subsamples hold.
    probability
        Which quantile.
    count
        For quantiles: largest group of records that nobody may be told of.

    Returns
    -------
    ProtectedFit
        As computed; `rounded()` gives what may be told.

    Raises
    ------
    Unfit
        A ValueError; its `reason` says why there is no estimate.

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> y = rng.normal(5.0, 1.0, size=1000)
    >>> keep, noise = rng.random(1000) < 0.95, rng.normal(size=1)
    >>> told = fit("mean", np.ones((1000, 1)), y, keep=keep, noise=noise).rounded()
    >>> bool(abs(told.estimate[0] - 5.0) < 4 * told.se[0]), told.tau
    (True, 3.0)
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check(kind, X, y)
    if keep.shape != y.shape[:1] or keep.dtype != np.bool_:
        raise DataError("A subsample is told by true or false for each record.")
    if not callable(noise) and noise.shape != (draws_of(kind, X.shape[1]),):
        raise DataError("There must be one draw of noise for each estimate.")
    if tau is not None and not tau > 0:
        raise DataError("The strength of noise must be above 0.")
    if kind == "quantile":
        return quantile(y, probability, count, keep=keep, noise=noise, tau=tau, share=share, share_kept=share_kept)
    if kind == "correlation":
        return correlation(X[:, 0], y, keep=keep, noise=noise, tau=tau, share=share, share_kept=share_kept)
    family = cast(Family, "linear" if kind in ("mean", "t") else kind)
    found = regression(family, X, y, keep=keep, noise=noise, tau=tau, share=share, share_kept=share_kept)
    return replace(found, kind=kind)


def plain(kind: Kind, X: Floats, y: Floats, *, probability: float = 0.5) -> ProtectedFit:
    """Fit the same without protection: the plain kernels' estimates and standard errors.

    Parameters
    ----------
    kind, X, y, probability
        As for `fit`.

    Examples
    --------
    >>> plain("mean", np.ones((4, 1)), np.array([1.0, 2.0, 3.0, 4.0])).estimate.round(9).tolist()
    [2.5]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check(kind, X, y)
    if kind == "quantile":
        return plain_quantile(y, probability)
    if kind == "correlation":
        return plain_correlation(X[:, 0], y)
    found = glm.fit(X, y, cast(Family, "linear" if kind in ("mean", "t") else kind))
    if found.aliased:
        raise Unfit("singular")
    if found.separated:
        raise Unfit("separated")
    if found.residual_degrees < 1:
        raise Unfit("few")
    return of_covariance(kind, found.coefficients, found.covariance, found.n)


def of_covariance(kind: str, estimate: Floats, covariance: Floats, n: int) -> ProtectedFit:
    """An unprotected fit of estimates and their covariance."""
    return ProtectedFit(kind, estimate, np.sqrt(np.diag(covariance)), np.zeros(len(estimate)), n, None, 1.0, 0.0)


def _check(kind: Kind, X: Floats, y: Floats) -> None:
    if kind not in get_args(Kind):
        raise DataError(f"There is no kind {kind!r} of fit. Kinds: {', '.join(get_args(Kind))}.")
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise DataError("A design matrix of shape (n, p) needs a response of shape (n,).")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise DataError("The columns of a model must hold finite numbers only.")
