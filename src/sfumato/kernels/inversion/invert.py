"""Turn a release of centroids back into the values that it was made of, knowing nothing but the release.

A release of n records is n equations in n unknowns: each released value is a straight line of the mean of its k nearest
true values. Who these are hangs on the values, and the line on their mean and spread, which the release keeps. So guess
the values; find everybody's neighbours among the guesses; solve the equations; bring mean and spread to the known ones;
repeat. Where the release then follows from the guess, the guess is near the truth, and whoever tries this knows it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled
from sfumato.kernels.inversion.averages import from_averages
from sfumato.kernels.inversion.neighbourhoods import NO, UNKNOWN, YES, nearest, windows

__all__ = ["Kept", "invert"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_EQUAL = 1e-7  # of a spacing: released values that differ by less were averaged over the same records
_FLOOR = 1e-3  # of a standard deviation: least spacing, so that a spike does not weigh more than everything else
_ALL_TRIED = 1_500
_JITTER, _HOLD, _MOVE = 0.3, 0.3, 0.6  # of a spacing; of an equation's weight, falling to a thousandth; of each change
_FALL = 1e-3


@dataclass(frozen=True)
class Kept:
    """What releases say of the straight line from centroids to released values.

    Parameters
    ----------
    spread
        Whether the standard deviation of the columns was restored.
    mean
        Whether their mean was.
    line : ndarray, shape (2, p), optional
        Slope and intercept, where they are known otherwise, for instance because the rows are some of a large table.
    """

    spread: bool = True
    mean: bool = True
    line: Floats | None = None


def invert(released: Floats, stratum: Rows, k: int, kept: Kept, seed: int = 0) -> Floats:
    """Guess the true values of a release of centroids of nearest neighbours.

    One column is the easiest: neighbourhoods are windows of its order, which no averaging changes, and records with
    equal released values share theirs. Of twelve attempts (fewer above 1,000 rows) the five are taken that explain the
    release best, and of these the median. In several columns, of three attempts the best; above 1,500 rows there is
    one. Nothing of the truth is used.

    Parameters
    ----------
    released
        Released values, shape (n, p), none missing.
    stratum
        The group that each record's neighbours were sought in, shape (n,).
    k
        Records in a centroid. Strata of fewer records give nothing: their released values are returned.
    kept
        What is known of the line from centroids to released values.
    seed
        Of the attempts' random beginnings.

    Returns
    -------
    ndarray
        Guesses, shape (n, p), the same for every order of the rows.

    Examples
    --------
    >>> x = np.cumsum(np.linspace(1, 3, 40))[:, None]
    >>> means = np.array([[x[min(max(i - 1, 0), 37):][:3].mean()] for i in range(40)])
    >>> released = (means - means.mean()) / means.std() * x.std() + x.mean()
    >>> bool(np.abs(invert(released, np.zeros(40, int), 3, Kept()) - x).mean() < np.abs(released - x).mean())
    True
    """
    sizes = np.bincount(np.unique(stratum, return_inverse=True)[1])
    large = (sizes >= k)[np.unique(stratum, return_inverse=True)[1]]
    guesses = np.array(released, dtype=np.float64)
    vary = np.flatnonzero(np.ptp(released[large], axis=0) > 0) if large.any() else np.zeros(0, np.int64)
    if not len(vary):
        return guesses
    places = np.flatnonzero(large)
    order = places[np.lexsort((*released[places][:, vary[::-1]].T, stratum[places]))]
    line = kept.line[:, vary] if kept.line is not None else None
    attack = _Attack(released[order][:, vary], stratum[order], k, Kept(kept.spread, kept.mean, line))
    guesses[np.ix_(order, vary)] = attack.run(np.random.default_rng(seed))
    return guesses


class _Attack:
    """Attempts on rows that are sorted by stratum and value, in units of each column's released spread."""

    def __init__(self, released: Floats, stratum: Rows, k: int, kept: Kept) -> None:
        self.centre, self.spread = released.mean(axis=0), released.std(axis=0)
        # what differs in the last bits only is equal, so that processors that round otherwise attack alike
        self.released = np.round((released - self.centre) / self.spread, 7)
        edges = np.flatnonzero(np.diff(stratum)) + 1
        self.start = np.concatenate([[0], edges, [len(stratum)]]).astype(np.int64)
        self.k, self.kept = k, kept
        self.spacing = self._spacing()
        self.same = self._same()

    def run(self, random: np.random.Generator) -> Floats:
        """Make the attempts and choose, in the columns' own units."""
        alone = self.released.shape[1] == 1
        few = 3 if len(self.released) <= _ALL_TRIED else 1
        attempts, long, taken = (max(4, min(12, 12_000 // len(self.released))), 320, 5) if alone else (few, 60, 1)
        found = []
        for number in range(attempts):
            guess = self.released + (_JITTER * self._noise(random) if number else 0.0)
            for weight in (np.ones_like(self.spacing), 1 / self.spacing):
                beginnings = np.stack([self._noise(random) for _ in range(4)])
                guess, misfit = self._descend(guess, weight, beginnings, long)
            found.append((misfit, guess))
        found.sort(key=lambda one: one[0])
        chosen = np.median([guess for _, guess in found[:taken]], axis=0)
        return np.asarray(chosen * self.spread + self.centre)

    def _noise(self, random: np.random.Generator) -> Floats:
        return np.asarray(random.normal(size=self.released.shape) * self.spacing)

    def _descend(self, guess: Floats, weight: Floats, jitter: Floats, steps: int) -> tuple[Floats, float]:
        line = np.full((2, self.released.shape[1]), np.nan)
        if self.kept.line is not None:
            line[0] = self.kept.line[0]
            line[1] = (self.kept.line[1] + (self.kept.line[0] - 1) * self.centre) / self.spread
            line = np.round(line, 7)  # as the released values
        elif not self.kept.spread:
            line[0] = 1.0
        keeps = np.array([self.kept.spread and self.kept.line is None, self.kept.mean and self.kept.line is None])
        return _descend(
            self.released, self.start, self.same, self.spacing, self.k, line, keeps, guess, weight, jitter, steps
        )

    def _spacing(self) -> Floats:
        """How far apart released values are: half of what 2k of them span, or the distance to the k-th next."""
        out = np.empty_like(self.released)
        for low, high in zip(self.start[:-1], self.start[1:], strict=True):
            rows = self.released[low:high]
            if rows.shape[1] == 1:
                i = np.arange(len(rows))
                out[low:high] = (rows[np.minimum(i + self.k, len(rows) - 1)] - rows[np.maximum(i - self.k, 0)]) / 2
            else:
                from scipy.spatial import cKDTree

                out[low:high] = cKDTree(rows).query(rows, k=[min(self.k + 1, len(rows))])[0]
        return np.asarray(np.maximum(out, _FLOOR))

    def _same(self) -> Rows:
        """Whether each record shares its neighbours with the one before. Runs longer than k are equal true values."""
        same = np.full(len(self.released), UNKNOWN)
        if self.released.shape[1] > 1:
            return same
        value = self.released[:, 0]
        same[1:] = np.where(np.diff(value) <= _EQUAL * self.spacing[1:, 0], YES, NO)
        same[self.start[:-1]] = NO
        run = np.cumsum(same == NO)
        same[(np.bincount(run)[run] > self.k) & (same == YES)] = UNKNOWN
        same[self.start[:-1]] = UNKNOWN
        return same


@compiled
def _descend(
    released: Floats,
    start: Rows,
    same: Rows,
    spacing: Floats,
    k: int,
    known: Floats,
    keeps: Rows,
    guess: Floats,
    weight: Floats,
    jitter: Floats,
    steps: int,
) -> tuple[Floats, float]:
    """Go down from a guess; every quarter of the way begin anew near the best. Give the best, and how far it is off.

    `known` are slopes and intercepts, NaN where mean and spread of the guess tell them; `keeps` says whether the
    guesses have the spread and the mean of the release, which are 1 and 0.
    """
    n, p = released.shape
    rows, line = np.empty((n, k), np.int64), np.empty((2, p))
    x, centroids = guess.copy(), np.empty((n, p))
    best, least = guess.copy(), np.inf
    hold = _HOLD
    for step in range(steps):
        if step > 0 and step % (steps // 4) == 0:
            x = best + _JITTER * jitter[step // (steps // 4)]
        misfit = 0.0
        if p == 1:
            for s in range(len(start) - 1):
                x[start[s] : start[s + 1], 0] = np.sort(x[start[s] : start[s + 1], 0])
        for q in range(p):
            _keep(x[:, q], keeps)
        if p == 1:
            misfit += windows(x[:, 0], start, same, spacing[:, 0], k, rows)
        else:
            nearest(x, start, k, rows)
        for q in range(p):
            for i in range(n):
                total = 0.0
                for t in range(k):
                    total += x[rows[i, t], q]
                centroids[i, q] = total / k
            line[0, q] = (
                known[0, q] if known[0, q] == known[0, q] else 1.0 / max(float(np.std(centroids[:, q])), _FLOOR)
            )
            line[1, q] = known[1, q]
            if line[1, q] != line[1, q]:
                middle = np.mean(x[:, q])
                line[1, q] = -line[0, q] * np.mean(centroids[:, q]) if keeps[1] else (1 - line[0, q]) * middle
            off = line[0, q] * centroids[:, q] + line[1, q] - released[:, q]
            misfit += np.mean(np.minimum(np.abs(off / spacing[:, q]), 3.0))
        if misfit < least:
            best, least = x.copy(), misfit
        for q in range(p):
            force = weight[:, q] ** 2
            target = (released[:, q] - line[1, q]) / line[0, q]
            solved = from_averages(rows, force * line[0, q] ** 2, target, hold * force, x[:, q].copy())
            _keep(solved, keeps)
            x[:, q] += _MOVE * (solved - x[:, q])
        hold *= _FALL ** (1.0 / steps)
    return best, least


@compiled
def _keep(x: Floats, keeps: Rows) -> None:
    """Give a guess the known mean and spread, in place."""
    middle = np.mean(x)
    if keeps[0]:
        x -= middle
        x /= max(float(np.std(x)), _FLOOR)
        x += middle
    if keeps[1]:
        x -= np.mean(x)
