"""Put synthetic values in the place of true ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

import polars as pl
from pydantic import ConfigDict, Field, field_validator, model_validator

from sfumato.data.codebook import Codebook, Scalar, Variable
from sfumato.data.described import Described
from sfumato.data.disclosure import Synthetic
from sfumato.data.expression import parse
from sfumato.data.roles import Kind, Role
from sfumato.errors import FormulaError
from sfumato.methods.base import HIDDEN, Method, Stage, StepDraws, unit_problems, unknown_problems
from sfumato.methods.checks import strata_problems
from sfumato.methods.synthesise.copies import Synthesis

__all__ = ["COPY", "Rule", "Synthesise"]

COPY = "copy"
"""The column that numbers copies."""
How = Literal["cart", "parametric"]
_MOST_COPIES = 100


class Rule(Described):
    """What must hold in every synthetic record.

    Parameters
    ----------
    if
        A condition on columns that are drawn before: `age < 16`.
    column
        The column that it settles.
    value
        The value that the column has where the condition holds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    condition: str = Field(alias="if")
    column: str
    value: Scalar | None

    @field_validator("condition")
    @classmethod
    def _parses(cls, condition: str) -> str:
        return _checked(condition)


def _checked(formula: str) -> str:
    try:
        parse(formula)
    except FormulaError as error:
        raise ValueError(str(error)) from None
    return formula


class Synthesise(Method):
    """Draw values from models in the place of true ones: of all columns, of some, or of missing cells.

    Each column is drawn given those before it, by trees whose leaves hold `min_leaf` donors, so that relations between
    columns are kept as far as the trees see them. All columns: nobody's record is in the release, though what is
    common in the data is common in it. Some columns, or the records of `where`: the people are true, and only what was
    drawn is not. `where: missing`: missing cells are filled in; that prepares and protects nobody.

    Protects against an intruder who looks for a person's record: in full synthesis there is none, and drawn values are
    a donor's of a leaf of many. It does not protect whoever is so different from all others that the leaf tells them
    (`replicated_uniques`, `membership` and `inference` measure it), nor from what the data teach about people alike.
    A leaf of donors releases true values: top-code extremes before, or draw between donors (`smooth`).

    Several copies let `fit` give honest intervals. Relations that the models leave out are lost to every analyst: final
    figures are to be had from the true data.

    Parameters
    ----------
    columns
        The columns that are drawn; `all` for every one but the record's id.
    where
        Draw for the records of this condition alone; `missing` draws what is missing.
    copies
        How many copies, from 1 to 100. More copies tell intruders more, too.
    rows
        Rows of each copy, where all columns are drawn; as many as there are records where it is left out.
    method
        How columns are drawn: `cart` by trees.
    order
        The order in which columns are drawn; those that it does not list follow in the order of the file.
    predictors
        For a column, those that it is drawn from; all before it where it is not listed.
    min_leaf
        Fewest donors of a leaf.
    smooth
        Draw numbers on the line between donors, then as many decimals as the column has.
    proper
        Fit models anew for each copy, to a Bayesian bootstrap of the records.
    by
        One synthesis within each combination of these columns, which stay true.
    rules
        What must hold in every synthetic record: where `if` holds, `column` has `value`. Records of which it is true
        take no part in fitting that column.
    derived
        Columns that are computed from synthetic ones, by formulas.

    References
    ----------
    Reiter (2005), Journal of Official Statistics 21, 441-462; Nowok, Raab and Dibben (2016), doi:10.18637/jss.v074.i11.

    Examples
    --------
    >>> Synthesise(columns="all", copies=3).min_leaf
    5
    """

    masks: ClassVar[bool] = True
    draws_by_id: ClassVar[bool] = True
    effort: ClassVar[float] = 20.0

    do: Literal["synthesise"] = "synthesise"
    columns: Literal["all"] | tuple[str, ...] = "all"
    where: str | None = None
    copies: int = Field(default=5, ge=1, le=_MOST_COPIES)
    rows: int | None = Field(default=None, ge=1)
    method: Literal["cart"] = "cart"
    order: tuple[str, ...] = ()
    predictors: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    min_leaf: int = Field(default=5, ge=1)
    smooth: bool = False
    proper: bool = False
    by: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    derived: dict[str, str] = Field(default_factory=dict)
