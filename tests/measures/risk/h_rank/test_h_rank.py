"""The h-rank of files against its definition, written out with distance matrices in plain numpy."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from sfumato.data.disclosure import Additive
from sfumato.data.error_model import Growth
from sfumato.errors import DataError
from sfumato.kernels.rows import scatter
from sfumato.measures.risk.attackers.attackers import Attack
from sfumato.measures.risk.attackers.error_law import laws
from sfumato.measures.risk.h_rank.h_rank import AT, GROUPS, h_rank

RNG = np.random.default_rng(41)
N = 400
Y = RNG.standard_normal((N, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]]) * [1, 10, 0.1] + [5, 100, -1]
Z = Y + 0.35 * RNG.standard_normal(Y.shape) * Y.std(axis=0)
LABEL = RNG.integers(0, 3, N)
NAMES = ("a", "b", "c")


def by_definition(search, released, truth, label=None):
    """h of each record by full matrices; no ties."""
    near, true = cdist(search, released), cdist(truth, truth)
    if label is not None:
        near[label[:, None] != label], true[label[:, None] != label] = np.inf, np.inf
    chosen = near.argmin(axis=1)
    return (true < true[np.arange(len(truth)), chosen][:, None]).sum(axis=1)


def told(variance, names=NAMES, **more):
    """The law of independent noise with these variances, for all records."""
    part = Additive(names, np.diag(variance), **more)
    return tuple(laws([part], names, None, ()))


# Metrics


def test_euclidean_is_as_it_is():
    assert h_rank(Y, Z).h.tolist() == by_definition(Y, Z, Y).tolist()


def test_scaled_divides_by_the_sd_of_the_true_values():
    sd = Y.std(axis=0)
    expected = by_definition(Y / sd, Z / sd, Y / sd)
    assert h_rank(Y, Z, metric="scaled").h.tolist() == expected.tolist()
    assert expected.tolist() != by_definition(Y, Z, Y).tolist()


def test_mahalanobis_uses_the_covariance_of_the_true_values():
    inverse = np.linalg.inv(np.cov(Y.T, ddof=0))
    root = np.linalg.cholesky(inverse)
    expected = by_definition(Y @ root, Z @ root, Y @ root)
    assert h_rank(Y, Z, metric="mahalanobis").h.tolist() == expected.tolist()
    assert expected.tolist() != h_rank(Y, Z, metric="scaled").h.tolist()


@pytest.mark.parametrize("metric", ["scaled", "mahalanobis"])
def test_units_do_not_matter_to_scaled_metrics(metric):
    units = np.array([1000, 0.01, 4])
    assert h_rank(Y * units - 3, Z * units - 3, metric=metric).h.tolist() == h_rank(Y, Z, metric=metric).h.tolist()


@pytest.mark.parametrize("metric", ["scaled", "mahalanobis"])
def test_a_constant_column_changes_nothing(metric):
    y, z = np.column_stack([Y, np.full(N, 7.0)]), np.column_stack([Z, Z[:, 0]])
    assert h_rank(y, z, metric=metric).h.tolist() == h_rank(Y, Z, metric=metric).h.tolist()


@pytest.mark.parametrize("metric", ["scaled", "mahalanobis"])
def test_only_constant_columns_leave_a_guess(metric):
    """All records are equal to the attacker: each is taken with probability 1/n."""
    found = h_rank(np.full((20, 2), 3.0), np.full((20, 2), 4.0), metric=metric)
    assert found.probability(0) == pytest.approx(1 / 20)
    assert found.probability(4) == pytest.approx(5 / 20)


# Labels and missing values


def test_a_known_group_is_searched_alone():
    found = h_rank(Y, Z, metric="scaled", label=LABEL)
    sd = Y.std(axis=0)
    assert found.h.tolist() == by_definition(Y / sd, Z / sd, Y / sd, LABEL).tolist()
    assert found.probability(0) > h_rank(Y, Z, metric="scaled").probability(0)


@pytest.mark.parametrize("metric", ["euclidean", "scaled"])
def test_records_are_compared_among_those_with_the_same_columns_missing(metric):
    y, z = Y.copy(), Z.copy()
    y[:100, 0] = z[:100, 0] = np.nan
    y[100:150, 1] = np.nan  # missing before only: the released value takes no part
    pattern = np.repeat([0, 1, 2], [100, 50, N - 150])
    sd = np.nanstd(y, axis=0) if metric == "scaled" else np.ones(3)
    expected = np.empty(N)
    for k, columns in enumerate(([1, 2], [0, 2], [0, 1, 2])):
        rows = np.flatnonzero(pattern == k)
        true = (y / sd)[np.ix_(rows, columns)]
        expected[rows] = by_definition(true, (z / sd)[np.ix_(rows, columns)], true)
    assert h_rank(y, z, metric=metric).h.tolist() == expected.tolist()


def test_a_record_with_nothing_but_missing_values_is_one_of_its_like():
    y, z = Y.copy(), Z.copy()
    y[:8], z[:8] = np.nan, np.nan
    found = h_rank(y, z)
    assert found.probabilities(0)[:8] == pytest.approx(1 / 8)
    assert found.h[8:].tolist() == by_definition(Y[8:], Z[8:], Y[8:]).tolist()


# Ties


def test_twins_share_and_a_keyed_choice_is_one_of_them():
    y = np.repeat([[0.0], [10.0]], 4, axis=0)
    expected = h_rank(y, y)
    assert [expected.probability(t) for t in range(4)] == pytest.approx([0.25, 0.5, 0.75, 1])
    keyed = h_rank(y, y, ties="keyed")
    assert keyed.h.tolist() == h_rank(y, y, ties="keyed").h.tolist()
    assert set(keyed.h) <= {0.0, 1.0, 2.0, 3.0}


def test_row_order_changes_nothing():
    order = np.random.default_rng(4).permutation(N)
    y, z = Y.round(1), Z.round(1)
    assert h_rank(y[order], z[order]).h == pytest.approx(h_rank(y, z).h[order], rel=1e-12)
    a, b = h_rank(y, z), h_rank(y[order], z[order])
    for group in GROUPS:
        assert b.probability(2, group) == pytest.approx(a.probability(2, group), rel=1e-12), group


# Groups, intervals, baseline


def test_groups_are_tenths_by_distance_from_the_centroid():
    found = h_rank(Y, Z)
    away = np.linalg.norm(Y - Y.mean(axis=0), axis=1)
    assert found.groups == GROUPS
    assert found.distance == pytest.approx(away, rel=1e-12)
    tenths = np.array_split(np.argsort(away), 10)
    each = found.probabilities(1)
    for d, rows in enumerate(tenths, start=1):
        assert found.probability(1, f"decile {d}") == pytest.approx(each[rows].mean(), rel=1e-12), d
    assert found.probability(1) == pytest.approx(each.mean(), rel=1e-12)


def test_the_worst_are_the_most_isolated():
    """The ten, or 1% if that is more, with the longest way to the nearest other record."""
    apart = cdist(Y, Y)
    np.fill_diagonal(apart, np.inf)
    alone = np.argsort(-apart.min(axis=1))[:10]
    found = h_rank(Y, Z)
    assert found.probability(1, "worst") == pytest.approx(found.probabilities(1)[alone].mean(), rel=1e-12)
    assert found.probability(0, "worst") > found.probability(0)


def test_one_percent_is_the_worst_of_a_long_file():
    rng = np.random.default_rng(6)
    y = rng.standard_normal((3000, 2))
    z = y + 0.05 * rng.standard_normal(y.shape)
    apart = cdist(y, y)
    np.fill_diagonal(apart, np.inf)
    alone = np.argsort(-apart.min(axis=1))[:30]
    found = h_rank(y, z, cap=10)
    assert found.probability(0, "worst") == pytest.approx(found.probabilities(0)[alone].mean(), rel=1e-12)


def test_groups_without_records_are_left_out():
    found = h_rank(Y[:3], Z[:3])
    assert len([g for g in found.groups if g.startswith("decile")]) == 3
    empty = next(g for g in GROUPS if g not in found.groups)
    with pytest.raises(DataError, match="no record"):
        found.probability(0, empty)
    with pytest.raises(DataError, match="There is no group 'decile 11'"):
        found.probability(0, "decile 11")


def wilson(share, n, z=1.959963984540054):
    """Wilson (1927): the roots of (share − p)² = z² p (1 − p) / n in p."""
    return np.sort(np.roots([1 + z**2 / n, -(2 * share + z**2 / n), share**2]))


def test_interval_of_one_release_is_wilsons():
    found = h_rank(Y, Z)
    assert found.interval(0) == pytest.approx(wilson(found.probability(0), N), rel=1e-9)
    p, count = found.probability(1, "decile 3"), N // 10
    assert found.interval(1, "decile 3") == pytest.approx(wilson(p, count), rel=1e-9)


def test_interval_of_several_releases_is_over_them():
    found = h_rank(Y, laws=told([0.1, 10, 0.001]), replications=6)
    each = np.array([r.probability(2).mean() for r in found.ranks])
    half = 2.570581835636314 * each.std(ddof=1) / 6**0.5  # 97.5% of Student t with 5 degrees of freedom
    assert len(set(each)) > 1
    assert found.interval(2) == pytest.approx((each.mean() - half, each.mean() + half), rel=1e-9)
    assert found.probability(2) == pytest.approx(each.mean(), rel=1e-12)
    assert found.h == pytest.approx(np.mean([r.h for r in found.ranks], axis=0), rel=1e-12)


def test_baseline_is_a_random_record():
    found = h_rank(Y, Z)
    assert found.baseline(0) == pytest.approx(1 / N)
    assert found.baseline(4) == pytest.approx(5 / N)
    assert h_rank(Y[:3], Z[:3]).baseline(10) == 1


def test_fraction_multiplies_every_chance():
    whole, half = h_rank(Y, Z), h_rank(Y, Z, fraction=0.25)
    for group in ("all", "decile 10", "worst"):
        assert half.probability(1, group) == pytest.approx(0.25 * whole.probability(1, group))
        assert half.interval(1, group) == pytest.approx(0.25 * np.array(whole.interval(1, group)))
    assert half.baseline(1) == pytest.approx(0.25 * whole.baseline(1))
    assert half.h.tolist() == whole.h.tolist()


def test_shares_of_the_file_in_its_order():
    found = h_rank(Y, Z)
    each = found.probabilities(1)
    for share in (0.1, 0.5, 0.9):
        assert found.in_file_order(1, share) == pytest.approx(each[: round(share * N)].mean())
    assert h_rank(Y[:3], Z[:3]).in_file_order(0, 0.1) == h_rank(Y[:3], Z[:3]).probabilities(0)[0]


def test_tidy_has_a_row_for_each_group_and_t():
    found = h_rank(Y, Z)
    frame = found.tidy()
    assert frame.columns == ["group", "at", "value", "low", "high", "baseline"]
    assert [row[:2] for row in frame.iter_rows()] == [(g, t) for g in GROUPS for t in AT]
    for group, at, value, low, high, baseline in frame.iter_rows():
        assert value == found.probability(at, group)
        assert (low, high) == found.interval(at, group)
        assert low <= value <= high
        assert baseline == (at + 1) / N
    assert "<table" in found._repr_html_()


# Cap and sample


def test_cap_tells_no_larger_h_apart():
    whole, capped = h_rank(Y, Z), h_rank(Y, Z, cap=3)
    assert capped.cap == 3
    assert capped.h.tolist() == np.minimum(whole.h, 4).tolist()
    for t in range(4):
        assert capped.probability(t) == whole.probability(t)
    assert capped.tidy()["at"].unique().sort().to_list() == [0, 1, 2]
    with pytest.raises(DataError, match="Raise the cap"):
        capped.probability(4)
    with pytest.raises(DataError, match="it must be 0 or more"):
        h_rank(Y, Z, cap=-1)


def test_a_sample_of_targets_is_fixed_and_searches_the_whole_file():
    whole, some = h_rank(Y, Z), h_rank(Y, Z, sample=50)
    lot = scatter(np.arange(1, N + 1, dtype=np.uint64))
    rows = np.sort(np.argsort(lot)[:50])
    assert some.h.tolist() == whole.h[rows].tolist()
    assert some.distance.tolist() == whole.distance[rows].tolist()
    assert some.baseline(0) == 1 / N
    assert h_rank(Y, Z, sample=10 * N).h.tolist() == whole.h.tolist()


# Simulated releases and other attackers


def test_replications_differ_and_can_be_made_again():
    told_law = told([0.1, 10, 0.001])
    a, b = (h_rank(Y, laws=told_law, replications=3) for _ in range(2))
    assert [r.h.tolist() for r in a.ranks] == [r.h.tolist() for r in b.ranks]
    assert len({tuple(r.h) for r in a.ranks}) == 3


def test_without_noise_everybody_is_found():
    assert h_rank(Y, laws=told([0.0, 0.0, 0.0])).probability(0) == 1
    assert h_rank(Y, Y).probability(0) == 1


def test_averaging_brings_the_noise_down_as_if_it_were_weaker():
    """The mean of four releases is one with a quarter of the variance; standard error of each figure below .01."""
    y = np.random.default_rng(2).standard_normal((3000, 3))
    four = h_rank(y, laws=told([0.04] * 3), attack=Attack("averaging", 4), cap=0)
    weaker = h_rank(y, laws=told([0.01] * 3), cap=0)
    once = h_rank(y, laws=told([0.04] * 3), cap=0)
    assert four.probability(0) == pytest.approx(weaker.probability(0), abs=0.04)
    assert once.probability(0) < weaker.probability(0) - 0.1


def test_imprecise_knowledge_is_worse_than_exact():
    risks = [h_rank(Y, Z, attack=Attack("imprecise", off), metric="scaled").probability(0) for off in (0.01, 0.5, 5)]
    exact = h_rank(Y, Z, metric="scaled").probability(0)
    assert risks[0] == pytest.approx(exact, abs=0.03)
    assert risks[0] > risks[1] + 0.05 > risks[2] + 0.05
    assert risks[2] < 5 / N


def test_imprecise_knowledge_leaves_0_and_1_exact():
    y = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert h_rank(y, y, attack=Attack("imprecise", 3)).probability(0) == pytest.approx(1 / 50)


def test_predicted_beats_nearest_where_noise_is_unequal():
    """Standard errors of both are below .008."""
    rng = np.random.default_rng(3)
    y = rng.multivariate_normal(np.zeros(3), 0.5 + 0.5 * np.eye(3), 2000)
    law = told([0.005, 0.05, 0.3])
    z = law[0][1].simulate(y, rng)
    nearest = h_rank(y, z, metric="scaled", cap=0).probability(0)
    assert h_rank(y, z, attack=Attack("predicted"), laws=law, cap=0).probability(0) > nearest + 0.03


# Bad input

SECRET = 987_654_321.5


@pytest.mark.parametrize(
    ("true", "noisy", "more", "message"),
    [
        (Y, Z[:-1], {}, "different numbers of records or columns"),
        (Y, Z[:, :2], {}, "different numbers of records or columns"),
        (np.zeros((0, 2)), np.zeros((0, 2)), {}, "There is no record"),
        (np.array([[SECRET], [np.inf]]), np.zeros((2, 1)), {}, "infinite value"),
        (np.array([[SECRET], [1.0]]), np.array([[-np.inf], [1.0]]), {}, "infinite value"),
        (Y, None, {}, "needs the disclosed law"),
        (Y, Z, {"attack": Attack("predicted")}, "The attack predicted needs the disclosed law"),
        (Y, Z, {"attack": Attack("averaging", 3)}, "The attack averaging:3 needs the disclosed law"),
        (Y, Z, {"fraction": 0.0}, "above 0 and at most 1"),
        (Y, Z, {"fraction": 1.1}, "above 0 and at most 1"),
    ],
)
def test_bad_input_is_refused_without_a_value(true, noisy, more, message):
    with pytest.raises(DataError, match=message) as caught:
        h_rank(true, noisy, **more)
    assert "987654321" not in str(caught.value)
    assert str(N) not in str(caught.value)


def test_one_record_is_found():
    found = h_rank(np.array([[3.0]]), np.array([[8.0]]))
    assert found.h.tolist() == [0]
    assert found.probability(0) == found.baseline(0) == 1
    assert "worst" in found.groups


def test_the_law_of_grown_noise_is_used_for_each_target():
    """Beside a brute-force search: costs by each target's own noise, p(z) by the normal law of the mean growth."""
    random = np.random.default_rng(8)
    y = random.normal(size=(200, 2)) * [1, 3]
    growth = {"a": Growth(centre=0.0, scale=1.0, beyond=1.0), "b": Growth(centre=0.0, scale=3.0, beyond=1.0)}
    ((rows, law),) = laws([Additive(("a", "b"), [[0.2, 0], [0, 1.8]], grows=growth)], ("a", "b"), None, ())
    z = law.simulate(y, random)
    found = h_rank(y, z, attack=Attack("predicted"), laws=[(rows, law)])
    factor = np.column_stack([growth["a"].factor(y[:, 0]), growth["b"].factor(y[:, 1])])
    stepped = 1.5 ** np.minimum(np.round(np.log(factor) / np.log(1.5)), 8)
    marginal = np.cov(y.T, bias=True) + np.diag([0.2, 1.8] * (factor**2).mean(axis=0))
    log_p = stats.multivariate_normal(y.mean(axis=0), marginal).logpdf(z)
    right = 0
    for i in range(len(y)):
        cost = (((z - y[i]) ** 2) / ([0.2, 1.8] * stepped[i] ** 2)).sum(axis=1) + 2 * log_p
        right += int(np.argmin(cost) == i)
    assert found.probability(0) == pytest.approx(right / len(y), abs=1e-9)


