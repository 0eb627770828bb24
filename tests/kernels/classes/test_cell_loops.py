import numpy as np
import pytest

from sfumato.kernels.classes.cell_loops import improve, repair, settle
from sfumato.kernels.classes.cell_suppression import _state, _Table


def recounted(state, codes, units, others, counts):
    """How many records match each unit, over all pairs of units and of units with the other records."""
    known = (state.known[state.current][:, None] >> np.arange(codes.shape[1]) & 1).astype(bool)
    now = np.where(known, codes[units], -1)

    def agree(a, b):
        return ((a[:, None] == b[None]) | (a[:, None] < 0) | (b[None] < 0)).all(axis=2)

    return agree(now, now).sum(axis=1) + agree(now, codes[others]) @ counts[others]


@pytest.mark.parametrize("seed", range(8))
def test_counts_are_kept_while_cells_go_and_come_back(seed):
    rng = np.random.default_rng(seed)
    codes, counts = np.unique(rng.integers(0, 4, (60, 4)), axis=0, return_counts=True)
    k = 3
    low = counts < k
    units, others = np.repeat(np.flatnonzero(low), counts[low]), np.flatnonzero(~low)
    nothing = np.zeros(len(codes), dtype=np.int64)
    state = _state(
        _Table(codes, np.arange(len(codes)), counts, nothing),
        list(range(4)),
        units,
        k,
        2**20 + np.arange(4),
        np.full(4, counts.sum()),
    )
    places = np.arange(len(units))
    for step in (
        lambda: None,
        lambda: repair(state, places[::2].copy(), 0),
        lambda: repair(state, places, 0),
        lambda: settle(state, places),
        lambda: improve(state, places, 10**5),
    ):
        step()
        assert state.f.tolist() == recounted(state, codes, units, others, counts).tolist()
        assert state.counters[0] == (state.f < k).sum()
        assert np.bincount(state.current, minlength=len(state.used)).tolist() == state.used.tolist()
        assert (
            state.spent.tolist()
            == ((state.known[state.current][:, None] >> np.arange(4) & 1) == 0).sum(axis=0).tolist()
        )
