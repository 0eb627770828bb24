"""Membership by closeness, against its definition."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp, mannwhitneyu

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.known import Known
from sfumato.measures.risk.membership import findings, nearer, widest_gap

RNG = np.random.default_rng(1)
MEMBERS, OTHERS = RNG.integers(0, 6, 200) / 2.0, RNG.integers(1, 8, 150) / 2.0
BOOK = Codebook({"id": Variable(role="record"), "a": Variable(kind="categorical"), "x": Variable(kind="integer")})


def test_the_area_is_mann_and_whitneys_share():
    area, (low, high) = nearer(MEMBERS, OTHERS)
    assert area == pytest.approx(mannwhitneyu(OTHERS, MEMBERS).statistic / (200 * 150))
    assert low < area < high


def test_the_gap_is_kolmogorov_and_smirnovs():
    assert widest_gap(MEMBERS, OTHERS) == pytest.approx(ks_2samp(MEMBERS, OTHERS, alternative="greater").statistic)
    assert widest_gap(OTHERS, OTHERS) == 0.0


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Normal distances one sd apart: the area is Φ(1/√2); 95% of 1,000 intervals, give or take four standard errors."""
    rng, truth, held = np.random.default_rng(2), 0.7602499389, 0
    for _ in range(1000):
        low, high = nearer(rng.normal(0, 1, 150), rng.normal(1, 1, 150))[1]
        held += low <= truth <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.028)


def table(n, seed, first=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"id": np.arange(first, first + n), "a": rng.integers(0, 4, n), "x": rng.integers(0, 30, n)})


def test_ids_are_no_part_of_a_distance():
    people, others = table(50, 1), table(50, 2, 500)
    found = findings(Known(people, people, BOOK, ("a",), control=others, record="id"))
    d = (others["a"].to_numpy()[:, None] != people["a"].to_numpy()[None]).astype(float)
    d += np.abs(others["x"].to_numpy()[:, None] - people["x"].to_numpy()[None]) / (
        people["x"].max() - people["x"].min()
    )
    away = d.min(axis=1) > 1e-9
    assert found.of("membership", group="auc").value == pytest.approx(away.mean() + 0.5 * (1 - away.mean()))
    assert found.of("membership", group="advantage").value == pytest.approx(away.mean())


def test_members_who_are_released_as_others_are_not_told():
    people, others = table(400, 3), table(400, 4)
    found = findings(Known(people, table(400, 5), BOOK, ("a",), False, others))
    low, high = found.of("membership", group="auc").interval
    assert low - 0.03 < 0.5 < high + 0.03
    assert not findings(Known(people, people, BOOK, ("a",)))
