"""Bounds from margins that a tree joins: closed, and sharp."""

from __future__ import annotations

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends
from sfumato.kernels.tabular.margins import bits, largest, spanning
from sfumato.tables.bounds.frechet import frechet
from sfumato.tables.bounds.released import Released

__all__ = ["decomposable", "is_decomposable"]


def is_decomposable(told: Released) -> bool:
    """Whether the margins are known in full and form a tree."""
    return told.plain and spanning(largest(told.margins))[1]


def decomposable(told: Released) -> Ends:
    """Bound the cells by cliques and separators (Dobra & Fienberg 2000, PNAS 97, 11885-11892, theorem 1).

    Raises
    ------
    DataError
        Where the margins are not decomposable, or not told in full.
    """
    if not told.plain:
        raise DataError(
            "These tables have gaps, changed values or broader codes: the closed form of decomposable margins is not "
            "for them. Take the method auto."
        )
    margins = largest(told.margins)
    if not spanning(margins)[1]:
        letters = "".join(f"[{' '.join(told.axes[i].name for i in bits(mask))}]" for mask in margins)
        raise DataError(f"The margins {letters} are not decomposable. Take the method auto, or reducible.")
    return frechet(told)
