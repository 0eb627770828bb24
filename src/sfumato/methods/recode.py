"""Recode values to broader categories: by a map, into bands, or to a level of a hierarchy."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook, Missing, Scalar, Variable
from sfumato.data.disclosure import Coarsened, Disclosed
from sfumato.data.error_model import Bounds
from sfumato.data.files.hierarchies import HierarchyFolder
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.holding import holding
from sfumato.data.publishable import Publishable
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Kind
from sfumato.draws import shortest
from sfumato.errors import DataError
from sfumato.methods.banding import Bands, Cuts, fewest, labels_of, learned, told_cuts
from sfumato.methods.base import Method, Stage, StepDraws
from sfumato.methods.generalising import (
    OTHER,
    coarsened,
    code_text,
    described,
    generalised,
    refuse_unlisted,
    unlisted,
    with_codes,
)

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
        over. Or {n: 5, method: quantile}: cut points are learned, for `n` bands with equally many records (`quantile`,
        the default), of equal width (`equal`) or of equal width of the logarithm (`log`), and rounded to 3 significant
        digits; bands with fewer than `k` records (5 where nothing is said, 0 for no least) are merged with neighbours.
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
    band: Annotated[tuple[float, ...], Field(min_length=1)] | Bands | None = None
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
            if any(b <= a for a, b in itertools.pairwise(self._points)):
                raise ValueError("`band` takes cut points in rising order")
            bands = self.band.n if isinstance(self.band, Bands) else len(self.band) + 1
            if self.labels is not None and not len(set(self.labels)) == len(self.labels) == bands:
                raise ValueError("`labels` takes one different name for each band: one more than there are cut points")
        elif self.labels is not None:
            raise ValueError("`labels` goes with `band`")
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> Recode:
        """What becomes of values that no map lists, where there is none."""
        self.refuse_idle({} if self.map is not None else {"other": "`map`"})
        return self

    def bands(self, low: float | None = None, high: float | None = None) -> dict[str, Bounds]:
        """What each band of given cut points stands for, by its label; None where it is open.

        Parameters
        ----------
        low, high
            Lowest and highest possible value, where it is known: the ends of the first and the last band.
        """
        return Cuts(self._points, self.band_labels).bands(low, high)

    @property
    def _points(self) -> tuple[float, ...]:
        """The cut points that are given."""
        return self.band if isinstance(self.band, tuple) else ()

    @property
    def band_labels(self) -> tuple[str, ...]:
        """Name of each band, lowest first; where cut points are learned and names not given, none."""
        return self.labels or (labels_of(self._points) if self._points else ())

    @property
    def counts_records(self) -> bool:
        """Learned bands need so many, where `k` asks for them."""
        return isinstance(self.band, Bands) and self.band.k > 1

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
        cuts: dict[str, Cuts] = {n: one.cuts for n, one in states[0].items()} if states and self.band else {}
        return codebook.replace(**{n: self._described(codebook[n], cuts.get(n)) for n in self.columns})

    def _described(self, old: Variable, cuts: Cuts | None) -> Variable:
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
            "order": self.band_labels if cuts is None else cuts.labels,
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

        def transform(batch: pl.DataFrame, state: Any, draws: StepDraws) -> pl.DataFrame:
            if self.band is not None:
                return batch.with_columns(_banded(n, batch, codebook, state[n]) for n in self.columns)
            change = self._mapped if self.map else self._generalised
            return batch.with_columns(change(n, batch, codebook) for n in self.columns)

        if states:
            return None
        queries = tuple(Counts((n,)) for n in self.columns)
        if self.level is not None:
            return Stage(transform=transform, queries=queries, fit=lambda answers: self._fit_level(codebook, answers))

        def taking(answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> dict[str, _Banded] | None:
            assert isinstance(self.band, Bands)
            cuts = {}
            for n, counts in zip(self.columns, answers, strict=True):
                found = told_cuts(n, told)
                if found is None or fewest(n, counts, codebook, found) < max(self.band.k, 1):
                    return None
                cuts[n] = replace(found, fewer=len(found.labels) < self.band.n)
            return {n: _Banded(one, *_range(codebook[n], one)) for n, one in cuts.items()}

        learns = isinstance(self.band, Bands)
        asked = queries if learns else ()
        return Stage(
            transform, asked, lambda answers: self._fit_band(codebook, answers), taking=taking if learns else None
        )

    def _fit_band(self, codebook: Codebook, answers: Sequence[pl.DataFrame]) -> dict[str, _Banded]:
        """The bands of each column, and where the outer ones end."""
        if isinstance(self.band, Bands):
            found = zip(self.columns, answers, strict=True)
            cuts = {n: learned(n, counts, codebook, self.band, self.labels) for n, counts in found}
            _refuse_codes(cuts, codebook)
        else:
            cuts = dict.fromkeys(self.columns, Cuts(self._points, self.band_labels))
        return {n: _Banded(one, *_range(codebook[n], one)) for n, one in cuts.items()}

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
        told: dict[_Banded, tuple[str, ...]] = {}
        for n, one in states[0].items():
            told[one] = (*told.get(one, ()), n)
        return tuple(
            Coarsened(columns, f"into the bands {', '.join(one.cuts.labels)}", one.cuts.bands(one.low, one.high))
            for one, columns in told.items()
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns with fewer bands than were asked for."""
        banded: dict[str, _Banded] = states[0] if isinstance(self.band, Bands) else {}
        fewer = [n for n, one in banded.items() if one.cuts.fewer]
        if not fewer or not isinstance(self.band, Bands):
            return ()
        return (
            Publishable(
                f"recode: {', '.join(fewer)} has fewer than {self.band.n} bands: of those that were asked for some had "
                f"fewer than {max(self.band.k, 1)} records or equal ends, and were merged."
            ),
        )


