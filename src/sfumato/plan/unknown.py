"""What the custodian says that nobody outside knows, and why: a statement about the world, which is published."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

import polars as pl
from pydantic import ConfigDict, Field, field_validator

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Dataset
from sfumato.data.described import Described
from sfumato.data.query import Folded
from sfumato.data.roles import IDS, Role

__all__ = ["BETRAYS", "OPEN", "ORDER", "OTHERS", "Unknown", "betrayed", "unknown_columns", "unknown_problems"]

OTHERS: Final = "others"
"""In place of columns: all released ones but keys, strata and ids."""
ORDER: Final = "order"
"""Under `columns`: the place of a record in the custodian's file, which `order: input` tells."""
OPEN: Final = "?"
"""A reason that is none: the question is still open."""
BETRAYS = (
    "`because` holds a value of an identifier or of an id (which is not repeated here), and it is published: give a "
    "reason that names nobody"
)
_SHORTEST, _LONGEST = 20, 300


class Unknown(Described):
    """Released columns that nobody outside knows of anybody, and why.

    Parameters
    ----------
    columns
        Names of columns, ids among them; or `others`: all released columns but keys, strata and ids. `order` among the
        names is the order of the input, where the plan keeps it.
    because
        The reason, one line of 20 to 300 characters, which the release's documentation repeats word for word; it
        holds nothing about single people. `"?"` stands for a question that nobody has answered yet.

    Notes
    -----
    It protects nothing. What is said here is no longer counted among what an intruder looks up (group `released`), so
    that the release is as safe as the statement is true; the figures of somebody who knows it all the same (group
    `everything`) are published beside it.

    Examples
    --------
    >>> Unknown(columns=("q1", "q2"), because="answers given to us alone; nobody else holds them").decided
    True
    >>> Unknown(columns="others", because="?").decided
    False
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    columns: Literal["others"] | tuple[str, ...] = Field(union_mode="left_to_right")
    because: str

    @field_validator("columns")
    @classmethod
    def _some(cls, columns: Literal["others"] | tuple[str, ...]) -> Literal["others"] | tuple[str, ...]:
        if not columns:
            raise ValueError("name at least one column, or write `columns: others`")
        return columns

    @field_validator("because")
    @classmethod
    def _one_line(cls, because: str) -> str:
        told = because.strip()
        if told != OPEN and not _SHORTEST <= len(told) <= _LONGEST:
            raise ValueError(
                f"the reason is published, and is one line of {_SHORTEST} to {_LONGEST} characters ({OPEN!r} where "
                "nobody has decided)"
            )
        if not told.isprintable():
            raise ValueError("the reason is one line, without tabs or other signs that do not show")
        return told

    @property
    def decided(self) -> bool:
        """Whether there is a reason."""
        return self.because != OPEN

    def of(self, others: Sequence[str]) -> tuple[str, ...]:
        """The columns by name, where `others` are these."""
        return tuple(others) if self.columns == OTHERS else tuple(self.columns)


def unknown_columns(
    unknown: Sequence[Unknown], others: Sequence[str], *, decided: bool | None = None
) -> tuple[str, ...]:
    """All columns that are said to be unknown, each once.

    Parameters
    ----------
    unknown
        Of a plan.
    others
        What `others` stands for.
    decided
        Only those with a reason, or only those without one; None: all.

    Examples
    --------
    >>> unknown_columns([Unknown(columns="others", because="?")], ["town"], decided=False)
    ('town',)
    """
    named = (n for each in unknown if decided in (None, each.decided) for n in each.of(others))
    return tuple(dict.fromkeys(named))


def unknown_problems(
    unknown: Unknown, released: Codebook, gone: Collection[str], known: Collection[str], *, ordered: bool
) -> Iterator[str]:
    """Tell what is wrong with one such statement.

    Parameters
    ----------
    unknown
        The statement.
    released
        What is known of the released variables.
    gone
        Columns of the data that are not released.
    known
        Keys and strata, of which the plan says itself that somebody may know them.
    ordered
        Whether the plan keeps the order of the input.

    Examples
    --------
    >>> stated = Unknown(columns=("age",), because="nobody knows how old anybody is")
    >>> from sfumato.data.codebook import Variable
    >>> book = Codebook({"age": Variable(role="key")})
    >>> list(unknown_problems(stated, book, (), ("age",), ordered=False))
    ["it names 'age', a key or stratum: the plan says itself that somebody may know it"]
    """
    names = [n for n in unknown.of(()) if n != ORDER or n in released]
    if ORDER in unknown.of(()) and ORDER not in released and not ordered:
        yield f"it names {ORDER!r}, and the plan does not keep the order of the input (order: input)"
    if strange := [n for n in names if n not in released and n not in gone]:
        yield f"it names {_quoted(strange)}, which is no column of the data"
    if dropped := [n for n in names if n not in released and n in gone]:
        yield f"it names {_quoted(dropped)}, which is not released: nobody can look it up"
    if looked_up := [n for n in names if n in known and n in released]:
        yield f"it names {_quoted(looked_up)}, a key or stratum: the plan says itself that somebody may know it"


def betrayed(unknown: Sequence[Unknown], data: Dataset) -> Iterator[int]:
    """Which reasons hold the value of an identifier or of an id, as a word or words of theirs.

    Parameters
    ----------
    unknown
        Of a plan.
    data
        The table as it is given. Its identifiers and ids are looked through once, wherever the rows are.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> from sfumato.engines.polars import PolarsDataset
    >>> book = Codebook({"name": Variable(role="identifier")})
    >>> people = PolarsDataset(pl.DataFrame({"name": ["Ann Blythe"]}), book)
    >>> list(betrayed([Unknown(columns="others", because="ann blythe has agreed to all of this")], people))
    [0]
    """
    columns = data.codebook.with_role(Role.IDENTIFIER, *IDS)
    reasons = [_words(pl.lit(each.because)) for each in unknown]
    if not columns or not reasons:
        return

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        values = [_words(pl.col(n).cast(pl.String)) for n in columns]
        held = [
            pl.any_horizontal((reason.str.contains(value, literal=True) & (value != "  ")).any() for value in values)
            for reason in reasons
        ]
        return batch.select(x.fill_null(False).alias(str(i)) for i, x in enumerate(held))

    told = data.ask(Folded(tuple(columns), f, lambda frames: frames.select(pl.all().any())))
    yield from (i for i in range(len(reasons)) if told[str(i)].any())


def _words(text: pl.Expr) -> pl.Expr:
    """The words of a text in lower case, a space before and behind each, so that only whole ones are found."""
    plain = text.str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()
    return pl.concat_str(pl.lit(" "), plain, pl.lit(" "))


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))
