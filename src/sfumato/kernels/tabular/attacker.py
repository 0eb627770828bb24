"""What an attacker can work out of a protected table: the interval of every hidden cell, by linear programs.

The attacker knows the published cells, every equation between cells, and bounds of each hidden cell (nobody's turnover
is negative). What is possible for a hidden cell is then an interval, and its ends are two linear programs. They differ
in their costs alone: the model is built once, and each program starts where the one before it stopped. Every solution
is a table that could be the true one, and widens what is known of all hidden cells at once; a cell whose bounds it
reaches needs no program of its own. Hidden cells that no equation connects are solved apart.

This is an outsider. For one who contributed himself, `lower` and `upper` hold what he knows: his own contribution is
the least that its cell can be, and a cell in which he is alone is known to him.

References: Fischetti & Salazar (2001), Management Science 47; Hundepool et al. (2010), Handbook on Statistical
Disclosure Control, 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.tabular.directions import directions
from sfumato.kernels.tabular.programme import Contradiction, Programme
from sfumato.kernels.tabular.work import Work, WorkEnded
from sfumato.progress import Progress, quiet

__all__ = [
    "Contradiction",
    "Intervals",
    "Need",
    "Programme",
    "components",
    "hidden_system",
    "intervals",
    "inwards",
    "propagated",
]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SLACK = 1e-11
"""Share of a row's published values by which sums of fractions may miss."""
_CLOSE = 1e-10
"""Share of the largest value around within which two ends are one."""
_LARGEST = 1e6
"""Values of a component are scaled to be no larger than this."""


@dataclass(frozen=True)
class Need:
    """How wide the intervals must be, from the true values on.

    Parameters
    ----------
    lower, upper, sliding : ndarray, shape (cells,)
        How far below and above the true value an interval must reach, and how wide it must be. 0 where nothing is
        needed.
    """

    lower: Floats
    upper: Floats
    sliding: Floats


@dataclass(frozen=True)
class Intervals:
    """Intervals of cells; a published cell's is its value.

    Parameters
    ----------
    low, high : ndarray, shape (cells,)
        The least and the most that a cell can be. Hidden cells that nobody asked for have what was learned by the way,
        from outside: their true interval is at most as wide. With `need`, an interval that reaches it is not driven
        further.
    programs : int
        Linear programs that were solved.
    seen_low, seen_high : ndarray, shape (cells,)
        The least and the most that each cell is in the tables that were found, so what is surely possible; infinite the
        other way round where no table was.
    sharp : ndarray of bool, shape (cells,)
        Whether `low` and `high` are what is possible, and not only bounds of it: False where nobody asked, or where
        the work ended before.
    """

    low: Floats
    high: Floats
    programs: int
    seen_low: Floats
    seen_high: Floats
    sharp: Bools


