"""How much steps have suppressed, records and cells of each column, and what they could not protect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Suppression"]


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
