"""The records of the studies: five covariates of different kinds, and the responses that each family gives them."""

import numpy as np

TRUTH = np.array([-1.0, 0.5, 0.4, -0.3, 0.6, 0.2])


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


def draws(n, p, rng):
    """A subsample of 95% and noise."""
    return {"keep": rng.random(n) < 0.95, "noise": rng.normal(size=p)}
