"""Which sets of margins could be released: all decomposable ones, with what each tells of the cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import placed
from sfumato.kernels.tabular.margins import bits, chordal_graphs
from sfumato.tables.sap import table_of_counts
from sfumato.tables.table import Table

__all__ = ["Release", "releases"]

Floats = NDArray[np.float64]
_MOST = 7
_CELLS = 100_000


@dataclass(frozen=True)
class Release:
    """A set of margins, none of which holds another, and the bounds that they give.

    Parameters
    ----------
    margins
        Variables of each, the largest first.
    low, high
        The least and the most of each cell, in the order of the codes; sharp.
    """

    margins: tuple[tuple[str, ...], ...]
    low: Floats = field(repr=False)
    high: Floats = field(repr=False)

    @property
    def tables(self) -> int:
        """How many tables are released: the margins and all margins of these, but for the grand total."""
        held = {frozenset(part) for margin in self.margins for part in _parts(margin)}
        return len(held) - 1


def _parts(margin: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for mask in range(1 << len(margin)):
        yield tuple(margin[i] for i in bits(mask))


def releases(counts: Table | ArrayLike, variables: Sequence[str] | None = None) -> Iterator[Release]:
    """Go through all decomposable sets of margins of a table, with their bounds.

    Each variable stands in one margin at least. The whole table is left out: it tells every cell. Six variables have
    18,153 such sets, seven 617,674.

    Parameters
    ----------
    counts
        A table, whose finest cells count, or an array with an axis for each variable.
    variables
        Names of the axes of an array; `A`, `B`, ... if not given.

    Yields
    ------
    Release

    Raises
    ------
    DataError
        More than 7 variables, or more than 100,000 cells.

    References
    ----------
    Dobra & Fienberg (2000), PNAS 97, 11885-11892.

    Examples
    --------
    >>> found = list(releases([[[5, 1], [2, 4]], [[3, 3], [1, 6]]]))
    >>> len(found)
    7
    >>> best = min(found, key=lambda release: float((release.high - release.low).sum()))
    >>> best.margins, best.tables
    ((('A', 'B'), ('B', 'C')), 5)
    """
    true, names = table_of_counts(counts)
    n = true.ndim
    called = tuple(variables) if variables is not None else names or tuple("ABCDEFG"[:n])
    if n > _MOST or true.size > _CELLS:
        raise DataError(f"All sets of margins are gone through for {_MOST} variables and {_CELLS:,} cells at most.")
    if len(called) != n:
        raise DataError("Name each axis of the counts.")
    return _each(true.astype(np.float64), called)


def _each(counts: Floats, names: Sequence[str]) -> Iterator[Release]:
    n = counts.ndim
    whole = (1 << n) - 1
    margin: dict[int, Floats] = {}

    def spread(mask: int) -> Floats:
        if mask not in margin:
            gone = tuple(i for i in range(n) if not mask >> i & 1)
            margin[mask] = np.broadcast_to(placed(np.asarray(counts.sum(axis=gone)), mask, n), counts.shape).ravel()
        return margin[mask]

    for cliques, between in chordal_graphs(n):
        if cliques == (whole,):
            continue
        low, high = spread(cliques[0]).copy(), spread(cliques[0]).copy()
        for mask in cliques[1:]:
            low += spread(mask)
            np.minimum(high, spread(mask), out=high)
        for mask in between:
            low -= spread(mask)
        yield Release(tuple(tuple(names[i] for i in bits(m)) for m in cliques), np.maximum(low, 0.0, out=low), high)
