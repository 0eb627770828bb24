"""Make the copies of a table: code it, draw column after column, and bring it back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.expression import Expression
from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.methods.drawn_grid import time_unit
from sfumato.methods.synthesise.bounded import bounding_coding
from sfumato.methods.synthesise.cart import fit_cart
from sfumato.methods.synthesise.coding import FEW, Coded, Coding, coding_of
from sfumato.methods.synthesise.gaps import Gaps
from sfumato.methods.synthesise.keys import StepKeys, digest_of
from sfumato.methods.synthesise.lookup import Lookup, found_in, within_true
from sfumato.methods.synthesise.model import Fit, Model, Told
from sfumato.methods.synthesise.ordered import Order, bounding_of
from sfumato.methods.synthesise.parametric import fit_parametric
from sfumato.methods.synthesise.sequence import Forced, Target, drawn

__all__ = ["SWEEPS", "Ruled", "Synthesis"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

SWEEPS = 5
"""How often gaps are drawn again, where nobody says otherwise."""
_TOO_FEW = (
    "`min_leaf` is more than half of the records to draw from: no leaf could be told from another. Take a smaller "
    "`min_leaf`, or fewer strata."
)
_NOTHING = "Column {column!r} has no value at all, so there is nothing to draw from. Drop it instead."


@dataclass(frozen=True)
class Ruled:
    """A rule, read.

    Parameters
    ----------
    condition
        When it applies.
    column, value
        What it settles.
    """

    condition: Expression
    column: str
    value: Scalar | None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it settles and looks at."""
        return self.column, *self.condition.names

    @property
    def text(self) -> str:
        """What it is called in notes."""
        return f"if {self.condition.text}: {self.column}"

    def broken(self, frame: pl.DataFrame, codebook: Codebook) -> int:
        """How many records of a table break it."""
        return int(self.breaking(frame, codebook).sum())

    def breaking(self, frame: pl.DataFrame, codebook: Codebook) -> Flags:
        """Which records of a table break it."""
        wanted = pl.Series(self.column, [self.value], dtype=frame.schema[self.column], strict=False)
        holds = self.condition.polars(codebook, frame.schema).fill_null(False).cast(pl.Boolean)
        other = pl.col(self.column).ne_missing(wanted.first())
        told = frame.select(holds.alias("holds"), other.alias("other"))
        return np.asarray((told["holds"] & told["other"]).to_numpy())


