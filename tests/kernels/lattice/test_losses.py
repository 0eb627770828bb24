import numpy as np
import pytest

from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.losses import LOSSES, Node, checked_weights, loss_named
from sfumato.kernels.lattice.patterns import Patterns
from tests.kernels.lattice import small

TWO = Levels((np.arange(2), np.zeros(2, dtype=np.int64)))
DATA = Patterns(np.array([[0, 0], [0, 1], [1, 1]]), np.array([4, 3, 1]))


@pytest.mark.parametrize(
    ("name", "score"),
    [
        # x of the first key is 7/2 + 1 = 4.5, y = 1/8; of the second, at its top, 8, y = 1
        ("loss", (9 / 8 * 2) ** 0.5 - 1),
        ("loss-arithmetic", (1 / 8 + 1) / 2),
        ("monotone-entropy", 8),  # four of eight each: one bit for each record
        ("entropy", 8),  # the one suppressed record is like itself
        ("precision", ((0 + 1) / 8 + (7 + 1) / 8) / 2),
        ("discernibility", 49 + 8),
        ("average-class-size", 8 / 2),
    ],
)
def test_by_hand(name, score):
    """Levels (0, 1): a class of seven is kept, one of a single record suppressed."""
    node = Node((0, 1), 1, np.array([7]), (np.array([0.0, 1.0]), np.array([1.0])))
    assert loss_named(name, DATA, [TWO, TWO]).score(node) == pytest.approx(score, rel=1e-12)


def test_weights_are_of_a_geometric_mean():
    node = Node((0, 1), 1, np.array([7]), (np.array([0.0, 1.0]), np.array([1.0])))
    scored = loss_named("loss", DATA, [TWO, TWO], [3.0, 1.0]).score(node)
    assert scored == pytest.approx((9 / 8) ** 0.75 * 2**0.25 - 1, rel=1e-12)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("seed", range(5))
def test_no_node_loses_less_than_its_bound(name, seed):
    """From every node up, with whatever k suppresses there: nothing is below the bound of the start."""
    patterns, hierarchies = small.table(seed, keys=2)
    loss = loss_named(name, patterns, hierarchies)
    for start in small.nodes(hierarchies):
        finest = small.classes_at(patterns, hierarchies, start).values()
        sizes = [int(patterns.counts[rows].sum()) for rows in finest]
        bound = loss.bound(start, 0, sum(s * s for s in sizes), len(sizes))
        for levels in small.nodes(hierarchies):
            if all(a <= b for a, b in zip(start, levels, strict=True)):
                classes = list(small.classes_at(patterns, hierarchies, levels).values())
                small_ones = [rows for rows in classes if patterns.counts[rows].sum() < 4]
                kept = [patterns.counts[rows].sum() for rows in classes if patterns.counts[rows].sum() >= 4]
                out = [i for rows in small_ones for i in rows]
                gone = [
                    np.bincount(h.groups[v][patterns.codes[out, j]], weights=patterns.counts[out], minlength=h.leaves)
                    for j, (h, v) in enumerate(zip(hierarchies, levels, strict=True))
                ]
                node = Node(levels, int(patterns.counts[out].sum()), np.array(kept, dtype=np.int64), gone)
                assert loss.score(node) >= bound * (1 - 1e-12) - 1e-9


def test_a_key_with_a_single_value_loses_nothing():
    one = Levels((np.arange(1),))
    data = Patterns(np.array([[0]]), np.array([5]))
    for name in ("loss", "loss-arithmetic", "precision", "entropy"):
        assert loss_named(name, data, [one]).score(Node((0,), 0, np.array([5]), (np.zeros(1),))) == 0


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.inf], [1.0, np.nan]])
def test_weights_are_checked(weights):
    with pytest.raises(ValueError, match="weights"):
        checked_weights(weights, 2)
