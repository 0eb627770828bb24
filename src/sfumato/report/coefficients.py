"""Names under which the coefficients of a model may be published: no category label, nothing that rests on a few.

A coefficient of a category that three records have is, with the release beside it, those three records' mean. So a
coefficient is published only where every combination of the categories in its term holds enough original records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.design import find_levels
from sfumato.data.formula import MAX_POWER
from sfumato.errors import DataError

__all__ = ["is_intercept", "public_names"]

Term = tuple[tuple[str, int | None], ...]
"""Columns of a term, each as often as its power says, with the number of its category where it stands for one."""


def is_intercept(label: str) -> bool:
    """Tell whether a coefficient's label is the intercept's.

    Examples
    --------
    >>> is_intercept("Intercept"), is_intercept("Age")
    (True, False)
    """
    return label.strip("()").lower() in ("intercept", "const", "1")


def public_names(
    labels: Sequence[str], frame: pl.DataFrame, codebook: Codebook, min_count: int
) -> Mapping[str, str | None]:
    """Give each coefficient the name to publish it under, or None where it must not be.

    Categories are numbered in their order instead of named. Labels are read with the table at hand, so that nothing
    but column names and numbers can come out; a label that cannot be read so is not published. The intercept rests on
    every reference category and is published only where all others are.

    Parameters
    ----------
    labels
        Coefficients as the model names them: `Age`, `C(Pclass)[T.2]`, `Age:C(Sex)[T.male]`.
    frame
        The original table.
    codebook
        Says which columns are categories.
    min_count
        Fewest original records in each combination of the categories of a term.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"ward": ["A", "B"] * 10, "age": range(20)})
    >>> public_names(("age", "C(ward)[T.B]"), frame, Codebook(), 10)
    {'age': 'age', 'C(ward)[T.B]': 'ward, category 2 of 2'}
    """
    reader = _Reader(frame, codebook, min_count)
    others = {label: reader.public(label) for label in labels if not is_intercept(label)}
    intercept = "Intercept" if all(name is not None for name in others.values()) else None
    return {label: others.get(label, intercept) for label in labels}


class _Reader:
    """Reads labels against one table; looks at each column once."""

    def __init__(self, frame: pl.DataFrame, codebook: Codebook, min_count: int) -> None:
        self.frame = frame
        self.codebook = codebook
        self.min_count = min_count
        self.columns = sorted(frame.columns, key=len, reverse=True)
        self.categories = cache(self._categories)
        self.smallest = cache(self._smallest)

    def public(self, label: str) -> str | None:
        """The public name, or None."""
        term = self.read(label)
        if term is None:
            return None
        groups = tuple(dict.fromkeys(name for name, level in term if level is not None or self.parts(name)))
        return self.say(term) if self.smallest(groups) >= self.min_count else None

    def read(self, label: str) -> Term | None:
        """Read a label as columns of the table, joined by colons; None where it is none."""
        for column in self.columns:
            for start, power in _written(column):
                if not label.startswith(start):
                    continue
                for level, rest in self.levels(label[len(start) :], column):
                    if not rest:
                        return ((column, level),) * power
                    if rest.startswith(":") and (others := self.read(rest[1:])) is not None:
                        return (*((column, level),) * power, *others)
        return None

    def levels(self, text: str, column: str) -> Iterator[tuple[int | None, str]]:
        """Ways to read the start of `text` as a category of `column`, with what is left."""
        if not text.startswith("["):
            yield None, text
            return
        for number, category in enumerate(self.categories(column), 1):
            for written in (f"[T.{category}]", f"[{category}]"):
                if text.startswith(written):
                    yield number, text[len(written) :]

    def parts(self, column: str) -> bool:
        """Whether a column whose label names no category still parts the records into groups."""
        if column in self.codebook and self.codebook[column].kind is not None and not self.codebook[column].numeric:
            return True
        return self.frame.get_column(column).n_unique() <= 2

    def say(self, term: Term) -> str:
        """A term without labels."""
        return " × ".join(
            name if level is None else f"{name}, category {level} of {len(self.categories(name))}"
            for name, level in term
        )

    def _categories(self, column: str) -> tuple[str, ...]:
        """Categories as the model writes them; none of a column that cannot be one of categories."""
        try:
            return find_levels(self.frame, self.codebook, column)
        except DataError:
            return ()

    def _smallest(self, columns: tuple[str, ...]) -> int:
        """Records in the smallest group of `columns`, those without a value left out; all of them without any."""
        if not columns:
            return self.frame.height
        whole = [~self.codebook.missing(name, self.frame.schema[name]) for name in columns]
        sizes = self.frame.filter(*whole).group_by(columns).len().get_column("len").to_list()
        return min(sizes, default=0)


def _written(column: str) -> Iterator[tuple[str, int]]:
    """Ways to write a column in a label, each with its power."""
    yield from ((text, 1) for text in (f"C({column})", f"C(`{column}`)", column, f"`{column}`"))
    yield from ((f"I({column}^{power})", power) for power in range(2, MAX_POWER + 1))
