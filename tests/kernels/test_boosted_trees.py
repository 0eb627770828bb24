import numpy as np
import pytest

from sfumato.kernels.boosted_trees import BINS, binned, boosted, boosted_scores


def study(n=2000, *, factors=2, numbers=2, levels=6, lattice=False, missing=0.0, seed=0):
    """Features, a group that depends on the first and the last column, training rows, and which are factors."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, factors + numbers))
    if lattice:
        features = np.round(2 * features)
    features[:, :factors] = rng.integers(0, levels, (n, factors))
    chance = 1 / (1 + np.exp(-0.8 * features[:, -1] - (features[:, 0] % 3 == 1)))
    target = (rng.random(n) < chance).astype(float)
    features[rng.random(features.shape) < missing] = np.nan
    return features, target, rng.random(n) < 0.8, [j < factors for j in range(factors + numbers)]


@pytest.mark.parametrize(
    "how",
    [
        {"factors": 0},
        {"factors": 0, "lattice": True},
        {"numbers": 1, "levels": 5},
        {"numbers": 0, "levels": 40},
        {"levels": 30, "lattice": True, "n": 9000},
    ],
)
def test_they_are_those_of_a_peer(how):
    """scikit-learn's trees on histograms; sums in another order differ in the last bits of 50 rounds.

    A row outside training may stand between two training values, where a threshold is either of them or their mean.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    features, target, train, factors = study(**how)
    peer = HistGradientBoostingClassifier(
        learning_rate=0.1,
        max_iter=50,
        max_leaf_nodes=8,
        min_samples_leaf=20,
        categorical_features=factors,
        early_stopping=False,
    ).fit(features[train], target[train])
    scores = boosted_scores(features, target, train, factors)
    apart = np.abs(scores - peer.predict_proba(features)[:, 1])
    assert apart[train].max() < 1e-6
    assert np.mean(apart[~train] > 1e-6) <= 0.01


def test_missing_values_are_a_side_of_their_own():
    x = np.random.default_rng(0).normal(size=2000)
    target = np.isnan(gone := np.where(x > 1, np.nan, x)).astype(float)
    train = np.arange(2000) % 2 == 0
    scores = boosted_scores(gone[:, None], target, train, [False])
    assert scores[~train & (target == 1)].min() > 0.9
    assert scores[~train & (target == 0)].max() < 0.1


def test_rows_outside_training_teach_nothing():
    features, target, train, factors = study(missing=0.1)
    other = np.where(train, target, 1 - target)
    np.testing.assert_array_equal(
        boosted_scores(features, target, train, factors), boosted_scores(features, other, train, factors)
    )


def test_a_category_never_seen_goes_where_most_go():
    features, target, train, factors = study(factors=1, numbers=0, levels=3)
    features[:4, 0], train[:4] = 99.0, False
    scores = boosted_scores(features, target, train, factors, rounds=1, leaves=2)
    sizes = {s: int((scores[train] == s).sum()) for s in np.unique(scores)}
    assert scores[0] == max(sizes, key=sizes.get)


@pytest.mark.parametrize("columns", [{"factors": 1, "numbers": 0, "levels": BINS}, {"factors": 0, "numbers": 1}])
def test_as_many_values_as_a_code_can_hold(columns):
    features, target, train, factors = study(n=9000, **columns)
    scores = boosted_scores(features, target, train, factors)
    assert np.corrcoef(scores[~train], target[~train])[0, 1] > 0.1


@pytest.mark.parametrize("value", [1.0, np.nan])
def test_a_column_that_says_nothing_leaves_the_share(value):
    target = np.repeat([0.0, 1.0], [300, 100])
    scores = boosted_scores(np.full((400, 1), value), target, np.ones(400, bool), [False])
    np.testing.assert_allclose(scores, 0.25, atol=1e-12)


def test_fewer_bins_are_as_if_numbers_were_cut_at_quantiles_first():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(size=399), [np.nan]])
    y = (rng.random(400) < 1 / (1 + np.exp(-np.nan_to_num(x)))).astype(float)
    every = np.ones(400, dtype=bool)
    cuts = np.quantile(x[:399], np.linspace(0, 1, 11)[1:-1], method="averaged_inverted_cdf")
    coarse = np.where(np.isnan(x), np.nan, np.searchsorted(cuts, x, side="left"))
    few = boosted(binned(x[:, None], every, [False], 10), y)
    assert np.array_equal(few, boosted_scores(coarse[:, None], y, every, [False]))
    assert len(np.unique(few)) <= 11
