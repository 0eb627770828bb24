"""Columns of texts: what the steps that replace texts share."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.holding import holding
from sfumato.data.query import COUNT
from sfumato.data.roles import IDS, Kind, Role
from sfumato.errors import DataError
from sfumato.methods.generalising import code_text

__all__ = [
    "folded",
    "general",
    "label_problems",
    "parts",
    "phrase",
    "refuse_no_text",
    "replaced",
    "text_problems",
    "there",
]

_TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Null)
_KEPT = (*IDS, Role.WEIGHT)


def folded(text: str) -> str:
    """A text as it is compared: one form of each letter, no capitals, single blanks.

    Examples
    --------
    >>> folded("  Ｃardio\\u00a0LOGY\\n(Straße) ")
    'cardio logy (strasse)'
    """
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(plain.split())


def parts(text: str, separator: str | None) -> list[str]:
    """The values in a cell, folded; those that are empty are none.

    Examples
    --------
    >>> parts("Cardiology; ;ENT", ";")
    ['cardiology', 'ent']
    """
    cells = [text] if separator is None else text.split(separator)
    return [cell for cell in map(folded, cells) if cell]


def text_problems(codebook: Codebook, columns: Sequence[str], instead: str) -> list[str]:
    """A sentence for each of `columns` that holds no texts, or stands for more than its values."""
    problems = []
    for name in (n for n in columns if n in codebook):
        variable = codebook[name]
        if variable.role in _KEPT:
            problems.append(f"column {name!r} has role {variable.role}, which this step must not change")
        if variable.kind in (Kind.CONTINUOUS, Kind.INTEGER, Kind.DATE):
            problems.append(f"column {name!r} is {variable.kind}; this step takes texts: {instead}")
    return problems


def label_problems(codebook: Codebook, columns: Sequence[str], labels: Iterable[str]) -> list[str]:
    """A sentence for each of `columns` of which a new text is a missing code."""
    taken = set(labels)
    return [
        f"a new text of {n!r} is one of its missing codes; choose another"
        for n in columns
        if n in codebook and any(code_text(code) in taken for code in codebook[n].missing)
    ]


def refuse_no_text(column: str, dtype: pl.DataType, step: str, instead: str) -> None:
    """Refuse a column that holds something else than texts.

    Raises
    ------
    DataError
        It says what to do instead.
    """
    if dtype not in _TEXT:
        raise DataError(f"Column {column!r} holds {holding(dtype)}; {step} takes texts: {instead}.")


def there(counts: pl.DataFrame, column: str, codebook: Codebook) -> pl.DataFrame:
    """The different texts of a column that are no missing codes, with their records, from counts of it."""
    known = counts.filter(~codebook.missing(column, counts.schema[column]))
    return known.select(pl.col(column).cast(pl.String).alias(column), pl.col(COUNT))


def replaced(column: str, dtype: pl.DataType, codebook: Codebook, new: Mapping[str, str | None]) -> pl.Expr:
    """A column with new texts for old ones; what has none is missing, and missing codes stay."""
    value = pl.col(column)
    known = {old: text for old, text in new.items() if text is not None}
    text = value.cast(pl.String).replace_strict(list(known), list(known.values()), default=None, return_dtype=pl.String)
    for code in codebook[column].missing:
        text = pl.when(code.expression(value, dtype).fill_null(False)).then(pl.lit(code_text(code))).otherwise(text)
    return text.alias(column)


def general(old: Variable, order: Sequence[str] = ()) -> Variable:
    """What is known of a column after its texts became general ones; an identifier is a key then."""
    codes = tuple(Missing(code=code_text(code), label=code.label) for code in old.missing)
    update: dict[str, Any] = {
        "role": Role.KEY if old.role == Role.IDENTIFIER else old.role,
        "kind": Kind.ORDINAL if order else Kind.CATEGORICAL,
        "order": (*order, *(code.code for code in codes)) if order else (),
        "missing": codes,
        "labels": {},
        "hierarchy": {},
        "range": None,
        "measure": None,
        "format": None,
        "unit": None,
    }
    return old.model_copy(update=update)


def phrase(words: Iterable[str]) -> Callable[[str], str | None]:
    """What tells which of some words or phrases a folded text holds whole, the first that is listed; None for none.

    Examples
    --------
    >>> heart = phrase(["heart", "head"])
    >>> heart("head, heart"), heart("heartless")
    ('heart', None)
    """
    spaced = [(word, f" {_letters(word)} ") for word in words]

    def tell(text: str) -> str | None:
        cell = f" {_letters(text)} "
        return next((word for word, part in spaced if part in cell), None)

    return tell


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))
