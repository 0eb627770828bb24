"""Reconstruction: true values that come out of a release of centroids, for somebody who knows nothing else.

A centroid release of n records is n equations in n unknowns. The attacker guesses the values, finds everybody's
neighbours among the guesses, solves the equations, and repeats until the release follows from the guess; which of
several attempts came nearest to that, he sees without knowing a single true value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.disclosure import Averaged, Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.inversion.invert import Kept, invert
from sfumato.kernels.neighbours.centroids import nearest_centroids
from sfumato.kernels.rows import distinct, row_hash, scatter
from sfumato.measures.confidence import wilson
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import PUBLISHED, percent, value_of, with_value, worst
from sfumato.measures.subject import Subject

__all__ = ["ALL", "AT", "ATTACK", "LARGEST", "MEASURE", "SD", "findings"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

ATTACK = "inversion"
AT = (0.01, 0.05)
"""How near a value must come: shares of the true value, or of the column's standard deviation."""
ALL, LARGEST, SD = "all", "largest", "sd"
TOP = 10
"""How many of a column's largest values the group `largest` is of."""
MOST_ALONE, MOST, BLOCK = 6_000, 2_000, 1_000
"""Most records that are attacked in one column and in several, and most of one stratum; more are attacked in part."""
_NEAR_THE_TOP = 300  # records around a largest value that are attacked with it
_SALT = np.uint64(0x5265636F6E737472)  # public; so that choosing here is unrelated to choosing elsewhere

NOT_ALIGNED = "The tables are not joined record by record, so no reconstruction was measured."
NO_RECORD = "Reconstruction: no record has a value in every averaged column, so none was tried."
DISJOINT = (
    "Reconstruction: groups that share no record give nothing to solve; the figures are those of released values."
)
SAMPLED = (
    f"Reconstruction was tried on about {MOST} records, strata or parts of strata that a public rule chooses, by an "
    "attacker who knows how far the spread was restored, as one who solves the whole table does."
)
TOO_MANY = "Reconstruction of the largest values was not tried, as it would take too long: {columns}."


def findings(pair: Pair, disclosure: Disclosure, unscaled: Floats | None = None) -> Findings:
    """Give the lines `reconstruction`: shares of values that an attacker gets within `at` of the truth.

    Of each averaged column the groups `all` and `largest` (its ten largest values), where near is relative to the value
    itself, and `sd`, where it is relative to the column's standard deviation. The baseline is the same share of the
    released values, and the least that the attacker gets: he can take them as they are. The attacker knows the release
    and what it discloses, and no true value. He does not use what other releases of the same people say, nor that
    values are whole numbers, which would give him more.

    Parameters
    ----------
    pair
        Original and protected table.
    disclosure
        What the release tells: columns, strata, k and whether means and spreads were kept.
    unscaled : ndarray, shape (n, p), optional
        The pair's columns as they were before spreads were restored, where that is known; else the line from these to
        the release is worked out anew for large tables.

    References
    ----------
    For averages of groups see Domingo-Ferrer and Mateo-Sanz (2002), doi:10.1109/69.979982; that overlapping ones are
    a system of equations was found by trying.
    """
    averaged = [part for part in disclosure if isinstance(part, Averaged)]
    parts = [(part, [n for n in part.columns if n in pair.columns]) for part in averaged]
    parts = [(part, names) for part, names in parts if names]
    if not parts:
        return Findings()
    if not pair.aligned:
        return Findings((), (NOT_ALIGNED,))
    return Findings.together(_Attacked(pair, part, names, unscaled).findings() for part, names in parts)


