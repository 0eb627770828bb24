"""One system of equations for any set of tables of the same data: each total is the sum of its parts.

Cells that are the same are one: a cell in two tables, and a total with a single part that is not empty. Zeros that are
published and have no contributors take no part.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Literal

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from sfumato.errors import DataError
from sfumato.tables.axis import Axis
from sfumato.tables.table import CONTRIBUTORS, STATUS, Table, keyed

__all__ = ["NOISE", "Merged", "NotAdditive", "System", "allowed_of", "equations", "made_additive", "relations"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NOISE = 1e-11
"""Share of a total and its parts together by which they may differ by floating-point sums alone."""


@dataclass(frozen=True)
class System:
    """Cells and the equations that hold between them: M a = 0.

    Parameters
    ----------
    matrix
        A row for each equation, a column for each cell: 1 for the parts of a total, -1 for the total.
    value
        Value of each cell, NaN where it is not known.

    Examples
    --------
    >>> rows = pl.DataFrame({"sex": ["Total", "f", "m"], "count": [5.0, 3.0, 2.0]})
    >>> system = equations(Table.of(rows)).system
    >>> system.matrix.toarray().tolist(), system.value.tolist()
    ([[-1, 1, 1]], [5.0, 3.0, 2.0])
    """

    matrix: sp.csr_array
    value: Floats

    @property
    def size(self) -> int:
        """Number of cells."""
        return len(self.value)


class NotAdditive(DataError):
    """A table in which totals differ from the sums of their parts.

    The message names variables only; `where` names the cells.

    Parameters
    ----------
    message
        What is wrong.
    where
        The totals that differ: a column for each variable, and `along`, the variable that is summed over.
    """

    def __init__(self, message: str, where: pl.DataFrame) -> None:
        super().__init__(message)
        self.where = where


@dataclass(frozen=True)
class Merged:
    """A system, and where the cells of the tables are in it.

    Parameters
    ----------
    system
        The distinct cells that take part, and their equations.
    cell
        For each table, the cell of the system that each of its lines is; -1 for a zero that takes no part.
    adjusted
        Largest change that made the values additive; 0 where they were.
    along
        For each equation the variables that it sums over: several where it is the same over each of them, none for
        equations between tables.

    Examples
    --------
    >>> rows = pl.DataFrame({"town": ["Total", "North", "Leeds", "South"], "count": [5.0, 3.0, 3.0, 2.0]})
    >>> from sfumato.data.hierarchy import Hierarchy
    >>> table = Table.of(rows, hierarchies={"town": Hierarchy((("Leeds", "North"), ("South",)))})
    >>> merged = equations(table)  # the North is Leeds
    >>> merged.cell[0].tolist(), merged.gather([np.ones(4)], "sum").tolist()
    ([0, 1, 1, 2], [1.0, 2.0, 1.0])
    """

    system: System
    cell: tuple[Ints, ...]
    adjusted: float = field(default=0.0)
    along: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def _flat(self) -> Ints:
        return np.concatenate([np.empty(0, dtype=np.int64), *self.cell])

    def gather(
        self, given: Sequence[NDArray[Any]], how: Literal["sum", "max", "min", "any"], empty: float = 0.0
    ) -> NDArray[np.float64]:
        """What holds for each cell of the system, from what is given for the lines of each table.

        Parameters
        ----------
        given
            An array for each table.
        how
            What copies of a cell make together: costs are added (`sum`), a status holds for all (`any`), levels are the
            largest. NaN says nothing.
        empty
            For a cell of which nothing is said.
        """
        flat = np.concatenate([np.asarray(one, dtype=np.float64) for one in given])
        told = (self._flat >= 0) & ~np.isnan(flat)
        cell, flat = self._flat[told], flat[told]
        if how == "sum":
            out = np.bincount(cell, weights=flat, minlength=self.system.size)
            return np.where(np.bincount(cell, minlength=self.system.size) > 0, out, empty)
        lowest = how != "min"
        out = np.full(self.system.size, -np.inf if lowest else np.inf)
        (np.maximum if lowest else np.minimum).at(out, cell, flat)
        return np.where(np.isinf(out) & (np.bincount(cell, minlength=self.system.size) == 0), empty, out)

    def spread(self, values: NDArray[Any], empty: Any) -> tuple[NDArray[Any], ...]:
        """What holds for the lines of each table, from what holds for each cell; `empty` for zeros without a cell."""
        if not len(values):
            return tuple(np.full(len(cell), empty) for cell in self.cell)
        return tuple(np.where(cell >= 0, values[np.maximum(cell, 0)], empty) for cell in self.cell)


def equations(*tables: Table, tolerance: float | None = None) -> Merged:
    """Write the equations between all cells of tables of the same data.

    Parameters
    ----------
    tables
        One or several; variables of one name are one, and a cell is known by its codes without totals.
    tolerance
        Largest difference of a total from the sum of its parts that is taken for rounding. Values are then changed as
        little as needed, in proportion, to make them additive. Without one, what the papers of the tables say, else
        floating-point noise only.

    Returns
    -------
    Merged

    Raises
    ------
    NotAdditive
        Where known totals differ by more from the sums of their parts, or copies of a cell from each other.
    """
    if any(t.sums is not None for t in tables) and len({t.variables for t in tables}) > 1:
        raise DataError(
            "A file of cells by number (.jj) has nothing in common with tables of codes: take it by itself."
        )
    axes = _axes(tables)
    places = np.concatenate([_placed(table, axes) for table in tables])
    kept = np.concatenate([~_void(table) for table in tables])
    values = np.concatenate([table.values for table in tables])
    # `same`: one number for each distinct place; zeros that take no part are places too, so that a hidden total of
    # nothing but zeros is seen to be one
    keys, same = np.unique(keyed(places, [len(axis.codes) for axis in axes]), return_inverse=True)
    first = _firsts(same, len(keys))
    void = np.ones(len(keys), dtype=bool)
    np.logical_and.at(void, same, ~kept)
    allowed = allowed_of(tables, tolerance)
    value = _agreed(values, same, len(keys), allowed, places, axes)
    rows, columns, signs, along = relations(axes, places[first], keys, void)
    rows, columns, signs, along = _with_own_sums((rows, columns, signs, along), tables, same, void)
    one = _merged_places(rows, columns, signs, void)
    names, cell = np.unique(one[~void], return_inverse=True)
    of_place = np.full(len(keys), -1, dtype=np.int64)
    of_place[~void] = cell
    count = len(names)
    told = value[~void]
    joined = _agreed(told, cell, count, allowed, places[first][~void], axes)
    matrix, kept_rows, alike = _matrix(rows, of_place[columns], signs, count)
    matrix = _joined_kinds(matrix, joined, allowed, (axes, places[first], rows, columns, signs, of_place))
    where = (places[first], rows, columns, signs, along, kept_rows, axes)
    joined, moved = _additive(matrix, joined, allowed, where)
    parts = np.cumsum([len(table) for table in tables])[:-1]
    cells = tuple(np.asarray(part, dtype=np.int64) for part in np.split(of_place[same], parts))
    over = [tuple(dict.fromkeys(along[row] for row in same_sums)) for same_sums in alike]
    return Merged(System(matrix, joined), cells, moved, (*over, *[()] * (matrix.shape[0] - len(over))))


def allowed_of(tables: Sequence[Table], tolerance: float | None) -> float:
    """The difference of totals from their parts that is rounding: as it is given, else as the papers of tables say.

    Examples
    --------
    >>> allowed_of([], None), allowed_of([], 0.5)
    (0.0, 0.5)
    """
    if tolerance is not None:
        return tolerance
    return max((table.released.tolerance or 0.0 for table in tables), default=0.0)


def made_additive(matrix: sp.csr_array, value: Floats) -> Floats:
    """The nearest values that add up, all of them being known; as they are where they add up.

    Examples
    --------
    >>> made_additive(sp.csr_array([[1, 1, -1]]), np.array([4.0, 4.0, 9.0])).round(3).tolist()
    [4.235, 4.235, 8.471]
    """
    rest = matrix @ value
    if np.all(np.abs(rest) <= NOISE * (abs(matrix) @ np.abs(value))):
        return value
    return _moved(matrix, value, rest)[0]


def _axes(tables: Sequence[Table]) -> list[Axis]:
    """The variables of all tables, each with all its trees."""
    found: dict[str, list[Axis]] = {}
    for table in tables:
        for axis in table.axes:
            found.setdefault(axis.name, []).append(axis)
    return [reduce(Axis.joined, same) for _, same in sorted(found.items())]


def _placed(table: Table, axes: Sequence[Axis]) -> Ints:
    """Places of a table's cells among the codes of all tables' variables; `Total` in those it does not have."""
    out = np.zeros((len(table), len(axes)), dtype=np.int64)
    for column, axis in enumerate(axes):
        if axis.name in table.variables:
            at = table.variables.index(axis.name)
            own = table.axes[at]
            renamed = np.array([axis.place[code] for code in own.codes], dtype=np.int64)
            out[:, column] = renamed[table.places[:, at]]
    return out


def _void(table: Table) -> Bools:
    """Zeros that are published and have no contributors: nobody is behind them, and everybody may know."""
    value = table.values
    if np.any(value < 0):
        return np.zeros(len(table), dtype=bool)  # a zero may be a sum of what cancels
    void = value == 0
    contributors = table.column(CONTRIBUTORS)
    if contributors is not None:
        void &= ~(contributors > 0)
    if STATUS in table.cells.columns:
        void &= ~table.cells[STATUS].cast(pl.String).is_in(["u", "x"]).fill_null(False).to_numpy()
    return np.asarray(void)


def _firsts(same: Ints, count: int) -> Ints:
    first = np.full(count, len(same), dtype=np.int64)
    np.minimum.at(first, same, np.arange(len(same)))
    return first


def _agreed(values: Floats, same: Ints, count: int, allowed: float, places: Ints, axes: Sequence[Axis]) -> Floats:
    """The one value of copies: the first that is known, where no other differs by more than is allowed."""
    known = np.flatnonzero(~np.isnan(values))
    out = np.full(count, np.nan)
    out[same[known][::-1]] = values[known][::-1]
    noise = NOISE * np.abs(values[known])
    wrong = known[np.abs(values[known] - out[same[known]]) > np.maximum(allowed * (1 + 1e-9), noise)]
    if len(wrong):
        where = _named(axes, places[wrong], [""] * len(wrong))
        raise NotAdditive(
            f"Totals contradict each other at {_spelled(where)}: a cell that stands in two places of the tables, or a "
            "total with a single part, has two values. Give the same value, or a --tolerance (`tolerance`) for values "
            "that were rounded.",
            where,
        )
    return out


def relations(axes: Sequence[Axis], places: Ints, keys: Ints, void: Bools) -> tuple[Ints, Ints, Ints, list[str]]:
    """Every sum between listed places, as entries: number of the sum, place, sign; and what each is summed over."""
    sizes = [len(axis.codes) for axis in axes]
    rows, columns, signs, along = [np.empty(0, dtype=np.int64)], [], [], []
    begun = 0
    for column, axis in enumerate(axes):
        weight = int(np.prod(sizes[column + 1 :], dtype=np.int64))
        for part, total in _parts(axis, column, weight, places, keys):
            totals, row = np.unique(total, return_inverse=True)
            if not len(totals):
                continue
            rows += [begun + row, begun + np.arange(len(totals))]
            columns += [part, totals]
            signs += [np.ones(len(row), dtype=np.int64), np.full(len(totals), -1, dtype=np.int64)]
            along += [axis.name] * len(totals)
            begun += len(totals)
    if not columns:
        return rows[0], rows[0], rows[0], []
    all_rows, all_columns, all_signs = np.concatenate(rows), np.concatenate(columns), np.concatenate(signs)
    live = ~void[all_columns]
    return all_rows[live], all_columns[live], all_signs[live], along


_Sums = tuple[Ints, Ints, Ints, list[str]]


def _with_own_sums(found: _Sums, tables: Sequence[Table], same: Ints, void: Bools) -> _Sums:
    """The sums of codes, and after them those that tables have of their own."""
    rows, columns, signs, along = found
    begun = 0
    for table in tables:
        if table.sums is not None:
            own = table.sums.tocoo()
            column = same[begun + own.col]
            live = ~void[column]
            rows = np.append(rows, len(along) + own.row[live].astype(np.int64))
            columns, signs = np.append(columns, column[live]), np.append(signs, own.data[live].astype(np.int64))
            along = [*along, *[table.variables[0]] * own.shape[0]]
        begun += len(table)
    return rows, columns, signs, along


def _parts(axis: Axis, column: int, weight: int, places: Ints, keys: Ints) -> list[tuple[Ints, Ints]]:
    """By grouping, which listed places are parts of which; a total that is not listed stands for its own parts."""
    splits = np.full(len(axis.codes), -1, dtype=np.int64)
    for grouping, parents in reversed([*enumerate(axis.parents)]):
        splits[parents[parents >= 0]] = grouping
    found: list[list[tuple[Ints, Ints]]] = [[] for _ in axis.parents]
    spot, code = np.arange(len(keys)), places[:, column]
    while len(spot):
        further = []
        for grouping, parents in enumerate(axis.parents):
            above = parents[code]
            held = np.flatnonzero(above >= 0)
            part, parent = spot[held], above[held]
            wanted = keys[part] + (parent - places[part, column]) * weight
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            there = keys[at] == wanted
            found[grouping].append((part[there], at[there]))
            on = ~there & (splits[parent] == grouping)
            further.append(np.stack([part[on], parent[on]]))
        spot, code = np.unique(np.concatenate(further, axis=1), axis=1) if further else np.empty((2, 0), dtype=np.int64)
    pairs = [[np.concatenate(side) for side in zip(*each, strict=True)] for each in found]
    return [(part, total) for part, total in pairs]


def _merged_places(rows: Ints, columns: Ints, signs: Ints, void: Bools) -> Ints:
    """The first place that each is the same as: a total with one part left is that part."""
    count = len(void)
    sums = int(rows.max(initial=-1)) + 1
    parts, totals = (np.bincount(rows[signs == sign], minlength=sums) for sign in (1, -1))
    total = np.full(sums, -1, dtype=np.int64)
    total[rows[signs < 0]] = columns[signs < 0]
    lone = (signs > 0) & (parts[rows] == 1) & (totals[rows] == 1) if len(rows) else np.zeros(0, dtype=bool)
    links = sp.coo_array((np.ones(int(lone.sum())), (total[rows[lone]], columns[lone])), shape=(count, count))
    _, group = connected_components(links, directed=False)
    return _firsts(group.astype(np.int64), int(group.max(initial=-1)) + 1)[group]


def _matrix(rows: Ints, cells: Ints, signs: Ints, count: int) -> tuple[sp.csr_array, Ints, list[list[int]]]:
    """The equations, without those that say nothing and those said before; which sums they are, and those like them."""
    sums = int(rows.max(initial=-1)) + 1
    full = sp.coo_array((signs, (rows, cells)), shape=(sums, count)).tocsr()
    full.sum_duplicates()
    full.eliminate_zeros()
    full.sort_indices()
    seen: dict[bytes, list[int]] = {}
    starts = full.indptr
    for row in range(sums):
        span = slice(starts[row], starts[row + 1])
        if span.start < span.stop:
            seen.setdefault(full.indices[span].tobytes() + b"|" + full.data[span].tobytes(), []).append(row)
    alike = list(seen.values())  # by the first of each
    kept = np.array([same[0] for same in alike], dtype=np.int64)
    matrix = full[kept].astype(np.int8)
    return sp.csr_array(matrix), kept, alike


_Listed = tuple[Sequence[Axis], Ints, Ints, Ints, Ints, Ints]


def _joined_kinds(matrix: sp.csr_array, value: Floats, allowed: float, listed: _Listed) -> sp.csr_array:
    """The equations, and those between tables that have a total in common which none of them lists."""
    axes, places, rows, columns, signs, of_place = listed
    kinds, kind = np.unique(places > 0, axis=0, return_inverse=True)
    if len(kinds) < 2:
        return matrix
    inner = np.zeros(len(places), dtype=bool)  # totals of cells of the same variables
    total = np.full(int(rows.max(initial=-1)) + 1, -1, dtype=np.int64)
    total[rows[signs < 0]] = columns[signs < 0]
    alike = (signs > 0) & (total[rows] >= 0)
    alike[alike] = kind[total[rows[alike]]] == kind[columns[alike]]
    inner[total[rows[alike]]] = True
    finest = [np.flatnonzero((kind == k) & ~inner & (of_place >= 0)) for k in range(len(kinds))]
    names = {frozenset(np.flatnonzero(one).tolist()): k for k, one in enumerate(kinds)}
    more: list[sp.csr_array] = []
    for (one, a), (other, b) in itertools.combinations(names.items(), 2):
        shared = one & other
        if _steps(one, shared, names) and _steps(other, shared, names):
            continue
        first, second = (_grouped(axes, places, cells, sorted(shared)) for cells in (finest[a], finest[b]))
        pairs = ((tuple(first[codes]), tuple(second[codes])) for codes in sorted(first.keys() & second.keys()))
        both = [*dict.fromkeys(pairs)]
        if not both:
            continue
        row = np.repeat(np.arange(len(both)), [len(x) + len(y) for x, y in both])
        sign = np.concatenate([np.repeat([1, -1], [len(x), len(y)]) for x, y in both])
        cell = of_place[np.concatenate([np.array(x + y, dtype=np.int64) for x, y in both])]
        extra = sp.coo_array((sign, (row, cell)), shape=(len(both), matrix.shape[1])).tocsr()
        extra.sum_duplicates()
        extra.eliminate_zeros()
        if _hold(extra, value, allowed):
            more.append(extra[np.flatnonzero(np.diff(extra.indptr))].astype(np.int8))
    if not more:
        return matrix
    whole = sp.csr_array(sp.vstack([matrix, *more], format="csr"))
    whole.sort_indices()
    return whole


def _steps(kind: frozenset[int], shared: frozenset[int], names: Mapping[frozenset[int], int]) -> bool:
    """Whether tables are listed that leave out one variable after another, from those of a kind to those shared."""
    if kind == shared:
        return True
    smaller = [kind - {v} for v in kind - shared if kind - {v} in names]
    return any(_steps(one, shared, names) for one in smaller)


def _grouped(
    axes: Sequence[Axis], places: Ints, cells: Ints, shared: Sequence[int]
) -> dict[tuple[int, ...], list[int]]:
    """Cells by the codes of the shared variables that hold them, of every level."""
    out: dict[tuple[int, ...], list[int]] = {}
    for cell in cells.tolist():
        for codes in itertools.product(*(axes[v].above[places[cell, v]] for v in shared)):
            out.setdefault(codes, []).append(cell)
    return out


def _hold(rows: sp.csr_array, value: Floats, allowed: float) -> bool:
    """Whether the sums that are known are equal; tables of other records have none in common."""
    hidden = np.isnan(value)
    told = np.where(hidden, 0.0, value)
    known = abs(rows) @ hidden.astype(np.float64) == 0
    noise = NOISE * (abs(rows) @ np.abs(told))
    return bool(np.all(np.abs(rows @ told)[known] <= np.maximum(allowed, noise)[known]))


_Where = tuple[Ints, Ints, Ints, Ints, list[str], Ints, Sequence[Axis]]


def _additive(matrix: sp.csr_array, value: Floats, allowed: float, where: _Where) -> tuple[Floats, float]:
    """Values that add up, and how far they had to be moved; refuses where that is further than allowed."""
    if not matrix.shape[0]:
        return value, 0.0
    hidden = np.isnan(value)
    told = np.where(hidden, 0.0, value)
    known = (abs(matrix) @ hidden.astype(np.float64)) == 0
    rest = np.where(known, matrix @ told, 0.0)
    noise = NOISE * (abs(matrix) @ np.abs(told))
    off = np.abs(rest) > np.maximum(allowed * (1 + 1e-9), noise)
    if np.any(off):
        _refuse(np.flatnonzero(off), where)
    if np.all(np.abs(rest) <= noise):
        return value, 0.0
    return _moved(matrix[known], value, rest[known])


def _moved(matrix: sp.csr_array, value: Floats, rest: Floats) -> tuple[Floats, float]:
    """Nearest additive values, differences measured in proportion to the root of each value."""
    root = np.sqrt(np.abs(np.where(np.isnan(value), 0.0, value)))
    scaled = matrix.astype(np.float64) @ sp.diags_array(root)
    step = root * lsqr(scaled, -rest, atol=1e-14, btol=1e-14, iter_lim=20 * (matrix.shape[1] + 10))[0]
    return value + step, float(np.max(np.abs(step), initial=0.0))


def _refuse(off: Ints, where: _Where) -> None:
    places, rows, columns, signs, along, kept, axes = where
    sums = kept[off]
    total = {int(row): int(column) for row, column, sign in zip(rows, columns, signs, strict=True) if sign < 0}
    names = sorted({along[i] for i in sums})
    spots = np.array([total.get(int(i), 0) for i in sums], dtype=np.int64)
    where_ = _named(axes, places[spots], [along[i] for i in sums])
    raise NotAdditive(
        f"The table is not additive: totals over {', '.join(map(repr, names))} differ from the sums of their parts, "
        f"the first at {_spelled(where_)}. Where codes are totals of others, say so (--hierarchy, `hierarchies`); "
        "where values were rounded, give a --tolerance (`tolerance`); else mend the totals.",
        where_,
    )


def _spelled(where: pl.DataFrame) -> str:
    """The codes of the first of some cells."""
    first = where.drop("along").row(0, named=True)
    return ", ".join(f"{name}={code}" for name, code in first.items())


def _named(axes: Sequence[Axis], places: Ints, along: Sequence[str]) -> pl.DataFrame:
    columns = {axis.name: [axis.codes[i] for i in places[:, at]] for at, axis in enumerate(axes)}
    return pl.DataFrame(
        {**columns, "along": list(along)}, schema={**dict.fromkeys(columns, pl.String), "along": pl.String}
    )
