"""Unbiased estimates of exp(b'x), x exp(b'x) and xx' exp(b'x), for regressions in which covariates act on a rate.

A hidden number may enter a column once, alone or times exact numbers and categories. Over the combinations of levels of
the hidden categories the estimates are summed, each with the product of its unbiased indicators.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.corrected.design import Block, Design

__all__ = ["Tilted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Tilted:
    """A design whose exponentials are wanted.

    Parameters
    ----------
    design
        Of whose columns none has a power above 1 or two hidden numbers.
    plain : ndarray, shape (n, K), optional
        Indicators of the released combination of levels, as if it were true; for `scaled`.
    share
        How much of the noise is taken out.
    origin : ndarray, shape (p,), optional
        Exponentials are those of b'(x − origin): where only ratios count, numbers far from zero overflow none.

    Examples
    --------
    >>> from sfumato.kernels.corrected.noise import Noise
    >>> noise = Noise(np.array([[0.5]]))
    >>> design = Design(np.ones((1, 1)), np.array([[1]]), np.array([[2.0]]), [noise], np.zeros(1, dtype=np.int64))
    >>> s0, s1 = Tilted(design).at(np.array([0.4]))
    >>> bool(np.isclose(s0[0], np.exp(0.4 * 2 - 0.4**2 * 0.5 / 2))), bool(np.isclose(s1[0], (2 - 0.4 * 0.5) * s0[0]))
    (True, True)
    """

    design: Design
    released: tuple[Floats, ...] = ()
    share: float = 1.0
    origin: Floats | None = None

    @cached_property
    def linear(self) -> Floats:
        """Unbiased for the columns themselves, shape (n, p)."""
        return self._now.columns()

    @cached_property
    def _now(self) -> Design:
        """The design with only the share of its noise taken out."""
        if self.share == 1:
            return self.design
        design, s = self.design, self.share
        indicators = [s * told + (1 - s) * plain for told, plain in zip(design.indicators, self.released, strict=True)]
        return Design(
            design.exact,
            design.powers,
            design.z,
            [noise.scaled(s) for noise in design.noises],
            design.group,
            design.levels,
            indicators,
        )

    @cached_property
    def owner(self) -> Ints:
        """The hidden number in each column, shape (p,); −1 for none."""
        powers = self.design.powers
        if powers.shape[1] == 0:
            return np.full(len(powers), -1)
        return np.where(powers.any(axis=1), powers.argmax(axis=1), -1)

    @cached_property
    def patterns(self) -> list[tuple[int, ...]]:
        """Every combination of levels of the hidden categories."""
        return list(itertools.product(*(range(told.shape[1]) for told in self.design.levels)))

    def scaled(self, share: float) -> Tilted:
        """The same with a share of the noise taken out: 0 takes what was released for true, 1 takes out all of it."""
        return replace(self, share=share)

    def take(self, rows: Ints) -> Tilted:
        """Some rows, in that order."""
        return replace(self, design=self.design.take(rows), released=tuple(told[rows] for told in self.released))

    def at(self, b: Floats) -> tuple[Floats, Floats]:
        """Estimates of exp(b'x), shape (n,), and x exp(b'x), shape (n, p)."""
        s0, s1 = np.zeros(self.design.n), np.zeros((self.design.n, self.design.p))
        for block, part in self._parts(b):
            s0[block.rows] += part.mean
            s1[block.rows] += part.gap * part.mean[:, None]
        return s0, s1

    def second(self, b: Floats, weight: Floats) -> Floats:
        """Weighted sum of estimates of xx' exp(b'x), shape (p, p), with weights of shape (n,)."""
        out = np.zeros((self.design.p, self.design.p))
        for block, part in self._parts(b):
            out += part.squares(weight[block.rows] * part.mean, self.owner)
        return out

    def sums(self, b: Floats, weight: Floats) -> tuple[float, Floats, Floats]:
        """Weighted sums over the rows of all three, in one pass."""
        zero, first, second = 0.0, np.zeros(self.design.p), np.zeros((self.design.p, self.design.p))
        for block, part in self._parts(b):
            mass = weight[block.rows] * part.mean
            zero += float(mass.sum())
            first += mass @ part.gap
            second += part.squares(mass, self.owner)
        return zero, first, second

    def spread(self, b: Floats) -> float:
        """Largest ln K(2b) − 2 ln K(b) of a record: by it estimates are skewed; infinite where K(2b) does not exist."""
        most = 0.0
        for block, _ in self._blocks():
            for pattern in self.patterns:
                s = self._loads(self._factors(block, pattern), b)
                once, twice = (block.powers.noise.tilt(s * by)[0] for by in (1, 2))
                with np.errstate(invalid="ignore"):
                    found = np.where(np.isfinite(twice), twice - 2 * once, np.inf)
                most = max(most, float(found.max(initial=0.0)))
        return most

    def _blocks(self) -> Iterator[tuple[Block, None]]:
        for block in self._now.blocks():
            yield block, None

    def _factors(self, block: Block, pattern: tuple[int, ...]) -> Floats:
        """What each column is without its hidden number, shape (m, p)."""
        out = block.exact
        for told, level in zip(self.design.levels, pattern, strict=True):
            out = out * told[:, level]
        return out

    def _loads(self, factors: Floats, b: Floats) -> Floats:
        """Coefficient of each hidden number, shape (m, c), or (1, c) where it is the same for all records."""
        count, own = self.design.powers.shape[1], self.owner
        used = factors[:, own >= 0]
        if len(factors) and (used == used[:1]).all():
            factors = factors[:1]
        out = np.empty((len(factors), count))
        for c in range(count):
            out[:, c] = factors[:, own == c] @ b[own == c]
        return out

    def _parts(self, b: Floats) -> Iterator[tuple[Block, _Part]]:
        own = self.owner
        has = own >= 0
        down = 0.0 if self.origin is None else float(self.origin @ b)
        for block in self._now.blocks():
            for pattern in self.patterns:
                factors = self._factors(block, pattern)
                loads = self._loads(factors, b)
                log_k, gradient, bend = block.powers.noise.tilt(loads)
                gap = factors.copy()
                gap[:, has] *= block.powers.z[:, own[has]]
                mean = np.exp(gap @ b - (log_k + down))
                for indicators, level in zip(block.indicators, pattern, strict=True):
                    mean = mean * indicators[:, level]
                gap[:, has] -= factors[:, has] * gradient[:, own[has]]
                yield block, _Part(factors, gap, mean, bend)


@dataclass(frozen=True)
class _Part:
    """One combination of levels of a block: factors and z − ∇ ln K, shape (m, p), e^{b'z} / K, shape (m,), ∇² ln K."""

    factors: Floats
    gap: Floats
    mean: Floats
    bend: Floats

    def squares(self, mass: Floats, owner: Ints) -> Floats:
        """Σ mass × ((z − ∇ ln K)(z − ∇ ln K)' − ∇² ln K), shape (p, p)."""
        out = self.gap.T @ (self.gap * mass[:, None])
        has = np.flatnonzero(owner >= 0)
        if not len(has):
            return np.asarray(out)
        if len(self.bend) == 1:  # the same for all records
            loads = self.factors[:1, has]
            out[np.ix_(has, has)] -= mass.sum() * (loads.T @ loads) * self.bend[0][np.ix_(owner[has], owner[has])]
            return np.asarray(out)
        for j in has:
            for k in has:
                own = mass * self.factors[:, j] * self.factors[:, k]
                out[j, k] -= own @ self.bend[:, owner[j], owner[k]]
        return np.asarray(out)