@dataclass(frozen=True)
class _Attacked:
    """One step's columns under attack."""

    pair: Pair
    part: Averaged
    names: list[str]
    unscaled: Floats | None = None

    def findings(self) -> Findings:
        """The lines of every column."""
        places = [self.pair.columns.index(n) for n in self.names]
        x, z = self.pair.x[:, places], self.pair.z[:, places]
        whole = ~(np.isnan(x).any(axis=1) | np.isnan(z).any(axis=1))
        if not whole.any():
            lines = [Finding("reconstruction", n, g, at, ATTACK) for n in self.names for g, at in _places()]
            return Findings(tuple(lines), (NO_RECORD,))
        before = None if self.unscaled is None else self.unscaled[:, places][whole]
        return self._lines(x[whole], z[whole], self._stratum()[whole], before)

    def _stratum(self) -> Rows:
        """Strata as the attacker sees them: the released columns of `by`."""
        known = [n for n in self.part.by if n in self.pair.known_by]
        if not known:
            return np.zeros(self.pair.after.height, dtype=np.int64)
        rank = self.pair.after.select(pl.struct(known).rank("dense")).to_series()
        return np.asarray(rank.to_numpy().astype(np.int64))

    def _lines(self, x: Floats, z: Floats, stratum: Rows, before: Floats | None) -> Findings:
        lines: list[Finding] = []
        notes: list[str] = []
        guesses: _Guess | None
        tops: list[_Guess | None]
        if self.part.grouping != "knn":
            guesses, notes = _Guess.of(np.arange(len(x)), z, z), [DISJOINT]
            tops = [guesses] * len(self.names)
        elif len(x) <= (MOST_ALONE if x.shape[1] == 1 else MOST) and (
            x.shape[1] == 1 or np.bincount(stratum).max() <= BLOCK
        ):
            kept = Kept(spread=self.part.rescaled, mean=self.part.recentred)
            guesses = _Guess.of(np.arange(len(x)), invert(z, stratum, self.part.k, kept), z)
            tops = [guesses] * len(self.names)
        else:
            line = self._line(x, self._centroids(x, stratum) if before is None or np.isnan(before).any() else before)
            guesses, notes = self._some(z, stratum, line, _by_lot(z), BLOCK), [SAMPLED]
            tops = [self._some(z, stratum, line, _largest(x[:, j], z), _NEAR_THE_TOP) for j in range(x.shape[1])]
        whole = guesses is not None and len(guesses.rows) == len(x)
        everybody = np.arange(len(x))
        for j, name in enumerate(self.names):
            top = _largest(x[:, j], z)
            for group, at in _places():
                guess = tops[j] if group == LARGEST else guesses
                rows = top if group == LARGEST else everybody
                lines.append(_line(name, group, at, x[:, j], z, rows, guess, j, whole or group == LARGEST))
        if late := [n for n, top in zip(self.names, tops, strict=True) if top is None]:
            notes.append(TOO_MANY.format(columns=", ".join(late)))
        return Findings(tuple(lines), tuple(notes))

    def _some(self, z: Floats, stratum: Rows, line: Floats, seeds: Rows, block: int) -> _Guess | None:
        """Attack the strata, or parts of strata, around records, one after the other until there are enough.

        None where `seeds` are few and not all of them can be attacked.
        """
        unit = z / np.where(z.std(axis=0) > 0, z.std(axis=0), 1.0)
        covered = np.zeros(len(z), dtype=bool)
        parts: list[Rows] = []
        counted: list[NDArray[np.bool_]] = []
        for seed in seeds:
            if covered[seed]:
                continue
            if sum(map(len, parts)) >= MOST:
                if len(seeds) < len(z):
                    return None
                break
            rows = np.flatnonzero(stratum == stratum[seed])
            inner = np.ones(len(rows), dtype=bool)
            if len(rows) > block:  # a part's edge is not solved well, as it lacks neighbours
                apart = np.round(((unit[rows] - unit[seed]) ** 2).sum(axis=1), 9)
                close = np.flatnonzero(apart <= np.partition(apart, block)[block])
                order = close[np.argsort(apart[close], kind="stable")]
                near = np.searchsorted(apart[order], apart[order[[block // 2, block]]])  # equal ones stay together
                rows = rows[order[: near[1] or block]]
                inner = np.arange(len(rows)) < (near[0] or block // 2)
            parts.append(rows)
            counted.append(inner & ~covered[rows])
            covered[rows[inner]] = True
        rows, counts = np.concatenate(parts), np.concatenate(counted)
        label = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        guess = invert(z[rows], label, self.part.k, Kept(line=line))
        return _Guess.of(rows[counts], guess[counts], z)

    def _centroids(self, x: Floats, stratum: Rows) -> Floats:
        """Averages of every record's nearest ones."""
        spread = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        made = np.empty_like(x)
        for rows in np.split(np.argsort(stratum, kind="stable"), np.cumsum(np.bincount(stratum))[:-1]):
            if len(rows):
                made[rows] = nearest_centroids(x[rows] / spread, self.part.k) * spread
        return made

    def _line(self, x: Floats, made: Floats) -> Floats:
        """Slope and intercept from centroids to releases, which whoever solves the whole table finds."""
        line = np.array([np.ones(x.shape[1]), np.zeros(x.shape[1])])
        if self.part.rescaled:
            left = made.std(axis=0)
            line[0] = np.where(left > 0, x.std(axis=0) / np.where(left > 0, left, 1.0), 1.0)
        centre = made.mean(axis=0) if self.part.recentred else x.mean(axis=0)
        line[1] = x.mean(axis=0) - line[0] * centre
        return line


@dataclass(frozen=True)
class _Guess:
    """What an attacker takes for the true values of some rows."""

    rows: Rows
    values: Floats
    alike: tuple[Rows, ...]
    """Places of rows whose released values are equal: nobody can say which guess is whose."""

    @classmethod
    def of(cls, rows: Rows, values: Floats, z: Floats) -> _Guess:
        """With the rows that are alike in a release."""
        unit = np.where(z.std(axis=0) > 0, z.std(axis=0), 1.0)
        equal = distinct(np.round(z[rows] / unit, 7)).inverse
        order = np.argsort(equal, kind="stable")
        return cls(rows, values, tuple(np.split(order, np.flatnonzero(np.diff(equal[order])) + 1)))


def _places() -> Iterator[tuple[str, float]]:
    """Groups and distances, in the order of the lines."""
    return ((group, at) for group in (ALL, LARGEST, SD) for at in AT)


def _by_lot(z: Floats) -> Rows:
    """All rows in an order that a public hash of their values tells."""
    return np.argsort(scatter(row_hash(z) ^ _SALT), kind="stable")


def _largest(x: Floats, z: Floats) -> Rows:
    """Rows of the largest true values; where equal ones are left over, by their released values."""
    top = np.flatnonzero(x >= np.partition(x, len(x) - TOP)[len(x) - TOP]) if len(x) > TOP else np.arange(len(x))
    return top[np.lexsort((*z[top].T, -x[top]))][:TOP]


def _line(
    name: str, group: str, at: float, x: Floats, z: Floats, rows: Rows, guess: _Guess | None, column: int, whole: bool
) -> Finding:
    """One line: of the rows that count, how many were guessed, and how many released, near enough."""
    near = at * (np.full(len(x), x.std(ddof=1) if len(x) > 1 else 0.0) if group == SD else np.abs(x))
    baseline = float((np.abs(z[rows, column] - x[rows]) <= near[rows]).mean())
    if guess is None:
        return Finding("reconstruction", name, group, at, ATTACK, baseline=baseline)
    counts = np.ones(len(guess.rows), dtype=bool) if group != LARGEST else np.isin(guess.rows, rows)
    hit = _chances(guess, column, x, near)[counts]
    share = float(hit.mean())
    interval = None if whole else wilson(hit.sum(), len(hit))
    if share < baseline:  # whoever solves can as well take what is released
        share, interval = baseline, interval and (min(interval[0], baseline), max(interval[1], baseline))
    return Finding("reconstruction", name, group, at, ATTACK, share, interval, baseline)


def _chances(guess: _Guess, column: int, x: Floats, near: Floats) -> Floats:
    """Chance that each guessed row's guess is near enough: of equal released rows nobody can say which is whose."""
    out = np.empty(len(guess.rows))
    for same in guess.alike:
        rows = guess.rows[same]
        out[same] = (np.abs(guess.values[same, column][:, None] - x[rows]) <= near[rows]).mean(axis=0)
    return out


def _compute(subject: Subject) -> Findings:
    return findings(subject.two, subject.disclosure, subject.unscaled)


def _most(findings: Findings) -> Finding | None:
    lines = [f for f in with_value(findings, "reconstruction") if f.group == ALL and f.at == AT[0]]
    return worst(lines) if lines else None


def _say(findings: Findings, fraction: float) -> str | None:
    line = _most(findings)
    if line is None:
        return None
    if line.baseline is not None and value_of(line) <= line.baseline:
        return (
            f"Solving the release for what it was made of gives nobody more than it shows: of the values of "
            f"{line.variable}, {percent(line.baseline)} are released within 1% of the truth."
        )
    as_released = f" (of the released values {percent(line.baseline)})" if line.baseline is not None else ""
    return (
        f"Somebody who knows the release alone and solves it for what it was made of gets {percent(value_of(line))} of "
        f"the values of {line.variable} within 1% of the truth{as_released}."
    )


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = [f for f in with_value(findings, "reconstruction") if f.group == ALL and f.at == AT[0]]
    return tuple(
        Complaint(
            f"Many values of {f.variable} can be computed back from the release alone",
            Aim.UNSOLVED,
            f.variable,
            urgent=True,
        )
        for f in lines
        if value_of(f) > PUBLISHED and value_of(f) > 2 * (f.baseline or 0.0)
    )


MEASURE = Measure(
    family="closeness",
    place=35,
    doing="reconstruction",
    needs=frozenset({"pair", "columns", "disclosure"}),
    figures=(
        Figure(
            "reconstruction",
            title="Values computed back from the release",
            what="An attacker who knows nothing but the release takes it for the system of equations that it is, and "
            "solves it: this share of the true values comes out within a small distance. Where groups share no record "
            "there is nothing to solve, and it is the share of released values that are as near.",
            form="share",
            published="rate",
            baseline="Released values as near",
            at="within {1}%",
            aim=Aim.UNSOLVED,
        ),
    ),
    compute=_compute,
    forms={"strata": _compute},
    effort=20,
    say=_say,
    complain=_complain,
)
