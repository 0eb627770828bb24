import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.kernels.lattice.criteria.closeness import EqualT, HierarchicalT, OrderedT
from sfumato.kernels.lattice.levels import Levels
from tests.kernels.lattice.criteria.classes import REFERENCE, adult_classes, block, claims_hold, random_block

TREE = Levels((np.arange(4), np.array([0, 0, 0, 1]), np.array([0, 0, 0, 1]), np.zeros(4, dtype=np.int64)))


def test_figures_of_the_generalised_adult_file(shared_data):
    """t equal 0.8903708744, ordered 0.3154122842 with values sorted as text; ten decimals are printed."""
    classes = adult_classes(shared_data)
    assert not EqualT(0.8903708745).fails(classes).any()
    assert EqualT(0.8903708742).fails(classes).any()
    assert not OrderedT(0.3154122843).fails(classes).any()
    assert OrderedT(0.3154122840).fails(classes).any()


def moved(p, q, distance):
    """The earth mover's distance by linear programming."""
    n = len(p)
    sums = np.zeros((2 * n, n * n))
    for i in range(n):
        sums[i, i * n : (i + 1) * n] = 1
        sums[n + i, i::n] = 1
    return linprog(distance.reshape(-1), A_eq=sums, b_eq=np.concatenate([p, q])).fun


def distances(kind):
    i, j = np.meshgrid(np.arange(4), np.arange(4), indexing="ij")
    if kind is EqualT:
        return (i != j) * 1.0
    if kind is OrderedT:
        place = np.array([1, 3, 0, 2])  # of each code in the order 2, 0, 3, 1
        return abs(place[i] - place[j]) / 3
    joins = [next(v for v, g in enumerate(TREE.groups) if g[a] == g[b]) for a in range(4) for b in range(4)]
    return np.array(joins).reshape(4, 4) / TREE.height


@pytest.mark.parametrize("kind", [EqualT, OrderedT, HierarchicalT])
def test_it_is_the_earth_movers_distance(kind):
    more = {EqualT: {}, OrderedT: {"order": (2, 0, 3, 1)}, HierarchicalT: {"tree": TREE}}[kind]
    classes = random_block(0, classes=30)
    for c, counts in enumerate(classes.histograms[0]):
        if counts.sum():
            t = moved(counts / counts.sum(), REFERENCE / REFERENCE.sum(), distances(kind))
            assert not kind(min(t + 1e-7, 1.0), **more).fails(classes)[c]
            assert kind(max(t - 1e-7, 0.0), **more).fails(classes)[c]


def test_a_class_like_the_file_passes_at_zero_and_one_without_values_always():
    for criterion in (EqualT(0), OrderedT(0), HierarchicalT(0, tree=TREE)):
        assert not criterion.fails(block([4, 3, 2, 1], [0, 0, 0, 0])).any()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", [EqualT(0.4), OrderedT(0.2), HierarchicalT(0.15, tree=TREE)])
def test_what_it_claims_of_unions_holds(criterion, seed):
    assert claims_hold(criterion, seed)


def test_parameters_are_checked():
    with pytest.raises(ValueError, match="t must"):
        EqualT(1.5)
    with pytest.raises(ValueError, match="tree"):
        HierarchicalT(0.5)
