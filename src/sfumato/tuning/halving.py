"""Halve a range until the least protection that meets limits is known: the search of `tune`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from sfumato.plan.conditions import Condition
from sfumato.tuning.averaging import Point

__all__ = ["Halving"]


class Halving:
    """The search for the least protection.

    Parameters
    ----------
    at
        Gives the figures at a value; it is asked for the same value more than once.
    conditions
        The limits.
    name
        What the parameter is called.
    whole
        Whether it takes whole numbers only.
    tolerance
        Share of the value to which it is searched.
    text
        How a value is written.
    """

    def __init__(
        self,
        at: Callable[[float], Point],
        conditions: Sequence[Condition],
        *,
        name: str,
        whole: bool,
        tolerance: float,
        text: Callable[[float], str] = "{:g}".format,
    ) -> None:
        self.at, self.conditions, self.name = at, tuple(conditions), name
        self.whole, self.tolerance, self.text = whole, tolerance, text
        self.digits = max(3, 1 + math.ceil(-math.log10(tolerance)))
        self.upward = True
        """Whether more of the parameter protects more."""
        self.along: tuple[int, ...] = ()
        """The limits that more protection helps to meet."""

    def run(self, low: float, high: float) -> tuple[float, list[str]]:
        """The value, and what should be known.

        Where nothing meets the limits it is the end of the range that protects most.
        """
        notes = self._orient(self.at(low), self.at(high))
        weak, strong = (low, high) if self.upward else (high, low)
        if self._holds(weak):
            return weak, notes
        if not self._holds(strong):
            notes.append(f"Not even {self.name} = {self.text(strong)} meets the limits.")
            return strong, notes
        smallest = 1e-2 * self.tolerance * (high - low)
        while (middle := self._middle(weak, strong, smallest)) is not None:
            weak, strong = (weak, middle) if self._holds(middle) else (middle, strong)
        if not self.at(strong).met:
            notes.append(
                f"The limits pull opposite ways: {self.name} = {self.text(strong)} is the least that meets some, "
                "and others do not hold there."
            )
        return strong, notes

    @staticmethod
    def expected(low: float, high: float, *, whole: bool, tolerance: float) -> int:
        """How many values a search tries, if it does not end at once: the two ends, and one for each halving.

        Examples
        --------
        >>> Halving.expected(3, 19, whole=True, tolerance=0.01)
        6
        """
        if whole:
            halvings = math.log2(high - low)
        elif low > 0:
            halvings = math.log2(math.log(high / low) / math.log1p(tolerance))
        else:
            halvings = -math.log2(tolerance)
        return 2 + max(0, math.ceil(halvings))

    def _orient(self, at_low: Point, at_high: Point) -> list[str]:
        """Which end protects more, by the first limit whose figure differs between them."""
        ways = [self._way(i, at_low, at_high) for i in range(len(self.conditions))]
        main = next((way for way in ways if way), 0)
        self.upward = main >= 0
        self.along = tuple(i for i, way in enumerate(ways) if way in (0, main))
        if main:
            return []
        return [f"The figures are the same at both ends of the range: {self.name} does not move them."]

    def _way(self, i: int, at_low: Point, at_high: Point) -> int:
        """1 where more of the parameter helps to meet limit i, −1 where less does, 0 where neither."""
        condition = self.conditions[i]
        a, b = (math.inf if (f := p.figures[i]) is None else condition.excess(f.value) for p in (at_low, at_high))
        return (b < a) - (a < b)

    def _holds(self, value: float) -> bool:
        return self.steady(self.at(value))

    def steady(self, point: Point) -> bool:
        """Whether the limits that more protection helps to meet are met."""
        return all(point.held[i] for i in self.along)

    def _middle(self, weak: float, strong: float, smallest: float) -> float | None:
        """A value between two; None where they are near enough."""
        gap = abs(strong - weak)
        if self.whole:
            return int(weak + strong) // 2 if gap > 1 else None
        if gap <= max(self.tolerance * abs(strong), smallest if min(weak, strong) <= 0 else 0.0):
            return None
        middle = self.rounded(math.sqrt(weak * strong) if min(weak, strong) > 0 else (weak + strong) / 2)
        return middle if min(weak, strong) < middle < max(weak, strong) else None

    def rounded(self, value: float) -> float:
        """A value that can be written down: of few digits, or whole."""
        return round(value) if self.whole else float(f"{value:.{self.digits}g}")
