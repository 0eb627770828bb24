"""The comparison of two estimates against the covariance of their difference, and by how often it rejects."""

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.agreement import compare


def test_it_is_a_wald_test_of_the_difference():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 50, 2))
    D = np.array([3.0, -9.0])
    p, df = compare(D + 1, first, np.ones(2), second)
    C = sum(np.outer(g, g) for g in first - second)
    assert df == 2
    assert p == pytest.approx(stats.chi2.sf(D @ np.linalg.inv(C) @ D, 2), rel=1e-5)


def test_directions_in_which_both_are_the_same_do_not_count():
    """Of three slopes the third has the same influences in both, and the second is twice the first."""
    rng = np.random.default_rng(2)
    g, h = rng.normal(size=(2, 40))
    first, second = np.column_stack([g, 2 * g, h]), np.column_stack([0 * g, 0 * g, h])
    p, df = compare(np.array([5.0, 10.0, 1.0]), first, np.array([0.0, 0.0, 1.0]), second)
    assert df == 1
    assert p == pytest.approx(2 * stats.norm.sf(5 / np.sqrt(g @ g)), rel=1e-4)


def test_the_same_estimate_twice_says_nothing():
    influence = np.random.default_rng(3).normal(size=(30, 2))
    p, df = compare(np.ones(2), influence, np.ones(2), influence)
    assert df == 0
    assert np.isnan(p)
    assert np.isnan(compare(np.array([np.nan]), influence[:, :1], np.ones(1), influence[:, 1:])[0])


def test_records_of_a_cluster_count_together():
    """Each record twice is each cluster once, with twice the influence."""
    rng = np.random.default_rng(4)
    first, second = rng.normal(size=(2, 40, 2))
    twice = np.repeat(np.arange(40), 2)
    wanted = compare(np.ones(2), 2 * first, np.zeros(2), 2 * second)
    assert compare(np.ones(2), first[twice], np.zeros(2), second[twice], twice) == pytest.approx(wanted, rel=1e-4)


def test_it_rejects_as_often_as_it_says():
    """Mean and median of 400 normal numbers: 5% of 400 draws, up to four standard errors of a share."""
    rng = np.random.default_rng(5)
    rejected = 0
    for _ in range(400):
        x = rng.normal(size=400)
        mean, median = x.mean(), np.median(x)
        by_median = np.sign(x - median) / (2 * stats.norm.pdf(0) * 400)
        p, _ = compare(np.array([mean]), (x - mean)[:, None] / 400, np.array([median]), by_median[:, None])
        rejected += p < 0.05
    assert abs(rejected / 400 - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 400)


def test_differences_that_are_digits_alone_are_none():
    """Two estimates whose influences differ in the fifth digit, three ten-thousandths of a standard error apart."""
    rng = np.random.default_rng(6)
    influence = rng.normal(size=(500, 2))
    nearly = influence * (1 + 3e-5 * rng.normal(size=(500, 2)))
    p, _ = compare(np.full(2, 3e-4 * 500**0.5), nearly, np.zeros(2), influence)
    assert p > 0.5
