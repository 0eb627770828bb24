"""A formula's columns as products of variables, so that what is known exactly and what is hidden can be told apart.

Every column of a design matrix is a product over variables: numbers, or indicators of a level. Split by variable it is
E ∘ Q: E of what each record has exactly, Q of what a pattern of the hidden variables says.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import build_design
from sfumato.data.formula import Term

__all__ = ["Columns", "split_columns"]

Floats = NDArray[np.float64]
Part = tuple[str, int | None]
"""A variable in a column: its number (None), or the indicator of its level with this place."""


@dataclass(frozen=True)
class Columns:
    """The columns of a design matrix, each a product of parts.

    Parameters
    ----------
    labels
        As `Design` names them.
    parts
        For each column, the variables that it is a product of.

    Examples
    --------
    >>> columns = Columns(("Intercept", "a:b"), ((), (("a", None), ("b", None))))
    >>> columns.product({"a": np.array([2.0, 3.0])}, 2).tolist()
    [[1.0, 2.0], [1.0, 3.0]]
    """

    labels: tuple[str, ...]
    parts: tuple[tuple[Part, ...], ...]

    def product(self, values: Mapping[str, NDArray[Any]], n: int) -> Floats:
        """Multiply the parts of those variables that are in `values`: numbers, or codes of levels, each shape (n,)."""
        out = np.ones((n, len(self.labels)), order="F")
        for j, parts in enumerate(self.parts):
            for name, level in parts:
                if name in values:
                    out[:, j] *= values[name] if level is None else values[name] == level
        return out

    def public(self, labels: Collection[str]) -> str:
        """Name columns in a message, which may hold no category: where a label has one, by its variables."""
        named = {
            label: label if all(level is None for _, level in parts) else ":".join(dict.fromkeys(n for n, _ in parts))
            for label, parts in zip(self.labels, self.parts, strict=True)
        }
        return ", ".join(dict.fromkeys(named[label] for label in labels))

    def with_any(self, names: Collection[str]) -> tuple[tuple[str, ...], ...]:
        """For each column, which of `names` it has."""
        return tuple(tuple(name for name, _ in parts if name in names) for parts in self.parts)


def split_columns(
    terms: Sequence[Term], intercept: bool, factors: Mapping[str, tuple[str, ...]], numeric: Collection[str]
) -> Columns:
    """Work out the columns of a formula and what each is a product of.

    Parameters
    ----------
    terms, intercept
        As in a `Formula`.
    factors
        Levels of each variable of categories, the reference first.
    numeric
        The other variables.

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> split_columns(parse_formula("y ~ a:C(s)").terms, False, {"s": ("f", "m")}, ["a"]).parts
    ((('a', None), ('s', 0)), (('a', None), ('s', 1)))
    """
    height = max([1, *map(len, factors.values())])
    cycle = {n: [levels[i % len(levels)] for i in range(height)] for n, levels in factors.items()}
    frame = pl.DataFrame({**cycle, **{n: [1.0] * height for n in numeric}})
    design = build_design(frame, Codebook(), terms, intercept=intercept, levels=factors)
    parts = tuple(
        (*((n, None) for n in piece.numeric), *combination)
        for piece in design._pieces
        for combination in _combinations(piece.coding, factors)
    )
    return Columns(design.labels, parts)


def _combinations(coding: Sequence[tuple[str, bool]], factors: Mapping[str, tuple[str, ...]]) -> list[tuple[Part, ...]]:
    """Levels of each indicator column of a piece, the first factor varying fastest."""
    ranges = [[(n, level) for level in range(0 if full else 1, len(factors[n]))] for n, full in coding]
    return [tuple(reversed(combination)) for combination in itertools.product(*reversed(ranges))]
