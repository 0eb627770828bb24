"""From counts of keys and their hierarchies to what the search takes: patterns of codes, and levels of groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.hierarchy import EVERYTHING, Hierarchy, as_texts, text_of
from sfumato.data.query import COUNT
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns
from sfumato.methods.generalising import code_text, refuse_unlisted, two_levels, unlisted

__all__ = ["Coded", "Key", "coded", "in_texts"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Key:
    """A key with all the categories that its values can have.

    Parameters
    ----------
    name
        The column.
    hierarchy
        Of its values.
    alone
        Categories that no hierarchy has, each by itself up to `*`: user-missing codes, and None for a missing value.
    """

    name: str
    hierarchy: Hierarchy
    alone: tuple[str | None, ...]

    @property
    def leaves(self) -> tuple[str | None, ...]:
        """Every value, as a text: those of the hierarchy, then those alone."""
        return (*self.hierarchy.leaves, *self.alone)

    def categories(self, level: int) -> tuple[str | None, ...]:
        """The category of each leaf on a level."""
        known = self.hierarchy.level(level)
        top = level == self.hierarchy.height
        return (*known.values(), *(EVERYTHING if top else one for one in self.alone))

    def levels(self) -> Levels:
        """The groups of each level, for the search."""
        groups = [_numbered(self.categories(level)) for level in range(1, self.hierarchy.height + 1)]
        return Levels((np.arange(len(self.leaves)), *groups), rows=len(self.hierarchy.leaves))


def _numbered(categories: Sequence[str | None]) -> Ints:
    """Numbers of categories, in the order in which they first stand there."""
    numbers: dict[str | None, int] = {}
    return np.array([numbers.setdefault(c, len(numbers)) for c in categories], dtype=np.int64)


@dataclass(frozen=True)
class Coded:
    """A table as the search sees it.

    Parameters
    ----------
    keys
        The keys, in order.
    frame
        The patterns in texts: a column for each key, null where missing.
    patterns
        The same in codes, with counts and sensitive codes.
    values
        Of each sensitive variable, the value that each code stands for.
    """

    keys: tuple[Key, ...]
    frame: pl.DataFrame
    patterns: Patterns
    values: tuple[tuple[str, ...], ...]

    @property
    def levels(self) -> tuple[Levels, ...]:
        """Of each key."""
        return tuple(key.levels() for key in self.keys)


def coded(counts: pl.DataFrame, codebook: Codebook, keys: Sequence[str], sensitive: Sequence[str]) -> Coded:
    """Code the counts of keys and sensitive variables.

    Raises
    ------
    Unlisted
        Where hierarchies do not list all values, with those of all keys.
    """
    texts = counts.select(in_texts(n, counts.schema[n], codebook) for n in keys)
    listed = {n: Hierarchy.of(codebook[n]) or two_levels(_present(counts, n, codebook)) for n in keys}
    refuse_unlisted({n: unlisted(counts, n, COUNT, codebook, h) for n, h in listed.items()})
    made = tuple(Key(n, h, (*(code_text(c) for c in codebook[n].missing), None)) for n, h in listed.items())
    codes = np.column_stack([_codes(texts[key.name], key.leaves) for key in made])
    held = [_sensitive(counts, n, codebook) for n in sensitive]
    several = np.column_stack([c for c, _ in held]) if held else None
    patterns = Patterns(codes, counts[COUNT].to_numpy().astype(np.int64), several)
    return Coded(made, texts, patterns, tuple(values for _, values in held))


def in_texts(column: str, dtype: pl.DataType, codebook: Codebook) -> pl.Expr:
    """A column as hierarchies write its values, with user-missing codes as categories of their own."""
    value = pl.col(column)
    text = as_texts(value, dtype)
    for code in codebook[column].missing:
        text = pl.when(code.expression(value, dtype).fill_null(False)).then(pl.lit(code_text(code))).otherwise(text)
    return text.alias(column)


def _present(counts: pl.DataFrame, column: str, codebook: Codebook) -> list[str]:
    dtype = counts.schema[column]
    there = counts.filter(~codebook.missing(column, dtype)).select(as_texts(pl.col(column), dtype)).to_series()
    if (there == EVERYTHING).any():
        raise DataError(
            f"Column {column!r} holds the category *, as a step that recoded it before wrote it. Let one step recode "
            "each key."
        )
    return sorted(there.unique().to_list()) or ["none"]


def _codes(texts: pl.Series, leaves: Sequence[str | None]) -> Ints:
    """Places of texts among leaves; the last leaf is that of a missing value."""
    known: Mapping[str, int] = {leaf: place for place, leaf in enumerate(leaves) if leaf is not None}
    places = texts.replace_strict(list(known), list(known.values()), default=len(leaves) - 1, return_dtype=pl.Int64)
    return np.asarray(places.fill_null(len(leaves) - 1).to_numpy())


def _sensitive(counts: pl.DataFrame, column: str, codebook: Codebook) -> tuple[Ints, tuple[str, ...]]:
    """Codes of a sensitive variable, −1 where it is missing, and what they stand for, in their order."""
    dtype = counts.schema[column]
    value = pl.when(~codebook.missing(column, dtype)).then(pl.col(column)).alias(column)
    there = counts.select(value).to_series()
    if dtype.is_float():
        there = there.fill_nan(None)
    distinct = there.drop_nulls().unique()
    texts = {text_of(v): v for v in distinct.to_list()}
    order = _ordered(codebook[column], texts)
    places = there.to_frame().select(as_texts(pl.col(column), dtype)).to_series()
    codes = places.replace_strict(list(order), range(len(order)), default=-1, return_dtype=pl.Int64).fill_null(-1)
    return np.asarray(codes.to_numpy()), tuple(order)


def _ordered(variable: Variable, texts: Mapping[str, object]) -> list[str]:
    """Numbers by size, an ordinal kind by its order, else values sorted as text."""
    stated = [text_of(v) for v in variable.order] if variable.kind == Kind.ORDINAL else []
    if stated and set(texts) <= set(stated):
        return [v for v in stated if v in texts]
    if all(isinstance(v, int | float) for v in texts.values()):
        return sorted(texts, key=lambda text: float(texts[text]))  # type: ignore[arg-type]
    return sorted(texts)
