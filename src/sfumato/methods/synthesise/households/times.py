"""The time of a person's rows: each is drawn as its difference from the row before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.synthesise.bounded import Bound, Bounding, below
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.households.earlier import PLACE, SIZE, of_last
from sfumato.methods.synthesise.households.original import Original
from sfumato.methods.synthesise.ordered import behind
from sfumato.methods.synthesise.sequence import Forced, Target

__all__ = ["latest", "rising", "roomy"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def rising(target: Target, original: Original, columns: Mapping[str, Coded]) -> Target:
    """A column of later rows; the row before bounds the time, and what is drawn before the time and bounds it.

    Rows without a time come last in the original, so after one without there is none that has one.

    Parameters
    ----------
    target
        The column.
    original
        What is drawn from.
    columns
        The later rows that models are fitted to, with what is known of the rows before.
    """
    if target.name != original.time:
        return _ahead(target, original)
    target = roomy(target, original)
    coding, last = original.codings[target.name], of_last(target.name)
    gone = tuple(
        Forced(columns[last].state == state, partial(_had, last, state), state, 0.0)
        for state in range(1, len(coding.special) + 1)
    )
    kept = target.bounding or _unbounded(target, original)
    bounds = (*kept.bounds, Bound(last, strict=original.rises and target.bounding is None))
    return replace(target, forced=(*target.forced, *gone), bounding=replace(kept, bounds=bounds, last=last))


def _unbounded(target: Target, original: Original) -> Bounding:
    return Bounding((), original.codings[target.name].ends or (-np.inf, np.inf), 2 * original.step.min_leaf)


def _ahead(target: Target, original: Original) -> Target:
    """A column that is not the time: none that is drawn before it, and bounds it, ends before the row before."""
    time, names = original.time or "", original.drawn(original.own)
    if time not in names or target.name not in names[: names.index(time)]:
        return target
    bounds = behind(target.name, time, of_last(time), original.step.orders, original.codings)
    kept = target.bounding or _unbounded(target, original)
    return replace(target, bounding=replace(kept, bounds=(*kept.bounds, *bounds))) if bounds else target


def roomy(target: Target, original: Original) -> Target:
    """A column of rows; where it is the time, rises, and is bounded by other columns, it leaves room for later rows."""
    if target.name != original.time or target.bounding is None or not original.rises:
        return target
    return replace(target, bounding=replace(target.bounding, turn=(SIZE, PLACE), whole=frozenset(original.shared)))


def _had(last: str, state: int, own: Mapping[str, Coded]) -> Flags:
    return np.asarray(own[last].state == state)


def latest(original: Original, left: Ints) -> dict[str, Floats]:
    """The latest time that some rows may have, by name: where no two are the same, each later row needs another one.

    Parameters
    ----------
    original
        What is drawn from.
    left : ndarray of int64, shape (k,)
        How many rows of each one's person are still to come.
    """
    name = original.time
    coding = original.codings.get(name or "")
    if name is None or coding is None or coding.ends is None or name not in original.drawn(original.own):
        return {}
    end = below(coding, np.array([coding.ends[1]]), False)[0]
    unit = coding.unit or float(np.spacing(np.abs(coding.ends).max()))
    return {name: coding.rounded(end - unit * left)}
