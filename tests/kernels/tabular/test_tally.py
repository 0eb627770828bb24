"""Counting by codes against pandas."""

import numpy as np
import pytest

from sfumato.kernels.tabular import tally
from sfumato.kernels.tabular.tally import counted, joined
from tests.late import late

pd = late("pandas")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dense", [True, False])
def test_counts_are_those_of_a_group_by(seed, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(tally, "_DENSE", 0)
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 60)) if dense else int(rng.integers(1, 6))
    sizes = [int(s) for s in rng.integers(1, 5, 3)] if dense else [9, 9, 9]
    columns = [rng.integers(0, size, rows).astype(np.uint8) for size in sizes]
    weights = rng.integers(1, 9, rows)
    for many in (None, weights):
        told = counted(columns, sizes, many, rows)
        frame = pd.DataFrame(dict(enumerate(columns))).assign(n=1 if many is None else many)
        expected = frame.groupby([0, 1, 2])["n"].transform("sum").to_numpy()
        assert (told.count[told.cell] == expected).all()
        for below in (1, 3, 9):
            assert told.rows_below(below).tolist() == np.flatnonzero(expected < below).tolist()
        assert told.smallest() == expected.min()


def test_no_columns_are_the_grand_total():
    assert counted([], [], None, 7).count.tolist() == [7]
    assert counted([], [], np.array([2, 3]), 2).count.tolist() == [5]


def test_numbers_that_would_not_fit_are_made_dense_on_the_way():
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 200, 50).astype(np.uint8) for _ in range(12)]  # 200**12 cells
    cell, many = joined(columns, [200] * 12, 50)
    lines = np.stack(columns, axis=1)
    same = (lines[:, None, :] == lines[None, :, :]).all(axis=2)
    assert ((cell[:, None] == cell[None, :]) == same).all()
    assert cell.min() >= 0
    assert cell.max() < many
    told = counted(columns, [200] * 12, None, 50)
    assert told.count.sum() == 50
