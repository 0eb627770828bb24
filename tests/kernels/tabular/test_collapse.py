import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.tabular.collapse import collapse

N = 6


@given(
    st.lists(st.integers(0, 9), min_size=N, max_size=N),
    st.lists(st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)), max_size=4),
    st.lists(st.sets(st.integers(0, N - 1), min_size=1, max_size=3), max_size=6),
)
def test_nothing_cheaper_exists_and_nothing_is_needless(cost, pairs, sets):
    implies = sorted({(min(p), max(p)) for p in pairs if p[0] != p[1]})
    good = []
    for choice in itertools.product([False, True], repeat=N):
        if all(choice[b] or not choice[a] for a, b in implies) and all(any(choice[i] for i in one) for one in sets):
            good.append(choice)
    found = collapse(np.array(cost, dtype=float), implies, [sorted(one) for one in sets])
    chosen = tuple(found.chosen.tolist())
    assert chosen in good
    assert found.cost == pytest.approx(min(sum(c for c, x in zip(cost, one, strict=True) if x) for one in good))
    assert found.bound == pytest.approx(found.cost, abs=1e-6)
    assert not any(one != chosen and all(b or not a for a, b in zip(one, chosen, strict=True)) for one in good)


def test_without_time_everything_that_is_needed_is_chosen():
    rng = np.random.default_rng(5)
    sets = [sorted(rng.choice(60, 3, replace=False).tolist()) for _ in range(150)]
    found = collapse(np.ones(60), [], sets, seconds=0.0)
    assert all(found.chosen[one].any() for one in sets)
    assert found.bound <= found.cost
