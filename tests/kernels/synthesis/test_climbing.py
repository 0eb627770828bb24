"""The maximum that curvature of some rows leads to."""

import numpy as np
from scipy.special import softmax

from sfumato.kernels.synthesis import climbing
from sfumato.kernels.synthesis.climbing import information_of, shares_of
from sfumato.kernels.synthesis.logit import augmentation, fit_logit


def test_the_maximum_is_that_of_all_records(monkeypatch):
    """Classes of one in fifty, columns that few records have, and some records alone: no score is left over."""
    monkeypatch.setattr(climbing, "SOME", 400)
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=(6000, 4)), *(rng.random(6000) < share for share in (0.5, 0.05, 0.003))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    shares = softmax(np.log([0.7, 0.2, 0.08, 0.02]) + X @ rng.normal(size=(7, 4)) * 1.5, axis=1)
    y = (np.cumsum(shares, axis=1)[:, :-1] < rng.random(6000)[:, None]).sum(axis=1)
    fit = fit_logit(X, y, 4)
    more, weight = augmentation(X, np.bincount(y) / 6000)
    told = np.vstack([np.eye(4)[y] - fit.shares(X), weight - fit.shares(more) * weight.sum(axis=1, keepdims=True)])
    columns = np.column_stack([np.ones(len(told)), np.vstack([X, more])])
    left = np.linalg.solve(fit.root, (told[:, 1:].T @ columns).ravel())
    assert np.sqrt(left @ left) < 0.01  # in standard errors


def test_the_information_is_minus_the_second_derivative_of_the_likelihood():
    """Against central differences of the gradient, whose error is that of steps of 1e-5."""
    rng = np.random.default_rng(4)
    X, weight, slopes = rng.normal(size=(30, 3)), rng.uniform(0.5, 2, 30), rng.normal(size=(2, 3))

    def fell(at):
        return (shares_of(X, at.reshape(2, 3))[:, 1:] * weight[:, None]).T @ X

    steps = np.eye(6) * 1e-5
    wanted = [(fell(slopes.ravel() + s) - fell(slopes.ravel() - s)).ravel() / 2e-5 for s in steps]
    np.testing.assert_allclose(information_of(X, weight, shares_of(X, slopes)), wanted, atol=1e-7)
