"""Parallel boxes: of a number by groups, and of a model's residuals by what it fitted. No single value is drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws
from sfumato.gate.analyses.keyed import Protected, noise_of, subsample
from sfumato.gate.analyses.kinds import linear
from sfumato.gate.analyses.kinds.boxes import LEAST, PROBABILITIES
from sfumato.gate.analyses.problem import Problem
from sfumato.gate.analyses.values import digits
from sfumato.kernels.protected.fit import fit, plain
from sfumato.kernels.protected.fitted import SHARE, ProtectedFit, Unfit, tau_of

__all__ = ["exact_boxes", "protected_boxes", "protected_residuals"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

_MANY = len(PROBABILITIES)
_WORST = max(max(q, 1 - q) / math.sqrt(q * (1 - q)) for q in PROBABILITIES)
"""How far who is in a box moves a rank at most, in standard deviations of that rank."""
_MOST_BOXES = 5
_ROOM = 40
"""People for each that a whisker's neighbours take: a twentieth of a box holds them, and the rank's noise."""


@dataclass(frozen=True)
class _Box:
    """The values of one box, and which of them are looked at."""

    y: Floats
    keep: Bools


def exact_boxes(problem: Problem) -> ProtectedFit:
    """Five quantiles of each group."""
    boxes = [_Box(problem.y[rows], np.ones(int(rows.sum()), dtype=bool)) for rows in _groups(problem)]
    return _together(boxes, lambda place, q: plain("quantile", _nothing(boxes[place]), boxes[place].y, probability=q))


def protected_boxes(
    problem: Problem, draws: Draws, words: Words, count: int, strength: str | None, dataset: str
) -> Protected:
    """Boxes with noisy ranks: who is in one moves five ranks, so that the five together are as one with less noise."""
    keep = subsample(problem, draws, words)
    boxes = [_Box(problem.y[rows], keep[rows]) for rows in _groups(problem)]
    least = min(int(np.count_nonzero(box.keep)) for box in boxes)
    tau = tau_of(least, SHARE, _WORST) if strength is None else math.sqrt(Fraction(strength) * _MANY)
    what = noise_of(problem.request, tau, dataset)
    noise = draws.normal(np.arange(len(boxes) * _MANY, dtype=np.uint64), what).reshape(-1, _MANY)
    told = _noisy(boxes, noise, tau, count).rounded()
    return Protected(told, str(Fraction(repr(tau)) ** 2 / _MANY))


def protected_residuals(problem: Problem, draws: Draws, words: Words, count: int, dataset: str) -> Protected:
    """Residuals of a protected linear model, in boxes by what it fitted.

    Parameters
    ----------
    problem, draws, words, dataset
        The people, the keys, and of which data set.
    count
        The largest group that is protected.

    Raises
    ------
    Unfit
        There is no model, or a box would have few people.

    Notes
    -----
    The model is the one that is told with the same noise, as it is told. Once it stands, a person's residual hangs on
    nobody else. Its people are cut by noisy quantiles of what it fitted, and boxes in which a noisy count finds too few
    for their whiskers are joined with the next. So who is there moves the model, the cuts, one count, and five ranks of
    one box: these strengths add up to the one that is counted.
    """
    keep, least = subsample(problem, draws, words), _ROOM * (count + 1)
    many = min(_MOST_BOXES, 2 * int(keep.sum()) // (3 * least))
    if not many:
        raise Unfit("few")
    model = _model(problem, keep, draws, dataset)
    tau = tau_of(int(keep.sum()) // many, SHARE, _WORST)
    noise = draws.normal(np.arange(many * (_MANY + 2), dtype=np.uint64), noise_of(problem.request, tau, dataset))
    fitted = problem.design[1] @ model.estimate
    cuts = _cuts(fitted, keep, many, tau, count, noise)
    own = np.searchsorted(cuts, fitted)
    place = _joined(
        own, np.bincount(own[keep], minlength=len(cuts) + 1) + tau * noise[many : many + len(cuts) + 1], least
    )
    held = np.unique(place)
    boxes = [_Box((problem.y - fitted)[place == one], keep[place == one]) for one in held]
    if any(np.count_nonzero(box.keep) < LEAST for box in boxes):
        raise Unfit("few")
    told = _noisy(boxes, noise[2 * many :].reshape(-1, _MANY), tau, count).rounded()
    names = _names([float(cuts[one]) if one < len(cuts) else None for one in held])
    strength = 1 / (1 / Fraction(repr(model.tau)) ** 2 + (many + _MANY) / Fraction(repr(tau)) ** 2)
    labels = tuple(f"residual[{name}] {q:.0%}" for name in names for q in PROBABILITIES)
    return Protected(told, str(strength), labels)


def _model(problem: Problem, keep: Bools, draws: Draws, dataset: str) -> ProtectedFit:
    """The linear model as it is told: asked for by itself it has the same noise."""
    request, X = replace(problem.request, kind=linear.KIND), problem.design[1]
    who = np.arange(X.shape[1], dtype=np.uint64)
    noise = lambda tau: draws.normal(who, noise_of(request, tau, dataset))  # noqa: E731
    return fit("linear", X, problem.y, keep=keep, noise=noise).rounded()


def _cuts(fitted: Floats, keep: Bools, many: int, tau: float, count: int, noise: Floats) -> Floats:
    """Noisy quantiles that part what was fitted, in rising order, each once."""
    box = _Box(fitted, keep)
    found = [
        fit("quantile", _nothing(box), fitted, keep=keep, noise=noise[[i]], tau=tau, probability=i / many, count=count)
        for i in range(1, many)
    ]
    return np.unique([float(one.rounded().estimate[0]) for one in found])


def _joined(place: Ints, counts: Floats, least: int) -> Ints:
    """Boxes of which a noisy count is below `least` joined with the next, the last with the one before.

    Examples
    --------
    >>> _joined(np.arange(4), np.array([5.0, 1.0, 9.0, 2.0]), 4)
    array([0, 3, 3, 3])
    """
    to = np.arange(len(counts))
    last = len(counts) - 1
    for one in range(last):
        if counts[to == one].sum() < least:
            to[to == one] = one + 1
    if counts[to == last].sum() < least and (to != last).any():
        to[to == to[to != last].max()] = last
    return to[place]


def _names(ends: Sequence[float | None]) -> list[str]:
    """What was fitted in each box: its upper end, and that of the one before."""
    out, before = [], ""
    for end in ends:
        own = "" if end is None else digits(float(end), 6)
        out.append(
            f"{before} to {own}"
            if before and own
            else f"up to {own}"
            if own
            else f"above {before}"
            if before
            else "all"
        )
        before = own
    return out


def _groups(problem: Problem) -> list[Bools]:
    return [column > 0 for column in problem.design[1].T]


def _noisy(boxes: Sequence[_Box], noise: Floats, tau: float, count: int) -> ProtectedFit:
    def quantile(place: int, q: float) -> ProtectedFit:
        box, own = boxes[place], noise[place, [PROBABILITIES.index(q)]]
        return fit("quantile", _nothing(box), box.y, keep=box.keep, noise=own, tau=tau, probability=q, count=count)

    return _together(boxes, quantile)


def _nothing(box: _Box) -> Floats:
    return np.zeros((len(box.y), 0))


def _together(boxes: Sequence[_Box], quantile: Callable[[int, float], ProtectedFit]) -> ProtectedFit:
    """Five quantiles of each box, put together."""
    found = [quantile(place, q) for place in range(len(boxes)) for q in PROBABILITIES]
    figures = (np.concatenate([getattr(one, name) for one in found]) for name in ("estimate", "se", "se_added"))
    estimate, se, added = figures
    first, n = found[0], sum(int(np.count_nonzero(box.keep)) for box in boxes)
    return ProtectedFit("boxes", estimate, se, added, n, first.tau, first.share_kept, first.bound)