def test_knowledge_is_imprecise_wherever_the_first_records_stand():
    """A column that starts with a thousand twins is continuous all the same; another order gives other errors only."""
    random = np.random.default_rng(8)
    y = np.concatenate([np.zeros(1500), np.exp(random.standard_normal(1500))])[:, None]
    found = [
        h_rank(y[order], y[order] + 1e-4 * random.standard_normal(y.shape), attack=Attack("imprecise", 1)).probability(
            0
        )
        for order in (np.arange(3000), np.arange(3000)[::-1])
    ]
    assert max(found) < 0.02
    assert h_rank(y, y + 1e-4 * random.standard_normal(y.shape)).probability(0) > 0.4


# Noise that is not normal


@pytest.mark.parametrize(("distribution", "variance"), [("uniform", 0.1), ("uniform", 0.6), ("laplace", 0.3)])
def test_the_predicting_attacker_uses_the_density_of_the_noise(distribution, variance):
    """Against full matrices: log f(z − y) with the noise's own density, less the log of the normal p(z)."""
    random, n = np.random.default_rng(12), 300
    y = random.multivariate_normal(np.zeros(3), np.full((3, 3), 0.25) + 0.75 * np.eye(3), n)
    part = Additive(NAMES, variance * np.eye(3), distribution=distribution)
    law = tuple(laws([part], NAMES, None, ()))
    z = law[0][1].simulate(y, random)
    noise = {
        "uniform": stats.uniform(-((3 * variance) ** 0.5), (12 * variance) ** 0.5),
        "laplace": stats.laplace(scale=(variance / 2) ** 0.5),
    }
    with np.errstate(divide="ignore"):
        f = noise[distribution].logpdf(z[None] - y[:, None]).sum(axis=2)
    p = stats.multivariate_normal.logpdf(z, y.mean(axis=0), np.cov(y.T, ddof=0) + variance * np.eye(3))
    chosen = (f - p).argmax(axis=1)
    found = h_rank(y, z, attack=Attack("predicted"), laws=law)
    assert (found.h == 0).tolist() == (chosen == np.arange(n)).tolist()
    plain = tuple(laws([Additive(NAMES, variance * np.eye(3))], NAMES, None, ()))
    assert found.probability(0) > h_rank(y, z, attack=Attack("predicted"), laws=plain).probability(0)


# Households


def test_the_attack_household_needs_households():
    with pytest.raises(DataError, match="household column"):
        h_rank(Y, Z, attack=Attack("household"), laws=told([1, 1, 1]))
