"""Merge strata that are too small into their nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["merge_small"]

S = TypeVar("S", bound=Hashable)


def merge_small(
    strata: Sequence[S], small: Callable[[Sequence[S]], bool], size: Mapping[S, int], distance: Callable[[S, S], float]
) -> dict[S, S]:
    """Join each small stratum to the nearest other one, smallest first, until none is small.

    The joined stratum takes the name of the one that was joined to. Of equally near strata the larger is taken, then
    the first in `strata`, so that the result depends on the strata alone.

    Parameters
    ----------
    strata
        The strata, in a fixed order.
    small
        Tells whether a stratum made of these original ones is too small.
    size
        Number of records of each.
    distance
        How far one stratum is from another.

    Returns
    -------
    dict
        New stratum of each stratum that was joined to another.

    Examples
    --------
    >>> merge_small(["a", "b", "c"], lambda m: len(m) < 2, {"a": 1, "b": 2, "c": 3}, lambda s, t: abs(ord(s) - ord(t)))
    {'a': 'b', 'c': 'b'}
    """
    place = {s: i for i, s in enumerate(strata)}
    members: dict[S, list[S]] = {s: [s] for s in strata}

    def total(stratum: S) -> int:
        return sum(size[m] for m in members[stratum])

    while len(members) > 1:
        too_small = [s for s in members if small(members[s])]
        if not too_small:
            break
        source = min(too_small, key=lambda s: (total(s), place[s]))
        others = (s for s in members if s != source)
        target = min(others, key=lambda s: (distance(source, s), -total(s), place[s]))
        members[target] += members.pop(source)
    moved = {m: s for s, group in members.items() for m in group if m != s}
    return {s: moved[s] for s in strata if s in moved}
