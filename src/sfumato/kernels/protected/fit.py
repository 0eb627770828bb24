"""One front for all protected fits, and for the same fits without protection."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypedDict, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels import cox as plain_cox
from sfumato.kernels import glm, random_intercept
from sfumato.kernels.protected.cox import cox
from sfumato.kernels.protected.fitted import SHARE, SUBSAMPLE, Noise, ProtectedFit, Unfit
from sfumato.kernels.protected.mixed import mixed
from sfumato.kernels.protected.regression import Family, regression
from sfumato.kernels.protected.simple import correlation, plain_correlation, plain_quantile, quantile

__all__ = ["Kind", "draws_of", "fit", "plain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kind = Literal["mean", "quantile", "correlation", "t", "linear", "logistic", "probit", "poisson", "cox", "mixed"]

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
    event: Mask | None = None,
    cluster: Ints | None = None,
    probability: float = 0.5,
    count: int = 4,
) -> ProtectedFit:
    """Fit what protects every single record.

    Parameters
    ----------
    kind
        What to fit. A `mean` is a linear model of a constant column, a `t` one of a constant column and an indicator;
        all models give an estimate a column. `mixed` is a linear model with a random intercept.
    X : ndarray, shape (n, p)
        Design matrix, with its constant column (none for `cox`). For a `correlation` the other column; not looked
        at for a `quantile`.
    y : ndarray, shape (n,)
        Response; for `cox` the times.
    keep : ndarray, shape (n,)
        Which records the subsample holds; for `mixed` all or none of a cluster's.
    noise : ndarray, shape (`draws_of(kind, p)`,)
        Standard normal.
    tau
        Strength of the noise, τ; None: chosen by `tau_of` for `share`.
    share
        Share of an estimate's variance that noise may have.
    share_kept
        Share of records that subsamples hold.
    event : ndarray, shape (n,), optional
        For `cox`: which times end with an event.
    cluster : ndarray, shape (n,), optional
        For `mixed`: which cluster each record belongs to, in any whole numbers.
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
    _check(kind, X, y, event, cluster)
    if keep.shape != y.shape[:1] or keep.dtype != np.bool_:
        raise DataError("A subsample is told by true or false for each record.")
    if not callable(noise) and noise.shape != (draws_of(kind, X.shape[1]),):
        raise DataError("There must be one draw of noise for each estimate.")
    if tau is not None and not tau > 0:
        raise DataError("The strength of noise must be above 0.")
    given: _Given = {"keep": keep, "noise": noise, "tau": tau, "share": share, "share_kept": share_kept}
    if kind == "quantile":
        return quantile(y, probability, count, **given)
    if kind == "correlation":
        return correlation(X[:, 0], y, **given)
    if kind == "cox":
        return cox(X, y, cast(Mask, event), **given)
    if kind == "mixed":
        return mixed(X, y, cast(Ints, cluster), **given)
    return replace(regression(_family(kind), X, y, **given), kind=kind)


class _Given(TypedDict):
    keep: Mask
    noise: Noise
    tau: float | None
    share: float
    share_kept: float


def _family(kind: Kind) -> Family:
    return cast(Family, "linear" if kind in ("mean", "t") else kind)


def plain(
    kind: Kind,
    X: Floats,
    y: Floats,
    *,
    event: Mask | None = None,
    cluster: Ints | None = None,
    probability: float = 0.5,
) -> ProtectedFit:
    """Fit the same without protection: the plain kernels' estimates and standard errors.

    Parameters
    ----------
    kind, X, y, event, cluster, probability
        As for `fit`.

    Examples
    --------
    >>> plain("mean", np.ones((4, 1)), np.array([1.0, 2.0, 3.0, 4.0])).estimate.round(9).tolist()
    [2.5]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    _check(kind, X, y, event, cluster)
    if kind == "quantile":
        return plain_quantile(y, probability)
    if kind == "correlation":
        return plain_correlation(X[:, 0], y)
    n = len(y)
    if n <= X.shape[1]:
        raise Unfit("few")
    if kind == "mixed":
        try:
            found = random_intercept.fit(X, y, cast(Ints, cluster))
        except DataError:
            raise Unfit("exact") from None
        return _of(kind, found, found.clusters)
    if kind == "cox":
        if not cast(Mask, event).any():
            raise Unfit("constant")
        return _of(kind, plain_cox.fit(X, y, cast(Mask, event)), n)
    return _of(kind, glm.fit(X, y, _family(kind)), n)


def _of(kind: Kind, found: glm.Fit | random_intercept.Intercepts, n: int) -> ProtectedFit:
    """An unprotected fit of estimates and their covariance."""
    if found.aliased:
        raise Unfit("singular")
    if isinstance(found, glm.Fit) and found.separated:
        raise Unfit("separated")
    se = np.sqrt(np.diag(found.covariance))
    return ProtectedFit(kind, found.coefficients, se, np.zeros(len(se)), n, None, 1.0, 0.0)


def _check(kind: Kind, X: Floats, y: Floats, event: Mask | None, cluster: Ints | None) -> None:
    if kind not in get_args(Kind):
        raise DataError(f"There is no kind {kind!r} of fit. Kinds: {', '.join(get_args(Kind))}.")
    if X.ndim != 2 or y.ndim != 1 or len(X) != len(y):
        raise DataError("A design matrix of shape (n, p) needs a response of shape (n,).")
    if kind == "cox" and (event is None or event.shape != y.shape or event.dtype != np.bool_):
        raise DataError("A model of times needs to be told of each record whether it had an event, by true or false.")
    if kind == "mixed" and (cluster is None or cluster.shape != y.shape or cluster.dtype.kind not in "iu"):
        raise DataError("A model with a random intercept needs the number of each record's cluster.")
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise DataError("The columns of a model must hold finite numbers only.")
