"""Draw values anew between those that lie some ranks below and above."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ranked", "near_ranks"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def near_ranks(x: Floats, share: float, u: Floats) -> Floats:
    """Draw each value anew, evenly between those that a share of all ranks lie below and above it.

    Equal values have the bounds of all of them; at the ends the range is cut off at the least and the largest value.

    Parameters
    ----------
    x
        Values, shape (n,), no NaN.
    share
        Share of the ranks on either side, above 0; at least one rank.
    u
        Uniform draws in (0, 1), shape (n,).

    Examples
    --------
    >>> near_ranks(np.array([1.0, 2.0, 4.0, 8.0]), 0.25, np.full(4, 0.5)).tolist()
    [1.5, 2.5, 5.0, 6.0]
    """
    if not len(x):
        return x
    ordered, ranks = np.sort(x), max(1, int(share * len(x) + 1e-9))
    low = ordered[np.maximum(np.searchsorted(ordered, x, "left") - ranks, 0)]
    high = ordered[np.minimum(np.searchsorted(ordered, x, "right") - 1 + ranks, len(x) - 1)]
    return np.asarray(low + u * (high - low))


@dataclass(frozen=True)
class Ranked:
    """Values in the order of their labels and sizes, so that any of them can be drawn anew among its like.

    Parameters
    ----------
    ordered
        The values, label by label, sorted, shape (m,).
    first, last
        Places of each row's equals in `ordered`, shape (n,); of no use for a row without a value.
    start, end
        Places where the values of each row's label begin and end, shape (n,).
    """

    ordered: Floats
    first: Ints
    last: Ints
    start: Ints
    end: Ints

    @classmethod
    def of(cls, x: Floats, label: Ints) -> Ranked:
        """Rank values within labels.

        Parameters
        ----------
        x
            Values, shape (n,), NaN where there is none.
        label
            Label of each, shape (n,).
        """
        rows = np.flatnonzero(~np.isnan(x))
        rows = rows[np.lexsort((x[rows], label[rows]))]
        ordered, labels = x[rows], label[rows]
        apart = np.diff(labels) != 0
        places = [np.zeros(len(x), dtype=np.int64) for _ in range(4)]
        for out, new in ((places[:2], apart | (np.diff(ordered) != 0)), (places[2:], apart)):
            begins = np.flatnonzero(np.concatenate([[True], new])) if len(rows) else np.zeros(0, dtype=np.int64)
            ends = np.append(begins[1:], len(rows))
            run = np.cumsum(np.concatenate([[False], new])) if len(rows) else begins
            out[0][rows], out[1][rows] = begins[run], ends[run] - 1
        return cls(ordered, *places)

    def anew(self, rows: Ints, share: float, ties: Floats, u: Floats) -> Floats:
        """Draw the values of some rows anew, evenly between those some ranks below and above within their label.

        Of equal values each has the rank that its draw says, so that of many few move.

        Parameters
        ----------
        rows
            Rows that have a value, shape (m,).
        share
            Share of the label's ranks on either side, above 0; at least one rank.
        ties, u
            Uniform draws in (0, 1), shape (m,).

        Examples
        --------
        >>> ranked = Ranked.of(np.array([1.0, 2.0, 4.0, 8.0]), np.array([0, 0, 1, 1]))
        >>> ranked.anew(np.arange(4), 0.25, np.full(4, 0.5), np.full(4, 0.5)).tolist()
        [1.5, 1.5, 6.0, 6.0]
        """
        first, last, start, end = (each[rows] for each in (self.first, self.last, self.start, self.end))
        place = first + (ties * (last - first + 1)).astype(np.int64)
        ranks = np.maximum(1, (share * (end - start + 1) + 1e-9).astype(np.int64))
        low, high = (self.ordered[np.clip(at, start, end)] for at in (place - ranks, place + ranks))
        return np.asarray(low + u * (high - low))

    def bounds(self, rows: Ints) -> tuple[Floats, Floats]:
        """Least and largest value of the label of some rows that have a value."""
        return self.ordered[self.start[rows]], self.ordered[self.end[rows]]
