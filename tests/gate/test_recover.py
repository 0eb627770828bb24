"""What somebody can recover: compared with whole-number programs that the auditor solves."""

import numpy as np
import polars as pl
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from sfumato.gate.margin import Margin, Node
from sfumato.gate.reading import records_of
from sfumato.gate.recover import recovered


def ends(table, margins):
    """The least and the most of every cell of a table of three variables, given some margins."""
    cells = np.arange(table.size).reshape(table.shape)
    rows, right = [], []
    for margin in margins:
        for place in np.ndindex(*(table.shape[axis] for axis in margin)):
            chosen = [slice(None)] * table.ndim
            for axis, code in zip(margin, place, strict=True):
                chosen[axis] = code
            row = np.zeros(table.size)
            row[cells[tuple(chosen)].ravel()] = 1
            rows.append(row)
            right.append(table[tuple(chosen)].sum())
    known = LinearConstraint(np.array(rows), right, right)
    found = []
    for cell in range(table.size):
        own = np.eye(table.size)[cell]
        low, high = (
            milp(sign * own, constraints=known, bounds=Bounds(0, np.inf), integrality=np.ones(table.size)).fun * sign
            for sign in (1, -1)
        )
        found.append((round(low), round(high)))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_zeros_ones_and_the_narrowest_cells(seed):
    rng = np.random.default_rng(seed)
    table = rng.choice([0, 1, 2, 5], size=(2, 3, 2), p=[0.3, 0.3, 0.2, 0.2])
    data = records_of(
        pl.DataFrame([{"A": p[0], "B": p[1], "C": p[2], "n": int(n)} for p, n in np.ndenumerate(table)]), count="n"
    )
    pairs = [(0, 1), (1, 2), (0, 2)]
    names = "ABC"
    found = recovered(data, [Margin.of(Node(names[i]) for i in pair) for pair in pairs], shown=100)
    expected = ends(table, pairs)
    assert found.zeros == sum(high == 0 for _, high in expected)
    assert found.ones == sum(low == high == 1 for low, high in expected)
    shown = {(r["A"], r["B"], r["C"]): (r["lower"], r["upper"]) for r in found.narrowest.iter_rows(named=True)}
    for place, n in np.ndenumerate(table):
        if n:
            assert shown[tuple(map(str, place))] == expected[np.ravel_multi_index(place, table.shape)]
