"""`bounds`: what can be told of every cell of the cross product from all that was released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends
from sfumato.kernels.tabular.programme import Contradiction
from sfumato.progress import Progress, quiet
from sfumato.tables.axis import Axis
from sfumato.tables.bounds.auto import Part
from sfumato.tables.bounds.decomposable import decomposable
from sfumato.tables.bounds.frechet import frechet
from sfumato.tables.bounds.programs import programs
from sfumato.tables.bounds.reducible import reducible
from sfumato.tables.bounds.released import Released, released
from sfumato.tables.bounds.shuttle import shuttle
from sfumato.tables.possible import Possible
from sfumato.tables.table import LOWER, UPPER, Table

__all__ = ["METHODS", "Bounds", "Method", "bounds"]

Floats = NDArray[np.float64]
Method = Literal["auto", "frechet", "decomposable", "reducible", "shuttle", "linear", "integer"]
METHODS: tuple[Method, ...] = ("auto", "frechet", "decomposable", "reducible", "shuttle", "linear", "integer")
_NEAR = 1e-6


@dataclass(frozen=True)
class Bounds:
    """What each cell of the cross product can be, given everything that was released.

    Parameters
    ----------
    axes
        The variables.
    low, high
        The least and the most of each cell, an axis for each variable.
    method
        The method that was asked for.
    ways
        What it came to.
    sharp
        Whether every end is proved to be reached by some table; None where that is not known.
    notes
        What must be said of the figures.
    """

    axes: tuple[Axis, ...]
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    method: str
    ways: tuple[str, ...]
    sharp: bool | None
    notes: tuple[str, ...] = field(default=())

    @property
    def cells(self) -> pl.DataFrame:
        """A line for each cell, in the order of the codes, with `lower` and `upper`."""
        places = np.unravel_index(np.arange(self.low.size), self.low.shape)
        columns: dict[str, Any] = {}
        for axis, place in zip(self.axes, places, strict=True):
            codes = pl.Series(axis.name, [axis.codes[i] for i in axis.finest])
            columns[axis.name] = codes.gather(place)
        most = np.where(np.isinf(self.high), np.nan, self.high).ravel()
        ends = {LOWER: self.low.ravel(), UPPER: pl.Series(UPPER, most).fill_nan(None)}
        return pl.DataFrame({**columns, **ends})

    def summary(self) -> dict[str, Any]:
        """The figures, as the commands print them."""
        width = self.high - self.low
        scale = float(np.max(self.high[np.isfinite(self.high)], initial=1.0))
        near = 1e-9 * max(scale, 1.0)
        return {
            "cells": int(width.size),
            "variables": [axis.name for axis in self.axes],
            "method": self.method,
            "by": list(self.ways),
            "sharp": self.sharp,
            "mean_width": float(width.mean()) if np.isfinite(width).all() else None,
            "largest_width": float(width.max()) if np.isfinite(width).all() else None,
            "exact": int(np.sum(width <= near)),
            "zeros": int(np.sum(self.high <= near)),
        }


def bounds(
    tables: Table | Sequence[Table],
    method: Method = "auto",
    *,
    changed: Possible | Sequence[Possible | None] | None = None,
    whole: bool = True,
    tolerance: float = 0.0,
    names: Sequence[str] | None = None,
    progress: Progress = quiet,
) -> Bounds:
    """Bound every cell of the cross product of all variables that released tables have.

    This is what an intruder can work out by logic alone from tables of the same people, however they overlap.

    Parameters
    ----------
    tables
        One or several tables of the same records, with their totals or without. Finest cells that a table does not
        list are empty; hidden ones have no value (and may have `lower` and `upper`).
    method
        `auto`: parts that known margins separate, each by its closed form, by the shuttle and by programs: whole
        numbers, and sharp where the size allows. `frechet`, `decomposable`, `reducible`, `shuttle`, `linear` and
        `integer` are these by themselves; `linear` is rounded inwards.
    changed
        How counts were changed before they were released, if they were; for all tables, or for each.
    whole
        Counts. False: sums, which may be fractions.
    tolerance
        By how much published values may miss.
    names
        What to call the tables in messages.
    progress
        Told how far it is.

    Raises
    ------
    DataError
        Tables that contradict each other, negative or broken counts, margins that a method cannot take, too many cells.

    Examples
    --------
    >>> sexes = Table.of(pl.DataFrame({"sex": ["f", "m"], "count": [7, 3]}))
    >>> ill = Table.of(pl.DataFrame({"ill": ["no", "yes"], "count": [6, 4]}))
    >>> bounds([sexes, ill]).cells.rows()
    [('f', 'no', 3.0, 6.0), ('f', 'yes', 1.0, 4.0), ('m', 'no', 0.0, 3.0), ('m', 'yes', 0.0, 3.0)]

    What it does not protect against: guesses. Within the bounds some tables may be far likelier than others.
    """
    given = (tables,) if isinstance(tables, Table) else tuple(tables)
    if not given:
        raise DataError("There is no table to work bounds out of.")
    each = tuple(changed) if isinstance(changed, Sequence) else (changed,) * len(given)
    called = tuple(names) if names is not None else tuple(f"table {k}" for k in range(1, len(given) + 1))
    if len(each) != len(given) or len(called) != len(given):
        raise DataError("Say for each table how it was changed and what it is called, or for none.")
    told = released(given, called, each, whole=whole, tolerance=tolerance)
    try:
        (low, high), ways, sharp = _by(told, method, progress)
    except Contradiction:
        who = f"{' and '.join(called)} contradict each other" if len(called) > 1 else f"{called[0]} contradicts itself"
        raise DataError(
            f"{who}: no table has all these values at once. Mend them, or give a tolerance where they were rounded."
        ) from None
    if whole:
        low, high = np.ceil(low - _NEAR) + 0.0, np.floor(high + _NEAR) + 0.0
    notes = () if sharp is not False else (_OUTSIDE,)
    return Bounds(told.axes, low, high, method, tuple(ways), sharp, notes)


_OUTSIDE = "Bounds are from outside: a cell may be narrower than they say, for the table is too large to settle each."


def _by(told: Released, method: str, progress: Progress) -> tuple[Ends, Sequence[str], bool | None]:
    if method == "auto" or method == "reducible":
        part = Part(progress=progress)
        return reducible(told, part), part.ways, part.sharp
    if method == "frechet":
        return frechet(told), ["frechet"], None
    if method == "decomposable":
        return decomposable(told), ["decomposable"], True
    if method == "shuttle":
        return shuttle(told), ["shuttle"], None
    if method in ("linear", "integer"):
        found = programs(told, integer=method == "integer", progress=progress)
        sharp = bool(found.sharp.all()) if method == "integer" or not told.whole else None
        return (found.low.reshape(told.shape), found.high.reshape(told.shape)), ["programs"], sharp
    raise DataError(f"{method!r} is no method of bounds. They are {', '.join(METHODS)}.")
