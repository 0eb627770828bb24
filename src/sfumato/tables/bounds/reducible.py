"""Bounds from margins that can be taken apart: each part by itself, and then together."""

from __future__ import annotations

from collections.abc import Callable

from sfumato.kernels.tabular.closed import Ends, tree_bounds
from sfumato.kernels.tabular.margins import split
from sfumato.tables.bounds.frechet import shared_ends
from sfumato.tables.bounds.released import Released

__all__ = ["reducible"]


def reducible(told: Released, bound: Callable[[Released], Ends]) -> Ends:
    """Take the tables apart where known margins separate them, bound the parts, and join these bounds.

    The joint bounds are sharp if those of the parts are: given what separates them, the parts vary freely.

    Parameters
    ----------
    told
        What was released.
    bound
        How a part is bounded.
    """
    parts, between = split(told.margins, told.known)
    ends = [(mask, bound(told.of(mask))) for mask in parts]
    return tree_bounds(ends, [(mask, shared_ends(told, mask)) for mask in between], told.shape)
