"""Which rows of numbers are sums of others: by it codes of a table are known to be totals of finer ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sfumato.kernels.tabular.whole_numbers import solve

__all__ = ["nesting"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_NEAR = 1e-9
"""Share of the whole by which figures may differ by floating-point sums alone."""
_STEPS = 5_000
"""Steps of the search for the parts of one row after which a whole-number program looks for them."""


def nesting(figures: Floats, whole: Floats) -> list[frozenset[int]] | None:
    """The finest rows that each row is the sum of, where there is one way only to see it.

    Parameters
    ----------
    figures
        A row for each code, a column for each figure of it; shape (codes, figures), not negative.
    whole
        Of each figure, the sum over all finest codes; shape (figures,).

    Returns
    -------
    list of frozenset, or None
        By row, the finest rows that it is the sum of: itself alone, where it is one. Rows that are equal and stand for
        the same have the same set. None where there is no such nesting, more than one, or none was found.

    Examples
    --------
    >>> figures = np.array([[5.0, 1.0], [2.0, 1.0], [3.0, 0.0], [4.0, 4.0]])
    >>> [sorted(parts) for parts in nesting(figures, np.array([9.0, 5.0]))]
    [[1, 2], [1], [2], [3]]
    """
    near = _NEAR * np.maximum(whole, 1.0)
    if not len(figures) or np.any(figures < 0) or np.any(figures.max(axis=1) <= 0):
        return None
    alike = _alike(figures, near)
    kinds = figures[[members[0] for members in alike]]
    many = np.array([len(members) for members in alike])
    parts: list[dict[int, int] | None] = [None] * len(kinds)
    finest: list[int] = []
    for kind in np.argsort(kinds.sum(axis=1), kind="stable").tolist():
        search = _Search(kinds[finest], many[finest], near)
        found = search.covers(kinds[kind])
        if found is None or len(found) > 1:
            return None
        if found:
            parts[kind] = {finest[i]: times for i, times in found[0].items()}
        else:
            finest.append(kind)
            parts[kind] = {kind: 1}
    all_found = _Search(kinds[finest], many[finest], near).covers(whole)
    if all_found is None or len(all_found) != 1:
        return None
    times = {finest[i]: n for i, n in all_found[0].items()}
    if set(times) != set(finest):
        return None
    return _spelled(alike, parts, times)


def _alike(figures: Floats, near: Floats) -> list[list[int]]:
    """Rows that are equal, together."""
    order = np.lexsort(np.round(figures / near).T)
    groups: list[list[int]] = []
    for i in order.tolist():
        if groups and np.all(np.abs(figures[i] - figures[groups[-1][0]]) <= near):
            groups[-1].append(i)
        else:
            groups.append([i])
    return sorted(sorted(group) for group in groups)


def _spelled(
    alike: list[list[int]], parts: list[dict[int, int] | None], times: dict[int, int]
) -> list[frozenset[int]] | None:
    """From kinds of rows to rows: equal finest rows stand beside each other, or for each other."""
    finest: dict[int, list[int]] = {}
    for kind, taken in times.items():
        if taken not in (1, len(alike[kind])):
            return None
        finest[kind] = alike[kind][:taken]
    out: dict[int, frozenset[int]] = {}
    for kind, members in enumerate(alike):
        held = parts[kind] or {}
        if any(taken != len(finest[part]) for part, taken in held.items() if part != kind):
            return None  # some of several equal rows: nothing says which
        for row in members:
            beside = kind in finest and len(finest[kind]) > 1
            out[row] = frozenset({row}) if beside else frozenset(i for part in held for i in finest[part])
    return [out[row] for row in sorted(out)]


@dataclass
class _Search:
    """Sums of finest rows, each taken as often as there are equal ones, that give a row."""

    rows: Floats
    many: NDArray[np.int64]
    near: Floats
    found: list[dict[int, int]] = field(default_factory=list)
    steps: int = 0

    def covers(self, goal: Floats) -> list[dict[int, int]] | None:
        """Up to two ways to make the row; None where the search was given up."""
        self._further(goal.copy(), {}, np.ones(len(self.rows), dtype=bool))
        return self.found if self.steps <= _STEPS else self._by_program(goal)

    def _by_program(self, goal: Floats) -> list[dict[int, int]] | None:
        """The same by whole-number programs: one way, then the one that has least in common with it."""
        fits = np.flatnonzero(np.all(self.rows <= goal + self.near, axis=1))
        if not len(fits):
            return []
        if np.any(self.many[fits] > 1):
            return None
        scale, loose = np.maximum(goal, self.near), np.maximum(self.near, 1e-7 * goal)  # what is found is checked
        matrix = sp.csr_array((self.rows[fits] / scale).T)
        none, one = np.zeros(len(fits)), np.ones(len(fits))
        # one way; then, where there is another, it has fewer of its rows or more of others
        found: list[Bools] = []
        cost = none
        for _ in range(2):
            told = solve(matrix, (goal - loose) / scale, (goal + loose) / scale, cost, none, one, one > 0)
            if told.values is None:
                return [] if told.optimal else None
            taken = told.values > 0.5
            if not told.optimal or np.any(np.abs(self.rows[fits].T @ taken - goal) > self.near):
                return None
            if not found or np.any(taken != found[0]):
                found.append(taken)
            cost = np.where(taken, 1.0, -1.0)
        return [dict.fromkeys(fits[way].tolist(), 1) for way in found]

    def _further(self, left: Floats, taken: dict[int, int], open_: Bools) -> None:
        """Take what must be taken, then try what the figure with the fewest candidates can be made of."""
        taken, open_ = dict(taken), open_.copy()
        while len(self.found) < 2 and self.steps <= _STEPS:
            self.steps += 1
            if np.all(np.abs(left) <= self.near):
                self.found.append(taken)
                return
            open_ &= np.all(self.rows <= left + self.near, axis=1)
            candidates = np.flatnonzero(open_)
            most = self.rows[candidates] * self.many[candidates, None]
            spare = most.sum(axis=0) - left
            if np.any(spare < -self.near):
                return
            # without one of these too little would be left
            must = candidates[np.any(most > spare + self.near, axis=1) & (self.many[candidates] == 1)]
            if len(must):
                left = left - self.rows[must].sum(axis=0)
                if np.any(left < -self.near):
                    return
                taken |= dict.fromkeys(must.tolist(), 1)
                open_[must] = False
                continue
            needed = np.flatnonzero(left > self.near)
            helps = (self.rows[candidates][:, needed] > self.near[needed]).sum(axis=0)
            column = needed[int(np.argmin(helps))]
            first = int(candidates[np.argmax(self.rows[candidates, column])])
            open_[first] = False
            for times in range(1, int(self.many[first]) + 1):
                rest = left - times * self.rows[first]
                if np.any(rest < -self.near):
                    break
                self._further(rest, {**taken, first: times}, open_)
            # and then without it
