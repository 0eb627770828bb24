import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.classes.joining import Blocks, join_compatible


def blocks(rng, m, most, pool):
    """Blocks of some rows each, whose rows show what the block knows."""
    known = rng.random((int(rng.integers(1, 5)), m)) < 0.6
    size = rng.integers(0, most, len(known))
    codes = rng.choice(pool, (size.sum(), m))
    start = np.concatenate([[0], np.cumsum(size)])
    codes[~np.repeat(known, size, axis=0)] = -1
    return Blocks(codes, start, known)


def pair_by_pair(to, given, values, weight):
    out = np.zeros((len(to.codes), values.shape[1]))
    for t, mine in enumerate(to.known):
        for g, theirs in enumerate(given.known):
            both = mine & theirs
            for i in range(to.start[t], to.start[t + 1]):
                for j in range(given.start[g], given.start[g + 1]):
                    if np.array_equal(to.codes[i, both], given.codes[j, both]):
                        out[i] += weight[t, g] * values[j]
    return out


@pytest.mark.parametrize("pool", [[0, 1, 2], [5, 10**12, 10**12 + 1]])  # the second needs a word for each key
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_it_is_what_all_pairs_give(pool, seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 6))
    to, others = blocks(rng, m, 8, pool), blocks(rng, m, 20, pool)
    bring = rng.integers(0, 9, (len(others.codes), 2)).astype(float)
    weight = rng.choice([0.0, 0.5, 1.0], (len(to.known), len(others.known)))
    np.testing.assert_allclose(
        join_compatible(to, others, bring, weight), pair_by_pair(to, others, bring, weight), rtol=1e-12
    )


def test_there_may_be_nothing_to_join():
    none = Blocks(np.empty((0, 2), dtype=np.int64), np.array([0]), np.empty((0, 2), dtype=bool))
    one = Blocks(np.array([[1, 1]]), np.array([0, 1]), np.array([[True, True]]))
    assert join_compatible(one, none, np.empty((0, 1)), np.empty((1, 0))).tolist() == [[0.0]]
    assert join_compatible(none, one, np.ones((1, 1)), np.empty((0, 1))).shape == (0, 1)
