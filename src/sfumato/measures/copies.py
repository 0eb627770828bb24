"""All synthetic copies of a release, for measures of one of them that need the others too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sfumato.data.pair import Pair

__all__ = ["ONE_COPY", "UNMOVED", "Copies", "neighbours"]

T = TypeVar("T")

MOST_PAIRS = 10
"""Most pairs of copies that are compared with one another."""
ONE_COPY = (
    "{measure} has no value: where the rows are true people's, what chance does is seen between copies, and there is "
    "one alone. Make more copies."
)
UNMOVED = "{measure} has no value for {what}: all copies are equal in it, and none is the original."


def neighbours(copies: int) -> list[tuple[int, int]]:
    """Numbers of the copies that are compared: each with the next, and the last with the first.

    Ten pairs at most. They tell as much as all pairs do but for a sixth of the precision, at a fraction of the work.

    Parameters
    ----------
    copies
        How many there are.

    Examples
    --------
    >>> neighbours(3), neighbours(2)
    ([(0, 1), (1, 2), (2, 0)], [(0, 1)])
    """
    return [(i, (i + 1) % copies) for i in range(copies if copies > 2 else copies - 1)][:MOST_PAIRS]


@dataclass(frozen=True, eq=False)
class Copies:
    """The original beside each copy of one release.

    Parameters
    ----------
    pairs
        For each copy, in order.
    partial
        Whether rows are true people's, and only some of their values were drawn.
    """

    pairs: tuple[Pair, ...]
    partial: bool = False
    _known: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, key: object, compute: Callable[[], T]) -> T:
        """Compute once what is the same for all copies."""
        if key not in self._known:
            self._known[key] = compute()
        value: T = self._known[key]
        return value

    def against(self) -> Iterator[Pair]:
        """Pairs of copies, the one in the place of the original; they hold what was computed of them while used."""
        for i, j in neighbours(len(self.pairs)):
            one, other = self.pairs[i].tables, self.pairs[j].tables
            # who has an id is told by it; rows of others stand side by side where they do so with the original's
            aligned = one.aligned and other.aligned and one.record is None
            yield Pair(one.after, other.after, one.codebook, one.columns, one.by, aligned, one.record)
