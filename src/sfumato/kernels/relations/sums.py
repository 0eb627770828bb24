"""Which columns of numbers are sums of others, up to rounding and some exceptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

__all__ = ["Sum", "sums_of"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SAMPLE = 2_000
_HOLDS, _FEWEST = 0.98, 50
_TERMS = (2, 8)
_RELATIVE = 1e-6
"""How far a sum may be from its total, relative to it; or one unit of the last place, if that is more."""
_PAIRED = 0.8
"""Share of the records in which a sum may hold by chance, with the total of another record."""
_GIVEN = 1e-9
"""What is left at most, relative to its length, of a column that others give."""
_NEARLY = 0.05
"""Median of what is left, relative to a column's spread, from which on a better fit is worth a try."""
_RIDGE = 1e-11
_REFITS, _SETS, _MORE = 3, 6, 40


@dataclass(frozen=True)
class Sum:
    """A column that is the sum of others.

    Parameters
    ----------
    total
        Number of its column.
    parts
        Numbers of the others, in their order.
    share
        In which share of the records, those in which all of these are known, it holds.
    """

    total: int
    parts: tuple[int, ...]
    share: float


def sums_of(values: Floats, unit: Floats) -> list[Sum]:
    """Find columns that are plain sums of two to eight others.

    Parameters
    ----------
    values : ndarray of float64, shape (rows, columns)
        Not a number where it is missing.
    unit : ndarray of float64, shape (columns,)
        One unit of the last place of each; 0 where it must be met exactly, as of codes.

    Returns
    -------
    list of Sum
        One of each linear system, by the number of the total; none is part of its own parts.

    Notes
    -----
    At most 2,000 complete records are looked at; what is found is held against all. Every column is regressed on the
    smaller ones that are no totals themselves, and coefficients are rounded to -1, 0 and 1, as in
    `sfumato.kernels.tabular.adding`. Exceptions would spoil a regression: it is made again without the records that
    it fits worst, and on small sets of records, of which some hold no exception. A sum that holds with any total, as
    of columns that are nearly always 0, is none; nor does a term stay without which it holds as often.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> drugs, nursing = rng.integers(1, 999, (2, 60)).astype(float)
    >>> sums_of(np.stack([drugs, drugs + nursing, nursing], axis=1), np.ones(3))
    [Sum(total=1, parts=(0, 2), share=1.0)]
    """
    columns = [i for i in range(values.shape[1]) if _varies(values[:, i])]
    rows, columns = _complete(values, columns)
    out: list[Sum] = []
    seen: set[bytes] = set()
    known = np.zeros((0, values.shape[1]))
    for own in _candidates(rows, columns, values.shape[1], unit):
        found = None if own.tobytes() in seen else _as_sum(own, values, unit)
        seen.add(own.tobytes())
        if found is None or found.total in {one.total for one in out}:
            continue
        wider = np.vstack([known, own])
        if np.linalg.matrix_rank(wider) == len(wider) and not _circle([*out, found]):
            known = wider
            out.append(found)
    return sorted(_folded(out, values, unit), key=lambda one: one.total)


def _varies(value: Floats) -> bool:
    known = value[np.isfinite(value)]
    return bool(len(known) and known.min() < known.max())


def _complete(values: Floats, columns: list[int]) -> tuple[Floats, list[int]]:
    """Complete records, spread over the file: columns with the most gaps are left out until there are enough."""
    known = np.isfinite(values[:, columns])
    left = np.arange(len(columns))
    while len(left) > 2:
        held = np.flatnonzero(known[:, left].all(axis=1))
        if len(held) >= max(_FEWEST, 2 * len(left)):
            some = held[np.unique(np.linspace(0, len(held) - 1, min(len(held), _SAMPLE)).astype(np.int64))]
            own = [columns[i] for i in left]
            return np.ascontiguousarray(values[some][:, own]), own
        left = np.delete(left, known[:, left].sum(axis=0).argmin())
    return np.zeros((0, 0)), []


