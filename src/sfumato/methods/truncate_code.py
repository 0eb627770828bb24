"""Cut codes of a classification to a broader level: occupations, industries, diagnoses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.data.holding import holding
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.methods.by_value import ByValue

__all__ = ["TruncateCode"]


@dataclass(frozen=True)
class _Scheme:
    """A classification whose broader levels are the first characters of its codes.

    Parameters
    ----------
    title
        Its name, in words.
    lengths
        Characters of a code on each level, broadest first; signs between them do not count.
    full
        Characters of the codes that `drop` counts from.
    code
        What a code looks like without signs between its characters, on any level.
    """

    title: str
    lengths: tuple[int, ...]
    full: int
    code: re.Pattern[str]


_DIVISIONS = (
    r"(?:0[1-35-9]|[12][0-9]|3[0-35-9]|4[1-35-79]|5[0-35689]|6[0-689]|7[0-57-9]|8[0-24-8]|9[0-9])"  # 34, 40, … are none
)
_SCHEMES = {
    "soc2020": _Scheme("SOC 2020", (1, 2, 3, 4, 6), 4, re.compile(r"[1-9][0-9]{0,3}|[1-9][0-9]{5}")),
    "isco": _Scheme("ISCO", (1, 2, 3, 4), 4, re.compile(r"[1-9][0-9]{0,3}|0(?:[1-3](?:10?)?)?")),
    "sic": _Scheme("SIC", (2, 3, 4, 5), 5, re.compile(rf"{_DIVISIONS}[0-9]{{0,3}}")),
    "icd10": _Scheme("ICD-10", (3, 4, 5, 6, 7), 4, re.compile(r"[A-Z][0-9][0-9AB][0-9A-Z]{0,4}")),
}
_ASIDE = re.compile(r"[\s./†*+-]")
_NEGATIVE = re.compile(r"-[0-9]{1,4}")
_DOTTED = re.compile(r"[0-9][./]")


class TruncateCode(ByValue):
    """Cut codes to their first characters, which in a classification name the broader group.

    Protects against an intruder who knows somebody's occupation, industry or diagnosis in detail, by making more people
    share it. It does not protect whoever is alone in the broader group too.

    The result is text, without dots or slashes. Where numbers lost a zero in front (ISCO 0110, SIC 01110), it is put
    back. Codes that are as short already stay, and so do negative whole numbers, which stand for missing.

    Parameters
    ----------
    columns
        The columns with codes, all of one scheme.
    keep
        How many characters stay: 3 of SOC 2020 are minor groups. With a scheme, a length that it has.
    drop
        In place of `keep`: how many levels go, from the most detailed usual one on (SOC, ISCO and ICD-10 four
        characters, SIC five); without a scheme, how many characters go from the right.
    scheme
        Classification of the codes: `soc2020`, `isco`, `sic` (and NACE), `icd10`, or `none`.
    invalid
        What becomes of values that are no codes of the scheme: they become `missing`, stay (`keep`), or are refused
        (`error`).

    Examples
    --------
    >>> import polars as pl
    >>> step = TruncateCode(columns=("job",), drop=1, scheme="soc2020")
    >>> step.broader(pl.Series(["2211", "231", "x"]), False, 0).to_list()
    ['221', '231', None]
    """

    do: Literal["truncate_code"] = "truncate_code"
    keep: int | None = Field(default=None, ge=1)
    drop: int | None = Field(default=None, ge=1)
    scheme: Literal["soc2020", "isco", "sic", "icd10", "none"] = "none"

    fitting: ClassVar[str] = "codes of the scheme, or too short"

    @model_validator(mode="after")
    def _one_length(self) -> TruncateCode:
        if (self.keep is None) == (self.drop is None):
            raise ValueError("truncate_code takes either `keep` or `drop`")
        if (scheme := self._scheme) is not None:
            if self.keep is not None and self.keep not in scheme.lengths:
                raise ValueError(f"codes of {scheme.title} have {_listed(scheme.lengths)} characters, not {self.keep}")
            usual = scheme.lengths.index(scheme.full)
            if self.drop is not None and self.drop > usual:
                raise ValueError(f"`drop` is at most {usual} for {scheme.title}")
        return self

    @property
    def _scheme(self) -> _Scheme | None:
        return _SCHEMES.get(self.scheme)

    @property
    def _kept(self) -> int:
        """How many characters stay of codes of the scheme."""
        scheme = self._scheme
        assert scheme is not None
        return self.keep or scheme.lengths[scheme.lengths.index(scheme.full) - (self.drop or 0)]

    def check(self, codebook: Codebook) -> list[str]:
        """Codes are no amounts."""
        wrong = (Kind.CONTINUOUS, Kind.DATE)
        return super().check(codebook) + [
            f"column {n!r} is {codebook[n].kind}, so it holds no codes. If it does, say so under variables: "
            f"{n}: {{kind: categorical}}"
            for n in self.columns
            if n in codebook and codebook[n].kind in wrong
        ]

    def refuse_type(self, column: str, dtype: pl.DataType) -> None:
        """Dates and truth values are no codes."""
        if not (dtype.is_numeric() or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise DataError(f"Column {column!r} holds {holding(dtype)}; truncate_code takes codes.")

    def length(self, texts: pl.Series) -> int:
        """The longest codes of the column, or all of them, tell of which length it is; 0 where no zero can be lost.

        Codes of one level each miss their zeros or none: 1110 beside 47110 is 01110, beside 4711 it is a class.
        """
        scheme = self._scheme
        if scheme is None:
            return 0
        whole = [t for t in texts if t.isdecimal() and len(t) <= scheme.full]
        for full in (n for n in reversed(scheme.lengths) if n <= scheme.full):
            if any(len(t) == full for t in whole) or (
                whole and all(scheme.code.fullmatch(t.zfill(full)) for t in whole)
            ):
                return full
        return 0

    def broader(self, texts: pl.Series, numeric: bool, length: int) -> pl.Series:
        """The first characters of each code."""
        return pl.Series([self._cut(text, numeric, length) for text in texts], dtype=pl.String)

    def _cut(self, text: str, numeric: bool, length: int) -> str | None:
        if _NEGATIVE.fullmatch(text.strip()):
            return text
        scheme = self._scheme
        if scheme is None:
            bare = text.strip()
            return (bare[: self.keep] if self.keep else bare[: -(self.drop or 0)]) or None
        code = self._whole(text, scheme, numeric, length)
        return None if code is None else code[: self._kept]

    def _whole(self, text: str, scheme: _Scheme, numeric: bool, length: int) -> str | None:
        """A code in full, without signs between its characters; None where it is none."""
        if numeric and not text.isdecimal():
            return None  # a number with decimals is a code with a dot no more: 47.1 was 47.1 or 47.10
        bare = _ASIDE.sub("", text).upper()
        if scheme is _SCHEMES["sic"] and _DOTTED.match(text.strip()):
            bare = bare.zfill(len(bare) + 1)  # 1.11 is 01.11
        if numeric and scheme.code.fullmatch(bare.zfill(length)):
            return bare.zfill(length)
        return bare if scheme.code.fullmatch(bare) else None

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """How much of the codes is left."""
        if (scheme := self._scheme) is not None:
            return (Coarsened(self.columns, f"to the first {self._kept} characters of codes of {scheme.title}"),)
        left = (
            f"to the first {self.keep} characters"
            if self.keep
            else f"to codes without their last characters ({self.drop})"
        )
        return (Coarsened(self.columns, left),)


def _listed(lengths: tuple[int, ...]) -> str:
    return f"{', '.join(map(str, lengths[:-1]))} or {lengths[-1]}"
