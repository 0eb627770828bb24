from itertools import product

import numpy as np
import pytest

from sfumato.kernels.lattice.criteria.closeness import EqualT, HierarchicalT, OrderedT
from sfumato.kernels.lattice.criteria.diversity import DistinctL, EntropyL, RecursiveL
from sfumato.kernels.lattice.criteria.likeness import Alpha, Beta, Delta
from sfumato.kernels.lattice.criteria.overall import AverageRisk, PopulationUniques, SampleUniques
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.losses import LOSSES
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.search import optimal
from tests.kernels.lattice import small

K5 = [KAnonymity(5)]
VALUES = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
CRITERIA = {
    "k": [KAnonymity(3)],
    "distinct l": [KAnonymity(2), DistinctL(2)],
    "entropy l": [EntropyL(2.0)],
    "recursive l": [RecursiveL(2.0, 2)],
    "t equal": [KAnonymity(2), EqualT(0.3)],
    "t ordered": [OrderedT(0.2, order=(2, 0, 3, 1))],
    "t hierarchical": [HierarchicalT(0.2, tree=VALUES)],
    "alpha": [KAnonymity(2), Alpha(0.5)],
    "beta": [Beta(1.5)],
    "beta enhanced": [Beta(1.5, enhanced=True)],
    "delta": [Delta(1.0)],
    "average risk": [KAnonymity(2), AverageRisk(0.15)],
    "average risk alone": [AverageRisk(0.2)],
    "uniques": [SampleUniques(0.04)],
    "population uniques": [PopulationUniques(0.05, lambda sizes: float((sizes <= 2).mean()) / 2)],
}


def same(found, right):
    assert (found is None) == (right is None)
    if found is not None:
        assert found.score == pytest.approx(right[0], rel=1e-9, abs=1e-12)
        assert found.levels == right[2]
        assert found.optimal
        assert found.bound == found.score


PEER = (
    "tests/kernels/lattice/test_search.py::test_adult_loses_what_the_peer_found[average-class-size-0.05-28.8080229226]"
)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("loss", "limit", "score"),
    [
        ("loss", 0.0, 0.5731509656),
        ("loss", 0.02, 0.3137130353),
        ("loss", 0.05, 0.2419323651),
        ("loss", 1.0, 0.2204119285),
        ("discernibility", 0.0, 33627534),
        ("discernibility", 0.02, 7220555),
        ("discernibility", 0.05, 7220555),
        ("discernibility", 1.0, 7220555),
        ("average-class-size", 0.0, 628.375),
        ("average-class-size", 0.02, 47.3500784929),
        ("average-class-size", 0.05, 28.8080229226),
        pytest.param("average-class-size", 1.0, 16.3214285714, marks=pytest.mark.nightly(of=PEER)),
    ],
)
def test_adult_loses_what_the_peer_found(adult, loss, limit, score):
    """Optima of ARX at k = 5, confirmed there by brute force over all 12,960 nodes; ten digits are printed."""
    found = optimal(adult.patterns, adult.hierarchies, K5, limit=limit, loss=loss)
    assert found.score == pytest.approx(score, rel=1e-8 if loss == "loss" else 1e-10)
    assert found.optimal
    if loss == "loss":
        assert found.suppressed == {0.0: 0, 0.02: 506, 0.05: 1346, 1.0: 2553}[limit]


@pytest.mark.slow
def test_adult_is_generalised_as_the_peer_did(adult):
    """The node that is printed for 5%, and its classes."""
    found = optimal(adult.patterns, adult.hierarchies, K5, limit=0.05)
    assert found.levels == (0, 3, 0, 0, 2, 1, 1, 2, 0)
    kept = adult.patterns.only(found.kept)
    classes = small.classes_at(kept, adult.hierarchies, found.levels).values()
    assert min(kept.counts[rows].sum() for rows in classes) >= 5
    assert kept.records == 30162 - 1346


@pytest.mark.few(15)
@pytest.mark.parametrize(("name", "seed"), list(product(CRITERIA, range(3))))
def test_every_criterion_as_by_trying_all_nodes(name, seed):
    patterns, hierarchies = small.table(seed, sensitive=1)
    every = small.outcomes(patterns, hierarchies, CRITERIA[name])
    for limit in (0.0, 0.1, 1.0):
        right = small.best(patterns, hierarchies, every, int(limit * patterns.records + 1e-9), "loss")
        same(optimal(patterns, hierarchies, CRITERIA[name], limit=limit), right)


@pytest.mark.parametrize("seed", range(3))
def test_every_loss_as_by_trying_all_nodes(seed):
    patterns, hierarchies = small.table(100 + seed)
    weights = None if seed % 2 else [2.0, 1.0, 0.5]
    every = small.outcomes(patterns, hierarchies, CRITERIA["k"])
    for loss, limit in product(LOSSES, (0.0, 0.1, 1.0)):
        right = small.best(patterns, hierarchies, every, int(limit * patterns.records + 1e-9), loss, weights)
        same(optimal(patterns, hierarchies, CRITERIA["k"], limit=limit, loss=loss, weights=weights), right)