def _candidates(rows: Floats, columns: Sequence[int], width: int, unit: Floats) -> Iterator[Ints]:
    """Coefficients that hold in the sample, -1, 0 and 1; small sets of records after the whole of them."""
    if not columns:
        return
    own = unit[list(columns)]
    order = np.argsort(np.abs(rows).mean(axis=0), kind="stable")
    few = 3 * len(columns) + _MORE
    rng = np.random.default_rng(0)  # which sets is no matter of secrets
    sets = [np.arange(len(rows)), _calm(rows)]
    sets += [rng.choice(len(rows), few, replace=False) for _ in range(_SETS if few < len(rows) else 0)]
    for some in sets:
        for found in _relations(rows, some, order, own):
            whole = np.zeros(width, dtype=np.int64)
            whole[list(columns)] = found
            yield whole


def _calm(rows: Floats) -> Ints:
    """The three quarters of the records whose values lie nearest the middle of their columns."""
    low, middle, high = np.quantile(rows, [0.1, 0.5, 0.9], axis=0)
    spread = np.where(high > low, high - low, np.maximum(np.abs(rows - middle).max(axis=0), np.finfo(np.float64).tiny))
    far = (np.abs(rows - middle) / spread).max(axis=1)
    return np.flatnonzero(far <= np.quantile(far, 0.75))


def _relations(rows: Floats, some: Ints, order: Ints, unit: Floats) -> Iterator[Ints]:
    """Least squares of each column on those before it that are not given by others, on some records."""
    scale = np.maximum(np.abs(rows).max(axis=0), np.finfo(np.float64).tiny)
    scaled = rows / scale
    kept: list[int] = []
    bases = np.zeros((len(some), len(order)), order="F")
    upper = np.zeros((len(order), len(order)))
    for j in order.tolist():
        value, basis = scaled[some, j], bases[:, : len(kept)]
        onto = basis.T @ value
        left = value - basis @ onto
        more = basis.T @ left  # once more for what rounding left
        onto, left = onto + more, left - basis @ more
        if len(kept) > 1:
            own = solve_triangular(upper[: len(kept), : len(kept)], onto, check_finite=False) * scale[j] / scale[kept]
            found = _refined(rows, kept, j, own, unit)
            if found is not None:
                yield found
                continue
        length = float(np.linalg.norm(left))
        if length > _GIVEN * float(np.linalg.norm(value)):
            upper[: len(kept), len(kept)], upper[len(kept), len(kept)] = onto, length
            bases[:, len(kept)] = left / length
            kept.append(j)


def _refined(rows: Floats, kept: Sequence[int], j: int, own: Floats, unit: Floats) -> Ints | None:
    """Rounded coefficients with which the sum holds; those of a fit without the worst records, if it takes one."""
    given, value = rows[:, kept], rows[:, j]
    spread = float(np.subtract(*np.quantile(value, [0.9, 0.1]))) or float(value.std())
    for _ in range(_REFITS):
        rounded = np.zeros(rows.shape[1], dtype=np.int64)
        rounded[kept] = -np.rint(np.clip(own, -1, 1)).astype(np.int64)
        rounded[j] = 1
        if np.count_nonzero(rounded) > 2 and _share(rows, rounded, unit) >= _HOLDS:
            return rounded
        left = np.abs(value - given @ own)
        if not np.median(left) <= _NEARLY * spread:
            return None
        best = left <= np.quantile(left, 0.9)
        own = _least_squares(given[best], value[best])
    return None


def _least_squares(given: Floats, value: Floats) -> Floats:
    """Coefficients that are good enough to be rounded, by way of products of columns."""
    size = np.maximum(np.abs(given).max(axis=0), np.finfo(np.float64).tiny)
    scaled = given / size
    products = scaled.T @ scaled
    products[np.diag_indices_from(products)] *= 1 + _RIDGE
    return np.asarray(np.linalg.lstsq(products, scaled.T @ value, rcond=None)[0] / size)