@dataclass(frozen=True)
class _Banded:
    """The bands of a column, and its lowest and highest possible value where the outer bands reach further."""

    cuts: Cuts
    low: float | None
    high: float | None


def _range(variable: Variable, cuts: Cuts) -> tuple[float | None, float | None]:
    """The possible values that the codebook gives, where the outer bands have some."""
    low, high = variable.range or (None, None)
    return (
        low if low is not None and low < cuts.points[0] else None,
        high if high is not None and high > cuts.points[-1] else None,
    )


def _refuse_codes(cuts: Mapping[str, Cuts], codebook: Codebook) -> None:
    """Refuse labels that were learned and stand for something else."""
    if wrong := [n for n, one in cuts.items() if any(code_text(m) in one.labels for m in codebook[n].missing)]:
        raise DataError(
            f"recode: a band of {', '.join(wrong)} would have the label of a missing code. Ask for other bands, or "
            f"give `labels`."
        )


def _banded(column: str, batch: pl.DataFrame, codebook: Codebook, banded: _Banded) -> pl.Expr:
    dtype = batch.schema[column]
    if not dtype.is_numeric():
        raise DataError(f"Column {column!r} holds {holding(dtype)}; `band` of recode needs numbers.")
    value, labels = shortest(pl.col(column), dtype), banded.cuts.labels
    low = -math.inf if banded.low is None else banded.low
    high = math.inf if banded.high is None else banded.high
    outside = (value < low) | (value > high)
    if batch.select((outside & ~codebook.missing(column, dtype)).any()).item():
        raise DataError(
            f"Column {column!r} holds values outside the range that the plan gives as possible, so its bands would "
            "tell something untrue. Correct the values, or the range."
        )
    reached = pl.sum_horizontal((value >= cut).cast(pl.Int64) for cut in banded.cuts.points)
    band = reached.replace_strict(range(len(labels)), list(labels), return_dtype=pl.String)
    return with_codes(column, dtype, codebook, band)