def intervals(
    matrix: sp.csr_array,
    value: Floats,
    hidden: Bools,
    lower: Floats | float = 0.0,
    upper: Floats | float = np.inf,
    wanted: Ints | None = None,
    *,
    need: Need | None = None,
    tolerance: float = 0.0,
    work: Work | None = None,
    progress: Progress = quiet,
) -> Intervals:
    """Find the interval of every hidden cell.

    Parameters
    ----------
    matrix : csr_array, shape (equations, cells)
        Equations M a = 0.
    value : ndarray, shape (cells,)
        Published values. Those of hidden cells are looked at only with `need`, and may be nan without it.
    hidden : ndarray of bool
        Cells whose values are not published.
    lower, upper
        What the attacker knows of hidden cells before.
    wanted : ndarray of int, optional
        Cells whose intervals are asked for; all hidden ones if not given.
    need
        Stop at a cell as soon as its interval is proved wide enough, or proved too narrow.
    tolerance
        By how much published sums may miss, for values that were rounded. Programs are then as large as the table.
    work
        Where to stop; what was learned until then is told.

    Examples
    --------
    A row of 1 and a hidden pair, and the same in columns: the pair can only be (0, 1) or (1, 0), or between.

    >>> import numpy as np, scipy.sparse as sp
    >>> hidden, one = np.array([True, True, False]), np.array([np.nan, np.nan, 1.0])
    >>> found = intervals(sp.csr_array([[1.0, 1.0, -1.0]]), one, hidden)
    >>> found.low.tolist(), found.high.tolist()
    ([0.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    """
    n = len(hidden)
    low, high = np.where(hidden, -np.inf, value), np.where(hidden, np.inf, value)
    cells = np.flatnonzero(hidden)
    work = Work() if work is None else work
    if not len(cells):
        return Intervals(low, high, 0, low, high, ~hidden)
    asked = hidden.copy() if wanted is None else np.zeros(n, np.bool_)
    if wanted is not None:
        asked[wanted] = True
    system = hidden_system(matrix, value, hidden, tolerance)
    bottom = np.broadcast_to(np.asarray(lower, float), n)[cells]
    top = np.broadcast_to(np.asarray(upper, float), n)[cells]
    bottom, top = propagated(*system, bottom, top)
    truth = value[cells] if need is not None else np.full(len(cells), np.nan)
    reach = None if need is None else Need(need.lower[cells], need.upper[cells], need.sliding[cells])
    programs = 0
    # a cell without room is what it is; what is in no component that was asked for was not looked at
    seen_low, seen_high = np.where(bottom == top, bottom, np.inf), np.where(bottom == top, bottom, -np.inf)
    sharp = bottom == top
    for part, rows, share in components(system[0], bottom, top, asked[cells]):
        progress("bounding hidden cells", share)
        piece = _Piece(system, part, rows, bottom, top, work, exact=tolerance == 0)
        ends = _bound(piece, asked[cells][part], truth[part], None if reach is None else _of(reach, part))
        bottom[part], top[part], sharp[part] = ends.low, ends.high, ends.sharp
        seen_low[part], seen_high[part] = ends.seen_low, ends.seen_high
        programs += ends.programs
    low[cells], high[cells] = bottom, top
    seen = _placed(cells, low, seen_low), _placed(cells, high, seen_high)
    return Intervals(low, high, programs, seen[0], seen[1], _placed(cells, ~hidden, sharp))


def _placed(cells: Ints, around: NDArray[Any], of_cells: NDArray[Any]) -> NDArray[Any]:
    """An array of all cells, in which some have values of their own."""
    out = around.copy()
    out[cells] = of_cells
    return out


def _of(need: Need, part: Ints) -> Need:
    return Need(need.lower[part], need.upper[part], need.sliding[part])


def inwards(found: Intervals, hidden: Bools) -> Intervals:
    """Round intervals of whole numbers inwards: for counts whose bounds are whole as well.

    It is what whole numbers allow at most; with the other cells whole too, less may be possible.

    Examples
    --------
    >>> ends = intervals(sp.csr_array([[1.0, 1.0, -1.0]]), np.array([np.nan, np.nan, 2.5]), np.arange(3) < 2)
    >>> ends = inwards(ends, np.arange(3) < 2)
    >>> ends.low.tolist(), ends.high.tolist()
    ([0.0, 0.0, 2.5], [2.0, 2.0, 2.5])
    """
    low = np.where(hidden, np.ceil(found.low - 1e-6), found.low)
    high = np.where(hidden, np.floor(found.high + 1e-6), found.high)
    if (low > high).any():
        raise Contradiction
    return replace(found, low=low + 0.0, high=high + 0.0)


System = tuple[sp.csr_array, Floats, Floats]
"""Equations of the hidden cells, and the least and the most that each can sum to."""


def hidden_system(matrix: sp.csr_array, value: Floats, hidden: Bools, tolerance: float) -> System:
    """Equations that hold a hidden cell, with the published ones on the right side."""
    matrix = sp.csr_array(matrix).astype(np.float64)
    published = np.where(hidden, 0.0, value)
    right, size = -(matrix @ published), abs(matrix) @ np.abs(published)
    of_hidden = sp.csr_array(matrix[:, np.flatnonzero(hidden)])
    of_hidden.eliminate_zeros()
    of_hidden.sort_indices()
    rows = np.flatnonzero(np.diff(of_hidden.indptr))
    # an equation that stands twice is needed once; it then has the tighter right side
    slack = _SLACK * size + tolerance
    return sp.csr_array(of_hidden[rows]), (right - slack)[rows], (right + slack)[rows]


