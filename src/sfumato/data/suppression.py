"""How much steps have suppressed, records and cells of each column, by which rule, and what they could not protect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

__all__ = ["Emptied", "Emptying", "Suppression"]


@dataclass(frozen=True)
class Emptying:
    """The rule by which a step takes out single values of keys. Everybody may know it.

    Parameters
    ----------
    keys
        The columns that may lose values.
    k
        So many records match every record afterwards, a gap matching any value.
    by
        Columns within whose combinations they match.

    Examples
    --------
    >>> Emptying(("age", "sex"), 3).by
    ()
    """

    keys: tuple[str, ...]
    k: int
    by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Emptied:
    """Keys of the same records before a step took values out of them, and as they are released. Confidential.

    Parameters
    ----------
    rule
        What the step did.
    before
        The keys as they entered the step.
    after
        The released keys and strata of the same records, in the same order.
    """

    rule: Emptying
    before: pl.DataFrame = field(repr=False)
    after: pl.DataFrame = field(repr=False)


@dataclass(frozen=True)
class Suppression:
    """How many records and cells steps have taken out. For the custodian: counts stand in no disclosure.

    Parameters
    ----------
    records
        Records that were left out; None where no step leaves records out.
    cells
        By column, cells that were emptied, of records that stayed.
    of
        Records that there were before.
    unswapped
        Records of households at risk that could not be exchanged and stay; None where no step exchanges households.

    Examples
    --------
    >>> both = Suppression(records=2, of=10) + Suppression(cells={"age": 1}, of=8)
    >>> both.records, dict(both.cells), both.of
    (2, {'age': 1}, 10)
    """

    records: int | None = None
    cells: Mapping[str, int] = field(default_factory=dict)
    of: int = 0
    unswapped: int | None = None

    def __add__(self, later: Suppression) -> Suppression:
        """This and what a later step took out."""
        told = [n for n in (self.records, later.records) if n is not None]
        stayed = [n for n in (self.unswapped, later.unswapped) if n is not None]
        both = dict.fromkeys([*self.cells, *later.cells], 0)
        cells = {n: self.cells.get(n, 0) + later.cells.get(n, 0) for n in both}
        records, unswapped = (sum(counts) if counts else None for counts in (told, stayed))
        return Suppression(records, cells, self.of or later.of, unswapped)
