"""What noise that a household shares leaves open: the differences between its members stay as they were."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Additive, Disclosed, Misclassified
from sfumato.data.pair import Pair
from sfumato.data.roles import Role
from sfumato.kernels.masking.noise import Distribution
from sfumato.measures.risk.attackers.error_law import ErrorLaw, log_density

__all__ = ["Households", "exact", "households", "shared_columns", "shared_posterior_right"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_BY_COLUMN = ("support", "bounds", "rounded", "grows", "exchange")
_SAME = 1e-9
"""Differences below this share of a column's values come from the representation of numbers."""


@dataclass(frozen=True)
class Households:
    """Who lives with whom, and which columns have one draw for all of a household.

    Parameters
    ----------
    member
        Household of each record, 0, 1, …, shape (n,).
    shared
        Numbers of the columns.

    Examples
    --------
    >>> Households(np.array([0, 0, 1]), (0,)).apart(np.array([[1.0], [3.0], [5.0]])).tolist()
    [[-1.0, -1.0, 1.0, 2.0], [1.0, -1.0, 1.0, 2.0], [0.0, 0.0, 0.0, 5.0]]
    """

    member: Ints
    shared: tuple[int, ...]

    def apart(self, x: Floats) -> Floats:
        """Differences from the household's mean in place of shared columns.

        Further columns hold, for the q shared ones in turn, the household's lowest and highest difference, by which
        other members' values tell it, and its mean.

        Parameters
        ----------
        x
            Shape (n, p), NaN where missing.

        Returns
        -------
        ndarray, shape (n, p + 3q)
        """
        out, means = x.copy(), np.empty((len(x), len(self.shared)))
        ends = []
        for k, j in enumerate(self.shared):
            means[:, k] = self._mean(x[:, j])
            out[:, j] -= means[:, k]
            ends += [-self._highest(-out[:, j]), self._highest(out[:, j])]
        return np.column_stack([out, *ends, means])

    def _mean(self, x: Floats) -> Floats:
        have = ~np.isnan(x)
        size = int(self.member.max()) + 1
        total = np.bincount(self.member[have], x[have], minlength=size)
        count = np.bincount(self.member[have], minlength=size)
        return np.where(have, (total / np.maximum(count, 1))[self.member], np.nan)

    def _highest(self, x: Floats) -> Floats:
        have = ~np.isnan(x)
        top = np.full(int(self.member.max()) + 1, -np.inf)
        np.maximum.at(top, self.member[have], x[have])
        return np.where(have, top[self.member], np.nan)

    def law(self, law: ErrorLaw, true: Floats, noisy: Floats) -> ErrorLaw:
        """The law of these differences and means: differences have the errors that clipping and rounding left.

        Parameters
        ----------
        law
            Of the columns themselves.
        true, noisy
            What `apart` gives of the records that it holds for, shape (m, p + 3q).
        """
        p, q, shared = len(law.columns), len(self.shared), list(self.shared)
        differences, means = [*shared, *range(p, p + 2 * q)], list(range(p + 2 * q, p + 3 * q))
        covariance = np.zeros((p + 3 * q, p + 3 * q))
        at = [means[shared.index(j)] if j in shared else j for j in range(p)]
        covariance[np.ix_(at, at)] = law.covariance
        covariance[differences, differences] = _left(true[:, differences], noisy[:, differences], noisy[:, means])
        whole = [j in self.shared for j in range(p)]

        def keep(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return (*(None if w else v for v, w in zip(values, whole, strict=True)), *([None] * 3 * q))

        kept: dict[str, Any] = {k: keep(getattr(law, k)) for k in _BY_COLUMN}
        kept["fine"] = keep(law.fine) if law.fine else ()
        normal: list[Distribution] = ["gaussian"] * (3 * q)
        new = tuple(f"{law.columns[j]}:{what}" for j in shared for what in ("lowest", "highest"))
        return replace(
            law,
            columns=(*law.columns, *new, *(f"{law.columns[j]}:mean" for j in shared)),
            covariance=covariance,
            distribution=(*law.distribution, *normal),
            marginal=None,
            steps=(),
            **kept,
        )


def _left(true: Floats, noisy: Floats, means: Floats) -> Floats:
    """Mean squared error of each difference; 0 where it comes from the representation of numbers alone."""
    if not len(true):
        return np.zeros(true.shape[1])
    size = np.nan_to_num(np.abs(means)).max()
    left = np.nan_to_num((noisy - true) ** 2).mean(axis=0)
    return np.where(left > (_SAME * size) ** 2, left, 0.0)


def shared_columns(parts: Iterable[Disclosed]) -> tuple[str, ...]:
    """Columns of which a disclosure says that all of a household share the draw."""
    drawn = [p for p in parts if isinstance(p, Additive | Misclassified) and p.draw_by == "household"]
    return tuple(dict.fromkeys(n for p in drawn for n in p.columns))


def households(pair: Pair, parts: Sequence[Disclosed], names: Sequence[str]) -> Households | None:
    """Who lives with whom, where noise is shared and some household has two members; None elsewhere.

    Parameters
    ----------
    pair
        Its codebook names the household column. The attacker can tell released households apart, so both tables have
        to have it.
    parts
        The disclosure.
    names
        The columns that the attacker knows.
    """
    column = pair.codebook.the(Role.HOUSEHOLD)
    if column is None or column not in pair.before.columns or column not in pair.after.columns:
        return None
    added = shared_columns([p for p in parts if isinstance(p, Additive)])
    also_alone = {
        n for p in parts if isinstance(p, Additive | Misclassified) and p.draw_by != "household" for n in p.columns
    }
    shared = tuple(j for j, n in enumerate(names) if n in added and n not in also_alone)
    if not shared or pair.after[column].n_unique() == pair.after.height:
        return None
    rank = pair.after.select(pl.col(column).rank("dense") - 1).to_series()
    member = rank.cast(pl.Int64).fill_null(-1).to_numpy().copy()
    alone = member < 0
    member[alone] = member.max(initial=-1) + 1 + np.arange(int(alone.sum()))
    return Households(member, shared)


def exact(law: ErrorLaw, column: int) -> bool:
    """Whether members who share a draw of noise are seen to differ just as they did.

    Nothing else was done to the column but for rounding that is finer than half of the least difference.
    """
    done = (law.bounds[column], law.rounded[column], law.grows[column], law.exchange[column])
    if any(d is not None for d in done):
        return False
    step, levels = law.step(column), law.support[column]
    return step is None or (levels is not None and step < float(np.diff(levels).min(initial=np.inf)) / 2)


def shared_posterior_right(true: Floats, released: Floats, law: ErrorLaw, column: int, member: Ints) -> float | None:
    """How often a 0/1 column is read rightly off a household whose members share the draw of noise.

    Only a few draws are possible: the first member's value less each category. A draw counts as probable as it is,
    times the shares of the categories that it leaves for all members.

    Parameters
    ----------
    true, released
        Shape (n,), NaN where missing.
    law
        How released values arise.
    column
        Number of the column in the law.
    member
        Household of each record, shape (n,).

    Returns
    -------
    float or None
        Share of the records; None where clipping, rounding, exchanges or growth make differences inexact.

    Examples
    --------
    >>> from sfumato.measures.risk.attackers.error_law import laws
    >>> (_, law), = laws([Additive(("s",), [[50.0]], values=(0, 1))], ("s",), pl.DataFrame(), ())
    >>> x, home = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1])
    >>> shared_posterior_right(x, x + np.array([7.0, 7.0, -9.0, -9.0]), law, 0, home)
    1.0
    """
    levels = law.support[column]
    if levels is None or not exact(law, column):
        return None
    have = ~(np.isnan(true) | np.isnan(released))
    x, z = true[have], released[have]
    home = np.unique(member[have], return_inverse=True)[1].reshape(-1)
    first = np.full(int(home.max(initial=-1)) + 1, np.inf)
    np.minimum.at(first, home, z)
    share = np.array([np.mean(x == v) for v in levels])
    log_share = np.log(np.maximum(share, 1e-300))
    sd = float(np.sqrt(law.covariance[column, column]))
    weight, guess = np.empty((len(levels), len(first))), np.empty((len(levels), len(z)))
    tolerance = 1e-6 * float(np.ptp(levels)) + 1e-12 * float(np.abs(z).max(initial=0.0))
    tolerance += law.step(column) or 0.0  # each of two values is off by half of it
    for k, v in enumerate(levels):
        value = z - first[home] + v
        nearest = np.argmin(np.abs(value[:, None] - levels), axis=1)
        own = np.where(np.abs(value - levels[nearest]) <= tolerance, log_share[nearest], -1e6)
        weight[k] = np.bincount(home, own, minlength=len(first)) + log_density(
            (first - v) / sd, law.distribution[column]
        )
        guess[k] = levels[nearest]
    best = np.argmax(weight, axis=0)
    return float(np.mean(guess[best[home], np.arange(len(z))] == x))
