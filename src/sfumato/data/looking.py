"""How columns are looked through for personal data that have a form, and what is said of what is found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.codebook import Variable
from sfumato.errors import DataError

__all__ = ["SAMPLE", "Looking", "in_words", "telling"]

SAMPLE = 2_000
"""How many different values of a column are looked at, unless somebody says otherwise."""

_WORDS = {
    "email": "e-mail addresses",
    "url": "web addresses",
    "ip": "internet (IP) addresses",
    "phone": "telephone numbers",
    "postcode": "UK postcodes",
    "nhs_number": "NHS numbers",
    "ni_number": "national insurance numbers",
    "iban": "account numbers (IBAN)",
    "card": "card numbers",
    "date": "dates",
}
_NOBODY = ("date",)
"""What names nobody by itself."""


@dataclass(frozen=True)
class Looking:
    """How columns are looked through.

    Parameters
    ----------
    kinds
        Kinds of personal data that are looked for, all of `sfumato.data.entities.KINDS` if empty.
    sample
        How many different values of a column are looked at; where there are more, a fixed choice of them.
    threshold
        Share of a column's values, those looked at and not missing, from which on it counts as holding a kind. With 0
        one value is enough.

    Raises
    ------
    DataError
        Where a kind is unknown, no value would be looked at, or the threshold is no share.

    Examples
    --------
    >>> Looking().shares(pl.Series(["call 020 7946 0958", "no number", "no number", None]))
    {'phone': 0.3333333333333333}
    """

    kinds: tuple[str, ...] = ()
    sample: int = SAMPLE
    threshold: float = 0.0

    def __post_init__(self) -> None:
        if unknown := [kind for kind in self.kinds if kind not in _WORDS]:
            raise DataError(
                f"There is no kind {', '.join(map(repr, unknown))} to look for. Kinds: {', '.join(_WORDS)}."
            )
        if self.sample < 1:
            raise DataError("At least one value of a column must be looked at: give a sample of 1 or more.")
        if not 0 <= self.threshold <= 1:
            raise DataError("A threshold is a share, from 0 to 1.")

    @property
    def sought(self) -> Sequence[str]:
        """The kinds that are looked for."""
        return self.kinds or tuple(_WORDS)

    def shares(self, values: pl.Series) -> dict[str, float]:
        """Share of texts, without missing ones, which hold something of each kind; of kinds that occur."""
        from sfumato.data.entities import found

        counts = dict(values.drop_nulls().value_counts(name="records").iter_rows())
        hits: dict[str, int] = {}
        for text, entities in found(values, self.sought).items():
            for kind in {entity.kind for entity in entities}:
                hits[kind] = hits.get(kind, 0) + counts[text]
        return {kind: hits[kind] / sum(counts.values()) for kind in self.sought if kind in hits}

    def in_labels(self, variable: Variable) -> dict[str, float]:
        """Share of the labels of a variable's values and missing codes which hold something of each kind."""
        labels = [*(variable.labels or {}).values(), *(code.label for code in variable.missing if code.label)]
        texts = [label for label in labels if isinstance(label, str)]
        return self.shares(pl.Series(texts, dtype=pl.String)) if texts else {}


def telling(kinds: Collection[str]) -> list[str]:
    """Those of the kinds that tell who somebody is, or where to find them.

    Examples
    --------
    >>> telling(["date", "email"])
    ['email']
    """
    return [kind for kind in kinds if kind not in _NOBODY]


def in_words(kinds: Collection[str] | Mapping[str, float]) -> str:
    """Kinds in words, with `and` before the last.

    Examples
    --------
    >>> in_words(["email", "phone", "date"])
    'e-mail addresses, telephone numbers and dates'
    """
    words = [_WORDS[kind] for kind in kinds]
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""