@dataclass(frozen=True)
class Synthesis:
    """What is drawn from what; parameters of the step with its columns resolved.

    Parameters
    ----------
    method
        Name of the step, on which draws are keyed.
    columns
        What is drawn, in order.
    given
        Columns that stay true and help to draw.
    predictors
        For a column, those that it is drawn from.
    copies
        How many.
    min_leaf, smooth, proper
        As for the step.
    rules
        Rules, read.
    strength
        What stands for the parameters in the draws.
    parametric
        The columns that are drawn by parametric models; the others by trees.
    sweeps
        How often gaps are drawn again, given all other columns.
    steps
        Multiple that numbers drawn between true ones are rounded to, by column, once the data are seen.
    plain
        Columns all of whose numbers are numbers, whatever many records share: those that bound others or are bounded.
    orders, lookups
        What is kept; lookups with their values, once the data are seen.
    """

    structure: ClassVar[bool] = False
    """Whether nothing of the data is drawn from."""

    method: str
    columns: tuple[str, ...]
    given: tuple[str, ...]
    predictors: Mapping[str, tuple[str, ...]]
    copies: int
    min_leaf: int
    smooth: bool
    proper: bool
    rules: tuple[Ruled, ...]
    strength: str
    parametric: frozenset[str] = frozenset()
    sweeps: int = SWEEPS
    steps: Mapping[str, float] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    orders: tuple[Order, ...] = ()
    lookups: tuple[Lookup, ...] = ()

    def copied(
        self, frame: pl.DataFrame, codebook: Codebook, draws: Draws, records: Words, units: Words | None
    ) -> list[pl.DataFrame]:
        """Draw the copies of one stratum.

        Parameters
        ----------
        frame
            The original.
        codebook
            Of the table.
        draws
            The release's keyed draws.
        records : ndarray of uint64, shape (n,)
            The unit of each record.
        units : ndarray of uint64, shape (k,), optional
            The unit of each synthetic row; None where the rows are the original's, and given columns stay.

        Returns
        -------
        list of DataFrame
            Of each copy the drawn columns, and the given ones, in the order of the rows.

        Raises
        ------
        DataError
            Columns without any value, fewer records than two leaves need.
        """
        if 2 * self.min_leaf > frame.height and not self.parametric.issuperset(self.columns):
            raise DataError(_TOO_FEW)
        names = (*self.given, *self.columns)
        coded = {name: self.coded(frame[name], codebook) for name in names}
        codings = {name: coding for name, (coding, _) in coded.items()}
        original = {name: column for name, (_, column) in coded.items()}
        strength = f"{self.strength}|{digest_of(draws, self.method, codings, original, _nobody(records))}"
        order = _by_value(original, names)
        ordered = {name: Coded(column.state[order], column.number[order]) for name, column in original.items()}
        fixed = {name: original[name] for name in self.given} if units is None else {}
        keys = StepKeys(draws, self.method, strength, records if units is None else units, records[order])
        targets = list(self.targets(frame[order], codebook, codings, ordered))
        rows = len(records) if units is None else len(units)
        made = drawn(targets, codings, ordered, fixed, rows, self.copies, keys, proper=self.proper)
        return [pl.DataFrame([codings[name].series(own[name]) for name in names if name in own]) for own in made]

    def filled(self, frame: pl.DataFrame, codebook: Codebook, draws: Draws, records: Words) -> list[pl.DataFrame]:
        """Draw what is missing of one stratum; parameters and errors as of `copied`.

        Each gap is drawn given all other columns as they are filled in, by models that are fitted to the records that
        have a value.
        """
        if 2 * self.min_leaf > frame.height and not self.parametric.issuperset(self.columns):
            raise DataError(_TOO_FEW)
        names = (*self.given, *self.columns)
        coded = {name: self.coded(frame[name], codebook) for name in names}
        codings = {name: coding for name, (coding, _) in coded.items()}
        original = {name: column for name, (_, column) in coded.items()}
        strength = f"{self.strength}|{digest_of(draws, self.method, codings, original, _nobody(records))}"
        missing = [codebook.missing(name, frame.schema[name]).alias(name) for name in self.columns]
        gone = {column.name: column.to_numpy() for column in frame.select(missing)}
        order = _by_value(original, names, records)  # people alike have gaps that are filled in differently
        forced: dict[str, tuple[Forced, ...]] = {}
        for rule in self.rules:
            forced[rule.column] = (*forced.get(rule.column, ()), self._forced(rule, frame, codebook, codings))
        for name, own in forced.items():
            _refuse_contradiction(name, own)
        gaps = Gaps(codings, original, gone, order, self.predictors, self.fit, self.sweeps, forced)
        keys = StepKeys(draws, self.method, strength, records, records)
        copies = []
        for copy in range(self.copies):
            weights = keys.weights(copy) if self.proper else None
            anew = None if weights is None else {n: weights for n in self.columns if n not in self.parametric}
            made = gaps.filled(keys, copy, anew)
            copies.append(pl.DataFrame([codings[name].series(made[name]) for name in self.columns]))
        return copies

    def coded(self, column: pl.Series, codebook: Codebook) -> tuple[Coding, Coded]:
        """Code a column, with the values that rules demand among those that it may have.

        Parameters
        ----------
        column
            The original's.
        codebook
            Of the table.

        Raises
        ------
        DataError
            A column that is drawn and has no value.
        """
        wanted = [rule.value for rule in self.rules if rule.column == column.name]
        for lookup in self.lookups if column.name in self.columns else ():
            wanted += lookup.results.to_list() if lookup.told == column.name else []
        more = pl.concat([column, pl.Series(column.name, wanted, dtype=column.dtype, strict=False)])
        drawn = self.smooth and column.name in self.columns
        step = time_unit(column.dtype) if drawn and column.dtype.is_temporal() else self.steps.get(column.name)
        plain = column.name in self.plain or any(column.name in order.names for order in self.orders)
        coding, both = coding_of(more if wanted else column, codebook, step, spikes=not plain)
        n = len(column)
        if column.name in self.columns and column.null_count() == n:
            raise DataError(_NOTHING.format(column=column.name))
        coded = Coded(both.state[:n], both.number[:n])
        return bounding_coding(coding, coded, codebook) if plain else coding, coded

    def targets(
        self,
        frame: pl.DataFrame,
        codebook: Codebook,
        codings: Mapping[str, Coding],
        original: Mapping[str, Coded],
    ) -> Iterator[Target]:
        """What is drawn, in order, from what.

        Parameters
        ----------
        frame, original
            The original, and its columns as they are coded, in one order of rows.
        codebook, codings
            Of the table; how its columns are coded.

        Raises
        ------
        DataError
            Rules that demand different values of one record.
        """
        before = list(self.given)
        settled = {rule.column for rule in self.rules}  # whose values may be other than the original's
        for name in self.columns:
            forced = tuple(self._forced(rule, frame, codebook, codings) for rule in self.rules if rule.column == name)
            _refuse_contradiction(name, forced)
            predictors, tells = self.predictors.get(name, tuple(before)), self._tells(name)
            bounding = bounding_of(name, before, self.orders, codings, 2 * self.min_leaf)
            if found := [lookup for lookup in self.lookups if lookup.told == name]:
                yield Target(name, (found[0].by,), found_in(found[0]), weighted=False)
            elif tells:
                true = tuple(lookup.told for lookup in tells)
                fit = within_true(self.fit(name), tells)
                yield Target(name, (*true, *predictors), fit, weighted=name not in self.parametric)
            else:
                like = "" if forced else _partner(name, [n for n in before if n not in settled], original, codings)
                yield Target(name, predictors, self.fit(name), like, forced, name not in self.parametric, bounding)
            before.append(name)

    def _tells(self, name: str) -> list[Lookup]:
        """What a drawn column tells of columns that stay true."""
        return [lookup for lookup in self.lookups if lookup.by == name and lookup.told in self.given]

    def learnt(self, frame: pl.DataFrame) -> Synthesis:
        """With what is looked up, from the whole table; no draw stays as it was where that changes.

        Parameters
        ----------
        frame
            The original.
        """
        if not self.lookups:
            return self
        lookups = tuple(lookup.learnt(frame) for lookup in self.lookups)
        strength = "|".join((self.strength, *(lookup.digest for lookup in lookups)))
        return replace(self, lookups=lookups, strength=strength)

    def like(self, frame: pl.DataFrame, codebook: Codebook) -> pl.DataFrame:
        """A table without rows, as the copies of one are.

        Parameters
        ----------
        frame, codebook
            Such a table, and what is known of it.
        """
        return frame

    def fit(self, name: str) -> Fit:
        """How the model of a column is fitted, whatever table it is in."""

        def fit(column: Coded, predictors: Sequence[Told], coding: Coding, weights: Floats | None) -> Model:
            smooth = self.smooth and len(coding.edges) > FEW
            if name in self.parametric:
                return fit_parametric(column, predictors, coding, smooth=smooth, proper=self.proper)
            return fit_cart(column, predictors, min_leaf=self.min_leaf, smooth=smooth, weights=weights)

        return fit

    def _forced(self, rule: Ruled, frame: pl.DataFrame, codebook: Codebook, codings: Mapping[str, Coding]) -> Forced:
        def holds(table: pl.DataFrame) -> Flags:
            told = table.select(rule.condition.polars(codebook, table.schema).fill_null(False).alias("holds"))
            return told["holds"].cast(pl.Boolean).to_numpy()

        def applies(own: Mapping[str, Coded]) -> Flags:
            return holds(pl.DataFrame([codings[name].series(own[name]) for name in rule.condition.names]))

        coding = codings[rule.column]
        wanted = pl.Series(rule.column, [rule.value], dtype=coding.dtype, strict=False)
        state, number = coding.code(wanted[0])
        return Forced(holds(frame), applies, state, number)


