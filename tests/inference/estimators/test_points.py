"""The likelihood of points is that of the records that they stand for, but for the width of the intervals."""

import numpy as np
import pytest

from sfumato.inference.estimators.points import Points


def test_differences_between_mixtures_are_those_of_the_records():
    """Of 3,000 records, at two mixtures; the BIC tells differences of about 10 apart, 0.5 is little beside that."""
    rng = np.random.default_rng(11)
    z = rng.gamma(2, size=3000) + rng.normal(size=3000)
    variance = np.where(np.arange(3000) < 2000, 1.0, 0.0)
    few = Points.of(z, np.ones(3000), variance, np.zeros(3000, dtype=np.int64)).model(2, None)
    assert len(few.z) < 1000
    gaps, exact = [], []
    for theta in (np.array([-1.0, 1.5, 2.0, 0.0, 0.5]), np.array([0.0, 1.0, 1.5, -0.3, 0.3])):
        gaps.append(few.log_likelihoods(theta[None])[0])
        pi = np.array([1, np.exp(theta[0])]) / (1 + np.exp(theta[0]))
        total = np.exp(2 * theta[3:]) + variance[:, None]
        density = np.exp(-0.5 * (z[:, None] - theta[1] - [0, theta[2]]) ** 2 / total) / np.sqrt(2 * np.pi * total)
        exact.append(np.log(density @ pi).sum())
    assert gaps[0] - gaps[1] == pytest.approx(exact[0] - exact[1], abs=0.5)
