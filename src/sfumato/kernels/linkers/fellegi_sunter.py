"""The linker of Fellegi and Sunter: what agreement on each key tells, weighed by how rare it is among strangers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.linkers.keys import MISSING, Keys
from sfumato.kernels.linkers.patterns import Patterns, cuts, levels_of
from sfumato.kernels.linkers.scan import Scoring

__all__ = ["Learned", "learn", "learn_from_pairs", "weights"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FIRST = 0.8
"""Where the share of true pairs that agree starts from."""
_ADDED = 0.01
"""Pairs that are added to each level, as a share of the true ones: no level is impossible."""
_STEPS, _STILL = 1_000, 1e-9
_LEAST = 1e-9
"""Shares below it are taken for it, so that no weight is infinite."""


@dataclass(frozen=True, eq=False)
class Learned:
    """Shares of the levels of each key.

    Parameters
    ----------
    m
        Among pairs of a person and the person's own record: for each key an array by level.
    u
        Among all pairs.
    """

    m: list[Floats]
    u: list[Floats]


def learn(found: Patterns, prior: float) -> Learned:
    """Estimate how often true pairs agree, from the patterns of all pairs alone: expectation and maximisation.

    The share of pairs that are true stays as it is given: free, it settles on groups of people alike.

    Source: Fellegi & Sunter (1969), doi:10.1080/01621459.1969.10501049; Winkler (1988) for the estimate.

    Parameters
    ----------
    found
        Patterns of all pairs.
    prior
        Share of the pairs that are true: 1 / known people. To each level a hundredth of as many pairs is added.

    Examples
    --------
    >>> found = Patterns(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([19, 11, 11, 59]), (2, 2), 10)
    >>> learned = learn(found, 0.1)
    >>> round(float(learned.u[0][0]), 2), bool(learned.m[0][0] > learned.u[0][0])
    (0.3, True)
    """
    count = found.count.astype(np.float64)
    u = found.shares(count)
    m = [np.array([_FIRST, *[(1 - _FIRST) / (width - 1)] * (width - 1)]) for width in found.width]
    odds = (1 - prior) / prior * np.exp(_log_chance(found, u))
    added = _ADDED * prior * float(count.sum())
    for _ in range(_STEPS):
        true = np.exp(_log_chance(found, m))
        new = found.shares(count * true / (true + odds), added)
        moved = max(float(np.abs(a - b).max()) for a, b in zip(m, new, strict=True)) if m else 0.0
        m = new
        if moved < _STILL:
            break
    return Learned(m, u)


def _log_chance(found: Patterns, shares: list[Floats]) -> Floats:
    """Log chance of each pattern where keys agree independently; a key that tells nothing adds nothing."""
    out = np.zeros(len(found.count))
    for k, share in enumerate(shares):
        level = found.levels[:, k]
        out += np.where(level >= 0, np.log(np.maximum(share, 1e-300))[np.maximum(level, 0)], 0.0)
    return out


def learn_from_pairs(
    people: Keys, records: Keys, pairs: tuple[Ints, Ints], sd: Floats, u: list[Floats], wildcard: bool = False
) -> Learned:
    """How often true pairs agree, counted: the most that anybody could learn of it.

    Parameters
    ----------
    people, records
        Two tables.
    pairs
        Combinations of each person and of the person's own record, two arrays of shape (r,).
    sd : ndarray, shape (q,)
        Standard deviation of each number.
    u
        Shares among all pairs, see `learn`.
    wildcard
        Whether a missing value may be anything, so that its comparison tells nothing.
    """
    one, two = pairs
    m = []
    for k in range(len(people.codes)):
        a, b = people.codes[k][one], records.codes[k][two]
        m.append(_counted(np.where((a < 0) | (b < 0), -1, (a != b).astype(np.int64)), 2))
    for k in range(len(people.numbers)):
        a, b = people.numbers[k][one], records.numbers[k][two]
        level = levels_of(np.abs(b - a), float(sd[k]))
        free = wildcard & ((a == MISSING) | (b == MISSING))
        m.append(_counted(np.where(free, -1, level), 3))
    return Learned(m, u)


def _counted(level: Ints, width: int) -> Floats:
    count = np.bincount(level[level >= 0], minlength=width).astype(np.float64)
    return count / count.sum() if count.sum() else np.full(width, 1 / width)


def weights(learned: Learned, records: Keys, levels: tuple[int, ...], sd: Floats, wildcard: bool = False) -> Scoring:
    """What each key adds to the weight of a pair, log₂ of how many times likelier it is for a true pair.

    Agreement on a category weighs log₂(m / p) with p the released share of that very category: to share a rare one
    tells more. Disagreement weighs log₂((1 − m) / (1 − Σp²)), the level of a number log₂(m / u).

    Parameters
    ----------
    learned
        Shares of levels.
    records
        The released combinations, whose shares of categories count.
    levels
        How many categories each of the c categorical keys has.
    sd : ndarray, shape (q,)
        Standard deviation of each number in the original.
    wildcard
        Whether a missing value may be anything; its comparison then weighs nothing.
    """
    c, q = len(levels), len(sd)
    agree, disagree = [], np.zeros(c)
    for k in range(c):
        code, m = records.codes[k], learned.m[k][0]
        known = code >= 0
        number = np.bincount(code[known], weights=records.count[known].astype(np.float64), minlength=levels[k])
        share = number / max(float(number.sum()), 1.0)
        agree.append(np.log2(max(m, _LEAST)) - np.log2(np.maximum(share, _LEAST)))
        disagree[k] = np.log2(max(1 - m, _LEAST)) - np.log2(max(1 - float((share**2).sum()), _LEAST))
    level = np.zeros((q, 3))
    for k in range(q):
        level[k] = np.log2(np.maximum(learned.m[c + k], _LEAST)) - np.log2(np.maximum(learned.u[c + k], _LEAST))
    return Scoring(tuple(agree), disagree, np.zeros(q), cuts(sd), level, level[:, 2].copy(), np.zeros(c + q), wildcard)
