"""Merge strata that are too small into their nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

__all__ = ["merge_small"]

S = TypeVar("S", bound=Hashable)


def merge_small(
    strata: Sequence[S], small: Callable[[Sequence[S]], bool], size: Mapping[S, int], distance: Callable[[S, S], float]
) -> dict[S, S] | None:
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
        How far one stratum is from another; infinite where they must not be joined.

    Returns
    -------
    dict or None
        New stratum of each stratum that was joined to another; None where a stratum stays too small.

    Examples
    --------
    >>> merge_small(["a", "b", "c"], lambda m: len(m) < 2, {"a": 1, "b": 2, "c": 3}, lambda s, t: abs(ord(s) - ord(t)))
    {'a': 'b', 'c': 'b'}
    """
    place = {s: i for i, s in enumerate(strata)}
    total = {s: size[s] for s in strata}
    members: dict[S, list[S]] = {s: [s] for s in strata}
    waiting = {s for s in strata if small([s])}
    while waiting:
        source = min(waiting, key=lambda s: (total[s], place[s]))
        near = [(distance(source, s), -total[s], place[s], s) for s in members if s != source]
        nearest = min(near, key=lambda n: n[:3], default=None)
        if nearest is None or nearest[0] == float("inf"):
            return None
        target = nearest[3]
        waiting.discard(source)
        members[target] += members.pop(source)
        total[target] += total.pop(source)
        waiting = waiting | {target} if small(members[target]) else waiting - {target}
    moved = {m: s for s, group in members.items() for m in group if m != s}
    return {s: moved[s] for s in strata if s in moved}
