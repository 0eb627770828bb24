"""The notes' attacks on protected fits: `methods/gate.md`, section 8.

An AUC of 60 against 60 has an error of .05 near .7, of .03 near .92. The notes do not say which record is the target:
here it is the one whose design lies furthest out of 1,000, and one of the two furthest out of 200.
"""

import numpy as np
import pytest
from scipy.stats import norm

from sfumato.kernels.protected.regression import regression
from tests.kernels.protected.attacks import (
    all_others_known,
    differenced,
    differencing,
    outermost,
    standard_errors,
    told_apart,
)
from tests.kernels.protected.designs import design, response

pytestmark = pytest.mark.slow
HERE = "tests/recovery/test_protected_attacks.py::"


@pytest.mark.nightly(of=HERE + "test_differencing_by_idle_covariates")
@pytest.mark.parametrize(
    ("n", "keyed", "share", "figure"),
    [
        (1000, "scope", 0.999, 0.71),
        (1000, "request", 0.999, 0.94),
        (200, "scope", 0.99, 0.85),
        (200, "request", 0.99, 0.91),
    ],
)
def test_differencing_by_idle_covariates_many_times(n, keyed, share, figure):
    assert differencing(n, keyed, share, 60) == pytest.approx(figure, abs=0.1 if figure < 0.8 else 0.07)


@pytest.mark.parametrize(("keyed", "figure"), [("scope", 0.85), ("request", 0.91)])
def test_differencing_by_idle_covariates(keyed, figure):
    """The AUC of two normal laws with the means and variances found: of 15 against 15 it has an error of .05."""
    rng = np.random.default_rng(7)
    ones, others = ([differenced(200, truth, keyed, 0.99, rng) for _ in range(15)] for truth in (1.0, 0.0))
    apart = (np.mean(ones) - np.mean(others)) / np.sqrt(np.var(ones, ddof=1) + np.var(others, ddof=1))
    assert norm.cdf(apart) == pytest.approx(figure, abs=0.1)


@pytest.mark.parametrize("n", [200, 1000])
def test_differencing_of_exact_output_tells_all(n):
    assert differencing(n, "exact", 0.99, 5) == 1.0


ACCOUNTED = [(1.0, 0.76), (2.0, 0.64)]
"""Noise, and Φ(1 / (τ √2)); measured .72 at 1 in the notes."""


@pytest.mark.parametrize(("tau", "most"), ACCOUNTED)
def test_who_knows_all_others_learns_no_more_than_the_accounting_says(tau, most):
    """The same noise in both worlds, so that it blurs how wide the answers scatter, by 1/√160, and not how far they lie
    apart: the AUC of normal laws then has an error of .02 at most. The bar is one and a half above, and as wide as the
    notes' below."""
    rng = np.random.default_rng(1)
    X = design(1000, rng)
    y, keep, target = response(X, "logistic", rng), rng.random(1000) < 0.95, outermost(X, 0.99)
    keep[target] = True
    noises, found = rng.normal(size=(80, X.shape[1])), []
    for truth in (1.0, 0.0):
        y[target] = truth
        found.append([X[target] @ regression("logistic", X, y, keep=keep, noise=e, tau=tau).estimate for e in noises])
    apart = np.mean(found[0]) - np.mean(found[1])
    auc = norm.cdf(apart / np.sqrt(np.var(found, axis=1, ddof=1).sum()))
    assert most - 0.1 < auc < most + 0.03


@pytest.mark.nightly(of=HERE + "test_who_knows_all_others_learns_no_more_than_the_accounting_says")
@pytest.mark.parametrize(("tau", "most"), ACCOUNTED)
def test_who_knows_all_others_learns_no_more_in_600_answers(tau, most):
    """Of 600 against 600 an AUC's error is .015."""
    assert most - 0.1 < all_others_known(1000, tau, 600) < most + 0.03


def standard_errors_tell_of_a_record_far_out(times):
    """The notes: .94, and .54 with weight 0. The largest of six AUCs by chance is about .53 of 250, .54 of 150."""
    assert told_apart(standard_errors(500, 30, False, times), 2) == pytest.approx(0.54, abs=0.05)
    assert told_apart(standard_errors(500, 30, True, times), 2) == pytest.approx(0.94, abs=0.1)


def test_standard_errors_tell_of_a_record_far_out_unless_it_has_no_weight():
    standard_errors_tell_of_a_record_far_out(150)


@pytest.mark.nightly(of=HERE + "test_standard_errors_tell_of_a_record_far_out_unless_it_has_no_weight")
def test_standard_errors_of_250_answers_tell_of_a_record_far_out():
    standard_errors_tell_of_a_record_far_out(250)


def standard_errors_tell_of_six_standard_deviations(n, three, two, times):
    """It lies inside. How much hangs on the digit that a standard error happens to end in: the order is what counts."""
    worlds = standard_errors(n, 6, False, times)
    assert told_apart(worlds, 3) == pytest.approx(three, abs=0.12)
    assert told_apart(worlds, 2) == pytest.approx(two, abs=0.12)


@pytest.mark.parametrize(
    ("n", "three", "two", "times"), [(500, 0.90, 0.88, 125), (2000, 0.81, 0.64, 125), (10_000, 0.57, 0.50, 60)]
)
def test_standard_errors_tell_of_a_record_at_six_standard_deviations(n, three, two, times):
    """Of 125 against 125 an AUC has an error of .04 at most, a third of the room."""
    standard_errors_tell_of_six_standard_deviations(n, three, two, times)


@pytest.mark.nightly(of=HERE + "test_standard_errors_tell_of_a_record_at_six_standard_deviations")
@pytest.mark.parametrize(
    ("n", "three", "two", "times"), [(500, 0.90, 0.88, 250), (2000, 0.81, 0.64, 250), (10_000, 0.57, 0.50, 100)]
)
def test_many_standard_errors_tell_of_a_record_at_six_standard_deviations(n, three, two, times):
    standard_errors_tell_of_six_standard_deviations(n, three, two, times)
