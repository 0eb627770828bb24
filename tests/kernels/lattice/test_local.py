import numpy as np
import pytest

from sfumato.kernels.lattice.criteria.closeness import EqualT
from sfumato.kernels.lattice.criteria.diversity import DistinctL, EntropyL
from sfumato.kernels.lattice.criteria.likeness import Delta
from sfumato.kernels.lattice.criteria.overall import AverageRisk
from sfumato.kernels.lattice.criteria.sizes import KAnonymity
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.local import local
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.search import optimal
from tests.kernels.lattice import small

CRITERIA = {
    "k": [KAnonymity(3)],
    "distinct l": [KAnonymity(2), DistinctL(2)],
    "entropy l": [EntropyL(2.0)],
    "t": [KAnonymity(2), EqualT(0.3)],
    "delta": [Delta(1.0)],
    "average risk": [KAnonymity(2), AverageRisk(0.2)],
}


def sets(patterns, hierarchies, found):
    """Rows by what they are released as: of each key, the set of leaves."""
    classes = {}
    for i in np.flatnonzero(~found.suppressed):
        cells = zip(hierarchies, found.levels[i], patterns.codes[i], strict=True)
        name = tuple(frozenset(np.flatnonzero(h.groups[v] == h.groups[v][x]).tolist()) for h, v, x in cells)
        classes.setdefault(name, []).append(i)
    return classes


PEERS = "tests/kernels/lattice/test_local.py::test_adult_loses_less_than_by_the_peers_way[0.05]"


@pytest.mark.parametrize(
    "limit", [pytest.param(0.0, marks=pytest.mark.nightly(of=PEERS)), pytest.param(0.05, marks=pytest.mark.slow)]
)
def test_adult_loses_less_than_by_the_peers_way(adult, limit):
    """ARX at k = 5 loses 0.0787298 and suppresses four."""
    found = local(adult.patterns, adult.hierarchies, [KAnonymity(5)], limit=limit)
    assert found.score <= 0.0787298
    assert found.records <= (4 if limit else 0)
    classes = sets(adult.patterns, adult.hierarchies, found)
    assert min(adult.patterns.counts[rows].sum() for rows in classes.values()) >= 5


MORE = pytest.mark.nightly(of="tests/kernels/lattice/test_local.py::test_classes_as_released_are_safe[0.2-0-k]")


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=MORE) for seed in range(4, 8))])
@pytest.mark.parametrize("limit", [0.0, 0.2])
def test_classes_as_released_are_safe(name, seed, limit):
    patterns, hierarchies = small.table(seed, sensitive=1)
    found = local(patterns, hierarchies, CRITERIA[name], limit=limit)
    if found is None:
        return
    assert found.records == patterns.counts[found.suppressed].sum() <= limit * patterns.records
    classes = sets(patterns, hierarchies, found).values()
    each, overall = CRITERIA[name], []
    if name == "average risk":
        each, overall = each[:1], each[1:]
    assert not any(c.fails(small.block_of(patterns, rows))[0] for rows in classes for c in each)
    sizes = np.array([patterns.counts[rows].sum() for rows in classes])
    assert not any(c.fails_all(sizes) for c in overall)


@pytest.mark.parametrize("seed", range(4))
def test_with_a_criterion_on_all_that_is_kept_alone(seed):
    """Single classes pass whatever they are, so levels of whole columns are what is left."""
    patterns, hierarchies = small.table(seed)
    found = local(patterns, hierarchies, [AverageRisk(0.1)])
    assert found.way == "columns"
    assert len(sets(patterns, hierarchies, found)) <= 0.1 * patterns.records


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", CRITERIA)
def test_it_loses_no_more_than_whole_columns(seed, name):
    patterns, hierarchies = small.table(seed, sensitive=1)
    columns = optimal(patterns, hierarchies, CRITERIA[name], limit=0.1, loss="loss-arithmetic")
    found = local(patterns, hierarchies, CRITERIA[name], limit=0.1)
    if columns is not None and columns.kept.any():
        assert found.score <= columns.score + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_score_is_by_the_formula(seed):
    patterns, hierarchies = small.table(seed)
    found = local(patterns, hierarchies, [KAnonymity(3)], limit=0.1, weights=[2.0, 1.0, 1.0])
    n, ys = patterns.records, []
    for j, h in enumerate(hierarchies):
        x = sum(
            count * (1 if gone else (h.groups[v] == h.groups[v][leaf]).mean())
            for count, gone, v, leaf in zip(
                patterns.counts, found.suppressed, found.levels[:, j], patterns.codes[:, j], strict=True
            )
        )
        ys.append((x - n / h.leaves) / (n - n / h.leaves))
    assert found.score == pytest.approx((2 * ys[0] + ys[1] + ys[2]) / 4, rel=1e-9)


def test_rows_of_equal_keys_are_recoded_alike():
    patterns, hierarchies = small.table(2, sensitive=2)
    found = local(patterns, hierarchies, [KAnonymity(3), DistinctL(2)], limit=0.2)
    by_keys = {}
    for i, row in enumerate(patterns.codes.tolist()):
        by_keys.setdefault(tuple(row), set()).add((found.suppressed[i], *found.levels[i]))
    assert all(len(fates) == 1 for fates in by_keys.values())


def test_order_of_rows_changes_nothing():
    patterns, hierarchies = small.table(6)
    rows = np.random.default_rng(1).permutation(len(patterns.codes))
    found = local(patterns, hierarchies, [KAnonymity(4)], limit=0.1)
    again = local(Patterns(patterns.codes[rows], patterns.counts[rows]), hierarchies, [KAnonymity(4)], limit=0.1)
    assert (again.levels == found.levels[rows]).all()


def test_nothing_will_do():
    patterns, hierarchies = small.table(1)
    assert local(patterns, hierarchies, [KAnonymity(1000)], limit=0.5) is None


def test_what_is_wrong_is_said():
    patterns, hierarchies = small.table(1)
    with pytest.raises(ValueError, match="hierarchies"):
        local(patterns, hierarchies[:1], [KAnonymity(2)])
    with pytest.raises(ValueError, match="weights"):
        local(patterns, hierarchies, [KAnonymity(2)], weights=[1.0])
    with pytest.raises(ValueError, match="limit"):
        local(patterns, hierarchies, [KAnonymity(2)], limit=2.0)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(9, marks=pytest.mark.slow),
        pytest.param(18, marks=pytest.mark.nightly(of="tests/kernels/lattice/test_local.py::test_many_keys[9]")),
    ],
)
def test_many_keys(keys):
    """Of a lattice that is too large, of more than 20,000 nodes, a fixed sample is taken."""
    patterns, hierarchies = small.table(5, keys=keys)
    assert np.prod([one.height + 1 for one in hierarchies]) > 20_000
    found = local(patterns, hierarchies, [KAnonymity(3)])
    assert min(patterns.counts[rows].sum() for rows in sets(patterns, hierarchies, found).values()) >= 3


def test_one_key_with_one_value():
    one = Levels((np.arange(1),))
    found = local(Patterns(np.array([[0]]), np.array([5])), [one], [KAnonymity(2)])
    assert (found.score, found.levels.tolist()) == (0.0, [[0]])
