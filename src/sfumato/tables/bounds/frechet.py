"""Fréchet's bounds: a cell is at most each of its margins, and at least what these have too much of together."""

from __future__ import annotations

import numpy as np

from sfumato.errors import DataError
from sfumato.kernels.tabular.closed import Ends, collapsed, tree_bounds
from sfumato.kernels.tabular.margins import largest, spanning
from sfumato.tables.bounds.released import Released

__all__ = ["frechet", "shared_ends"]


def frechet(told: Released) -> Ends:
    """Bound the cells by the tree of margins that share most.

    Sharp where the margins are decomposable and known in full; else bounds from outside, at once for any size.

    Parameters
    ----------
    told
        What was released; of gaps and changes only what margins say of their own cells is used.

    Raises
    ------
    DataError
        Where no table has a variable's finest codes, or it is told nothing of.
    """
    margins = largest(told.margins)
    shared, _ = spanning(margins)
    parts = [(mask, told.fine[mask]) for mask in margins]
    return tree_bounds(parts, [(mask, shared_ends(told, mask)) for mask in shared], told.shape)


def shared_ends(told: Released, mask: int) -> Ends:
    """What all margins together say of the cells of one that lies within them."""
    ends = [
        (collapsed(low, one, mask), collapsed(high, one, mask))
        for one, (low, high) in told.fine.items()
        if one & mask == mask
    ]
    if not ends:
        raise DataError(f"No table tells of {told.names(mask)}.")
    return np.max([low for low, _ in ends], axis=0), np.min([high for _, high in ends], axis=0)