def propagated(matrix: sp.csr_array, least: Floats, most: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Narrow bounds row by row: what a cell can be when all others of its equation are at their ends.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> five, none, inf = np.array([5.0]), np.zeros(2), np.full(2, np.inf)
    >>> [end.tolist() for end in propagated(sp.csr_array([[1.0, 1.0]]), five, five, none, inf)]
    [[0.0, 0.0], [5.0, 5.0]]
    """
    low, high = low.astype(float), high.astype(float)
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    order = np.argsort(indices, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(indices, minlength=matrix.shape[1])))
    where = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))[order]
    size = np.where(np.isfinite(most - least), np.maximum(np.abs(most), np.abs(least)), 0.0)
    close = _CLOSE * size + _SLACK * size.max(initial=0.0)
    if not _propagate(indptr, indices, matrix.data.astype(float), least, most, low, high, starts, where, close):
        raise Contradiction
    return low, high


@compiled
def _propagate(
    indptr: Ints,
    indices: Ints,
    data: Floats,
    least: Floats,
    most: Floats,
    low: Floats,
    high: Floats,
    starts: Ints,
    where: Ints,
    close: Floats,
) -> bool:
    """Narrow `low` and `high` in place; tell whether a table is left."""
    rows = len(indptr) - 1
    queue, waiting = np.empty(rows, np.int64), np.ones(rows, np.bool_)
    for r in range(rows):
        queue[r] = r
    head, number, steps = 0, rows, 0
    while number > 0 and steps < 60 * rows + 1000:
        r = queue[head]
        head, number, steps = (head + 1) % rows, number - 1, steps + 1
        waiting[r] = False
        down, up, open_down, open_up = 0.0, 0.0, 0, 0
        for i in range(indptr[r], indptr[r + 1]):
            c, j = data[i], indices[i]
            a, b = (c * low[j], c * high[j]) if c > 0 else (c * high[j], c * low[j])
            if np.isinf(a):
                open_down += 1
            else:
                down += a
            if np.isinf(b):
                open_up += 1
            else:
                up += b
        for i in range(indptr[r], indptr[r + 1]):
            c, j = data[i], indices[i]
            a, b = (c * low[j], c * high[j]) if c > 0 else (c * high[j], c * low[j])
            # c z <= most - least of the others; c z >= least - most of the others
            above, below = np.inf, -np.inf
            if open_down == 0:
                above = most[r] - (down - a)
            elif open_down == 1 and np.isinf(a):
                above = most[r] - down
            if open_up == 0:
                below = least[r] - (up - b)
            elif open_up == 1 and np.isinf(b):
                below = least[r] - up
            new_low, new_high = (below / c, above / c) if c > 0 else (above / c, below / c)
            changed = False
            if new_high < high[j] - close[r]:
                high[j] = new_high
                changed = True
            if new_low > low[j] + close[r]:
                low[j] = new_low
                changed = True
            if low[j] > high[j]:
                if low[j] - high[j] > 1e2 * close[r]:
                    return False
                low[j] = high[j] = (low[j] + high[j]) / 2
            if changed:
                for k in range(starts[j], starts[j + 1]):
                    other = where[k]
                    if other != r and not waiting[other]:
                        waiting[other] = True
                        queue[(head + number) % rows] = other
                        number += 1
                # the sums of this row are stale, and so is what follows from them, but never wrong: bounds only narrow
    return True


def components(matrix: sp.csr_array, low: Floats, high: Floats, asked: Bools) -> Iterator[tuple[Ints, Ints, float]]:
    """Cells and rows of each set of open cells that equations connect and somebody asked for; the share done."""
    open_cells = np.flatnonzero(high > low)
    of_open = sp.csr_array(matrix[:, open_cells])
    rows, n = of_open.shape
    coo = of_open.tocoo()
    graph = sp.csr_array((np.ones(coo.nnz), (coo.row, coo.col + rows)), (rows + n, rows + n))
    _, label = sp.csgraph.connected_components(graph, directed=False)
    of_cell, of_row = label[rows:], label[:rows]
    order, row_order = np.argsort(of_cell, kind="stable"), np.argsort(of_row, kind="stable")
    cells_sorted, rows_sorted = of_cell[order], of_row[row_order]
    done = 0
    for name in np.unique(of_cell[asked[open_cells]]):
        a, b = np.searchsorted(cells_sorted, [name, name + 1])
        c, d = np.searchsorted(rows_sorted, [name, name + 1])
        yield open_cells[order[a:b]], row_order[c:d], done / max(n, 1)
        done += b - a


class _Piece:
    """The equations of one component, scaled."""

    def __init__(
        self, system: System, part: Ints, rows: Ints, low: Floats, high: Floats, work: Work, *, exact: bool
    ) -> None:
        self.exact, self.work = exact, work
        matrix, least, most = system
        of_rows = sp.csr_array(matrix[rows])
        fixed = np.where(low == high, low, 0.0)
        moved = of_rows @ fixed
        self.matrix = sp.csr_array(of_rows[:, part])
        self.matrix.sort_indices()
        self.least, self.most = least[rows] - moved, most[rows] - moved
        self.low, self.high = low[part].copy(), high[part].copy()
        ends = np.concatenate([self.least, self.most, self.low, self.high])
        self.largest = float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0))
        self.scale = self.largest / _LARGEST if self.largest > _LARGEST else 1.0
        if 0 < self.largest < 1.0:
            self.scale = self.largest


class _Ends:
    """What is known of the cells of a component: witnesses from inside, bounds from outside."""

    def __init__(self, piece: _Piece, asked: Bools, truth: Floats, need: Need | None) -> None:
        self.low, self.high = piece.low / piece.scale, piece.high / piece.scale
        self.in_low, self.in_high = np.full(len(self.low), np.inf), np.full(len(self.low), -np.inf)
        self.close = _CLOSE * max(1.0, piece.largest / piece.scale)
        self.last = np.clip(np.zeros(len(self.low)), self.low, self.high)
        self.untried = np.ones((2, len(self.low)), dtype=bool)
        self.asked, self.need = asked, need
        if need is not None:
            self.truth = truth / piece.scale
            self.to_low = self.truth - need.lower / piece.scale
            self.to_high = self.truth + need.upper / piece.scale
            self.to_width = need.sliding / piece.scale
            self.see(self.truth)

    def see(self, table: Floats) -> None:
        """A table that is possible, but for the last digits of a program."""
        self.last = table = np.clip(table, self.low, self.high)
        np.minimum(self.in_low, table, out=self.in_low)
        np.maximum(self.in_high, table, out=self.in_high)

    def settle(self, cells: Bools, table: Floats) -> None:
        """Cells that never move."""
        if (table[cells] < self.low[cells] - self.close).any() or (table[cells] > self.high[cells] + self.close).any():
            raise Contradiction
        for end in (self.low, self.high, self.in_low, self.in_high):
            end[cells] = table[cells]

    def end(self, cells: Ints, up: Bools, table: Floats | None) -> None:
        """A table in which some cells are as high (`up`) or as low as they can be; None if they have no end."""
        if table is None:
            self.in_high[cells[up]], self.in_low[cells[~up]] = np.inf, -np.inf
            return
        self.see(table)
        self.high[cells[up]] = np.minimum(self.high, table)[cells[up]]
        self.low[cells[~up]] = np.maximum(self.low, table)[cells[~up]]

    def nearest(self) -> tuple[int, float] | None:
        """The end that the last table is nearest to, of those not asked for before: a cell, and the sign of its cost.

        The next program starts from that table, so its way is short. None if no end is open.
        """
        up, down = (self.open_high(), self.open_low()) & self.untried
        if not (up | down).any():
            return None
        room = np.maximum(self.high - self.low, self.close)
        room[np.isinf(room)] = 1.0
        far = np.concatenate([self.high - self.last, self.last - self.low]) / np.tile(room, 2)
        far = np.round(np.minimum(far, _FAR), 6)  # not the last bits decide
        place = int(np.where(np.concatenate([up, down]), far, np.inf).argmin())
        self.untried[place // len(up), place % len(up)] = False
        return place % len(up), -1.0 if place < len(up) else 1.0

    def open_low(self) -> Bools:
        """Cells whose low end is asked for and not yet known."""
        still = self.asked & (self.in_low > self.low + self.close)
        if self.need is None:
            return still
        hopeless = self.low > self.to_low + self.close
        return still & ~hopeless & ((self.in_low > self.to_low + self.close) | self._narrow())

    def open_high(self) -> Bools:
        """Cells whose high end is asked for and not yet known."""
        still = self.asked & (self.in_high < self.high - self.close)
        if self.need is None:
            return still
        hopeless = self.high < self.to_high - self.close
        return still & ~hopeless & ((self.in_high < self.to_high - self.close) | self._narrow())

    def _narrow(self) -> Bools:
        width = self.in_high - self.in_low
        possible = self.high - self.low >= self.to_width - self.close
        return np.asarray((width < self.to_width - self.close) & possible)


@dataclass(frozen=True)
class _Bounded:
    low: Floats
    high: Floats
    programs: int
    seen_low: Floats
    seen_high: Floats
    sharp: Bools


_SWEEPS = 4
"""Programs that push many cells at once, before each is taken by itself."""
_STEPS = 3_000
"""Iterations that each of these may cost: any table that is possible will do."""
_FAR = 1e6
"""Ends that nothing bounds are looked for last."""
_SMALL = 6
"""Components of fewer cells are not swept."""


def _bound(piece: _Piece, asked: Bools, truth: Floats, need: Need | None) -> _Bounded:
    """Bound the cells of one component."""
    ends = _Ends(piece, asked, truth, need)
    if not (ends.open_low() | ends.open_high()).any():
        return _finish(ends, piece, 0)
    tables = _tables(piece, ends)
    try:
        if len(asked) >= _SMALL:
            _sweep(ends, tables)
        while (end := ends.nearest()) is not None:
            cell, sign = end
            table = tables.least(np.array([cell]), np.array([sign]))
            ends.end(tables.alike(cell), tables.factor[tables.alike(cell)] * sign / tables.factor[cell] < 0, table)
    except WorkEnded:
        pass  # what was learned is told
    return _finish(ends, piece, tables.programme.solved)


class _Tables:
    """Programs over the cells of a component, by themselves or in the directions in which they move.

    `group` says which cells move together, `factor` how much of the group's move is each one's.
    """

    def __init__(self, programme: Programme, base: Floats, moves: sp.csr_array | None, group: Ints, factor: Floats):
        self.programme, self.base, self.moves, self.group, self.factor = programme, base, moves, group, factor
        self._order = np.argsort(group, kind="stable")
        self._sorted = group[self._order]

    def alike(self, cell: int) -> Ints:
        """Cells that move together with one, and itself."""
        if self.group[cell] < 0:
            return np.array([cell])
        a, b = np.searchsorted(self._sorted, [self.group[cell], self.group[cell] + 1])
        return self._order[a:b]

    def least(self, cells: Ints, costs: Floats, most: int | None = None) -> Floats | None:
        """The cheapest table where the given cells cost so much, or the best of so many iterations; None if none is."""
        if self.moves is not None:
            along = self.moves[cells].T @ costs
            cells = np.flatnonzero(along)
            costs = along[cells]
        found = self.programme.least(cells, costs) if most is None else self.programme.towards(cells, costs, most)
        return found if found is None or self.moves is None else self.base + self.moves @ found


def _tables(piece: _Piece, ends: _Ends) -> _Tables:
    """The programs of a component: in its directions where these are small whole numbers and its sums agree."""
    n = len(ends.low)
    found = directions(piece.matrix) if piece.exact else None
    base = None if found is None else _first_table(piece, ends, found.rows, found.cells)
    if found is None or base is None:
        low, high = ends.low.copy(), ends.high.copy()
        programme = Programme(piece.matrix, piece.least / piece.scale, piece.most / piece.scale, low, high, piece.work)
        return _Tables(programme, np.zeros(n), None, np.arange(n), np.ones(n))
    group, factor = _together(found.moves)
    still = group < 0
    ends.settle(still, base)
    # bounds of the moves of each group, from all its cells
    slack = 1e-2 * ends.close
    down, up = (ends.low - slack - base)[~still] / factor[~still], (ends.high + slack - base)[~still] / factor[~still]
    down, up = np.minimum(down, up), np.maximum(down, up)
    many = int(group.max(initial=-1)) + 1
    low, high = np.full(many, -np.inf), np.full(many, np.inf)
    np.maximum.at(low, group[~still], down)
    np.minimum.at(high, group[~still], up)
    if (low > high + ends.close).any():
        raise Contradiction
    low, high = np.minimum(low, high), np.maximum(low, high)
    first = np.flatnonzero(~still)[np.unique(group[~still], return_index=True)[1]]
    scaled = sp.csr_array(sp.diags_array(1 / factor[first]) @ found.moves[first])
    lone = np.diff(scaled.indptr) == 1
    if ends.need is not None:  # steps without bounds start at 0, the true table, which saves the way to a first one
        lone &= False
    column_low, column_high = np.full(scaled.shape[1], -np.inf), np.full(scaled.shape[1], np.inf)
    column = scaled.indices[scaled.indptr[:-1][lone]]
    column_low[column], column_high[column] = low[lone], high[lone]
    programme = Programme(
        sp.csr_array(scaled[np.flatnonzero(~lone)]), low[~lone], high[~lone], column_low, column_high, piece.work
    )
    return _Tables(programme, base, found.moves, group, factor)


def _first_table(piece: _Piece, ends: _Ends, rows: Ints, cells: Ints) -> Floats | None:
    """A table that has all published sums, whatever its bounds; None where the sums do not agree."""
    if ends.need is not None:
        return ends.truth
    base = np.zeros(len(ends.low))
    right = (piece.least + piece.most) / 2 / piece.scale
    square = sp.csc_array(piece.matrix[rows][:, cells])
    if len(cells):
        base[cells] = np.atleast_1d(sp.linalg.spsolve(square, right[rows]))
    off = np.abs(piece.matrix @ base - right)
    return base if (off <= (piece.most - piece.least) / 2 / piece.scale + 1e-2 * ends.close).all() else None


def _together(moves: sp.csr_array) -> tuple[Ints, Floats]:
    """Which cells move together (-1: those that never move), and how much of the group's move is each one's."""
    moves.sort_indices()
    group, factor = np.full(moves.shape[0], -1, np.int64), np.ones(moves.shape[0])
    names: dict[tuple[bytes, bytes], int] = {}
    for cell in range(moves.shape[0]):
        a, b = moves.indptr[cell], moves.indptr[cell + 1]
        if a == b:
            continue
        factor[cell] = moves.data[a]
        shape = (moves.indices[a:b].tobytes(), (moves.data[a:b] / moves.data[a]).tobytes())
        group[cell] = names.setdefault(shape, len(names))
    return group, factor


def _sweep(ends: _Ends, tables: _Tables) -> None:
    """Push all open ends at once, and then half of them against the other half."""
    for k in range(_SWEEPS):
        up, down = ends.open_high(), ends.open_low()
        if k % 2:
            up, down = down, up
            cells = np.flatnonzero(up)
            costs = np.ones(len(cells))
        else:
            cells = np.flatnonzero(up)
            costs = -np.ones(len(cells))
        if k >= 2:  # every other one
            cells, costs = cells[k % 2 :: 2], costs[k % 2 :: 2]
        finite = np.isfinite(ends.high[cells]) & np.isfinite(ends.low[cells])
        cells, costs = cells[finite], costs[finite]
        if not len(cells):
            continue
        table = tables.least(cells, costs, _STEPS)
        if table is not None:
            ends.see(table)


def _finish(ends: _Ends, piece: _Piece, programs: int) -> _Bounded:
    """Ends in the units of the table; with a need that is reached, what was reached."""
    low, high = ends.low.copy(), ends.high.copy()
    if ends.need is not None:
        enough = ends.asked & (ends.in_high - ends.in_low >= ends.to_width - ends.close)
        low = np.where(enough & (ends.in_low <= ends.to_low + ends.close), ends.in_low, low)
        high = np.where(enough & (ends.in_high >= ends.to_high - ends.close), ends.in_high, high)
    digits = min(6, 9 - int(np.floor(np.log10(max(piece.largest / piece.scale, 1.0)))))
    low, high = np.round(low, digits), np.round(high, digits)
    sharp = (ends.in_low <= ends.low + ends.close) & (ends.in_high >= ends.high - ends.close)
    seen = (ends.in_low * piece.scale + 0.0, ends.in_high * piece.scale + 0.0)
    return _Bounded(low * piece.scale + 0.0, high * piece.scale + 0.0, programs, *seen, sharp)
