"""What an attacker finds of one record: all others are known to him, and he asks again and again."""

import numpy as np

from sfumato.kernels import glm
from sfumato.kernels.orthogonal import basis_of
from sfumato.kernels.protected.bounds import leverage
from sfumato.kernels.protected.fitted import Unfit, significant
from sfumato.kernels.protected.regression import regression
from tests.kernels.protected.designs import TRUTH, design, response


def auc(ones, others):
    """How often a figure of the one world is above one of the other, ties by half."""
    ones, others = np.asarray(ones)[:, None], np.asarray(others)[None]
    return float(((ones > others) + 0.5 * (ones == others)).mean())


def outermost(X, share):
    """A record whose design lies further out than this share of all."""
    order = np.argsort(leverage(basis_of(X).apply(X)).a)
    return order[min(int(share * len(X)), len(X) - 1)]


def differenced(n, truth, keyed, share, rng, models=20):
    """Models of a scope and of the same without a target, each with an idle covariate: their mean difference.

    `keyed`: what the subsample hangs on: `scope` (one for all models of it) or `request`; `exact` has no protection.
    """
    X = design(n, rng)
    y = response(X, "logistic", rng)
    X = X[:, :3]
    target = outermost(X, share)
    y[target] = truth
    rest, found = np.arange(n) != target, []
    whole, without = rng.random((2, n)) < 0.95
    for _ in range(models):
        Z = np.column_stack([X, rng.normal(size=n)])
        if keyed == "exact":
            ends = [glm.fit(Z[rows], y[rows], "logistic").coefficients for rows in (slice(None), rest)]
            found.append(Z[target] @ (ends[0] - ends[1]))
            continue
        if keyed == "request":
            whole, without = rng.random((2, n)) < 0.95
        one, two = rng.normal(size=(2, 4))
        try:
            one = regression("logistic", Z, y, keep=whole, noise=one, tau=1.0).estimate
            two = regression("logistic", Z[rest], y[rest], keep=without[rest], noise=two, tau=1.0).estimate
        except Unfit:  # refused: he has one model less
            continue
        found.append(Z[target] @ (one - two))
    return float(np.mean(found)) if found else 0.0


def differencing(n, keyed, share, times, seed=7):
    """AUC for the target's response."""
    rng = np.random.default_rng(seed)
    ones, others = ([differenced(n, truth, keyed, share, rng) for _ in range(times)] for truth in (1.0, 0.0))
    return auc(ones, others)


def all_others_known(n, tau, times, seed=1):
    """AUC for the response of a record at the bound, where the subsample and all other records are known."""
    rng = np.random.default_rng(seed)
    X = design(n, rng)
    y, keep, target = response(X, "logistic", rng), rng.random(n) < 0.95, outermost(X, 0.99)
    keep[target], found = True, []
    for truth in (1.0, 0.0):
        y[target] = truth
        noises = rng.normal(size=(times, X.shape[1]))
        found.append([X[target] @ regression("logistic", X, y, keep=keep, noise=e, tau=tau).estimate for e in noises])
    return auc(*found)


def standard_errors(n, size, outside, times, seed=3, error=0.0):
    """Standard errors of a linear model with a target whose x₁ is `size` standard deviations out, and without it."""
    rng = np.random.default_rng(seed)
    X = design(n, rng)
    X[0] = [1, size, 0, 0, 0, 0]
    y = response(X, "linear", rng)
    y[0] = X[0] @ TRUTH + error

    def ask(rows):
        keep, noise = rng.random(n)[rows] < 0.95, rng.normal(size=6)
        return regression("linear", X[rows], y[rows], keep=keep, noise=noise, tau=1.0, outside=outside).se

    return [np.array([ask(rows) for _ in range(times)]) for rows in (slice(None), slice(1, None))]


def told_apart(worlds, digits):
    """AUC of that standard error which tells most, rounded to digits."""
    rounded = [np.vectorize(lambda se: significant(se, digits))(world) for world in worlds]
    found = [auc(one, other) for one, other in zip(*(world.T for world in rounded), strict=True)]
    return max(max(a, 1 - a) for a in found)
