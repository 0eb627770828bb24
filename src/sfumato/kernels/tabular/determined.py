"""Which hidden cells the equations determine: by elimination alone, for tables too large for linear programs.

The equations of the hidden cells are brought into steps modulo a prime that suppression does not use. A hidden cell is
determined exactly if, all steps being taken out of each other, an equation is left that holds this cell alone. To see
that without writing those equations down, the free cells are moved by random amounts and all others follow: a cell that
does not move is determined, and two cells that move in proportion determine each other. By chance a cell may seem so
once in 1e18 times; one that is determined never moves.

It says nothing of how closely the others can be estimated, nor of what bounds add.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.tabular.directions import echelon, free_order
from sfumato.kernels.tabular.modular import SECOND_PRIME, inverse

__all__ = ["Motions", "determined_by", "drawn_moves", "motions"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_DRAWS = 3


@dataclass(frozen=True)
class Motions:
    """How hidden cells can move.

    Parameters
    ----------
    determined : ndarray of bool, shape (cells,)
        Hidden cells that cannot move at all.
    group : ndarray of int, shape (cells,)
        Equal for cells that move in proportion, so that whoever knows one knows all; -1 for cells that do not move.
    move : ndarray of int, shape (cells,)
        How far each moves for one drawn move of the free ones, modulo `SECOND_PRIME`.
    """

    determined: Bools
    group: Ints
    move: Ints


def motions(matrix: sp.csr_array, hidden: Bools) -> Motions:
    """Find which hidden cells cannot move while all others stay.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> found = motions(sp.csr_array([[1, 1, 1, -1]]), np.array([True, True, False, False]))
    >>> found.determined.tolist(), found.group.tolist()
    ([False, False, False, False], [0, 0, -1, -1])
    """
    cells = np.flatnonzero(hidden)
    moved = drawn_moves(matrix, hidden, _DRAWS)
    determined, group = np.zeros(len(hidden), np.bool_), np.full(len(hidden), -1, np.int64)
    still = (moved == 0).all(axis=0)
    determined[cells[still]] = True
    ratios = _ratios(moved, SECOND_PRIME)
    _, name = np.unique(ratios[:, ~still], axis=1, return_inverse=True)
    group[cells[~still]] = name.reshape(-1)
    move = np.zeros(len(hidden), np.int64)
    move[cells] = moved[0]
    return Motions(determined, group, move)


def drawn_moves(matrix: sp.csr_array, hidden: Bools, draws: int) -> Ints:
    """How far hidden cells move, modulo `SECOND_PRIME`, for some draws of the free ones; shape (draws, hidden cells).

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> moved = drawn_moves(sp.csr_array([[1, 1, 1, -1]]), np.array([True, True, False, False]), 2)
    >>> (moved.sum(axis=1) % SECOND_PRIME).tolist()
    [0, 0]
    """
    cells = np.flatnonzero(hidden)
    part = sp.csr_array(sp.csr_array(matrix)[:, cells])
    part.eliminate_zeros()
    part = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr))])
    steps = echelon(part, free_order(part))
    rng = np.random.default_rng(20240731)  # which amounts matters nothing; the same ones each time
    drawn = rng.integers(1, SECOND_PRIME, (draws, len(cells)))
    moved = np.empty_like(drawn)
    moved[:, steps.order] = _moved(steps.start, steps.length, steps.cells, steps.values, drawn, SECOND_PRIME)
    return moved


def determined_by(moved: Ints, known: Ints) -> Bools:
    """Cells that do not move where some known ones do not, from moves that were drawn; shape (cells,).

    Parameters
    ----------
    moved
        Drawn moves, shape (draws, cells): at least two draws more than cells are known.
    known
        Places of the known cells.

    Examples
    --------
    Of three cells with a known sum, two tell the third, but one tells no other:

    >>> import numpy as np, scipy.sparse as sp
    >>> moved = drawn_moves(sp.csr_array([[1, 1, 1]]), np.ones(3, dtype=bool), 4)
    >>> determined_by(moved, np.array([0, 1])).tolist(), determined_by(moved, np.array([0])).tolist()
    ([True, True, True], [True, False, False])
    """
    return _kept_still(moved[: len(known) + 2].copy(), known.astype(np.int64), SECOND_PRIME)


@compiled
def _kept_still(moved: Ints, known: Ints, prime: int) -> Bools:
    """Take draws out of each other until none moves a known cell; which cells those that are left keep still."""
    draws, n = moved.shape
    used = 0
    for k in range(len(known)):
        pivot = -1
        for d in range(used, draws):
            if moved[d, known[k]] != 0:
                pivot = d
                break
        if pivot < 0:
            continue
        for c in range(n):
            moved[used, c], moved[pivot, c] = moved[pivot, c], moved[used, c]
        factor = inverse(moved[used, known[k]], prime)
        for d in range(used + 1, draws):
            if moved[d, known[k]] != 0:
                share = moved[d, known[k]] * factor % prime
                for c in range(n):
                    moved[d, c] = (moved[d, c] + (prime - share) * moved[used, c]) % prime
        used += 1
    still = np.ones(n, np.bool_)
    for d in range(used, draws):
        for c in range(n):
            if moved[d, c] != 0:
                still[c] = False
    return still


@compiled
def _moved(start: Ints, length: Ints, cells: Ints, values: Ints, drawn: Ints, prime: int) -> Ints:
    """Moves of all cells, where the free ones move as drawn."""
    moved = drawn.copy()
    for c in range(len(start) - 1, -1, -1):
        if start[c] < 0:
            continue
        for d in range(len(drawn)):
            total = 0
            for i in range(start[c] + 1, start[c] + length[c]):
                total = (total + (prime - values[i]) * moved[d, cells[i]]) % prime
            moved[d, c] = total
    return moved


@compiled
def _ratios(moved: Ints, prime: int) -> Ints:
    """Each draw's move over the last draw's that is not 0."""
    draws, n = moved.shape
    out = np.zeros((draws, n), np.int64)
    for c in range(n):
        for d in range(draws - 1, -1, -1):
            if moved[d, c] != 0:
                factor = inverse(moved[d, c], prime)
                for e in range(draws):
                    out[e, c] = moved[e, c] * factor % prime
                break
    return out
