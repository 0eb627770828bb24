"""The levels at which a table is safe with the least loss: optimal full-domain generalisation with suppression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.criteria.criterion import Criterion, Overall
from sfumato.kernels.lattice.judge import Judge, allowed, judge
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.losses import Loss, Node, checked_weights, loss_named
from sfumato.kernels.lattice.patterns import Patterns, check, class_of_rows, generalised
from sfumato.kernels.lattice.table import Classes, Table, planes, renumbered

__all__ = ["Found", "kept_patterns", "optimal"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1.0)
"""Where a search under a time limit stops for the next larger one, between what is proven and what is found."""


@dataclass(frozen=True)
class Found:
    """The best levels.

    Parameters
    ----------
    levels : tuple of int
        Level of each key.
    score : float
        Their loss.
    suppressed : int
        Records in classes that fail.
    kept : ndarray of bool, shape (P,)
        Whether each of the patterns is kept. Rows of equal keys fare alike.
    optimal : bool
        Whether no other levels lose less.
    bound : float
        No levels lose less than this; the score, where it is optimal.
    """

    levels: tuple[int, ...]
    score: float
    suppressed: int
    kept: Bools
    optimal: bool
    bound: float


def optimal(
    patterns: Patterns,
    hierarchies: Sequence[Levels],
    criteria: Sequence[Criterion | Overall],
    *,
    limit: float = 0.0,
    loss: str = "loss",
    weights: Sequence[float] | None = None,
    time_limit: float | None = None,
    references: Sequence[Ints] | None = None,
) -> Found | None:
    """Find the level of each key at which a table meets the criteria with the least loss.

    A class that fails a criterion is suppressed whole; levels will do while at most ⌊limit · n⌋ records are suppressed.
    Keys are taken one after another, and each choice of levels for the first few is left as soon as its loss is proven
    to be too high or as too much is suppressed even with all other keys at their top, where the criteria allow to
    conclude from that. So all levels are considered, whatever the number that is looked at.

    Of equal scores (to ten digits) the lowest sum of levels is taken, then the first in order.

    Parameters
    ----------
    patterns
        Distinct rows of the table.
    hierarchies
        Of each key.
    criteria
        At least one.
    limit
        Largest share of records that may be suppressed, from 0 to 1.
    loss
        One of `losses.LOSSES`.
    weights
        Importance of each key, for losses that are means or sums over keys.
    time_limit
        Seconds after which the best found so far is given, with what is proven. Without it the search runs to its end.
    references
        Of each sensitive variable: records with each value, where the whole file is more than these patterns. By
        default that is all of them, before anything is suppressed.

    Returns
    -------
    Found or None
        None where no levels will do; under a time limit, where none were found.

    Raises
    ------
    ValueError
        Where a parameter is out of its range, or data, hierarchies and criteria do not go together.

    Examples
    --------
    >>> ages = Levels((np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, dtype=np.int64)))
    >>> from sfumato.kernels.lattice.criteria.sizes import KAnonymity
    >>> found = optimal(Patterns(np.array([[0], [1], [2]]), np.array([1, 2, 3])), [ages], [KAnonymity(3)])
    >>> found.levels, round(found.score, 6), found.suppressed
    ((1,), 0.333333, 0)
    """
    ends = None if time_limit is None else monotonic() + time_limit
    check(patterns, hierarchies)
    own = patterns.histograms()
    whole = own if references is None else tuple(references)
    if len(own) != len(whole) or any(len(mine) > len(all_) for mine, all_ in zip(own, whole, strict=True)):
        raise ValueError("references: one for each sensitive variable, with every value that occurs")
    complete = [bool((column >= 0).all()) for column in patterns.values.T]
    judging = judge(criteria, whole, complete, allowed(limit, patterns.records))
    search = _Search(patterns, hierarchies, judging, loss, checked_weights(weights, len(hierarchies)), ends)
    levels, score, bound = search.run()
    if levels is None:
        return None
    kept = kept_patterns(patterns, hierarchies, levels, judging)
    gone = int(patterns.counts[~kept].sum())
    return Found(levels, score, gone, kept, bound >= score, bound)


def kept_patterns(patterns: Patterns, hierarchies: Sequence[Levels], levels: Sequence[int], judging: Judge) -> Bools:
    """Tell which patterns are in classes that pass at these levels, shape (P,)."""
    which, first = class_of_rows(generalised(patterns.codes, hierarchies, levels))
    sizes = np.bincount(which, weights=patterns.counts, minlength=len(first)).astype(np.int64)
    failing = judging.failing(sizes, which, patterns.values, patterns.counts)
    return np.asarray(~failing[which])


class _Stopped(Exception):
    """The time is up."""


class _Search:
    """A walk through the levels, key by key; keys stand in the order in which they are taken."""

    def __init__(
        self,
        patterns: Patterns,
        hierarchies: Sequence[Levels],
        judging: Judge,
        loss: str,
        weights: Sequence[float],
        ends: float | None,
    ) -> None:
        used = [len(np.unique(column)) for column in patterns.codes.T]
        self.order = sorted(range(len(used)), key=lambda j: (-used[j], j))
        mine = Patterns(patterns.codes[:, self.order], patterns.counts, patterns.sensitive)
        mine, self.hierarchies = renumbered(mine, [hierarchies[j] for j in self.order])
        self.loss: Loss = loss_named(loss, mine, self.hierarchies, [weights[j] for j in self.order])
        self.guide = loss_named("loss", mine, self.hierarchies)
        self.planes, self.table = planes(mine, self.hierarchies)
        self.judge = judging
        self.ends = ends
        self.best: tuple[float, int, tuple[int, ...]] | None = None
        self.score = np.inf
        self.ceiling = np.inf
        self.path: list[Classes] = []
        self.tried: set[tuple[int, ...]] = set()

    def run(self) -> tuple[tuple[int, ...] | None, float, float]:
        """Search; give the best levels, their score, and what is proven."""
        levels = [0] * len(self.planes)
        counts = self.table.count
        lowest = proven = self.loss.bound(levels, 0, int((counts**2).sum()), len(counts))
        try:
            self._descend()
            shares = (1.0,) if self.ends is None or self.best is None else _SHARES
            for share in shares:
                self.ceiling = self.score if share == 1 else lowest + (self.score - lowest) * share
                self._visit(0, self.table.copy(), levels)
                proven = min(self.ceiling, self.score)
            proven = self.score
        except _Stopped:
            pass
        return (None if self.best is None else self.best[2]), self.score, min(proven, self.score)

    def _descend(self) -> None:
        """Go from the top as long as a step is better: a key lower, or, where none is, one lower and another higher.

        It is a start that cuts most of the walk.
        """
        at = tuple(h.height for h in self.hierarchies)
        better = self._try(at)
        while better:
            at, better = self._step(at, self._lower(at))
            if not better and self.ends is not None:  # else the walk finds them in no more time
                at, better = self._step(at, [up for low in self._lower(at) for up in self._higher(low) if up != at])

    def _step(self, at: tuple[int, ...], steps: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], bool]:
        """Take the first step that is better, those that generalise least first; or stay."""
        hopeful = [s for s in steps if not self._hopeless(self.loss.bound(s, 0, 0, self.loss.n), s)]
        hopeful.sort(key=lambda levels: (self.guide.bound(levels, 0, 0, 0), levels))
        return next(((levels, True) for levels in hopeful if self._try(levels)), (at, False))

    def _lower(self, at: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [(*at[:j], level - 1, *at[j + 1 :]) for j, level in enumerate(at) if level]

    def _higher(self, at: tuple[int, ...]) -> list[tuple[int, ...]]:
        tops = [h.height for h in self.hierarchies]
        return [(*at[:j], level + 1, *at[j + 1 :]) for j, level in enumerate(at) if level < tops[j]]

    def _try(self, levels: tuple[int, ...]) -> bool:
        """Look at one choice of levels; tell whether it is the best so far."""
        if levels in self.tried:
            return False
        if self.best is not None:
            self._in_time()
        self.tried.add(levels)
        self.path = []
        before = self.best
        table = self.table.copy()
        for depth, level in enumerate(levels):
            table.raised(level)
            classes = table.classes()
            self.path.append(classes)
            if depth == len(levels) - 1:
                self._judge(table, classes, levels)
                break
            if self._surely(table, classes) is None:
                break
            table = table.below(classes, self.planes[depth + 1])
        self.path = []
        return self.best is not before

    def _visit(self, depth: int, table: Table, levels: list[int]) -> None:
        """Try all levels of the key at this depth, those of the keys before being chosen and those after at 0."""
        last = depth == len(self.planes) - 1
        for level in range(self.hierarchies[depth].height + 1):
            self._in_time()
            levels[depth] = level
            table.raised(level)
            if not self.loss.weighs_classes and self._hopeless(self.loss.bound(levels, 0, 0, 0), levels):
                continue
            classes = table.classes()
            self.path.append(classes)
            if last:
                self._judge(table, classes, levels)
            else:
                sure = self._surely(table, classes)
                if sure is not None and not self._hopeless(self._bound(levels, *sure, table, classes), levels):
                    self._visit(depth + 1, table.below(classes, self.planes[depth + 1]), levels)
            self.path.pop()
        levels[depth] = 0

    def _surely(self, table: Table, classes: Classes) -> tuple[int, Bools] | None:
        """Records that are suppressed whatever the levels of the keys to come, and their classes; None if too many."""
        bad = self._failing(table, classes, surely=True)
        gone = int(classes.sizes[bad].sum())
        if gone > self.judge.limit or (self.judge.prunes_overall and self.judge.fails_all(classes.sizes)):
            return None
        return gone, bad

    def _failing(self, table: Table, classes: Classes, *, surely: bool = False) -> Bools:
        values = table.plane.sensitive
        rows = values[table.suffix] if values.shape[1] else values
        return self.judge.failing(classes.sizes, classes.which, rows, table.count, surely=surely)

    def _judge(self, table: Table, classes: Classes, levels: Sequence[int]) -> None:
        """Take the levels, all chosen now, for the best ones, if they are."""
        bad = self._failing(table, classes)
        suppressed = int(classes.sizes[bad].sum())
        if suppressed > self.judge.limit:
            return
        kept = classes.sizes[~bad]
        if self.judge.fails_all(kept):
            return
        if not self.loss.weighs_classes and self._hopeless(self.loss.bound(levels, suppressed, 0, 0), levels):
            return
        gone = self._gone(classes.sizes * bad) if self.loss.weighs_groups else ()
        score = self.loss.score(Node(levels, suppressed, kept, gone))
        mine = [0] * len(levels)
        for j, level in zip(self.order, levels, strict=True):
            mine[j] = level
        offer = (_rounded(score), sum(mine), tuple(mine))
        if self.best is None or offer < self.best:
            self.best, self.score = offer, score

    def _gone(self, suppressed: Ints) -> list[Floats]:
        """Suppressed records in each group of each key so far: those of a class are also in that of the keys before."""
        found = []
        for classes, hierarchy in zip(self.path[::-1], self.hierarchies[len(self.path) - 1 :: -1], strict=True):
            found.append(np.bincount(classes.group, weights=suppressed, minlength=hierarchy.leaves).astype(np.float64))
            suppressed = np.bincount(classes.parent, weights=suppressed).astype(np.int64)
        return found[::-1]

    def _bound(self, levels: Sequence[int], sure: int, bad: Bools, table: Table, classes: Classes) -> float:
        """What all levels from these up lose at least, for the keys to come at 0 and the `bad` classes suppressed.

        Classes to come lie within those there are, and consist of whole rows of the table.
        """
        if not self.loss.weighs_classes:
            gone = self._gone(classes.sizes * bad) if sure and self.loss.bounds_groups else ()
            return self.loss.bound(levels, sure, 0, 0, gone)
        sizes, count = classes.sizes[~bad], table.count[~bad[classes.which]]
        most = min(len(count), int((sizes // self.judge.least_size).sum()))
        return self.loss.bound(levels, sure, int((count**2).sum()), most)

    def _hopeless(self, bound: float, levels: Sequence[int]) -> bool:
        """Tell whether no levels from these up can be the best, or are not asked for yet."""
        if self.best is None:
            return False
        if bound > self.ceiling and _rounded(bound) > _rounded(self.ceiling):
            return True
        least = _rounded(bound * (1 - 1e-12))  # so that a tie is one whichever way the bound was rounded
        return (least, sum(levels)) > self.best[:2]

    def _in_time(self) -> None:
        if self.ends is not None and monotonic() > self.ends:
            raise _Stopped


def _rounded(score: float) -> float:
    return float(f"{score:.10g}")
