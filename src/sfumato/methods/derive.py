"""Compute a new column from others by a formula."""

from __future__ import annotations

import math
from typing import Any, Literal

import polars as pl
from pydantic import Field, field_validator

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.data.error_model import Bounds
from sfumato.data.expression import parse
from sfumato.data.formula_limits import formula_limits
from sfumato.data.hidden import HIDDEN
from sfumato.data.roles import Kind, Role
from sfumato.errors import FormulaError
from sfumato.methods.base import Method, Stage, StepDraws, unknown_problems

__all__ = ["Derive"]

_KINDS = {"boolean": Kind.CATEGORICAL, "text": Kind.CATEGORICAL, "date": Kind.DATE}


class Derive(Method):
    """Compute a column from others, in a small grammar that is parsed and never executed as code.

    Prepares; it protects nobody by itself. Where the outermost operations are `min`, `max` or `round` (or constants
    that are added or multiplied after these), bounds and rounding are disclosed, so that `fit` knows them.

    Parameters
    ----------
    column
        Name of the column to make; one of that name is replaced.
    formula
        The expression, for instance `SibSp + Parch > 0`: columns, constants, operators and a few functions.
    role
        The new column's role.

    Examples
    --------
    >>> Derive(column="Family", formula="SibSp + Parch > 0").changes
    ('Family',)
    """

    do: Literal["derive"] = "derive"
    column: str = Field(min_length=1)
    formula: str
    role: Role = Role.OTHER

    @field_validator("formula")
    @classmethod
    def _parses(cls, formula: str) -> str:
        try:
            parse(formula)
        except FormulaError as error:
            raise ValueError(str(error)) from None
        return formula

    @property
    def changes(self) -> tuple[str, ...]:
        """The new column."""
        return (self.column,)

    @property
    def reads(self) -> tuple[str, ...]:
        """The formula's columns."""
        return tuple(parse(self.formula).names)

    def check(self, codebook: Codebook) -> list[str]:
        """The formula's names must be there."""
        problems = unknown_problems(codebook, parse(self.formula).names)
        if self.column.startswith(HIDDEN):
            problems.append(f"names that begin with {HIDDEN!r} are sfumato's own")
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """The new variable: continuous unless the formula gives a yes or no, a text or a date."""
        kind = _KINDS.get(parse(self.formula).kind(), Kind.CONTINUOUS)
        return codebook.replace(**{self.column: Variable(role=self.role, kind=kind)})

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, row by row."""
        expression = parse(self.formula)

        def transform(batch: pl.DataFrame, state: object, draws: StepDraws) -> pl.DataFrame:
            return batch.with_columns(expression.polars(codebook, batch.schema).alias(self.column))

        return None if states else Stage(transform=transform)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """Bounds and rounding of the formula's outermost operations."""
        found = formula_limits(parse(self.formula).tree)
        if found is None:
            return ()
        low, high = (None if math.isinf(end) else end for end in (found.low, found.high))
        bounds: dict[str, Bounds] = {} if low is None and high is None else {self.column: (low, high)}
        return (Coarsened((self.column,), bounds=bounds, rounded={self.column: found.step} if found.step else None),)

    def sentence(self) -> str:
        """The formula's columns."""
        return f"{self.column}: computed from {', '.join(parse(self.formula).names) or 'constants'}."
