"""Reduce dates to their year, quarter, month, week or decade, or to an age."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, field_validator, model_validator

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.dates import DAY, EXCEL, MONTH, NOTHING, YEAR, excel_dates, read_dates, refuse_format
from sfumato.data.disclosure import Coarsened
from sfumato.data.error_model import Bounds
from sfumato.data.hierarchy import as_texts
from sfumato.data.holding import holding
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import NUMERIC_KINDS, Kind, Role
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws, unknown_problems
from sfumato.methods.checks import role_problems
from sfumato.methods.generalising import as_category, code_text, with_codes

__all__ = ["CoarsenDate"]

_OLDEST = 130
"""No age is above it: a date that gives more is wrong."""
_WHOLE = 2.0**53
_NEEDS = {"decade": YEAR, "year": YEAR, "quarter": MONTH, "month": MONTH, "week": DAY, "age": DAY, "age_band": DAY}
_NUMBERS = ("year", "decade", "age")
_AGES = ("age", "age_band")
_HOW = {
    "year": "to the year",
    "decade": "to the first year of the decade",
    "quarter": "to the quarter",
    "month": "to the month",
    "week": "to the week (ISO 8601)",
}
_VALUE, _STATUS = "sfumato:coarse", "sfumato:status"


@dataclass(frozen=True)
class _Counted:
    """How many values of a column became what. Confidential."""

    changed: int
    invalid: int
    unfine: int
    undated: int


class CoarsenDate(Method):
    """Reduce dates to their year, quarter, month, week or decade, or to the age at a date.

    Protects against an intruder who knows a date (of birth, of admission), by making more people share what is left of
    it. It does not protect where two dates of a person leave and one of them is exact: an age and the day of the
    interview tell the date of birth to a year, and intervals between events tell one date from another.

    Dates stand in columns of dates, in texts, or in numbers (of Excel, or written by a format). Years, decades (as
    their first year) and ages are whole numbers; quarters (1958-Q2), months (1958-04), weeks (1958-W14) and bands of
    ages are texts. What is known to the year or the month only is enough for these, and missing where more is needed.

    Parameters
    ----------
    columns
        The columns with dates, all written alike.
    to
        What is left: `year`, `quarter`, `month`, `week`, `decade`, `age` in completed years, or `age_band`.
    reference
        For ages: the date at which they are reached (2020-12-31), or the column that holds it.
    format
        How texts or numbers are written: `%d/%m/%Y` for 31/12/1958, `%Y%m%d` for 19581231, `excel` for serial numbers
        of Excel. Without it ISO 8601, and what can be read in one way only.
    day_first
        Whether 03/04/1958 is in April. Without it and `format` such texts are refused where both readings differ in
        what is left.
    top
        For ages: this one and all above are one (`null`: none are).
    width
        Years in a band of ages.
    invalid
        What becomes of values that are no dates, or give no age from 0 to 130: refused (`error`), or `missing`.

    References
    ----------
    Prasser et al. (2020), Flexible data anonymization using ARX, doi:10.1002/spe.2812 (levels of dates).

    Examples
    --------
    >>> import polars as pl
    >>> step = CoarsenDate(columns=("born",), to="age", reference="2020-12-31")
    >>> step.coarse(pl.DataFrame({"born": ["1958-04-03", "1925-01-01"]}), Codebook({"born": Variable()})).to_list()
    [62, 90]
    """

    coarsens: ClassVar[bool] = True

    do: Literal["coarsen_date"] = "coarsen_date"
    columns: tuple[str, ...] = Field(min_length=1)
    to: Literal["year", "quarter", "month", "week", "decade", "age", "age_band"]
    reference: str | None = None
    format: str | None = None
    day_first: bool | None = None
    top: int | None = Field(default=90, ge=1, le=_OLDEST)
    width: int = Field(default=5, ge=2, le=_OLDEST)
    invalid: Literal["error", "missing"] = "error"

    @field_validator("reference", mode="before")
    @classmethod
    def _as_text(cls, given: Any) -> Any:
        return given.isoformat()[:10] if isinstance(given, datetime.date) else given

    @field_validator("format")
    @classmethod
    def _reads(cls, format: str | None) -> str | None:
        if format is not None:
            try:
                refuse_format(format)
            except DataError as error:
                raise ValueError(str(error)) from None
        return format

    @model_validator(mode="after")
    def _goes_together(self) -> CoarsenDate:
        if (self.reference is not None) != (self.to in _AGES):
            raise ValueError(
                "`reference`, the date of ages or the column that holds it, goes with to: age and age_band"
            )
        if self.format is not None and self.day_first is not None:
            raise ValueError("`format` says whether the day is first, so leave `day_first` out")
        if self.reference in self.columns:
            raise ValueError("`reference` cannot be one of `columns`")
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> CoarsenDate:
        """What is for ages, where none are left."""
        found = {} if self.to in _AGES else {"top": "`to: age` or `to: age_band`"}
        self.refuse_idle(found | ({} if self.to == "age_band" else {"width": "`to: age_band`"}))
        return self

    @property
    def _day(self) -> datetime.date | None:
        """The day at which ages are reached, where it is one for all."""
        try:
            return None if self.reference is None else datetime.date.fromisoformat(self.reference)
        except ValueError:
            return None

    @property
    def beside(self) -> str | None:
        """The column with the dates at which ages are reached."""
        return self.reference if self._day is None else None

    @property
    def reads(self) -> tuple[str, ...]:
        """The column with the dates at which ages are reached."""
        return () if self.beside is None else (self.beside,)

    def check(self, codebook: Codebook) -> list[str]:
        """Columns that can hold dates, and missing codes that the result can hold."""
        known = {n: codebook[n] for n in (*self.columns, *self.reads) if n in codebook}
        problems = unknown_problems(codebook, (*self.columns, *self.reads))
        mended = {n: v for n, v in known.items() if v.role != Role.IDENTIFIER}
        problems += role_problems(Codebook(mended), self.columns)
        problems += [
            f"column {n!r} is {v.kind}. Where its numbers are Excel's, say format: excel; where they are written as "
            "19581231 is, say format: '%Y%m%d'"
            for n, v in known.items()
            if v.kind in NUMERIC_KINDS and self.format is None
        ]
        if self.to in _NUMBERS:
            problems += [
                f"the missing codes of {n!r} are no whole numbers, which to: {self.to} gives. Make them ones before, "
                f"or take them out of `missing` and say invalid: missing"
                for n in self.columns
                if n in known and not all(map(_is_whole, known[n].missing))
            ]
        if self.to == "age":
            highest = _OLDEST if self.top is None else self.top
            problems += [
                f"a missing code of {n!r} would be taken for an age; recode it first"
                for n in self.columns
                if n in known and any(_may_be(code, highest) for code in known[n].missing)
            ]
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Whole numbers or categories; bands of ages are ordered."""
        return codebook.replace(**{n: self._described(codebook[n]) for n in self.columns})

    def _described(self, old: Variable) -> Variable:
        if self.to not in _NUMBERS:
            order = tuple(self.bands) if self.to == "age_band" else ()
            codes = tuple(code_text(code) for code in old.missing) if order else ()
            return as_category(old, Kind.ORDINAL if order else Kind.CATEGORICAL, (*order, *codes))
        update = {
            "kind": Kind.INTEGER,
            "missing": tuple(_numbered(code) for code in old.missing),
            "unit": "years" if self.to == "age" else None,
        }
        return as_category(old).model_copy(update=update)

    @property
    def bands(self) -> dict[str, Bounds]:
        """What each band of ages stands for, by its label, youngest first."""
        end = _OLDEST + 1 if self.top is None else self.top
        lows = range(0, end, self.width)
        ends = ((low, min(low + self.width, end)) for low in lows)
        found: dict[str, Bounds] = {f"{a}-{b - 1}" if b - a > 1 else f"{a}": (a, b) for a, b in ends}
        return found if self.top is None else {**found, f"{self.top} and over": (self.top, None)}

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value, after a look at the different values."""
        queries = tuple(Counts((n, *self.reads)) for n in self.columns)

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, _Counted]:
            return {n: self._counted(n, a, codebook) for n, a in zip(self.columns, answers, strict=True)}

        def transform(batch: pl.DataFrame, state: dict[str, _Counted], draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(self.coarse(batch, codebook, n) for n in self.columns)

        return None if states else Stage(transform, queries, fit)

    def coarse(self, batch: pl.DataFrame, codebook: Codebook, column: str | None = None) -> pl.Series:
        """What is left of the dates of a column, by default the first; user-missing codes stay.

        Parameters
        ----------
        batch
            Rows with the column, and the one with the dates of ages where these are in one.
        codebook
            What is known of them.
        column
            The column.
        """
        column = column or self.columns[0]
        frame = batch.with_columns(self._read(column, batch, codebook))
        dtype = batch.schema[column]
        if self.to not in _NUMBERS:
            return frame.select(with_codes(column, dtype, codebook, pl.col(_VALUE))).to_series()
        value: pl.Expr = pl.when(~codebook.missing(column, dtype)).then(_VALUE)
        for code in codebook[column].missing:
            is_code = code.expression(pl.col(column), dtype).fill_null(False)
            kept = pl.lit(_numbered(code).code) if code.code is not None else pl.col(column)
            value = pl.when(is_code).then(kept.cast(pl.Int64, strict=False)).otherwise(value)
        return frame.select(value.cast(pl.Int64).alias(column)).to_series()

    def _counted(self, column: str, counts: pl.DataFrame, codebook: Codebook) -> _Counted:
        """Count what became what; refuse what may be read in two ways and, where the step says so, what is no date."""
        status = self._read(column, counts, codebook)[1]
        of = {str(s): int(counts[COUNT].filter(status == s).sum()) for s in status.unique()}
        if of.get("two"):
            raise DataError(
                f"Column {column!r} holds dates that may be read with the day or the month first, and what is left of "
                "them differs. Say which: day_first: true (or false), or a format: '%d/%m/%Y'."
            )
        if of.get("invalid") and self.invalid == "error":
            ages = " or give no age from 0 to 130 years at its reference" if self.to in _AGES else ""
            raise DataError(
                f"Column {column!r} holds values that are no dates{ages}. Correct them, say how they are written "
                "(`format`), give them codes under `missing`, or say invalid: missing."
            )
        return _Counted(*(of.get(s, 0) for s in ("fine", "invalid", "unfine", "undated")))

    def _read(self, column: str, batch: pl.DataFrame, codebook: Codebook) -> tuple[pl.Series, pl.Series]:
        """What is left of each date, and how it went: fine, missing, invalid, unfine, undated, two."""
        parts = [self._readings(column, batch, codebook, "")]
        if self.beside is not None:
            parts.append(self._readings(self.beside, batch, codebook, "at "))
        frame = pl.concat(parts, how="horizontal")
        days = [pl.col("one"), pl.coalesce("other", "one")]
        ends = [pl.lit(self._day)] if self.beside is None else [pl.col("at one"), pl.coalesce("at other", "at one")]
        results = [self._result(day, end) for day, end in itertools.product(days, ends)]
        end_grain = pl.lit(DAY) if self.beside is None else pl.col("at grain")
        status = (
            pl.when(pl.col("grain").is_null()).then(pl.lit("missing"))
            .when((pl.col("grain") == NOTHING) | (end_grain == NOTHING).fill_null(False)).then(pl.lit("invalid"))
            .when(pl.col("grain") < _NEEDS[self.to]).then(pl.lit("unfine"))
            .when((end_grain != DAY).fill_null(True)).then(pl.lit("undated"))
            .when(pl.any_horizontal(r.ne_missing(results[0]) for r in results[1:])).then(pl.lit("two"))
            .when(results[0].is_null()).then(pl.lit("invalid"))
            .otherwise(pl.lit("fine"))
        )  # fmt: skip
        told = frame.select(results[0].alias(_VALUE), status.alias(_STATUS))
        value = told.select(pl.when(pl.col(_STATUS) == "fine").then(_VALUE).alias(_VALUE)).to_series()
        return value, told[_STATUS]

    def _readings(self, column: str, batch: pl.DataFrame, codebook: Codebook, prefix: str) -> pl.DataFrame:
        """The days that each value of a column may be, and how finely it is known: null where it is missing."""
        dtype, value = batch.schema[column], pl.col(column)
        missing = batch.select(codebook.missing(column, dtype).alias("missing")).to_series()
        if dtype in (pl.Date, pl.Datetime):
            day = batch.select(value.cast(pl.Date).alias("one"), pl.lit(None, dtype=pl.Date).alias("other"))
            found = day.with_columns(grain=pl.lit(DAY, dtype=pl.Int8))
        else:
            text = batch.select(self._text(column, dtype)).to_series()
            distinct = text.filter(~missing).unique().drop_nulls()
            read = pl.concat([distinct.to_frame("text"), self._of_texts(distinct, dtype)], how="horizontal")
            found = text.to_frame("text").join(read, on="text", how="left", maintain_order="left").drop("text")
            found = found.with_columns(pl.col("grain").fill_null(NOTHING))
        none = pl.Series("missing", missing)
        found = found.with_columns(pl.when(~none).then(pl.col(n)).alias(n) for n in found.columns)
        return found.rename({n: f"{prefix}{n}" for n in found.columns})

    def _text(self, column: str, dtype: pl.DataType) -> pl.Expr:
        """A column that holds no dates, as what they are read from."""
        numbers = dtype.is_numeric()
        if not (numbers or dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null)):
            raise DataError(f"Column {column!r} holds {holding(dtype)}; coarsen_date takes dates.")
        if numbers and self.format is None:
            raise DataError(
                f"Column {column!r} holds numbers. Where they are Excel's, say format: excel; where they are written "
                f"as 19581231 is, say format: '%Y%m%d'."
            )
        if self.format == EXCEL:
            if not numbers and dtype != pl.Null:
                raise DataError(f"Column {column!r} holds {holding(dtype)}; format: excel takes numbers.")
            return pl.col(column).cast(pl.Float64).alias("text")
        return as_texts(pl.col(column), dtype).alias("text")

    def _of_texts(self, distinct: pl.Series, dtype: pl.DataType) -> pl.DataFrame:
        if self.format == EXCEL:
            return excel_dates(distinct)
        return read_dates(distinct, self.format, self.day_first)

    def _result(self, day: pl.Expr, end: pl.Expr) -> pl.Expr:
        """What is left of a day; of ages null where it is none."""
        year = day.dt.year().cast(pl.Int64)
        match self.to:
            case "year":
                return year
            case "decade":
                return year // 10 * 10
            case "quarter":
                return pl.format("{}-Q{}", year.cast(pl.String).str.zfill(4), day.dt.quarter())
            case "month":
                return day.dt.strftime("%Y-%m")
            case "week":
                week = day.dt.week().cast(pl.String).str.zfill(2)
                return pl.format("{}-W{}", day.dt.iso_year().cast(pl.String).str.zfill(4), week)
        return self._age(day, end)

    def _age(self, day: pl.Expr, end: pl.Expr) -> pl.Expr:
        """Completed years, from birthday to birthday (of 29 February in other years: 1 March), or their band."""
        early = (end.dt.month() < day.dt.month()) | ((end.dt.month() == day.dt.month()) & (end.dt.day() < day.dt.day()))
        age = end.dt.year().cast(pl.Int64) - day.dt.year().cast(pl.Int64) - early.cast(pl.Int64)
        age = pl.when(age.is_between(0, _OLDEST)).then(age)
        if self.to == "age":
            return age if self.top is None else age.clip(upper_bound=self.top)
        labels, band = list(self.bands), age // self.width
        if self.top is not None:
            band = pl.when(age >= self.top).then(len(labels) - 1).otherwise(band)
        return band.replace_strict(range(len(labels)), labels, default=None, return_dtype=pl.String)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """What is left, and at which date ages are reached."""
        if self.to not in _AGES:
            return (Coarsened(self.columns, _HOW[self.to]),)
        if self.to == "age_band":
            return (Coarsened(self.columns, f"to bands of ages at {self.reference}", self.bands),)
        top = "" if self.top is None else f", {self.top} and over as {self.top}"
        return (Coarsened(self.columns, f"to the age in completed years at {self.reference}{top}"),)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many values became what."""
        counted: dict[str, _Counted] = states[0]
        told = []
        for n, one in counted.items():
            told.append(f"{n}: {one.changed} dates were made coarser.")
            if one.invalid:
                told.append(f"{n}: {one.invalid} values were no dates that can be and became missing.")
            if one.unfine:
                told.append(f"{n}: {one.unfine} dates were known less finely than that and became missing.")
            if one.undated:
                told.append(f"{n}: {one.undated} dates had none in {self.beside} beside them and became missing.")
        return tuple(told)


def _is_whole(code: Missing) -> bool:
    """Whether a missing code, or a range of them, can stand among whole numbers."""
    try:
        return all(abs(end) < _WHOLE and float(end).is_integer() for end in _ends(code))
    except ValueError:
        return False


def _ends(code: Missing) -> tuple[float, ...]:
    """A code as a number, or the ends of its range."""
    if code.code is None:
        return (code.low or 0.0, code.high or 0.0)
    return (float(code.code),)


def _may_be(code: Missing, highest: int) -> bool:
    """Whether a code may be an age."""
    if not _is_whole(code):
        return False
    ends = _ends(code)
    return min(ends) <= highest and max(ends) >= 0


def _numbered(code: Missing) -> Missing:
    """A code that stood in a text, as the number that it is."""
    return code if code.code is None else code.model_copy(update={"code": int(float(code.code))})
