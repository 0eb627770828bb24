"""A design matrix with hidden factors: unbiased estimates of its columns, and of products of two of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.noise import Noise, Powers

__all__ = ["Block", "Design"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_ROWS = 1 << 14


@dataclass(frozen=True)
class Design:
    """Columns that are products of exact numbers, powers of hidden numbers, and levels of hidden categories.

    Parameters
    ----------
    exact : ndarray, shape (n, p)
        Product of the exact factors of each column.
    powers : ndarray, shape (p, c)
        Exponent of each hidden number in each column.
    z : ndarray, shape (n, c)
        Released values of the hidden numbers.
    noises
        What was added to them, by group of records.
    group : ndarray, shape (n,)
        The group of each record.
    levels
        For each hidden category what its levels contribute to the columns, shape (p, L).
    indicators
        For each hidden category unbiased indicators of its levels, shape (n, L).

    Examples
    --------
    >>> noise = Noise(np.array([[0.5]]))
    >>> one = Design(np.ones((1, 2)), np.array([[0], [1]]), np.array([[2.0]]), [noise], np.zeros(1, dtype=np.int64))
    >>> one.total(np.ones(1)).tolist()  # of a number and a constant: 1, z and z² − 0.5
    [[1.0, 2.0], [2.0, 3.5]]
    """

    exact: Floats
    powers: Ints
    z: Floats
    noises: Sequence[Noise]
    group: Ints
    levels: Sequence[Floats] = ()
    indicators: Sequence[Floats] = ()

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.exact)

    @property
    def p(self) -> int:
        """Columns."""
        return int(self.exact.shape[1])

    @cached_property
    def hidden(self) -> NDArray[np.bool_]:
        """Which columns have a hidden factor, shape (p,)."""
        by_levels = [(told != 1).any(axis=1) for told in self.levels]
        return np.asarray(np.any([(self.powers > 0).any(axis=1), *by_levels], axis=0))

    def centred(self, weight: Floats) -> tuple[Design, int, Floats]:
        """The same about the means, so that numbers far from zero lose no digits, where a column is constant.

        Parameters
        ----------
        weight : ndarray, shape (n,)
            Of each record.

        Returns
        -------
        tuple
            The design; the place of the constant, −1 without one; what was taken off each column, shape (p,): 0 for
            columns that are products, or whose hidden number is in several.
        """
        shift = np.zeros(self.p)
        plain = (self.exact == 1).all(axis=0)
        constant = np.flatnonzero(plain & ~self.hidden)
        if not len(constant):
            return self, -1, shift
        by_levels = np.any([np.zeros(self.p), *((told != 1).any(axis=1) for told in self.levels)], axis=0)
        alone = (self.powers.sum(axis=1) == 1) & plain & ~by_levels
        z, mean = self.z.copy(), weight @ self.exact / weight.sum()
        shift[~self.hidden] = mean[~self.hidden]
        shift[constant] = 0.0
        for c, j in ((c, np.flatnonzero(self.powers[:, c])) for c in range(self.z.shape[1])):
            if len(j) == 1 and alone[j[0]]:
                shift[j[0]] = weight @ z[:, c] / weight.sum()
                z[:, c] -= shift[j[0]]
        exact = self.exact - np.where(self.hidden, 0.0, shift)
        return replace(self, exact=exact, z=z), int(constant[0]), shift

    def take(self, rows: Ints) -> Design:
        """Some rows, in that order."""
        return replace(
            self,
            exact=self.exact[rows],
            z=self.z[rows],
            group=self.group[rows],
            indicators=[told[rows] for told in self.indicators],
        )

    def blocks(self) -> Iterator[Block]:
        """Rows with the same noise, few enough to stay in a processor's cache."""
        for number, noise in enumerate(self.noises):
            rows = np.flatnonzero(self.group == number)
            whole = len(rows) == self.n
            for start in range(0, len(rows), _ROWS):
                at: slice | Ints = rows[start : start + _ROWS]
                if whole:
                    at = slice(start, min(start + _ROWS, self.n))
                yield Block(self, at, self.exact[at], Powers(self.z[at], noise), [told[at] for told in self.indicators])

    def columns(self) -> Floats:
        """Unbiased estimates of the columns themselves, shape (n, p)."""
        out = np.empty((self.n, self.p))
        for block in self.blocks():
            out[block.rows] = block.exact
            for j in np.flatnonzero(self.hidden).tolist():
                out[block.rows, j] = block.single(j)
        return out

    def total(self, weight: Floats) -> Floats:
        """Weighted sum of unbiased estimates of xx', shape (p, p).

        Parameters
        ----------
        weight : ndarray, shape (n,)
            Of each record.
        """
        seen, hid = np.flatnonzero(~self.hidden), np.flatnonzero(self.hidden)
        out = np.zeros((self.p, self.p))
        for block in self.blocks():
            w, e = weight[block.rows], block.exact[:, seen]
            weighted = e * w[:, None]
            out[np.ix_(seen, seen)] += weighted.T @ e
            for place, j in enumerate(hid.tolist()):
                out[seen, j] += weighted.T @ block.single(j)
                for k in hid[: place + 1].tolist():
                    out[k, j] += w @ block.pair(k, j)
        out[np.ix_(hid, seen)] = out[np.ix_(seen, hid)].T
        among = np.triu(out[np.ix_(hid, hid)])
        out[np.ix_(hid, hid)] = among + np.triu(among, 1).T
        return out

    def times(self, v: Floats) -> Floats:
        """Unbiased estimates of xx'v of each record, shape (n, p), for one v of shape (p,)."""
        seen, hid = ~self.hidden, np.flatnonzero(self.hidden).tolist()
        out = np.empty((self.n, self.p))
        for block in self.blocks():
            e = block.exact[:, seen]
            known = e @ v[seen]
            own = np.zeros((len(e), self.p))
            whole = known.copy()
            for j in hid:
                single = block.single(j)
                own[:, j] += single * known
                whole += single * v[j]
            own[:, seen] = e * whole[:, None]
            for place, j in enumerate(hid):
                for k in hid[: place + 1]:
                    pair = block.pair(k, j)
                    own[:, j] += pair * v[k]
                    if k != j:
                        own[:, k] += pair * v[j]
            out[block.rows] = own
        return out


@dataclass
class Block:
    """Some rows of a design, with what was worked out of them.

    Parameters
    ----------
    design
        Whose rows they are.
    rows
        Which.
    exact : ndarray, shape (m, p)
        As the design has it.
    powers
        Of their hidden numbers.
    indicators
        As the design has them, shape (m, L).
    """

    design: Design
    rows: slice | Ints
    exact: Floats
    powers: Powers
    indicators: list[Floats]

    def single(self, j: int) -> Floats:
        """Unbiased estimates of column j, shape (m,)."""
        return self._product(self.exact[:, j], self.design.powers[j], [told[j] for told in self.design.levels])

    def pair(self, j: int, k: int) -> Floats:
        """Unbiased estimates of the product of columns j and k, shape (m,)."""
        design = self.design
        exact = self.exact[:, j] * self.exact[:, k]
        return self._product(exact, design.powers[j] + design.powers[k], [told[j] * told[k] for told in design.levels])

    def _product(self, exact: Floats, exponents: Ints, levels: list[Floats]) -> Floats:
        out = exact
        if exponents.any():
            out = out * self.powers[tuple(exponents.tolist())]
        for told, indicators in zip(levels, self.indicators, strict=True):
            if (told != 1).any():
                out = out * (indicators @ told)
        return out