def _near(values: Floats, own: Ints, unit: Floats) -> Bools:
    """Where a relation holds: within a unit of the last place, or a millionth of its largest part."""
    used = np.flatnonzero(own)
    parts = values[:, used] * own[used]
    units = unit[used]
    exact = float(units.max()) * (1 + 1e-9) if units.min() > 0 else 0.0
    return np.asarray(np.abs(parts.sum(axis=1)) <= np.maximum(exact, _RELATIVE * np.abs(parts).max(axis=1)))


def _share(rows: Floats, own: Ints, unit: Floats) -> float:
    """In which share of complete records it holds, of all and of those in which not all parts are 0: the lesser."""
    told = (rows[:, np.flatnonzero(own)] != 0).any(axis=1)
    if told.sum() < _FEWEST:
        return 0.0
    near = _near(rows, own, unit)
    return min(float(near.mean()), float(near[told].mean()))


def _as_sum(own: Ints, values: Floats, unit: Floats) -> Sum | None:
    """A relation as a plain sum without superfluous terms, held against all records; None where it is none."""
    for sign in (1, -1):
        if (own == sign).sum() == 1:
            total = int(np.flatnonzero(own == sign)[0])
            found = _pruned(total, [int(i) for i in np.flatnonzero(own == -sign)], values, unit)
            if found is not None:
                return found
    return None


def _pruned(total: int, parts: Sequence[int], values: Floats, unit: Floats) -> Sum | None:
    """A sum without the terms that add nothing; None where it holds too seldom, or with any total."""
    used = [total, *parts]
    rows = values[:, used]
    rows = rows[np.isfinite(rows).all(axis=1)]
    if len(rows) < _FEWEST:
        return None
    own = np.full(len(used), -1, dtype=np.int64)
    own[0] = 1
    share = _share(rows, own, unit[used])
    for part in 1 + np.argsort(np.abs(rows[:, 1:]).mean(axis=0), kind="stable"):
        fewer = own.copy()
        fewer[part] = 0
        without = _share(rows, fewer, unit[used])
        if without >= share:
            own, share = fewer, without
    left = [parts[int(i) - 1] for i in np.flatnonzero(own) if i]
    if share < _HOLDS or not _TERMS[0] <= len(left) <= _TERMS[1] or _by_chance(rows, own, unit[used]):
        return None
    return Sum(total, tuple(sorted(left)), float(_near(rows, own, unit[used]).mean()))


def _by_chance(rows: Floats, own: Ints, unit: Floats) -> bool:
    """Whether it holds as well with the total of another record."""
    other = rows.copy()
    other[:, 0] = np.random.default_rng(0).permutation(rows[:, 0])
    return bool(_near(other, own, unit).mean() > _PAIRED)


def _circle(sums: Sequence[Sum]) -> bool:
    """Whether a total is part of itself, by way of others."""
    parts = {one.total: set(one.parts) for one in sums}
    while ready := [n for n, own in parts.items() if not own & parts.keys()]:
        for n in ready:
            del parts[n]
    return bool(parts)


def _folded(sums: Sequence[Sum], values: Floats, unit: Floats) -> Iterator[Sum]:
    """Sums with those totals in the place of their parts that hold all of them: all = men + women, not 10 ages."""
    for one in sums:
        parts = set(one.parts)
        for other in sorted(sums, key=lambda each: -len(each.parts)):
            if other.total != one.total and set(other.parts) < parts:
                trial = (parts - set(other.parts)) | {other.total}
                if not _circle([each for each in sums if each != one] + [Sum(one.total, tuple(trial), 1.0)]):
                    parts = trial
        found = None if parts == set(one.parts) else _pruned(one.total, sorted(parts), values, unit)
        yield one if found is None else found
