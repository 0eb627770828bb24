"""The best bounds that the size allows: closed where there is a form, else by the shuttle and programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from sfumato.kernels.tabular.closed import Ends, one_free
from sfumato.kernels.tabular.margins import largest
from sfumato.progress import Progress, quiet
from sfumato.tables.bounds import programs as by_programs
from sfumato.tables.bounds import shuttle as by_shuttle
from sfumato.tables.bounds.decomposable import is_decomposable
from sfumato.tables.bounds.frechet import frechet
from sfumato.tables.bounds.released import Released

__all__ = ["Part"]

_EFFORT = 2e6
"""Programs times cells that are spent on sharp ends of whole cells: some seconds, and no longer than the linear
programs take where there are thousands."""


@dataclass
class Part:
    """How the parts of a release were bounded.

    Parameters
    ----------
    progress
        Told how far it is.
    ways
        What was used, in order.
    sharp
        Whether all ends are proved to be reached.
    """

    progress: Progress = quiet
    ways: list[str] = field(default_factory=list)
    sharp: bool = True

    def __call__(self, told: Released) -> Ends:
        """Bound the cells of a part."""
        if is_decomposable(told):
            self._by("decomposable")
            return frechet(told)
        if told.plain and _lacks_one(told):
            self._by("one free number")
            margins = {m: told.fine[m][0] for m in largest(told.margins)}
            return one_free(margins, len(told.axes))
        ends = None
        if by_shuttle.cells_and_totals(told) <= by_shuttle.LARGEST:
            self._by("shuttle")
            ends = by_shuttle.shuttle(told)
        if by_programs.open_cells(told, ends) <= by_programs.LARGEST:
            self._by("programs")
            found = by_programs.programs(told, ends, effort=_EFFORT, progress=self.progress)
            self.sharp &= bool(found.sharp.all())
            return found.low.reshape(told.shape), found.high.reshape(told.shape)
        self.sharp = False
        if ends is None:
            self._by("frechet")
            return frechet(told)
        return ends

    def _by(self, way: str) -> None:
        if way not in self.ways:
            self.ways.append(way)


def _lacks_one(told: Released) -> bool:
    """Whether all variables have two codes, and every margin that lacks one of them is known."""
    n = len(told.axes)
    wanted = {told.everything & ~(1 << i) for i in range(n)}
    return n > 1 and all(size == 2 for size in told.shape) and set(largest(told.margins)) == wanted
