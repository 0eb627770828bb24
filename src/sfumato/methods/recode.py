"""Recode values to broader categories: by a map, into bands, or to a level of a hierarchy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook, Missing, Scalar, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.data.error_model import Bounds
from sfumato.data.files.hierarchies import HierarchyFolder
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.holding import holding
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.generalising import OTHER, coarsened, code_text, described, generalised, refuse_unlisted, unlisted

__all__ = ["Recode"]


class Recode(Method):
    """Replace values by broader ones: listed values by a map, numbers by bands, any by a level of their hierarchy.

    Protects against an intruder who knows a value, by making more people share it (global recoding). It cannot protect
    a combination of other columns.

    Parameters
    ----------
    columns
        The columns to recode, all alike.
    map
        New value for each old one; either this, or `band`, or `level`.
    other
        What becomes of values that `map` does not list: they stay (`keep`), become missing (`missing`), or are refused
        (`error`).
    band
        Cut points in rising order, each of which begins its band: [18, 65] gives below 18, 18 to below 65, and 65 and
        over.
    labels
        Names of the bands, one more than there are cut points; else they are made of the cut points.
    level
        Level of the hierarchy that values are recoded to: 1 for the first broader category. A branch that is less deep
        keeps its broadest category.
    hierarchy
        Broader and broader categories of each value, for `level`; else each column's own (`variables`, or a folder of
        files, see `hierarchies`).
    hierarchies
        Folder with a file of that hierarchy for each column (`age.csv`), beside the plan.
    unknown
        What becomes of values that the hierarchy does not list: refused (`error`), `missing`, or a category `other`.

    Examples
    --------
    >>> Recode(columns=("age",), band=(18, 65)).band_labels
    ('below 18', '18 to below 65', '65 and over')
    """

    coarsens: ClassVar[bool] = True

    do: Literal["recode"] = "recode"
    columns: tuple[str, ...] = Field(min_length=1)
    map: dict[Scalar, Scalar] | None = None
    other: Literal["keep", "missing", "error"] = "keep"
    band: tuple[float, ...] | None = Field(default=None, min_length=1)
    labels: tuple[str, ...] | None = None
    level: int | None = Field(default=None, ge=1)
    hierarchy: dict[Scalar, tuple[Scalar, ...]] | None = None
    hierarchies: HierarchyFolder | None = None
    unknown: Literal["error", "missing", "other"] = "error"

    @model_validator(mode="after")
    def _one_way(self) -> Recode:
        if [self.map, self.band, self.level].count(None) != 2:
            raise ValueError("recode takes either `map`, or `band`, or `level`")
        if self.level is None and not (self.hierarchy is None and self.hierarchies is None and self.unknown == "error"):
            raise ValueError("`hierarchy`, `hierarchies` and `unknown` go with `level`")
        if self.hierarchy is not None:
            try:
                Hierarchy.mapping(self.hierarchy)
            except DataError as error:
                raise ValueError(str(error)) from None
        if self.band is not None:
            if any(b <= a for a, b in itertools.pairwise(self.band)):
                raise ValueError("`band` takes cut points in rising order")
            if self.labels is not None and len(set(self.labels)) != len(self.band) + 1:
                raise ValueError("`labels` takes one different name for each band: one more than there are cut points")
        elif self.labels is not None:
            raise ValueError("`labels` goes with `band`")
        return self

    def bands(self, low: float | None = None, high: float | None = None) -> dict[str, Bounds]:
        """What each band stands for, by its label: low end, high end (which is in the next band), None where open.

        Parameters
        ----------
        low, high
            Lowest and highest possible value, where it is known: the ends of the first and the last band.
        """
        return dict(zip(self.band_labels, itertools.pairwise((low, *(self.band or ()), high)), strict=True))

    @property
    def band_labels(self) -> tuple[str, ...]:
        """Name of each band, lowest first."""
        cuts = [repr(b).removesuffix(".0") for b in self.band or ()]  # every digit, or the label would be untrue
        inner = (f"{low} to below {high}" for low, high in itertools.pairwise(cuts))
        return self.labels or (f"below {cuts[0]}", *inner, f"{cuts[-1]} and over")

    def check(self, codebook: Codebook) -> list[str]:
        """Bands need numbers, and labels that stand for nothing else; levels a hierarchy that has them."""
        problems = super().check(codebook)
        if self.level is not None:
            return problems + self._level_problems(codebook)
        if self.band is not None:
            wrong = (Kind.TEXT, Kind.DATE, Kind.GEOGRAPHIC)
            known = [n for n in self.columns if n in codebook]
            problems += [
                f"column {n!r} is {codebook[n].kind}; `band` needs numbers" for n in known if codebook[n].kind in wrong
            ]
            problems += [
                f"a band of {n!r} has the label of a missing code; choose other `labels`"
                for n in known
                if any(code_text(code) in self.band_labels for code in codebook[n].missing)
            ]
        return problems

    def _level_problems(self, codebook: Codebook) -> list[str]:
        problems = []
        for n in (n for n in self.columns if n in codebook):
            try:
                hierarchy = self._hierarchy(codebook[n])
                if self.level is not None and self.level > hierarchy.height:
                    problems.append(f"the hierarchy of {n!r} has levels up to {hierarchy.height}, not {self.level}")
            except DataError as error:
                problems.append(f"column {n!r}: {error}")
        return problems

    def _hierarchy(self, variable: Variable) -> Hierarchy:
        found = Hierarchy.mapping(self.hierarchy) if self.hierarchy is not None else Hierarchy.of(variable)
        if found is None:
            raise DataError(
                "it has no hierarchy. Give one (hierarchy, under variables, or a folder of files: hierarchies)."
            )
        return found

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """Bands become an ordinal variable; mapped values keep only the labels that still apply."""
        return codebook.replace(**{n: self._described(codebook[n]) for n in self.columns})

    def _described(self, old: Variable) -> Variable:
        if self.level is not None:
            return self._of_level(old)
        if self.band is None:
            labels = {v: text for v, text in old.labels.items() if v not in (self.map or {})}
            numbers = old.numeric and not any(isinstance(v, str | bool) for v in (self.map or {}).values())
            kind = old.kind if numbers or old.kind == Kind.ORDINAL else Kind.CATEGORICAL
            return old.model_copy(update={"labels": labels, "kind": kind, "range": None, "order": ()})
        codes = tuple(Missing(code=code_text(m), label=m.label) for m in old.missing)
        update: dict[str, Any] = {
            "kind": Kind.ORDINAL,
            "order": self.band_labels,
            "labels": {},
            "missing": codes,
            "range": None,
        }
        return old.model_copy(update=update | {"measure": None, "format": None})

    def _of_level(self, old: Variable) -> Variable:
        assert self.level is not None
        new = described(old, self._hierarchy(old), self.level)
        if self.unknown == "other" and new.order:
            new = new.model_copy(update={"order": (*new.order, OTHER)})
        return new

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, value by value; a hierarchy is held against the values that there are before."""

        def transform(batch: pl.DataFrame, state: object, draws: StepDraws) -> pl.DataFrame:
            change = self._banded if self.band is not None else self._mapped if self.map else self._generalised
            return batch.with_columns(change(n, batch, codebook) for n in self.columns)

        if states:
            return None
        if self.level is not None:
            queries = tuple(Counts((n,)) for n in self.columns)
            return Stage(transform=transform, queries=queries, fit=lambda answers: self._fit_level(codebook, answers))
        ranges = {n: self._range(codebook[n]) for n in self.columns}
        return Stage(transform=transform, fit=lambda answers: ranges)

    def _fit_level(self, codebook: Codebook, answers: Sequence[pl.DataFrame]) -> tuple[Coarsened, ...]:
        """What is disclosed, where the hierarchies list all values or the step says what becomes of others."""
        hierarchies = {n: self._hierarchy(codebook[n]) for n in self.columns}
        if self.unknown == "error":
            counted = zip(hierarchies.items(), answers, strict=True)
            refuse_unlisted({n: unlisted(counts, n, COUNT, codebook, h) for (n, h), counts in counted})
        assert self.level is not None
        return tuple(part for n, h in hierarchies.items() for part in coarsened(n, codebook[n], h, self.level))

    def _generalised(self, column: str, batch: pl.DataFrame, codebook: Codebook) -> pl.Expr:
        assert self.level is not None
        dtype = batch.schema[column]
        level = self._hierarchy(codebook[column]).level(self.level)
        text = generalised(column, dtype, codebook, level)
        if self.unknown != "other":
            return text
        strange = text.is_null() & ~codebook.missing(column, dtype)
        return pl.when(strange).then(pl.lit(OTHER)).otherwise(text).alias(column)

    def _range(self, variable: Variable) -> tuple[float | None, float | None]:
        """The possible values that the codebook gives, where the outer bands have some."""
        low, high = variable.range or (None, None)
        cuts = self.band or (-math.inf, math.inf)
        return (
            low if low is not None and low < cuts[0] else None,
            high if high is not None and high > cuts[-1] else None,
        )

    def _banded(self, column: str, batch: pl.DataFrame, codebook: Codebook) -> pl.Expr:
        dtype = batch.schema[column]
        if not dtype.is_numeric():
            raise DataError(f"Column {column!r} holds {holding(dtype)}; `band` of recode needs numbers.")
        value = pl.col(column)
        low, high = self._range(codebook[column])
        outside = (value < (-math.inf if low is None else low)) | (value > (math.inf if high is None else high))
        if batch.select((outside & ~codebook.missing(column, dtype)).any()).item():
            raise DataError(
                f"Column {column!r} holds values outside the range that the plan gives as possible, so its bands would "
                "tell something untrue. Correct the values, or the range."
            )
        reached = pl.sum_horizontal((value >= cut).cast(pl.Int64) for cut in self.band or ())
        band = reached.replace_strict(range(len(self.band_labels)), list(self.band_labels), return_dtype=pl.String)
        text = pl.when(codebook.missing(column, dtype)).then(None).otherwise(band)
        for code in codebook[column].missing:  # each keeps a category of its own, and says why there is no value
            text = pl.when(code.expression(value, dtype).fill_null(False)).then(pl.lit(code_text(code))).otherwise(text)
        return text.alias(column)

    def _mapped(self, column: str, batch: pl.DataFrame, codebook: Codebook) -> pl.Expr:
        dtype, value = batch.schema[column], pl.col(column)
        old, new = list(self.map or {}), list((self.map or {}).values())
        numeric = dtype.is_numeric() and not any(isinstance(v, str | bool) for v in new)
        try:
            keys = pl.Series([str(k) for k in old] if dtype == pl.String else old, strict=True).cast(dtype)
        except (pl.exceptions.PolarsError, TypeError):
            raise DataError(f"The keys of `map` do not fit column {column!r}, which holds {holding(dtype)}.") from None
        missing = codebook.missing(column, dtype)
        if self.other == "error" and not batch.select((value.is_in(keys.implode()) | missing).all()).item():
            raise DataError(f"Column {column!r} holds values that `map` of recode does not list (other: error).")
        rest = value if numeric else value.cast(pl.String)
        if self.other == "missing":
            rest = pl.when(missing).then(rest)
        return value.replace_strict(keys, new if numeric else [str(v) for v in new], default=rest).alias(column)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """That values are broader, and for bands what each stands for; the outer ones end where possible values do."""
        if self.level is not None:
            return tuple(states[0])
        if self.band is None:
            return (Coarsened(self.columns, "to broader categories"),)
        how = f"into the bands {', '.join(self.band_labels)}"
        (ranges,) = states
        alike = {ends: tuple(n for n in self.columns if ranges[n] == ends) for ends in ranges.values()}
        return tuple(Coarsened(columns, how, self.bands(*ends)) for ends, columns in alike.items())
