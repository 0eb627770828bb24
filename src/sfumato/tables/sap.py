"""Attribution by subtraction: what somebody who knows k people finds empty once these are taken out of a table.

**Reconstructed.** Smith & Elliot (2008), Transactions on Data Privacy 1, 34-52, call such a measure SAP; their text
could not be had, and what stands here was rebuilt from what others say of it. Somebody knows k people of the
population, drawn at random, and subtracts them. Where a count is used up he has found a zero, and so something about
everybody else in its row or column. `sap` is the probability that at least one is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import DataError
from sfumato.kernels.tabular.subtraction import expected_used_up, used_up, used_up_by_draws
from sfumato.tables.table import Table

__all__ = ["LABEL", "Attribution", "attribution", "entropy_risk", "sap", "table_of_counts"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LABEL = "reconstructed"
"""What is said of the figure wherever it is shown."""
_DRAWS = 20_000
_KNOWN = 10_000


def sap(
    counts: Table | ArrayLike,
    k: int,
    *,
    upper: ArrayLike | None = None,
    margins: Sequence[Sequence[int | str]] | None = None,
    structural: ArrayLike | None = None,
    draws: int = _DRAWS,
    seed: int = 0,
) -> float:
    """Probability that somebody who knows k people finds a zero by subtracting them (reconstructed).

    Parameters
    ----------
    counts
        The true counts: a table, whose finest cells count, or an array with an axis for each variable.
    k
        How many people are known, drawn from all at random without replacement. 0: whether there is a zero already.
    upper
        The most that each cell can be, by what was released (bounds, an audit, rounding). A zero is found where as many
        are known as that. Without it the counts themselves are released.
    margins
        Released margins in place of the table: variables by name, or axes by number. A zero of the table is found where
        one of its margins' counts is used up. With one largest margin the figure is exact, with several it is the
        share of random draws.
    structural
        Cells that cannot but be empty, which tell nothing; truth values in the shape of the counts.
    draws, seed
        How often k people are drawn where there is no closed form, and from where on.

    Returns
    -------
    float
        From 0 to 1. The ratio of whole numbers is exact before it is made a float.

    Raises
    ------
    DataError
        Counts that are negative or broken, more known people than there are.

    Examples
    --------
    >>> [round(sap([1, 3, 5], k), 3) for k in range(5)]
    [0.0, 0.111, 0.222, 0.345, 0.484]

    What it does not tell: how much worse off somebody is who is found. One who knows k of his neighbours does not know
    people at random.
    """
    return attribution(counts, k, upper=upper, margins=margins, structural=structural, draws=draws, seed=seed).after


@dataclass(frozen=True)
class Attribution:
    """Attribution by subtraction, before and after protection; reconstructed.

    Parameters
    ----------
    k
        How many people are known.
    before, after
        SAP(k) of the table itself, and of what was released.
    zeros_before, zeros_after
        Expected number of cells that are found empty.
    entropy_before, entropy_after
        The risk by entropy of Antal, Shlomo and Elliot; after: None where what was released is no table of counts.
    error
        Standard error of `after`, where it is a share of draws; else 0.
    label
        What the figures are: a reconstruction.
    """

    k: int
    before: float
    after: float
    zeros_before: float
    zeros_after: float
    entropy_before: float
    entropy_after: float | None
    error: float = 0.0
    label: str = LABEL

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "label": self.label,
            "k": self.k,
            "sap": {"before": self.before, "after": self.after, "standard_error": self.error},
            "expected_zeros": {"before": self.zeros_before, "after": self.zeros_after},
            "entropy": {"before": self.entropy_before, "after": self.entropy_after},
        }


def attribution(
    counts: Table | ArrayLike,
    k: int,
    *,
    upper: ArrayLike | None = None,
    margins: Sequence[Sequence[int | str]] | None = None,
    published: ArrayLike | None = None,
    structural: ArrayLike | None = None,
    draws: int = _DRAWS,
    seed: int = 0,
) -> Attribution:
    """Attribution by subtraction and by entropy, of a table and of what was released of it (reconstructed).

    Parameters
    ----------
    counts, k, upper, margins, structural, draws, seed
        As for `sap`.
    published
        The changed counts that were released, for the entropy after.

    Examples
    --------
    >>> told = attribution([[0, 4], [3, 3]], 2, margins=[[0], [1]])
    >>> told.before, round(told.after, 3) < 0.05, told.label
    (1.0, True, 'reconstructed')
    """
    true, names = table_of_counts(counts)
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= _KNOWN:
        raise DataError(f"The number of people who are known is a whole number from 0 to {_KNOWN}.")
    if k > int(true.sum()):
        raise DataError("More people are known than the table has.")
    if upper is not None and margins is not None:
        raise DataError("Give the most that cells can be, or released margins, not both.")
    real = ~_shaped(structural, true, "structural", bool) if structural is not None else np.ones(true.shape, dtype=bool)
    flat = [int(x) for x in true.ravel()]
    told = [bool(x) for x in real.ravel()]
    before, zeros = float(used_up(flat, k, told)), float(expected_used_up(flat, k, told))
    after, zeros_after, error = before, zeros, 0.0
    if upper is not None:
        most = _shaped(upper, true, "upper", float)
        if np.any(most < true):
            raise DataError("The most that a cell can be is less than its count: `upper` belongs to another table.")
        can = [bool(x) for x in (real & (most == true)).ravel()]
        after, zeros_after = float(used_up(flat, k, can)), float(expected_used_up(flat, k, can))
    elif margins is not None:
        after, zeros_after, error = _of_margins(true, real, _axes(margins, true, names), k, draws, seed)
    entropy_after = None
    if published is not None:
        entropy_after = entropy_risk(_shaped(published, true, "published", float))
    elif upper is None and margins is None:
        entropy_after = entropy_risk(true)
    return Attribution(int(k), before, after, zeros, zeros_after, entropy_risk(true), entropy_after, error)


def entropy_risk(counts: ArrayLike, weights: tuple[float, float, float] = (0.1, 0.8, 0.1)) -> float:
    """Risk of a table of a whole population by its zeros, by how uneven it is, and by how few people it has.

    w1 |zeros| / K + w2 (1 - H / log K) - w3 log(1 / (e sqrt N)) / sqrt N, with K cells, N people and the entropy H.

    Parameters
    ----------
    counts
        Counts of all cells.
    weights
        Of the three terms; they sum to 1.

    References
    ----------
    Antal, Shlomo & Elliot (2014), Privacy in Statistical Databases, 62-78; as in section 5.9 of the Handbook on
    Statistical Disclosure Control.

    Examples
    --------
    >>> round(entropy_risk([5, 0, 0, 0]), 3), round(entropy_risk([5000] * 4), 3)
    (0.956, 0.004)
    """
    flat = np.asarray(counts, dtype=np.float64).ravel()
    n, cells = float(flat.sum()), len(flat)
    if n <= 0 or cells < 2:
        raise DataError("The risk by entropy needs a table of two cells or more, and somebody in it.")
    share = flat[flat > 0] / n
    entropy = -float(np.sum(share * np.log(share)))
    few = (1 + np.log(n) / 2) / np.sqrt(n)
    return float(weights[0] * np.mean(flat == 0) + weights[1] * (1 - entropy / np.log(cells)) + weights[2] * few)


def table_of_counts(given: Table | ArrayLike) -> tuple[Ints, tuple[str, ...]]:
    """Counts with an axis for each variable, and the variables' names where they have some.

    Parameters
    ----------
    given
        A table, whose finest cells count, or numbers.

    Raises
    ------
    DataError
        Counts that are missing, negative or broken.

    Examples
    --------
    >>> table_of_counts([1, 2])
    (array([1, 2]), ())
    """
    names: tuple[str, ...] = ()
    if isinstance(given, Table):
        names = given.variables
        fine = [axis.finest for axis in given.axes]
        rows = np.all([np.isin(given.places[:, i], f) for i, f in enumerate(fine)], axis=0)
        values = np.zeros([len(f) for f in fine])
        where = tuple(np.searchsorted(f, given.places[rows, i]) for i, f in enumerate(fine))
        values[where] = given.values[rows]
    else:
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("Counts are numbers in a list, or in an array with an axis for each variable.") from None
    if values.size == 0 or values.ndim == 0:
        raise DataError("There is no count.")
    if np.any(np.isnan(values)) or np.any(values < 0) or np.any(values != np.round(values)):
        raise DataError("Counts are whole numbers from 0 on, and none is missing.")
    return values.astype(np.int64), names


def _shaped(given: ArrayLike, counts: Ints, name: str, kind: type) -> NDArray[Any]:
    out: NDArray[Any] = np.asarray(given, dtype=kind)
    if out.size != counts.size:
        raise DataError(f"`{name}` has another shape than the counts.")
    return out.reshape(counts.shape)


def _axes(margins: Sequence[Sequence[int | str]], counts: Ints, names: Sequence[str]) -> list[tuple[int, ...]]:
    """Released margins as axes, those left out that others hold."""
    found: set[tuple[int, ...]] = set()
    for margin in margins:
        one = set()
        for name in margin:
            if isinstance(name, str) and name not in names:
                raise DataError(f"{name!r} is no variable of the table.")
            axis = names.index(name) if isinstance(name, str) else int(name)
            if not 0 <= axis < counts.ndim:
                raise DataError("A margin names an axis that the counts do not have.")
            one.add(axis)
        found.add(tuple(sorted(one)))
    return sorted(a for a in found if not any(set(a) < set(b) for b in found))


def _of_margins(
    counts: Ints, real: NDArray[np.bool_], margins: Sequence[tuple[int, ...]], k: int, draws: int, seed: int
) -> tuple[float, float, float]:
    """SAP, expected zeros and standard error where margins were released."""
    if not margins:
        raise DataError("Name the released margins.")
    gone = [tuple(i for i in range(counts.ndim) if i not in margin) for margin in margins]
    sums = [counts.sum(axis=g).ravel() for g in gone]
    can = [real.any(axis=g).ravel() for g in gone]
    cell = [
        np.arange(s.size).reshape([counts.shape[i] if i in m else 1 for i in range(counts.ndim)])
        for m, s in zip(margins, sums, strict=True)
    ]
    cells = [np.broadcast_to(c, counts.shape).ravel() for c in cell]
    if len(margins) == 1:
        flat, which = [int(x) for x in sums[0]], [bool(x) for x in can[0]]
        n, held = sum(flat), np.bincount(cells[0], weights=real.ravel(), minlength=len(flat))
        mean = sum(
            comb(n - f, k - f) / comb(n, k) * float(h)
            for f, c, h in zip(flat, which, held, strict=True)
            if c and f <= k
        )
        return float(used_up(flat, k, which)), float(mean), 0.0
    share, mean = used_up_by_draws(counts.ravel(), cells, can, k, draws, seed)
    return share, mean, float(np.sqrt(share * (1 - share) / draws))
