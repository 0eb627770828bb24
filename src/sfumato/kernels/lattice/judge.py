"""All criteria of a search together: which classes fail, what surely fails, what is kept and what it loses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.lattice.criteria.criterion import Block, Criterion, Overall

__all__ = ["Judge", "allowed", "judge"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Shorts = NDArray[np.int32]

_CELLS = 2**21
"""Cells of a histogram of many classes that are held at once."""


@dataclass(frozen=True)
class Judge:
    """The criteria of a search.

    Parameters
    ----------
    each : tuple of Criterion
        Those on classes; on sizes first, since what fails them need not be looked at again.
    overall : tuple of Overall
        Those on all that is kept.
    references : tuple of ndarray
        Records of the whole file with each value of each sensitive variable.
    pruning : tuple of Criterion
        Those by which a node that fails finds out all finer ones.
    prunes_overall : bool
        Whether a node that fails the criteria on all that is kept finds out all finer ones.
    limit : int
        Most records that may be suppressed.
    """

    each: tuple[Criterion, ...]
    overall: tuple[Overall, ...]
    references: tuple[Ints, ...]
    pruning: tuple[Criterion, ...]
    prunes_overall: bool
    limit: int

    @property
    def least_size(self) -> int:
        """Fewest records of a class that can pass."""
        return max((criterion.least_size for criterion in self.each), default=1)

    def failing(self, sizes: Ints, which: Ints | Shorts, values: Ints, count: Ints, *, surely: bool = False) -> Bools:
        """Tell which classes fail, shape (C,).

        Parameters
        ----------
        sizes
            Records of each class, shape (C,).
        which, values, count
            Of each row: its class, its sensitive codes of shape (R, s), its records.
        surely
            By the criteria alone that find out finer nodes.
        """
        bad = np.zeros(len(sizes), dtype=bool)
        histograms = []
        for criterion in self.pruning if surely else self.each:
            if criterion.variable is None:
                bad |= criterion.fails(Block(sizes, {}, self.references))
            else:
                histograms.append(criterion)
        if histograms and not bad.all():
            for some, block in self._blocks(bad, sizes, which, values, count, histograms):
                for criterion in histograms:
                    bad[some] |= criterion.fails(block)
        return bad

    def _blocks(
        self, bad: Bools, sizes: Ints, which: Ints | Shorts, values: Ints, count: Ints, asked: Sequence[Criterion]
    ) -> Iterator[tuple[Ints, Block]]:
        """The classes that are not bad yet, as many at a time as one histogram may hold."""
        variables = sorted({v for criterion in asked if (v := criterion.variable) is not None})
        left = np.flatnonzero(~bad)
        place = np.full(len(sizes), -1, dtype=np.int64)
        place[left] = np.arange(len(left))
        at = place[which]
        step = max(_CELLS // max(len(self.references[v]) for v in variables), 1)
        for start in range(0, len(left), step):
            some = left[start : start + step]
            inside = (at >= start) & (at < start + len(some))
            rows, counts, codes = at[inside] - start, count[inside], values[inside]
            histograms = {v: self._histogram(rows, codes[:, v], counts, len(some), v) for v in variables}
            yield some, Block(sizes[some], histograms, self.references)

    def _histogram(self, rows: Ints, code: Ints, count: Ints, classes: int, variable: int) -> Ints:
        width = len(self.references[variable])
        known = code >= 0
        cells = rows[known] * width + code[known]
        flat = np.bincount(cells, weights=count[known], minlength=classes * width)
        return flat.reshape(classes, width).astype(np.int64)

    def fails_all(self, kept: Ints) -> bool:
        """Tell whether what is kept fails as a whole; where nothing is kept there is nothing to fail."""
        return bool(len(kept)) and any(criterion.fails_all(kept) for criterion in self.overall)


def allowed(limit: float, records: int) -> int:
    """Give the most records that may be suppressed: ⌊limit · records⌋, without losing one to rounding (0.07 · 100).

    Parameters
    ----------
    limit
        A share, from 0 to 1.
    records
        Number of records.

    Examples
    --------
    >>> allowed(0.07, 100), allowed(0.29, 100), allowed(0.05, 19)
    (7, 29, 0)
    """
    if not 0 <= limit <= 1:
        raise ValueError("limit must be from 0 to 1")
    return int(np.floor(limit * records * (1 + 1e-12)))


def judge(
    criteria: Sequence[Criterion | Overall], references: Sequence[Ints], complete: Sequence[bool], limit: int
) -> Judge:
    """Put criteria together, and see by which of them a search may be cut.

    Where nothing may be suppressed, by those whose safe classes are safe together. Else by those whose safe classes
    stay safe whatever joins them. A class without any value passes and need not when others join it; so of these only
    such as judge sizes, or a variable that every record has. Where no criterion judges classes nothing is ever
    suppressed.

    Parameters
    ----------
    criteria
        At least one.
    references
        Of each sensitive variable, records of the whole file with each value.
    complete
        Whether each sensitive variable has a value in every record.
    limit
        Most records that may be suppressed.
    """
    each = tuple(c for c in criteria if isinstance(c, Criterion))
    overall = tuple(c for c in criteria if isinstance(c, Overall))
    if not criteria or any(c.variable is not None and not 0 <= c.variable < len(references) for c in each):
        raise ValueError("criteria: at least one, and each on one of the sensitive variables")
    each = tuple(sorted(each, key=lambda c: c.variable is not None))
    limit = limit if each else 0
    if limit == 0:
        pruning = tuple(c for c in each if c.safe_union)
    else:
        pruning = tuple(c for c in each if c.any_union and (c.variable is None or complete[c.variable]))
    prunes = limit == 0 and bool(overall) and all(c.falls for c in overall)
    return Judge(each, overall, tuple(references), pruning, prunes, limit)
