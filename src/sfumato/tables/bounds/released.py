"""What was released, as margins: of each set of variables, the least and the most that each cell can be."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends, collapsed
from sfumato.kernels.tabular.margins import bits, largest
from sfumato.tables.axis import Axis
from sfumato.tables.possible import Possible
from sfumato.tables.reader import reader_of_file
from sfumato.tables.table import LOWER, STATUS, UPPER, Table, keyed

__all__ = ["MOST", "Released", "released"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST = 2_000_000
"""Cells of a cross product above which it is refused."""
_NOISE = 1e-9


@dataclass(frozen=True)
class Released:
    """Everything that is told of the cells of a cross product.

    Parameters
    ----------
    axes
        The variables, in the order in which tables name them.
    margins
        By set of variables (a bit for each): the least and the most of each cell, with a place for every code but
        `Total` along each variable; 0 and infinity where nothing is told.
    whole
        Whether all cells are whole numbers.
    """

    axes: tuple[Axis, ...]
    margins: Mapping[int, Ends]
    whole: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Finest codes of each variable."""
        return tuple(len(axis.finest) for axis in self.axes)

    @property
    def everything(self) -> int:
        """The set of all variables."""
        return (1 << len(self.axes)) - 1

    @cached_property
    def fine(self) -> dict[int, Ends]:
        """The margins' finest cells alone."""
        return {mask: self._finest(mask, ends) for mask, ends in self.margins.items()}

    def _finest(self, mask: int, ends: Ends) -> Ends:
        places = np.ix_(*(self.axes[i].finest - 1 for i in bits(mask)))
        return ends[0][places], ends[1][places]

    @cached_property
    def known(self) -> tuple[int, ...]:
        """The largest sets of variables whose finest cells are all told."""
        return largest(mask for mask, (low, high) in self.fine.items() if np.array_equal(low, high))

    @cached_property
    def plain(self) -> bool:
        """Whether nothing is told but margins in full: without gaps, changes or broader codes that add to them."""
        flat = all(len(axis.relations) == 1 for axis in self.axes)
        return flat and all(any(mask & known == mask for known in self.known) for mask in self.margins)

    def names(self, mask: int) -> str:
        """Variables in words.

        Examples
        --------
        >>> Released((Axis.flat("a", "12"), Axis.flat("b", "12")), {}, True).names(3)
        "'a', 'b'"
        """
        return ", ".join(repr(self.axes[i].name) for i in bits(mask)) or "no variable"

    def of(self, part: int) -> Released:
        """What is told of some of the variables."""
        held: dict[int, Ends] = {m: ends for m, ends in self.margins.items() if m & part == m}
        for mask in self.known:
            if mask & part not in held:
                low = collapsed(self.fine[mask][0], mask, mask & part)
                held[mask & part] = _spread(self.axes, mask & part, low)
        place = {i: k for k, i in enumerate(bits(part))}
        moved = {sum(1 << place[i] for i in bits(mask)): ends for mask, ends in held.items()}
        return Released(tuple(self.axes[i] for i in bits(part)), moved, self.whole)


def _spread(axes: Sequence[Axis], mask: int, fine: Floats) -> Ends:
    """Known finest cells, with nothing told of broader ones."""
    shape = [len(axes[i].codes) - 1 for i in bits(mask)]
    low, high = np.zeros(shape), np.full(shape, np.inf)
    places = np.ix_(*(axes[i].finest - 1 for i in bits(mask)))
    low[places] = high[places] = fine
    return low, high


def released(
    tables: Sequence[Table],
    names: Sequence[str],
    changed: Sequence[Possible | None],
    *,
    whole: bool = True,
    tolerance: float = 0.0,
) -> Released:
    """Gather what tables tell, and refuse what cannot all be true.

    Raises
    ------
    DataError
        Negative or broken counts, a cross product that is too large, tables that contradict each other.
    """
    axes = _axes(tables)
    size = float(np.prod([float(len(axis.finest)) for axis in axes]))
    if size > MOST:
        most = max(axes, key=lambda axis: (len(axis.finest), axis.name)).name
        raise DataError(
            f"The cross product of the variables has more than {MOST:,} cells. {most!r} has most codes: leave it "
            "out if it is no variable (--by names the columns that are), or bound coarser tables."
        )
    found: dict[int, Ends] = {}
    told: dict[int, list[int]] = {}
    for k, table in enumerate(tables):
        for mask, ends in _groups(table, axes, changed[k], whole, tolerance, names[k]).items():
            held = found.get(mask)
            if held is not None:
                ends = np.maximum(ends[0], held[0]), np.minimum(ends[1], held[1])
            found[mask] = ends
            told.setdefault(mask, []).append(k)
    out = Released(axes, found, whole)
    for mask, (low, high) in found.items():
        if np.any(low > high + _slack(high, whole)):
            raise DataError(_contradiction(out, mask, [names[k] for k in told[mask]]))
    _refuse_contradictions(out, told, names)
    return out