@pytest.mark.parametrize(
    ("name", "seed"), list(product(["distinct l", "entropy l", "t equal", "alpha", "delta"], range(2)))
)
def test_records_without_a_value(name, seed):
    """A class in which nobody has a value passes, and need not when others join it."""
    patterns, hierarchies = small.table(200 + seed, sensitive=2, missing=True)
    criteria = [*CRITERIA[name], DistinctL(3, variable=1)]
    every = small.outcomes(patterns, hierarchies, criteria)
    for limit in (0.0, 0.2):
        right = small.best(patterns, hierarchies, every, int(limit * patterns.records + 1e-9), "loss")
        same(optimal(patterns, hierarchies, criteria, limit=limit), right)


def test_classes_without_a_value_do_not_cut_the_search():
    """With the second key at its top every class fails; at its leaves those pass in which nobody has a value."""
    h = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    patterns = Patterns(codes, np.array([5, 5, 1, 1]), np.array([[-1], [-1], [0], [0]]))
    found = optimal(patterns, [h, h], [DistinctL(2)], limit=2 / 12)
    assert (found.levels, found.suppressed, found.kept.tolist()) == ((0, 0), 2, [True, True, False, False])


@pytest.mark.parametrize("seed", range(10))
def test_what_is_kept_is_as_by_trying_all_nodes(seed):
    patterns, hierarchies = small.table(seed, sensitive=1)
    criteria = CRITERIA["distinct l"]
    found = optimal(patterns, hierarchies, criteria, limit=0.3)
    _, gone = small.outcome(patterns, hierarchies, found.levels, criteria)
    assert np.flatnonzero(~found.kept).tolist() == sorted(gone)
    assert found.suppressed == patterns.counts[gone].sum()


@pytest.mark.parametrize("limit", [0.0, 0.5, 1.0])
def test_nothing_will_do(limit):
    """k above the number of records: nothing is kept, which only a limit of 1 allows."""
    patterns, hierarchies = small.table(1)
    found = optimal(patterns, hierarchies, [KAnonymity(1000)], limit=limit)
    assert (found is None) == (limit < 1)
    assert found is None or (found.suppressed == patterns.records and not found.kept.any())


def test_order_of_rows_and_of_leaves_changes_nothing():
    patterns, hierarchies = small.table(7)
    rng = np.random.default_rng(0)
    found = optimal(patterns, hierarchies, K5, limit=0.1)
    rows = rng.permutation(len(patterns.codes))
    shuffled = Patterns(patterns.codes[rows], patterns.counts[rows])
    again = optimal(shuffled, hierarchies, K5, limit=0.1)
    assert again.levels == found.levels
    assert again.kept.tolist() == found.kept[rows].tolist()


def test_equal_scores_go_to_the_lowest_levels():
    """Two keys with the same content: whichever is generalised loses as much, so the second is."""
    h = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
    patterns = Patterns(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([3, 3, 3, 3]))
    found = optimal(patterns, [h, h], [KAnonymity(6)])
    assert found.levels == (0, 1)


def test_time_is_up_at_once():
    """There is a best one so far, and what is proven is below the score."""
    patterns, hierarchies = small.table(3, keys=5)
    found = optimal(patterns, hierarchies, K5, limit=0.1, time_limit=0.0)
    right = optimal(patterns, hierarchies, K5, limit=0.1)
    assert found.bound <= right.score <= found.score
    assert found.optimal == (found.bound >= found.score)


@pytest.mark.parametrize("loss", LOSSES)
def test_with_time_enough_it_is_the_same(loss):
    patterns, hierarchies = small.table(4)
    right = optimal(patterns, hierarchies, K5, limit=0.1, loss=loss)
    found = optimal(patterns, hierarchies, K5, limit=0.1, loss=loss, time_limit=60)
    assert (found.levels, found.score, found.bound) == (right.levels, right.score, right.bound)


@pytest.mark.slow
def test_many_keys_under_a_time_limit():
    """18 keys have a lattice of some 10^9 nodes."""
    patterns, hierarchies = small.table(5, keys=18)
    found = optimal(patterns, hierarchies, K5, limit=0.1, time_limit=0.5)
    assert found.suppressed <= 0.1 * patterns.records
    assert 0 <= found.bound <= found.score


def test_a_single_key_and_references_from_a_larger_file():
    h = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
    patterns = Patterns(np.array([[0], [1]]), np.array([4, 4]), np.array([[0], [1]]))
    assert optimal(patterns, [h], [EqualT(0.4)]).levels == (1,)
    assert optimal(patterns, [h], [EqualT(0.3)], references=[np.array([9, 1])]) is None
    assert optimal(patterns, [h], [EqualT(0.5)], limit=0.5, references=[np.array([9, 1])]).levels == (0,)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"limit": 1.5}, "limit"),
        ({"loss": "unknown"}, "loss"),
        ({"weights": [1.0]}, "weights"),
        ({"weights": [1.0, 0.0, 1.0]}, "weights"),
        ({"criteria": []}, "criteria"),
        ({"criteria": [DistinctL(2)]}, "criteria"),
        ({"hierarchies": []}, "hierarchies"),
        ({"references": [np.array([1])]}, "references"),
    ],
)
def test_what_is_wrong_is_said(change, word):
    patterns, hierarchies = small.table(1)
    given = {"hierarchies": hierarchies, "criteria": K5} | change
    with pytest.raises(ValueError, match=word):
        optimal(patterns, **given)
