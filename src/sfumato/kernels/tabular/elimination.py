"""Secondary suppression by exact elimination: no primary cell is determined by the cells that are published.

Every cell is a sum of finest cells. A primary cell is determined exactly if its sum is a combination of published
cells' sums. So cells are published one by one, the dearest first: each is reduced by those before it, and one that
would turn into a multiple of what is left of a primary cell stays hidden. This is the Gauss method of the R package
GaussSuppression (Langsrud 2024, doi 10.1007/978-3-031-69651-0_6), and gives its patterns; the arithmetic here is
modulo 2^31 - 1, which is exact for what matters: what depends over the fractions depends modulo a prime. The other way
round a false alarm has a chance of about 1e-9, and hides a cell too many.

All equations count at once, those of linked tables and of hierarchies alike.

It protects against: exact disclosure by anybody who adds and subtracts published cells. It does not protect against:
close estimates (the feasibility interval may be narrow), what non-negativity adds, and whoever knows hidden cells:
audit, then repair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.tabular.modular import PRIME, put, reduce_by_pivots

__all__ = ["Inner", "Pattern", "eliminate", "inner_sums", "publication_order", "rounded"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Inner:
    """Cells as sums of inner ones.

    Parameters
    ----------
    sums : csr_array, shape (cells, inner)
        Each cell as a sum of inner cells.
    known : csr_array, shape (k, inner)
        Sums of inner cells that are 0: of tables that share a margin, but not the cells below it.
    """

    sums: sp.csr_array
    known: sp.csr_array


def inner_sums(matrix: sp.csr_array) -> Inner:
    """Write every cell as a sum of inner cells: those that no equation has as its total.

    Parameters
    ----------
    matrix : csr_array, shape (equations, cells)
        +1 for the parts of a total, -1 for the total.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> inner = inner_sums(sp.csr_array([[-1, 1, 1]]))
    >>> inner.sums.toarray().tolist()
    [[1, 1], [1, 0], [0, 1]]
    """
    matrix = sp.csr_array(matrix)
    matrix.sort_indices()
    indptr, indices, data = (x.astype(np.int64) for x in (matrix.indptr, matrix.indices, matrix.data))
    n = matrix.shape[1]
    level, row = _levels(indptr, indices, data, n)
    inner = np.flatnonzero(row < 0)
    place = np.zeros(n, np.int64)
    place[inner] = np.arange(len(inner))
    sums = sp.csr_array((np.ones(len(inner), np.int64), (inner, np.arange(len(inner)))), (n, len(inner)))
    for depth in range(1, level.max(initial=0) + 1):
        cells = np.flatnonzero(level == depth)
        parts = matrix[row[cells]].astype(np.int64).tocoo()
        part = parts.col != cells[parts.row]
        below = sp.csr_array((parts.data[part], (parts.row[part], parts.col[part])), (len(cells), n))
        spread = sp.csr_array((np.ones(len(cells), np.int64), (cells, np.arange(len(cells)))), (n, len(cells)))
        sums = sums + spread @ (below @ sums)
    rest = np.setdiff1d(np.arange(matrix.shape[0]), row[row >= 0])
    known = sp.csr_array(matrix[rest].astype(np.int64) @ sums)
    known.eliminate_zeros()
    known = sp.csr_array(known[np.flatnonzero(np.diff(known.indptr))])
    neighbours_first = _in_tree_order(sums)
    sums, known = sp.csr_array(sums[:, neighbours_first]), sp.csr_array(known[:, neighbours_first])
    for m in (sums, known):
        m.sort_indices()
    return Inner(sums, known)


_DEEP = 64
"""Cells above an inner cell that are looked at for the order."""


def _in_tree_order(sums: sp.csr_array) -> Ints:
    """Inner cells by the list of the cells that hold them: those of one subtotal stand together.

    The pattern is the same in any order; in this one little is filled in, and elimination is fast.
    """
    above = sp.csc_array(sums)
    above.sort_indices()
    count = np.diff(above.indptr)
    lists = np.full((len(count), min(int(count.max(initial=1)), _DEEP)), -1, np.int64)
    for k in range(lists.shape[1]):
        has = np.flatnonzero(count > k)
        lists[has, k] = above.indices[above.indptr[has] + k]
    return np.lexsort(lists.T[::-1])


def _levels(indptr: Ints, indices: Ints, data: Ints, n: int) -> tuple[Ints, Ints]:
    """How many equations deep each cell is, and the equation that defines it (-1: an inner cell).

    A cell is defined by the first equation, in order, that has it as its only total and whose parts are defined. Where
    totals go round in a circle, the first of them is taken for an inner cell.
    """
    rows = len(indptr) - 1
    top = np.full(rows, -1, np.int64)
    negative = data == -1
    owner = np.repeat(np.arange(rows), np.diff(indptr))
    one = np.bincount(owner[negative], minlength=rows) == 1
    mine = negative & one[owner]
    top[owner[mine]] = indices[mine]
    return _peel(indptr, indices, top, n, *_transposed(indptr, indices, n))


def _transposed(indptr: Ints, indices: Ints, n: int) -> tuple[Ints, Ints]:
    """Equations of each cell."""
    order = np.argsort(indices, kind="stable")
    where = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[order]
    return np.append(0, np.cumsum(np.bincount(indices, minlength=n))), where


@compiled
def _peel(indptr: Ints, indices: Ints, top: Ints, n: int, starts: Ints, where: Ints) -> tuple[Ints, Ints]:
    level = np.full(n, -1, np.int64)
    row = np.full(n, -1, np.int64)
    is_total = np.zeros(n, np.bool_)
    waits = np.zeros(len(top), np.int64)
    for r in range(len(top)):
        waits[r] = indptr[r + 1] - indptr[r] - 1
        if top[r] >= 0:
            is_total[top[r]] = True
    queue = np.empty(n, np.int64)
    head, tail, next_cell = 0, 0, 0
    for cell in range(n):
        if not is_total[cell]:
            level[cell] = 0
            queue[tail] = cell
            tail += 1
    while True:
        while head < tail:
            cell = queue[head]
            head += 1
            for i in range(starts[cell], starts[cell + 1]):
                r = where[i]
                if top[r] < 0 or top[r] == cell:
                    continue
                waits[r] -= 1
                total = top[r]
                if waits[r] == 0 and level[total] < 0:
                    deep = 0
                    for j in range(indptr[r], indptr[r + 1]):
                        if indices[j] != total:
                            deep = max(deep, level[indices[j]])
                    level[total] = deep + 1
                    row[total] = r
                    queue[tail] = total
                    tail += 1
        while next_cell < n and level[next_cell] >= 0:
            next_cell += 1
        if next_cell == n:
            return level, row
        level[next_cell] = 0
        queue[tail] = next_cell
        tail += 1


def publication_order(cost: Floats, sums: sp.csr_array) -> Ints:
    """Order in which cells are published: dearest first, then those of most inner cells, then by place.

    Costs are compared to nine digits, so that the last bits of a sum decide nothing.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> publication_order(np.array([2.0, 7.0, 2.0]), sp.csr_array([[1, 0], [1, 1], [1, 1]])).tolist()
    [1, 2, 0]
    """
    breadth = np.diff(sums.indptr)
    return np.lexsort((np.arange(len(cost)), -breadth, -rounded(cost)))


def rounded(cost: Floats) -> Floats:
    """Costs to nine significant digits."""
    cost = np.asarray(cost, float)
    power = np.zeros(len(cost))
    some = np.isfinite(cost) & (cost != 0)
    power[some] = np.floor(np.log10(np.abs(cost[some])))
    scale = 10.0 ** (8 - power)
    return np.where(some, np.round(np.where(some, cost, 0) * scale) / scale, cost)


@dataclass(frozen=True)
class Pattern:
    """What the elimination hides.

    Parameters
    ----------
    secondary : ndarray, shape (cells,)
        Cells hidden beside the primary ones.
    undone : ndarray, shape (cells,)
        Primary cells that the forbidden cells determine: nothing can protect them.
    """

    secondary: Bools
    undone: Bools


def eliminate(
    inner: Inner,
    primary: Bools,
    order: Ints,
    *,
    forbidden: Bools | None = None,
) -> Pattern:
    """Hide cells until no primary cell is determined.

    Parameters
    ----------
    inner
        Cells as sums of inner cells.
    primary : ndarray of bool
        Cells that must stay hidden and undetermined.
    order : ndarray of int
        The other cells, in the order in which they are tried for publication; cells left out stay hidden.
    forbidden : ndarray of bool, optional
        Cells that are published whatever they tell; they come first.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> inner = inner_sums(sp.csr_array([[-1, 1, 1, 1]]))
    >>> pattern = eliminate(inner, np.array([False, True, False, False]), np.array([0, 2, 3]))
    >>> pattern.secondary.tolist()
    [False, False, False, True]
    """
    n, m = inner.sums.shape
    first = np.zeros(n, np.bool_) if forbidden is None else forbidden & ~primary
    order = np.concatenate([np.flatnonzero(first), order[~first[order] & ~primary[order]]])
    tried = sp.vstack([inner.known, inner.sums[order]], format="csr")
    must = len(inner.known.indptr) - 1 + int(first.sum())
    secret = inner.sums[np.flatnonzero(primary)]
    hide, lost = _eliminate(*_arrays(tried), *_arrays(secret), must, m)
    secondary = ~primary
    secondary[order[~hide[inner.known.shape[0] :]]] = False
    undone = np.zeros(n, np.bool_)
    undone[np.flatnonzero(primary)] = lost[: int(primary.sum())]
    return Pattern(secondary, undone)


def _arrays(matrix: sp.csr_array) -> tuple[Ints, Ints, Ints]:
    matrix.sort_indices()
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int64) % PRIME,
    )


@compiled
def _grown(a: Ints, room: int) -> Ints:
    bigger = np.empty(max(room, 2 * len(a)), np.int64)
    bigger[: len(a)] = a
    return bigger


@compiled
def _eliminate(
    tried_at: Ints,
    tried_rows: Ints,
    tried_values: Ints,
    secret_at: Ints,
    secret_rows: Ints,
    secret_values: Ints,
    must: int,
    m: int,
) -> tuple[Bools, Bools]:
    """Which of the vectors tried stay hidden, and which of the secret ones are determined by the first `must` tried."""
    tried, secrets = len(tried_at) - 1, len(secret_at) - 1
    hide, lost = np.zeros(tried, np.bool_), np.zeros(secrets, np.bool_)
    start, length = np.full(m, -1, np.int64), np.zeros(m, np.int64)
    work, seen, heap = np.zeros(m, np.int64), np.zeros(m, np.bool_), np.empty(2 * m + 2, np.int64)
    pool_rows, pool_values, used = np.empty(4 * m + 16, np.int64), np.empty(4 * m + 16, np.int64), 0
    # what is left of the secret vectors, and lists of those that begin in a row
    held = len(secret_rows)
    held_rows, held_values = secret_rows.copy(), secret_values.copy()
    held_at, held_length = secret_at[:secrets].copy(), secret_at[1:] - secret_at[:secrets]
    head, after = np.full(m, -1, np.int64), np.full(secrets, -1, np.int64)
    for s in range(secrets - 1, -1, -1):
        if held_length[s] == 0:
            lost[s] = True
            continue
        row = held_rows[held_at[s]]
        after[s], head[row] = head[row], s
    for t in range(tried):
        a, b = tried_at[t], tried_at[t + 1]
        left = reduce_by_pivots(
            tried_rows[a:b], tried_values[a:b], start, length, pool_rows, pool_values, work, seen, heap, PRIME
        )
        if left == 0:
            continue
        if used + left > len(pool_rows):
            pool_rows, pool_values = _grown(pool_rows, used + left), _grown(pool_values, used + left)
        end = put(pool_rows, pool_values, used, left, work, heap)
        row = pool_rows[used]
        s, before, found = head[row], -1, False
        while s >= 0:
            current = False  # whether what is held is reduced by all pivots
            for i in range(held_at[s], held_at[s] + held_length[s]):
                if start[held_rows[i]] >= 0:
                    break
            else:
                current = held_values[held_at[s]] == 1
            if not current:
                a, b = held_at[s], held_at[s] + held_length[s]
                left_s = reduce_by_pivots(
                    held_rows[a:b], held_values[a:b], start, length, pool_rows, pool_values, work, seen, heap, PRIME
                )
                if left_s > held_length[s]:
                    if held + left_s > len(held_rows):
                        held_rows, held_values = _grown(held_rows, held + left_s), _grown(held_values, held + left_s)
                    held_at[s] = held
                    held += left_s
                put(held_rows, held_values, held_at[s], left_s, work, heap)
                held_length[s] = left_s
            same = held_length[s] == left
            if same:
                for i in range(left):
                    j = held_at[s] + i
                    if held_rows[j] != pool_rows[used + i] or held_values[j] != pool_values[used + i]:
                        same = False
                        break
            follower = after[s]
            if same:
                found = True
                if t >= must:
                    break
                lost[s] = True
                if before < 0:
                    head[row] = follower
                else:
                    after[before] = follower
            else:
                before = s
            s = follower
        if found and t >= must:
            hide[t] = True
            continue
        start[row], length[row] = used, left
        used = end
        s, head[row] = head[row], -1
        while s >= 0:
            follower = after[s]
            a, b = held_at[s], held_at[s] + held_length[s]
            left_s = reduce_by_pivots(
                held_rows[a:b], held_values[a:b], start, length, pool_rows, pool_values, work, seen, heap, PRIME
            )
            if left_s > held_length[s]:
                if held + left_s > len(held_rows):
                    held_rows, held_values = _grown(held_rows, held + left_s), _grown(held_values, held + left_s)
                held_at[s] = held
                held += left_s
            put(held_rows, held_values, held_at[s], left_s, work, heap)
            held_length[s] = left_s
            first = held_rows[held_at[s]]
            after[s], head[first] = head[first], s
            s = follower
    return hide, lost