def _refuse_contradiction(column: str, forced: Sequence[Forced]) -> None:
    for i, one in enumerate(forced):
        for other in forced[:i]:
            if (one.state, one.number) != (other.state, other.number) and (one.original & other.original).any():
                raise DataError(f"Two rules demand different values of column {column!r} of the same records.")


def _partner(name: str, before: Sequence[str], original: Mapping[str, Coded], codings: Mapping[str, Coding]) -> str:
    """An earlier column of categories that a column of categories is one to one with: its code, or its label."""
    own = original[name]
    if len(codings[name].edges):
        return ""
    states = len(np.unique(own.state))
    for other in before if states > 2 else ():
        column = original[other]
        if len(codings[other].edges) or len(np.unique(column.state)) != states:
            continue
        if len(np.unique(column.state * (int(own.state.max()) + 1) + own.state)) == states:
            return other
    return ""


def _by_value(columns: Mapping[str, Coded], names: Sequence[str], records: Words | None = None) -> NDArray[np.uint32]:
    """Rows in an order that hangs on their values alone, or of equal rows on whose they are."""
    told = pl.DataFrame({f"{i}{kind}": getattr(columns[n], kind) for i, n in enumerate(names) for kind in _KINDS})
    told = told if records is None else told.with_columns(pl.Series("unit", records))
    return told.select(pl.arg_sort_by(told.columns)).to_series().to_numpy()


_KINDS = ("state", "number")


def _nobody(records: Words) -> Words:
    """The same unit for all: the table is a set of values, whoever's they are."""
    return np.zeros(len(records), dtype=np.uint64)
