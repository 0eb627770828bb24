"""Combining rules by hand, and by simulation of what they promise."""

import numpy as np
import pytest
from scipy.stats import norm, t

from sfumato.errors import DataError
from sfumato.inference.combine import combine

Q, U = np.array([1.0, 1.1, 0.9, 1.2]), np.array([0.04, 0.05, 0.03, 0.04])
MEAN, WITHIN, BETWEEN = 1.05, 0.04, 0.05 / 3


@pytest.mark.parametrize(
    ("rule", "more", "variance", "df"),
    [
        ("simple", {}, WITHIN * 1.25, np.inf),
        ("simple", {"ratio": 2.0, "df": 30}, WITHIN * 2.25, 30),
        ("simple", {"proper": True}, WITHIN * 1.5, np.inf),
        ("rrr", {"proper": True, "ratio": 0.5}, WITHIN / 2, 3),
        ("partial", {}, WITHIN + BETWEEN / 4, 3 * (1 + 4 * WITHIN / BETWEEN) ** 2),
        ("partial", {"df": 20}, WITHIN + BETWEEN / 4, 20),
        ("rubin", {}, WITHIN + 1.25 * BETWEEN, 3 * (1 + WITHIN / (1.25 * BETWEEN)) ** 2),
    ],
)
def test_by_hand(rule, more, variance, df):
    got = combine(Q, U, rule, **more)
    assert got.estimate == pytest.approx(MEAN, abs=1e-12)
    assert got.se**2 == pytest.approx(variance, rel=1e-12)
    assert got.df == pytest.approx(df, rel=1e-12)
    wide = t.ppf(0.975, df) if np.isfinite(df) else norm.ppf(0.975)
    assert got.high - got.low == pytest.approx(2 * wide * np.sqrt(variance), rel=1e-9)


def test_rubin_of_small_samples():
    """Barnard and Rubin's degrees of freedom never exceed those of the complete data."""
    got = combine(Q, U, "rubin", df=30)
    spread = 1.25 * BETWEEN
    copies, observed = 3 * (1 + WITHIN / spread) ** 2, 30 * 31 / 33 * WITHIN / (WITHIN + spread)
    assert got.df == pytest.approx(1 / (1 / copies + 1 / observed), rel=1e-12)
    assert got.df < 30


def test_rrr_where_copies_differ_much():
    got = combine([0.0, 1.0, 2.0], [0.1, 0.1, 0.1], "rrr", proper=True)
    assert got.se**2 == pytest.approx(4 / 3 - 0.1)
    assert got.df == pytest.approx(2 * (1 - 0.1 / (4 / 3)) ** 2)


@pytest.mark.parametrize("rule", ["partial", "rubin", "rrr"])
def test_where_nothing_differs_the_plain_fit_stands(rule):
    got = combine([1.0, 1.0], [0.04, 0.04], rule, proper=True, df=17)
    assert (got.estimate, got.se, got.df) == (1.0, pytest.approx(0.2), 17)


def test_columns_are_combined_each_by_itself():
    both = combine(np.stack([Q, 2 * Q], axis=1), np.stack([U, 4 * U], axis=1), "partial", df=[50, 60])
    one = combine(Q, U, "partial", df=50)
    np.testing.assert_allclose([both.estimate[0], both.se[0], both.low[0]], [one.estimate, one.se, one.low])
    np.testing.assert_allclose(both.se[1], 2 * one.se)
    assert both.estimate.shape == (2,)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (([1.0], [0.1], "partial"), "two copies"),
        (([1.0], [0.1], "rubin"), "two copies"),
        (([1.0, 2.0], [0.1, 0.1], "rrr"), "proper"),
        (([1.0, 2.0], [0.1, 0.1], "mean"), "no rule"),
        (([1.0, 2.0], [0.1], "simple"), "one line"),
        (([], [], "simple"), "one line"),
        (([1.0, np.nan], [0.1, 0.1], "simple"), "finite"),
        (([1.0, 2.0], [0.1, -0.1], "simple"), "below 0"),
        (([1.0, 2.0], [0.1, 0.1], "simple", 0.0), "above 0"),
    ],
)
def test_what_is_refused(given, match):
    with pytest.raises(DataError, match=match):
        combine(*given)


N, M, TIMES = 400, 5, 3000


def drawn_anew(rng, proper):
    """The mean of a normal column and its variance in each copy; truth 0, sd 1, for many samples at once."""
    y = rng.normal(size=(TIMES, N))
    mean, sd = y.mean(axis=1), y.std(axis=1, ddof=1)
    copies, variances = [], []
    for _ in range(M):
        centre, spread = mean, sd
        if proper:
            spread = sd * np.sqrt((N - 1) / rng.chisquare(N - 1, TIMES))
            centre = mean + spread / np.sqrt(N) * rng.normal(size=TIMES)
        drawn = centre[:, None] + spread[:, None] * rng.normal(size=(TIMES, N))
        copies.append(drawn.mean(axis=1))
        variances.append(drawn.var(axis=1, ddof=1) / N)
    return np.array(copies), np.array(variances)


@pytest.mark.parametrize(
    ("rule", "proper", "made"),
    [
        ("simple", False, lambda rng: drawn_anew(rng, False)),
        ("simple", True, lambda rng: drawn_anew(rng, True)),
        ("rubin", True, lambda rng: filled_in(rng)),
    ],
    ids=["simple", "simple of proper", "rubin"],
)
def test_intervals_hold_the_truth(rule, proper, made):
    """95% of 3,000 samples, give or take three standard errors of .4 points."""
    got = combine(*made(np.random.default_rng(7)), rule, proper=proper, df=N - 1)
    assert 0.937 <= ((got.low <= 0) & (got.high >= 0)).mean() <= 0.965


def filled_in(rng):
    """Half of the values are missing, and drawn with parameters of the other half."""
    half = N // 2
    y = rng.normal(size=(TIMES, half))
    mean, sd = y.mean(axis=1), y.std(axis=1, ddof=1)
    copies, variances = [], []
    for _ in range(M):
        spread = sd * np.sqrt((half - 1) / rng.chisquare(half - 1, TIMES))
        centre = mean + spread / np.sqrt(half) * rng.normal(size=TIMES)
        drawn = np.hstack([y, centre[:, None] + spread[:, None] * rng.normal(size=(TIMES, half))])
        copies.append(drawn.mean(axis=1))
        variances.append(drawn.var(axis=1, ddof=1) / N)
    return np.array(copies), np.array(variances)


def test_other_rules_miss_it():
    """The plain interval of one copy ignores that the copy was drawn: 83% (the ratio of widths is the root of two)."""
    q, u = drawn_anew(np.random.default_rng(8), False)
    covered = (np.abs(q[0]) <= norm.ppf(0.975) * np.sqrt(u[0])).mean()
    assert covered == pytest.approx(2 * norm.cdf(norm.ppf(0.975) / np.sqrt(2)) - 1, abs=0.02)
