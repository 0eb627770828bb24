"""Local recoding: a level for each cell, so that every class is safe with the least loss that several ways find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.criteria.criterion import Criterion, Overall
from sfumato.kernels.lattice.judge import Judge, allowed, judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.losses import checked_weights
from sfumato.kernels.lattice.patterns import Patterns, check, class_of_rows
from sfumato.kernels.lattice.recoded import Cells, cell_loss, released, tightened
from sfumato.kernels.lattice.repeated import repeated
from sfumato.kernels.lattice.rest import with_rest
from sfumato.kernels.lattice.search import optimal
from sfumato.kernels.lattice.top_down import top_down

__all__ = ["Recoded", "local"]

_NODES = 20_000
"""Largest lattice in which the best levels of whole columns are always looked for."""

_SECONDS = 30.0
"""For that search in a larger one; only where criteria are on all that is kept, which the two ways do not look at."""

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Recoded:
    """A local recoding.

    Parameters
    ----------
    levels : ndarray of int, shape (P, m)
        Level of each cell of each pattern; the top where the pattern is suppressed.
    suppressed : ndarray of bool, shape (P,)
        Patterns that are not released.
    score : float
        Arithmetic loss, x summed over each record's own cells.
    records : int
        Records that are suppressed.
    way : str
        `repeated`, `top-down`, or `columns`: the best levels of whole columns, lowered where classes allow it.
    """

    levels: Ints
    suppressed: Bools
    score: float
    records: int
    way: str


def local(
    patterns: Patterns,
    hierarchies: Sequence[Levels],
    criteria: Sequence[Criterion | Overall],
    *,
    limit: float = 0.0,
    weights: Sequence[float] | None = None,
) -> Recoded | None:
    """Recode each class on its own, by several ways, and keep the one that loses least.

    From below, choice of levels after choice takes its safe classes out of the rest (`repeated`); from above, one
    class of all is split (`top_down`). Neither is best everywhere; where criteria leave little room both may be worse
    than levels of whole columns, which are tried too, unless the lattice is large. What is left is suppressed, where
    the limit allows, or joins a class (`with_rest`), whichever loses less; classes are then lowered to what their
    patterns share. A class is the records that are released with the same values; groups of one key with the same
    leaves are one value, whatever their level.

    Rows of equal keys are recoded alike, so that what a record is released as tells nothing of its sensitive values but
    what the class does.

    Parameters
    ----------
    patterns, hierarchies, criteria
        As in `search.optimal`.
    limit
        Largest share of records that may be suppressed, from 0 to 1.
    weights
        Importance of each key; equal by default.

    Returns
    -------
    Recoded or None
        None where no way meets the criteria.

    Raises
    ------
    ValueError
        Where a parameter is out of its range, or data, hierarchies and criteria do not go together.

    Examples
    --------
    >>> from sfumato.kernels.lattice.criteria.sizes import KAnonymity
    >>> ages = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
    >>> found = local(Patterns(np.array([[0], [1], [2]]), np.array([1, 2, 3])), [ages], [KAnonymity(3)])
    >>> found.levels[:, 0].tolist(), found.records
    ([1, 1, 0], 0)
    """
    check(patterns, hierarchies)
    given = checked_weights(weights, len(hierarchies))
    complete = [bool((column >= 0).all()) for column in patterns.values.T]
    most = allowed(limit, patterns.records)
    judging = judge(criteria, patterns.histograms(), complete, most)
    ways = {"repeated": repeated, "top-down": top_down}
    made = {name: way(patterns, hierarchies, judging, given) for name, way in ways.items()}
    searched = prod(h.height + 1 for h in hierarchies) <= _NODES
    if searched or judging.overall:
        seconds = None if searched else _SECONDS
        made["columns"] = _by_columns(patterns, hierarchies, criteria, limit, given, seconds)
    cells = [Cells.of(h) for h in hierarchies]
    finished = [f for name, m in made.items() if m for f in _finished(patterns, *m, cells, judging, given, name)]
    fit = [f for f in finished if f.records <= most]
    return min(fit, key=lambda f: (round(f.score, 10), f.records, f.way), default=None)


def _by_columns(
    patterns: Patterns,
    hierarchies: Sequence[Levels],
    criteria: Sequence[Criterion | Overall],
    limit: float,
    weights: Sequence[float],
    seconds: float | None,
) -> tuple[Ints, Bools] | None:
    """The best levels of whole columns: a start where criteria leave little room, or are on all that is kept."""
    found = optimal(
        patterns, hierarchies, criteria, limit=limit, loss="loss-arithmetic", weights=weights, time_limit=seconds
    )
    return None if found is None else (np.tile(found.levels, (len(patterns.codes), 1)), ~found.kept)


def _finished(
    patterns: Patterns,
    levels: Ints,
    rest: Bools,
    cells: Sequence[Cells],
    judging: Judge,
    weights: Sequence[float],
    way: str,
) -> Iterator[Recoded]:
    """What may be made of a recoding: the rest suppressed, or joined to a class; classes lowered to what they share."""
    if rest.all():
        return
    candidates = [(levels, rest)]
    if rest.any():
        joined = with_rest(patterns, levels, rest, cells, judging, weights)
        candidates += [] if joined is None else [(joined, np.zeros_like(rest))]
    for plain, suppressed in candidates:
        rows = np.flatnonzero(~suppressed)
        some = patterns.only(rows)
        which, _ = class_of_rows(released(some.codes, plain[rows], cells))
        for lowered in (tightened(some.codes, plain[rows], which, cells), plain[rows]):
            if _safe(some, lowered, cells, judging):
                out = np.tile([len(c.share) // c.leaves - 1 for c in cells], (len(suppressed), 1))
                out[rows] = lowered
                gone = patterns.records - some.records
                yield Recoded(out, suppressed, cell_loss(patterns, out, suppressed, cells, weights), gone, way)
                break


def _safe(patterns: Patterns, levels: Ints, cells: Sequence[Cells], judging: Judge) -> bool:
    """Tell whether the classes as they are released pass."""
    which, _ = class_of_rows(released(patterns.codes, levels, cells))
    sizes = np.bincount(which, weights=patterns.counts).astype(np.int64)
    bad = judging.failing(sizes, which, patterns.values, patterns.counts).any()
    return not bad and not judging.fails_all(sizes)
