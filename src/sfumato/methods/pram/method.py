"""Exchange categories at random with known probabilities: the post-randomisation method (PRAM)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.disclosure import Disclosed, Misclassified
from sfumato.data.error_model import transition_problem
from sfumato.data.query import Counts
from sfumato.data.roles import Kind
from sfumato.methods.base import DrawBy, Method, Stage, StepDraws, unit_problems
from sfumato.methods.checks import role_problems, strata_problems
from sfumato.methods.pram.transitions import Exchanging, Transitions

__all__ = ["Pram"]

Rows = tuple[tuple[float, ...], ...]

_NO_CATEGORIES = {
    Kind.CONTINUOUS: "add `noise`, or `recode` it into bands first",
    Kind.INTEGER: "add `noise`, or `recode` it into bands first",
    Kind.TEXT: "`drop` it, or `recode` it to fewer",
    Kind.DATE: "`swap` it, or derive a year and recode that",
}


class Pram(Method):
    """Exchange each category for another one with known probabilities, so that nobody can be sure of a category.

    Protects against an intruder who knows categories and looks for the record, and who finds the record and reads the
    category: each may be wrong, with a probability that everybody may know. It does not protect a record that other
    columns give away, and at a high retention most categories are still true. Combinations that cannot be (a pregnant
    man) may come out, since each column is drawn on its own; with `invariant` and `by` none comes out that no stratum
    has.

    An intruder is assumed to know the code, the plan and the matrix, not the secret. A released category is the true
    one with the posterior probability that the matrix and the margin give it.

    Parameters
    ----------
    columns
        Categorical columns, text, codes or true/false; each is drawn independently.
    retention
        Probability that a category stays, above 0 to 1; the rest is spread equally over the others. With `invariant`
        it is the expected share of cells that stay. Either this or `matrix`.
    matrix
        Probability of each released category (column) for each true one (row), rows and columns in the order of
        `levels`, by default sorted. With several columns: a matrix by column.
    levels
        The categories in the order of the matrix, by column or one list for a single column; needed where the data lack
        one. By default the sorted values of the data.
    invariant
        Choose the matrix so that each category's share stays what it is, in expectation.
    by
        With `invariant`: the shares are those within each combination of these columns.
    min_stratum
        With `invariant`: fewest values in a combination, since the matrix tells their shares.
    min_count
        With `invariant`: fewest records of a category in a combination, where there are any.
    draw_by
        `household`: all records of a household share the draw. `person` is taken by itself for categories that are the
        same in all records of a person, and refused for others.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Journal of Official Statistics 14, 463-478. Van den Hout and
    van der Heijden (2002), doi:10.1111/j.1751-5823.2002.tb00363.x.

    Examples
    --------
    >>> Pram(columns=("smoker",), matrix=((0.9, 0.1), (0.2, 0.8))).name
    'pram'
    """

    masks: ClassVar[bool] = True
    draws_by_id: ClassVar[bool] = True
    draws_error: ClassVar[bool] = True

    do: Literal["pram"] = "pram"
    columns: tuple[str, ...] = Field(min_length=1)
    retention: float | None = Field(default=None, gt=0, le=1)
    matrix: Rows | dict[str, Rows] | None = None
    levels: tuple[Scalar, ...] | dict[str, tuple[Scalar, ...]] | None = None
    invariant: bool = False
    by: tuple[str, ...] = ()
    min_stratum: int = Field(default=10, ge=2)
    min_count: int = Field(default=3, ge=1)
    draw_by: DrawBy = "record"

    @model_validator(mode="after")
    def _one_way(self) -> Pram:
        if (self.retention is None) == (self.matrix is None):
            raise ValueError("pram takes either `retention` or `matrix`")
        if self.invariant and self.retention is None:
            raise ValueError("`invariant` chooses the matrix: give `retention` in place of `matrix`")
        if len({*self.columns, *self.by}) < len(self.columns) + len(self.by):
            raise ValueError("a column may stand only once among columns and by")
        self._check_by_column()
        for n in self.columns:
            self._check_matrix(n)
        return self

    @model_validator(mode="after")
    def _nothing_idle(self) -> Pram:
        """The matrix is the same in all strata, and tells no shares, where it is not made of them."""
        self.refuse_idle(
            {} if self.invariant else dict.fromkeys(("by", "min_stratum", "min_count"), "`invariant: true`")
        )
        return self

    def _check_by_column(self) -> None:
        for name in ("matrix", "levels"):
            given = getattr(self, name)
            if isinstance(given, tuple) and len(self.columns) > 1:
                raise ValueError(f"with several columns `{name}` takes one for each: {name}: {{column: [...]}}")
            if isinstance(given, dict) and (unknown := sorted(set(given) - set(self.columns))):
                raise ValueError(f"`{name}` names {', '.join(unknown)}, which is not among columns")
        if isinstance(self.matrix, dict) and (without := [n for n in self.columns if n not in self.matrix]):
            raise ValueError(f"`matrix` has none for {', '.join(without)}")

    def _check_matrix(self, column: str) -> None:
        levels, rows = self.levels_of(column), self.matrix_of(column)
        if levels is not None and (len(set(map(str, levels))) < len(levels) or not levels):
            raise ValueError(f"`levels` lists the categories of {column}, each once")
        if rows is None:
            return
        if problem := "matrix needs a row for each category" if not rows else transition_problem(rows):
            raise ValueError(f"{column}: {problem}")
        if levels is not None and len(levels) != len(rows):
            raise ValueError(f"{column}: matrix needs a row and a column for each of its `levels`")

    def matrix_of(self, column: str) -> Rows | None:
        """The matrix given for a column."""
        return self.matrix.get(column) if isinstance(self.matrix, dict) else self.matrix

    def levels_of(self, column: str) -> tuple[Scalar, ...] | None:
        """The categories given for a column."""
        return self.levels.get(column) if isinstance(self.levels, dict) else self.levels

    @property
    def counts_records(self) -> bool:
        """Categories need so many, where shares are kept."""
        return self.invariant

    def check(self, codebook: Codebook) -> list[str]:
        """Categories in `columns` and in `by`, and ids to key the draws on."""
        problems = super().check(codebook) + unit_problems(self.name, codebook, self.draw_by)
        problems += role_problems(codebook, self.columns) + strata_problems(codebook, self.by)
        for n in (n for n in self.columns if n in codebook):
            kind = codebook[n].kind
            if kind in _NO_CATEGORIES:
                problems.append(
                    f"column {n!r} is {kind}, and pram exchanges categories: {_NO_CATEGORIES[kind]}. If its values are "
                    f"categories, say so under variables: {n}: {{kind: categorical}}"
                )
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, after a look at which categories there are."""
        if states:
            return None
        exchanging = {n: self._exchanging(n, codebook) for n in self.columns}

        def fit(answers: Sequence[pl.DataFrame]) -> dict[str, Transitions]:
            return {n: e.fit(answer) for (n, e), answer in zip(exchanging.items(), answers, strict=True)}

        def transform(batch: pl.DataFrame, state: dict[str, Transitions], draws: StepDraws) -> pl.DataFrame:
            unit = draws.units(batch, self.draw_by)
            return batch.with_columns(e.exchanged(batch, state[n], unit, draws) for n, e in exchanging.items())

        def taking(answers: Sequence[pl.DataFrame], told: Sequence[Disclosed]) -> dict[str, Transitions] | None:
            found = {n: e.taking(answer, told) for (n, e), answer in zip(exchanging.items(), answers, strict=True)}
            return {n: one for n, one in found.items() if one is not None} if all(found.values()) else None

        queries = tuple(Counts((*e.by, n)) for n, e in exchanging.items())
        return Stage(transform, queries, fit, taking=taking if self._learns else None)

    @property
    def _learns(self) -> bool:
        """Whether matrices follow from the data: from shares, or from which categories there are."""
        return self.invariant or any(self.levels_of(n) is None for n in self.columns)

    def _exchanging(self, column: str, codebook: Codebook) -> Exchanging:
        return Exchanging(
            column=column,
            codebook=codebook,
            retention=self.retention,
            matrix=self.matrix_of(column),
            levels=self.levels_of(column),
            invariant=self.invariant,
            by=self.by if self.invariant else (),
            min_stratum=self.min_stratum,
            min_count=self.min_count,
            draw_by=self.draw_by,
        )

    def disclose(self, states: tuple[Any, ...]) -> tuple[Misclassified, ...]:
        """The matrix of each column, and of each combination of `by` where it goes by that."""
        return tuple(part for n in self.columns for part in states[0][n].disclosed(n, self.draw_by))

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Where nothing could be exchanged, and where an analysis will find nothing."""
        return tuple(note for n in self.columns for note in states[0][n].notes)
