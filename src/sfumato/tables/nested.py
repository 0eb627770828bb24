"""Which codes of a table file are totals of others, read off its sums: such a file does not say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.kernels.tabular.nesting import nesting
from sfumato.tables.axis import Axis
from sfumato.tables.equations import NotAdditive, equations
from sfumato.tables.table import CONTRIBUTORS, Table

__all__ = ["nested"]

Floats = NDArray[np.float64]
_MOST = 2 * 10**7
"""Figures of a variable above which its codes are not compared."""


def nested(table: Table, tolerance: float | None = None) -> Table:
    """The table, with the trees of codes that make its totals add up, where there is one way only.

    A table that adds up as it is stays so. Else every variable without a tree is looked at: a code is a total of others
    if all its figures are the sums of theirs, in each combination of the other variables' codes.

    Parameters
    ----------
    table
        The table with all its values, as it was read from a single file.
    tolerance
        Largest difference of totals from the sums of their parts that is taken for rounding.

    Returns
    -------
    Table
        With a note that names the variables whose trees were read off.

    Raises
    ------
    NotAdditive
        Where it does not add up, and no tree makes it so, or several do.

    Examples
    --------
    >>> import polars as pl
    >>> rows = {"town": ["Total", "North", "Leeds", "York", "Bath"], "count": [15, 9, 8, 1, 6]}
    >>> nested(Table.of(pl.DataFrame(rows))).axes[0].trees
    ({'Bath': None, 'North': None, 'Leeds': 'North', 'York': 'North'},)
    """
    if np.isnan(table.values).any() or np.any(table.values < 0):
        return table
    try:
        equations(table, tolerance=tolerance)
    except NotAdditive as error:
        # a total with a single part that contradicts it names no variable
        broken = set(error.where["along"].to_list()) - {""} or set(table.variables)
        axes = [_found(table, i) if axis.name in broken else axis for i, axis in enumerate(table.axes)]
        read = [new.name for old, new in zip(table.axes, axes, strict=True) if new is not old]
        unknown = sorted(name for name in broken - set(read) if _is_flat(table, name))
        if unknown or not read:
            raise _Unclear(error, unknown) from None
        told = replace(table, axes=tuple(axes), notes=(*table.notes, _note(axes, read)))
        try:
            equations(told, tolerance=tolerance)
        except NotAdditive:
            raise _Unclear(error, read) from None
        return told
    return table


def _is_flat(table: Table, name: str) -> bool:
    return len(table.axes[table.variables.index(name)].relations) == 1


def _found(table: Table, column: int) -> Axis:
    """The variable with its trees; the same one where nothing is found, or one was given."""
    axis = table.axes[column]
    if len(axis.relations) > 1:
        return axis
    # numbers of contributors tell more, but need not add up: one firm may be in several cells
    tries = (_figures(table, column, count) for count in (True, False))
    parts = next((p for f in tries if f is not None if (p := nesting(f[1:], f[0])) is not None), None)
    if parts is None or all(len(one) == 1 for one in parts):
        return axis
    codes = axis.codes[1:]
    try:
        return Axis(axis.name, tuple(Hierarchy.parents(tree) for tree in _trees(codes, parts)))
    except DataError:
        return axis


def _figures(table: Table, column: int, counted: bool) -> Floats | None:
    """By code, its values (and numbers of contributors) with every combination of the others; None if not all told."""
    places = table.places
    others, combination = np.unique(np.delete(places, column, axis=1), axis=0, return_inverse=True)
    shape = len(table.axes[column].codes), len(others)
    if shape[0] * shape[1] > _MOST:
        return None
    told = [table.values]
    if counted:
        count = table.column(CONTRIBUTORS)
        if count is None or np.isnan(count).any():
            return None
        told.append(count)
    out = np.zeros((shape[0], shape[1] * len(told)))
    for k, figure in enumerate(told):
        out[places[:, column], combination + k * shape[1]] = figure
    summed = np.tile(np.isin(np.arange(shape[1]), combination[places[:, column] == 0]), len(told))
    return out[:, summed] if summed.any() else None


def _trees(codes: Sequence[str], parts: Sequence[frozenset[int]]) -> list[dict[str, str | None]]:
    """As few trees as hold all codes: within each, two codes have nothing in common, or one holds the other."""
    # equal codes: the one with the shorter name is above
    order = sorted(range(len(codes)), key=lambda i: (-len(parts[i]), len(codes[i]), codes[i]))
    finest: dict[frozenset[int], int] = {parts[i]: i for i in order if len(parts[i]) == 1}
    groupings: list[list[int]] = []
    for i in order:
        if finest.get(parts[i]) == i:
            continue
        fits = (g for g in groupings if all(_apart(parts[i], parts[j]) for j in g))
        grouping = next(fits, None)
        if grouping is None:
            grouping = []
            groupings.append(grouping)
        grouping.append(i)
    out = []
    for grouping in groupings:
        own: dict[str, str | None] = {}
        chain = [*grouping, *(i for leaf, i in finest.items() if len(groupings) == 1 or _in(leaf, grouping, parts))]
        for at, i in enumerate(chain):
            above = [j for j in chain[:at] if parts[i] <= parts[j]]
            own[codes[i]] = codes[min(above, key=lambda j: (len(parts[j]), -chain.index(j)))] if above else None
        out.append({code: own[code] for code in sorted(own, key=lambda code: _path(own, code))})
    return out


def _path(above: Mapping[str, str | None], code: str) -> list[str]:
    """A code and those above it, from the top."""
    parent = above[code]
    return [code] if parent is None else [*_path(above, parent), code]


def _apart(one: frozenset[int], other: frozenset[int]) -> bool:
    return not one & other or one <= other or other <= one


def _in(leaf: frozenset[int], grouping: Sequence[int], parts: Sequence[frozenset[int]]) -> bool:
    return any(leaf <= parts[j] for j in grouping)


def _note(axes: Sequence[Axis], read: Sequence[str]) -> str:
    several = [axis.name for axis in axes if axis.name in read and len(axis.groupings) > 1]
    more = f" ({', '.join(map(repr, several))} in several ways)" if several else ""
    return (
        f"Which codes of {', '.join(map(repr, read))} are totals of others was read off the sums{more}: there is one "
        "way only in which all add up. A hierarchy that is given (--hierarchy) goes before it."
    )


class _Unclear(NotAdditive):
    """The same refusal, and that no trees could be read off either."""

    def __init__(self, error: NotAdditive, names: Sequence[str]) -> None:
        super().__init__(
            f"{error} Which codes are totals of others could not be read off the sums alone"
            + (f" for {', '.join(map(repr, names))}: no nesting fits, or several do. " if names else ". ")
            + "A folder in place of a single file (--internal judged, --out built) knows its hierarchies.",
            error.where,
        )
