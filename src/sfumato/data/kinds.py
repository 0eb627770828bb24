"""The kind of a variable, told from one look at its values.

The rules, in this order; missing values take no part:

1. dates and date-times are dates;
2. a variable with an order, or whose file calls it ordinal, is ordinal;
3. truth values and category types are categorical, and so is what has a label for every value, and what the file calls
   nominal if it has at most 60 different numbers, each twice or more on average;
4. numbers of a decimal type are continuous;
5. whole numbers are categorical if at most 10 differ and each occurs twice or more on average, else integer;
6. texts are categorical if at most 60 differ and each occurs twice or more on average, else text; whatever has none of
   these types (lists, times of day) counts as text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.looking import Looking
from sfumato.data.roles import Kind

__all__ = ["FEW_NUMBERS", "FEW_TEXTS", "NEARLY_ALL", "Columns", "Facts", "facts_of", "sniff_kinds"]

FEW_NUMBERS = 10
"""Most different whole numbers of a categorical variable."""
FEW_TEXTS = 60
"""Most different texts of a categorical variable."""
_HEAD = 1_000  # first values, which settle most questions
NEARLY_ALL = 0.9
"""Share of the different values that must have a form."""

_USUAL = Looking()
_DECIMAL = (pl.Float32, pl.Float64, pl.Decimal)
_NAMES = (pl.Categorical, pl.Enum)


class Columns(Protocol):
    """Columns by their names: a table, or what is known of one that is not in memory, see `sfumato.data.sketch`."""

    @property
    def columns(self) -> Sequence[str]:
        """Their names, in order."""
        ...

    def get_column(self, name: str, /) -> pl.Series:
        """One of them."""
        ...


def sniff_kinds(frame: Columns, codebook: Codebook) -> Codebook:
    """Fill in the kind of every variable whose kind the codebook does not say, by the rules of this module.

    Parameters
    ----------
    frame
        The table.
    codebook
        What is known; kinds in it stay as they are.

    Returns
    -------
    Codebook
        The variables of the table in column order, then those that only `codebook` has.

    Examples
    --------
    >>> frame = pl.DataFrame({"sex": ["f", "m", "f", "f"], "bmi": [21.5, 30.1, 24.9, 22.0]})
    >>> sniff_kinds(frame, Codebook())
    Codebook(sex: other/categorical, bmi: other/continuous)
    """
    filled = {}
    for name in frame.columns:
        variable = codebook[name] if name in codebook else Variable()
        if variable.kind is None:
            variable = variable.model_copy(update={"kind": Facts(frame.get_column(name), variable).kind})
        filled[name] = variable
    return Codebook(filled | {n: v for n, v in codebook.items() if n not in filled})


class Facts:
    """One column: its name in words, its values without missing ones, and what they have in common.

    Each fact is worked out when it is first asked for, and the costly ones (which values differ) only where the first
    values do not settle the question already: a wide table asks most of them in vain.
    """

    def __init__(
        self, column: pl.Series, variable: Variable, proposed: bool = False, looking: Looking = _USUAL
    ) -> None:
        self.name = column.name
        self.variable = variable
        self.proposed = proposed  # whether the missing codes of `variable` are guessed
        self.looking = looking
        self.dtype = column.dtype
        self.rows = len(column)
        self._column = column.alias("value")  # a name such as `^x$` would be taken for a pattern
        self._looked: dict[str, bool] = {}

    @cached_property
    def complete(self) -> bool:
        """Whether no value is missing and no code stands for a missing one."""
        column = self._column
        empty = column.null_count() or (self.dtype.is_float() and column.is_nan().any())
        return not empty and not self.variable.missing

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Whether each record has a value, shape (n,)."""
        if self.complete:
            return np.ones(self.rows, dtype=np.bool_)
        known = Codebook({"value": self.variable})
        return self._column.to_frame().select(~known.missing("value", self.dtype)).to_series().to_numpy()

    @cached_property
    def values(self) -> pl.Series:
        """Its values without missing ones."""
        return self._column if self.complete else self._column.filter(pl.Series(self.present))

    @cached_property
    def kinds_of_missing(self) -> int:
        """In how many ways values are missing: as nothing, and by each code that occurs."""
        if self.complete:
            return 0
        gaps = self._column.filter(pl.Series(~self.present))
        return (gaps.fill_nan(None) if self.dtype.is_float() else gaps).n_unique()

    @cached_property
    def words(self) -> str:
        """The name, cut into lower-case words: `motherAge_2` is `mother age 2`."""
        return " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", self.name)).lower()

    @cached_property
    def about(self) -> str:
        """The words of the name and of the label."""
        return f"{self.words} {(self.variable.label or '').lower()}"

    @cached_property
    def distinct(self) -> pl.Series:
        """Its different values."""
        return self.values.unique()

    @cached_property
    def sample(self) -> pl.Series:
        """Up to some 2,000 different values as text, chosen by their hash, so that row order does not matter."""
        return self._chosen.cast(pl.String).str.strip_chars()

    @cached_property
    def _chosen(self) -> pl.Series:
        """The different values that are looked at."""
        distinct, most = self.distinct, self.looking.sample
        if len(distinct) > most:
            distinct = distinct.filter(distinct.hash(seed=0) < np.uint64(2**64 // len(distinct) * most))
        return distinct

    @cached_property
    def found(self) -> dict[str, float]:
        """Share of the texts, those looked at, which hold something personal that has a form, by its kind."""
        if not self.text or self.values.is_empty():
            return {}
        texts = self.values.cast(pl.String)
        if len(self._chosen) < len(self.distinct):
            texts = texts.filter(texts.is_in(self._chosen.cast(pl.String).implode()))
        return self.looking.shares(texts)

    @cached_property
    def found_in_labels(self) -> dict[str, float]:
        """Share of the labels of its values which hold something personal that has a form, by its kind."""
        return self.looking.in_labels(self.variable)

    @cached_property
    def text(self) -> bool:
        """Whether it holds texts."""
        return self.dtype == pl.String or self.dtype in _NAMES

    @cached_property
    def whole(self) -> bool:
        """Whether it holds whole numbers, of whatever type."""
        if self.dtype.is_integer():
            return len(self.values) > 0
        if not self.dtype.is_float() or self.values.is_empty():
            return False
        numbers = self.values.to_numpy()
        return all(bool((np.isfinite(v) & (v == np.floor(v))).all()) for v in (numbers[:_HEAD], numbers))

    @cached_property
    def unique(self) -> bool:
        """Whether each record has a value, and another one."""
        if not len(self.values) == self.rows > 1 or (self.dtype.is_integer() and self.high - self.low + 1 < self.rows):
            return False
        head = self.values.head(_HEAD)
        return head.n_unique() == len(head) and len(self.distinct) == self.rows

    @cached_property
    def low(self) -> float:
        """Smallest value of a numeric column."""
        return float(self.values.min() or 0)  # type: ignore[arg-type]

    @cached_property
    def high(self) -> float:
        """Largest value of a numeric column."""
        return float(self.values.max() or 0)  # type: ignore[arg-type]

    def few(self, limit: int) -> bool:
        """Whether at most `limit` values differ and each occurs twice or more on average."""
        if self.values.head(_HEAD).n_unique() > limit:
            return False
        return 0 < len(self.distinct) <= limit and 2 * len(self.distinct) <= len(self.values)

    def named(self, pattern: str) -> bool:
        """Whether whole words of the name match a regular expression."""
        return re.search(rf"\b(?:{pattern})\b", self.words) is not None

    def says(self, pattern: str) -> bool:
        """Whether words of the name or the label begin with a regular expression."""
        return re.search(rf"\b(?:{pattern})", self.about) is not None

    def looks(self, pattern: str) -> bool:
        """Whether nearly all values have a form, a regular expression for the whole text."""
        if pattern not in self._looked:
            share = self.sample.str.contains(rf"^(?:{pattern})$").mean() if len(self.sample) else None
            self._looked[pattern] = isinstance(share, float) and share >= NEARLY_ALL
        return self._looked[pattern]

    @cached_property
    def kind(self) -> Kind:
        """The kind by the rules of this module, or as it is known."""
        variable, dtype = self.variable, self.dtype
        if variable.kind is not None:
            return variable.kind
        if dtype in (pl.Date, pl.Datetime):
            return Kind.DATE
        if variable.order or variable.measure == "ordinal":
            return Kind.ORDINAL
        if dtype == pl.Boolean or dtype in _NAMES or self.labelled:
            return Kind.CATEGORICAL
        if dtype.is_numeric() and variable.measure == "nominal" and self.few(FEW_TEXTS):
            return Kind.CATEGORICAL
        if dtype in _DECIMAL:
            return Kind.CONTINUOUS
        if dtype.is_numeric():
            amount = variable.measure == "scale" or not self.few(FEW_NUMBERS)
            return Kind.INTEGER if amount else Kind.CATEGORICAL
        return Kind.CATEGORICAL if self.text and self.few(FEW_TEXTS) else Kind.TEXT

    @cached_property
    def labelled(self) -> bool:
        """Whether every value has a label; labels of missing codes do not make categories."""
        labels = self.variable.labels
        if not labels or not 0 < len(self.distinct) <= len(labels):
            return False
        return all(value in labels for value in self.distinct.to_list())


def facts_of(frame: Columns, name: str, codebook: Codebook, looking: Looking = _USUAL) -> Facts:
    """The facts of a column, without the missing codes that are proposed for it."""
    variable = codebook[name] if name in codebook else Variable()
    facts = Facts(frame.get_column(name), variable, looking=looking)
    codes = [] if variable.missing or variable.kind in (Kind.TEXT, Kind.DATE) else _missing_codes(facts)
    if not codes:
        return facts
    proposed = tuple(Missing(code=int(c)) for c in sorted(codes))
    return Facts(frame.get_column(name), variable.model_copy(update={"missing": proposed}), True, looking)


_NEGATIVE_CODES = (*range(-9, 0), -77, -88, -97, -98, -99, -777, -888, -997, -998, -999, -7777, -8888, -9998, -9999)
_POSITIVE_CODES = ((8.0, 9.0), (88.0, 98.0, 99.0), (888.0, 998.0, 999.0), (8888.0, 9998.0, 9999.0))
_HIGHEST = {code for codes in _POSITIVE_CODES for code in codes}


def _missing_codes(facts: Facts) -> list[float]:
    """Conventional missing codes that stand apart from all other values, and are repeated.

    They are the lowest or the highest values, so most columns are settled by these.
    """
    if not facts.dtype.is_numeric() or facts.values.is_empty():
        return []
    if facts.low not in _NEGATIVE_CODES and (facts.low < 0 or facts.high not in _HIGHEST):
        return []
    distinct = np.sort(facts.distinct.cast(pl.Float64).to_numpy())
    negative, rest = distinct[distinct < 0], distinct[distinct >= 0]
    codes = _negative_codes(negative) if len(rest) > 1 else []
    if codes or not len(negative):
        codes = codes + _high_codes(rest)
    return codes if codes and int(facts.values.cast(pl.Float64).is_in(codes).sum()) > len(codes) else []


def _negative_codes(negative: NDArray[np.float64]) -> list[float]:
    """All negative values, if they are up to five conventional codes with one of −7 or less among them."""
    found: list[float] = negative.tolist()
    usual = 0 < len(found) <= 5 and set(found) <= set(_NEGATIVE_CODES) and found[0] <= -7
    return found if usual else []


def _high_codes(rest: NDArray[np.float64]) -> list[float]:
    """Codes such as 99 above all other values and as far from them as they are spread; 8 and 9 only above 0 to 4."""
    for codes in _POSITIVE_CODES:
        known = np.isin(rest, codes)
        found: list[float] = rest[known].tolist()
        below = rest[~known]
        if not found or not len(below) or below[-1] > found[0]:
            continue
        apart = found[0] - below[-1] >= max(below[-1] - below[0], 3)
        if apart and (codes[-1] > 9 or below[-1] <= 4):
            return found
    return []