def _axes(tables: Sequence[Table]) -> tuple[Axis, ...]:
    """The variables of all tables with all their codes and trees, in the order in which they come."""
    held: dict[str, list[Axis]] = {}
    for table in tables:
        for axis in table.axes:
            held.setdefault(axis.name, []).append(axis)
    out = []
    for name, same in held.items():
        joined = reduce(Axis.joined, same)
        if len(joined.relations) == 1:  # flat: codes in one order whatever the order of the tables
            joined = Axis.flat(name, sorted(set(joined.codes[1:])))
        elif any(len(axis.relations) == 1 for axis in same):
            trees = [axis for axis in same if len(axis.relations) > 1]
            joined = reduce(Axis.joined, trees)
            if any(code not in joined.place for axis in same for code in axis.codes):
                raise DataError(f"A table has codes of {name!r} that its hierarchy does not list.")
        out.append(joined)
    return tuple(out)


def _groups(
    table: Table, axes: Sequence[Axis], changed: Possible | None, whole: bool, tolerance: float, name: str
) -> dict[int, Ends]:
    """What a table tells, by set of variables that a cell is not summed over."""
    low, high = _intervals(table, changed, whole, tolerance, name)
    at = [[a.name for a in axes].index(n) for n in table.variables]
    places = np.zeros((len(table), len(axes)), dtype=np.int64)
    for column, i in enumerate(at):
        own = np.array([axes[i].place[code] for code in table.axes[column].codes], dtype=np.int64)
        places[:, i] = own[table.places[:, column]]
    masks = (places > 0) @ (1 << np.arange(len(axes), dtype=np.int64))
    out: dict[int, Ends] = {}
    for mask in np.unique(masks).tolist():
        rows = masks == mask
        held = bits(mask)
        sizes = [len(axes[i].codes) - 1 for i in held]
        number = keyed(places[rows][:, list(held)] - 1, sizes)
        least, most = np.zeros(int(np.prod(sizes))), np.full(int(np.prod(sizes)), np.inf)
        empty = np.zeros(sizes, dtype=bool)  # finest cells that are not listed are
        empty[np.ix_(*(_told_apart(axes[i], places[rows, i]) - 1 for i in held))] = True
        most[empty.ravel()] = 0.0
        least[number], most[number] = low[rows], high[rows]
        out[mask] = least.reshape(sizes), most.reshape(sizes)
    if changed is not None and changed.totals == "summed":
        out = {mask: ends for mask, ends in out.items() if mask in largest(out)}
    return out


def _told_apart(axis: Axis, used: Ints) -> Ints:
    """Finest codes that a table has, or nothing broader in their stead."""
    has = set(np.unique(used).tolist())
    broad = has - set(axis.finest.tolist())
    return np.array([i for i in axis.finest.tolist() if i in has or not broad & set(axis.above[i])], dtype=np.int64)


def _intervals(table: Table, changed: Possible | None, whole: bool, tolerance: float, name: str) -> Ends:
    value = table.values
    hidden = np.isnan(value)
    told = np.where(hidden, 0.0, value)
    if np.any(told < 0):
        raise DataError(f"{name}: column {table.value!r} has negative values. Bounds are of counts and sums from 0 on.")
    if whole and np.any(told != np.round(told)):
        raise DataError(
            f"{name}: column {table.value!r} holds something that is no whole number. Counts are whole; for sums, say "
            "that values may be fractions."
        )
    if changed is None:
        low, high = told - tolerance, told + tolerance
        if whole:
            low, high = np.ceil(low - _NOISE), np.floor(high + _NOISE)
        low = np.maximum(low, 0.0)
    else:
        low, high = changed.interval(told)
    lower, upper = np.zeros(len(value)), np.full(len(value), np.inf)
    if STATUS in table.cells.columns:  # without one, values that are not told may have any reason
        known = reader_of_file(table).bounds_of(table)
        lower, upper = np.maximum(lower, known[0]), np.minimum(upper, known[1])
    least, most = table.column(LOWER), table.column(UPPER)
    lower = lower if least is None else np.fmax(lower, least)
    upper = upper if most is None else np.fmin(upper, most)
    return np.where(hidden, lower, low), np.where(hidden, upper, high)


def _slack(high: Floats, whole: bool) -> float:
    return 0.0 if whole else _NOISE * float(np.max(high[np.isfinite(high)], initial=1.0))


def _refuse_contradictions(out: Released, told: Mapping[int, Sequence[int]], names: Sequence[str]) -> None:
    """Refuse margins that differ in what they have in common."""
    for one, other in itertools.combinations(sorted(out.fine), 2):
        shared = one & other
        (low, high), (least, most) = (
            (collapsed(out.fine[m][0], m, shared), collapsed(out.fine[m][1], m, shared)) for m in (one, other)
        )
        slack = _slack(high, out.whole)
        if np.any(low > most + slack) or np.any(least > high + slack):
            raise DataError(_contradiction(out, shared, [names[k] for m in (one, other) for k in told[m]]))


def _contradiction(out: Released, mask: int, names: Sequence[str]) -> str:
    which = list(dict.fromkeys(names))
    who = f"{which[0]} contradicts itself" if len(which) == 1 else f"{' and '.join(which)} contradict each other"
    what = f"sums by {out.names(mask)}" if mask else "grand totals"
    return (
        f"{who}: {what} differ. Cells that a file does not list are taken as empty. Mend them, or give a tolerance "
        "where they were rounded."
    )
