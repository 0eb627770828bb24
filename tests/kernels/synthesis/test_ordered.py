"""The ordered logit against a peer, and where no maximum exists."""

import numpy as np
import pytest
from scipy.special import expit

from sfumato.kernels.synthesis.logit import fit_logit
from sfumato.kernels.synthesis.ordered import fit_ordered
from tests.late import late

ordinal = late("statsmodels.miscmodels.ordinal_model")


def invented(n=10_000, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return rng, X, np.digitize(X @ [1.0, -0.5, 0.0] + rng.logistic(size=n), [-1.0, 0.0, 2.0])


def test_many_records_give_the_peers_fit():
    _, X, y = invented()
    fit, peer = fit_ordered(X, y, 4), ordinal.OrderedModel(y, X, distr="logit").fit(method="bfgs", disp=False)
    np.testing.assert_allclose(fit.slopes, peer.params[:3], atol=0.003)  # the augmentation is four records of 10,000
    np.testing.assert_allclose(fit.cuts, peer.model.transform_threshold_params(peer.params)[1:-1], atol=0.003)
    covariance = np.linalg.inv(fit.root @ fit.root.T)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance))[3:], peer.bse[:3], rtol=0.01)


def test_two_classes_are_a_logit():
    _, X, y = invented(500)
    one, other = fit_ordered(X, y > 1, 2), fit_logit(X, (y > 1).astype(int), 2)
    np.testing.assert_allclose(np.append(-one.cuts, one.slopes), other.slopes[0], atol=1e-3)


def test_classes_are_drawn_with_their_probabilities():
    _, X, y = invented(2000)
    fit = fit_ordered(X, y, 4)
    u = (np.arange(20_000) + 0.5) / 20_000
    drawn = fit.draw(np.tile(X[:1], (len(u), 1)), u)
    below = expit(fit.cuts - X[0] @ fit.slopes)
    np.testing.assert_allclose(np.cumsum(np.bincount(drawn, minlength=4) / len(u))[:3], below, atol=1e-4)


@pytest.mark.parametrize("classes", [2, 7])
def test_columns_that_tell_all_and_classes_of_one_record(classes):
    rng = np.random.default_rng(3)
    y = np.concatenate([np.zeros(20, int), np.arange(classes)])
    X = np.column_stack([y - y.mean(), rng.normal(size=(len(y), 40))])
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    fit = fit_ordered(X, y, classes)
    assert np.isfinite(fit.slopes).all()
    assert (np.diff(fit.cuts) > 0).all()
    drawn = fit.draw(X, rng.random(len(y)), rng.random(fit.many()))
    assert drawn.min() >= 0
    assert drawn.max() < classes
