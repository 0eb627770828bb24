"""What a formula of the `derive` step cuts off or rounds: `min(income, 500)`, `round(age / 5) * 5`."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.data.grammar import Apply, Name, Node, Value, walk

__all__ = ["FormulaLimits", "formula_limits"]

_EXACT = 1e-9
"""Largest distance from a whole number of steps, in steps, that is a matter of the last bits."""


@dataclass(frozen=True)
class FormulaLimits:
    """What is known of a formula's value: its ends, and what it is a multiple of.

    Parameters
    ----------
    low, high
        Bounds to which values beyond were set; infinite without one.
    step
        The multiple to which values were then rounded; 0 where they were not.
    """

    low: float = -math.inf
    high: float = math.inf
    step: float = 0.0

    def times(self, factor: float) -> FormulaLimits:
        """The same of the value times a number other than 0."""
        low, high = sorted((self.low * factor, self.high * factor))
        return FormulaLimits(low, high, self.step * abs(factor))

    def plus(self, shift: float) -> FormulaLimits | None:
        """The same of the value and a number; None where what comes out is a multiple no more."""
        return FormulaLimits(self.low + shift, self.high + shift, self.step) if self.whole(shift) else None

    def whole(self, number: float) -> bool:
        """Whether a number is a whole number of steps."""
        return not self.step or abs(number / self.step - round(number / self.step)) <= _EXACT


def formula_limits(tree: Node) -> FormulaLimits | None:
    """Find where the outermost operations of a formula cut off or round what is inside.

    Seen through are `min` and `max` with constants, `round`, and constants that are added, subtracted, multiplied or
    divided by.

    Parameters
    ----------
    tree
        The formula, as `sfumato.data.expression.parse` gives it.

    Returns
    -------
    FormulaLimits or None
        None where nothing is cut off or rounded, or not in a way that leaves each value an interval: `floor`, a second
        rounding, a bound between two multiples.

    Examples
    --------
    >>> from sfumato.data.expression import parse
    >>> formula_limits(parse("min(max(income, 0), 500)").tree)
    FormulaLimits(low=0.0, high=500.0, step=0.0)
    >>> formula_limits(parse("round(age / 5) * 5").tree).step
    5.0
    >>> formula_limits(parse("min(income, wealth)").tree) is None
    True
    """
    found = _limits(tree)
    told = found is not None and (found.step or not math.isinf(found.low) or not math.isinf(found.high))
    return found if told and found is not None and found.low < found.high else None


def _limits(node: Node) -> FormulaLimits | None:
    """Those of a part of a formula; None where there are some that cannot be told."""
    if not isinstance(node, Apply):
        return FormulaLimits()
    constants = [c for a in node.arguments if (c := _constant(a)) is not None]
    rest = [a for a in node.arguments if _constant(a) is None]
    if not rest or not any(isinstance(part, Name) for part in walk(node)):
        return None
    if node.operation in ("min", "max") and constants:
        return _cut(node.operation, constants, rest)
    if node.operation == "round":
        return _rounded(rest[0], 10.0 ** -(constants[0] if constants else 0))
    if len(rest) == 1 and node.operation in ("negative", "+", "-", "*", "/"):
        return _moved(node, constants, rest[0])
    return FormulaLimits()


def _cut(operation: str, constants: list[float], rest: list[Node]) -> FormulaLimits | None:
    inside = _limits(rest[0]) if len(rest) == 1 else FormulaLimits()
    bound = min(constants) if operation == "min" else max(constants)
    if inside is None or not inside.whole(bound):
        return None
    if operation == "min":
        return FormulaLimits(inside.low, min(inside.high, bound), inside.step)
    return FormulaLimits(max(inside.low, bound), inside.high, inside.step)


def _rounded(inside: Node, step: float) -> FormulaLimits | None:
    found = _limits(inside)
    return None if found is None or found.step else FormulaLimits(found.low, found.high, step)


def _moved(node: Apply, constants: list[float], rest: Node) -> FormulaLimits | None:
    found = _limits(rest)
    if found is None or node.operation == "negative":
        return found and found.times(-1.0)
    constant, first = constants[0], _constant(node.arguments[0]) is not None
    match node.operation:
        case "*" if constant:
            return found.times(constant)
        case "/" if constant and not first:
            return found.times(1 / constant)
        case "+":
            return found.plus(constant)
        case "-":
            return found.times(-1.0).plus(constant) if first else found.plus(-constant)
        case _:
            return FormulaLimits()


def _constant(node: Node) -> float | None:
    """A number that stands in a formula, with its sign."""
    if isinstance(node, Value):
        return float(node.value) if node.is_number and not isinstance(node.value, str) else None
    if isinstance(node, Apply) and node.operation == "negative":
        inside = _constant(node.arguments[0])
        return None if inside is None else -inside
    return None
