"""The records of the studies: five covariates of different kinds, and responses for each kind of fit."""

import numpy as np

TRUTH = np.array([-1.0, 0.5, 0.4, -0.3, 0.6, 0.2])
KINDS = ("mean", "quantile", "correlation", "t", "linear", "logistic", "probit", "poisson", "cox", "mixed")
SIZE = 4
"""Mean size of clusters."""


def design(n, rng):
    """x₁ normal; x₂, x₄ Bernoulli .3, .1; x₃ = .7 z + .5 x₁; x₅ t with 5 degrees of freedom; a constant first."""
    x1, z = rng.normal(size=(2, n))
    x2, x4 = rng.random(n) < 0.3, rng.random(n) < 0.1
    return np.column_stack([np.ones(n), x1, x2, 0.7 * z + 0.5 * x1, x4, rng.standard_t(5, size=n)])


def response(X, family, rng, truth=TRUTH):
    """A response of the family with these coefficients; errors of a linear model have standard deviation 1."""
    eta = X @ truth
    if family == "linear":
        return eta + rng.normal(size=len(eta))
    if family == "poisson":
        return rng.poisson(np.exp(eta)).astype(float)
    errors = rng.logistic(size=len(eta)) if family == "logistic" else rng.normal(size=len(eta))
    return (eta + errors > 0).astype(float)


def records(kind, n, rng):
    """Arguments of a fit of n units (clusters, for `mixed`), and what it should find."""
    if kind in ("mean", "quantile"):
        return {"X": np.ones((n, 1)), "y": 3 + rng.normal(size=n)}, np.array([3.0])
    if kind == "correlation":
        z = rng.normal(size=(n, 2))
        return {"X": z[:, :1], "y": 0.6 * z[:, 0] + 0.8 * z[:, 1]}, np.array([0.6])
    if kind == "t":
        group = (rng.random(n) < 0.4).astype(float)
        y = 1 + 0.5 * group + rng.normal(size=n)
        return {"X": np.column_stack([np.ones(n), group]), "y": y}, np.array([1.0, 0.5])
    if kind == "cox":
        X = design(n, rng)[:, 1:]
        time, left = rng.exponential(np.exp(-X @ TRUTH[1:])), rng.exponential(size=n)
        return {"X": X, "y": np.minimum(time, left), "event": time <= left}, TRUTH[1:]
    if kind == "mixed":
        cluster = np.repeat(np.arange(n), 1 + rng.poisson(SIZE - 1, size=n))
        X = design(len(cluster), rng)
        X[:, 3] = rng.normal(size=n)[cluster]
        y = X @ TRUTH + 0.7 * rng.normal(size=n)[cluster] + rng.normal(size=len(cluster))
        return {"X": X, "y": y, "cluster": cluster}, TRUTH
    X = design(n, rng)
    return {"X": X, "y": response(X, kind, rng)}, TRUTH


def subsample(given, rng, share=0.95):
    """Which records a subsample holds: whole clusters where there are some."""
    if "cluster" in given:
        return (rng.random(int(given["cluster"].max()) + 1) < share)[given["cluster"]]
    return rng.random(len(given["y"])) < share


def draws(n, p, rng):
    """A subsample of 95% and noise."""
    return {"keep": rng.random(n) < 0.95, "noise": rng.normal(size=p)}
