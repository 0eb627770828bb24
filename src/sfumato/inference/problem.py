"""A model with its data: what is exact, what is hidden, and the naive design."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.data.error_model import Additive
from sfumato.errors import DataError
from sfumato.inference.columns import Columns
from sfumato.inference.covariates.covariate import Covariate, some_records
from sfumato.inference.covariates.shape import Shape
from sfumato.inference.estimators.sandwich import Rule
from sfumato.inference.outcome import Outcome

__all__ = ["Problem", "additive_parts", "check_correlations"]

Floats = NDArray[np.float64]


@dataclass
class Problem:
    """A model with its data, n rows.

    Parameters
    ----------
    columns
        Columns of the design.
    covariates
        By name.
    outcome
        The response.
    weight
        Of each row, shape (n,).
    keep_rows
        Whether scores are wanted of each row, so that equal rows may not be joined.
    finer
        How many times as many nodes as usual to integrate over; raised where a fit shows that it takes more.
    shape
        What the hidden continuous covariates' distribution given the others is taken for.
    rule
        Where standard errors come from, of the estimates and of the naive ones beside them.
    """

    columns: Columns
    covariates: dict[str, Covariate]
    outcome: Outcome
    weight: Floats
    keep_rows: bool = False
    finer: int = 1
    shape: Shape = field(default_factory=Shape)
    rule: Rule = "model"

    def by(self, rule: Rule) -> Problem:
        """The same with another rule of standard errors."""
        return replace(self, rule=rule, keep_rows=rule != "model")

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.weight)

    @property
    def exact(self) -> list[Covariate]:
        """Covariates whose true values are all there."""
        return [c for c in self.covariates.values() if c.exact]

    @property
    def discrete(self) -> list[Covariate]:
        """Hidden covariates of known values."""
        return [c for c in self.covariates.values() if c.table is not None]

    @property
    def continuous(self) -> list[Covariate]:
        """Hidden continuous covariates."""
        return [c for c in self.covariates.values() if c.variance is not None]

    @property
    def whole(self) -> NDArray[np.int64]:
        """Records with a value in every covariate."""
        values = [np.zeros(self.n), *(c.values for c in self.covariates.values())]
        return np.flatnonzero(~np.isnan(np.column_stack(values)).any(axis=1))

    def complete(self) -> Problem:
        """The same for the records with a value in every covariate."""
        rows = self.whole
        if len(rows) == self.n or not len(rows):
            return self
        covariates = {name: some_records(c, rows) for name, c in self.covariates.items()}
        weight = self.weight[rows]
        outcome = self.outcome.take(rows)
        return replace(self, covariates=covariates, outcome=outcome, weight=weight / weight.mean())

    def exact_part(self) -> Floats:
        """E: the product of exact covariates in each column, shape (n, p)."""
        return self.columns.product({c.name: c.values for c in self.exact}, self.n)

    def pattern_part(self, patterns: Floats) -> Floats:
        """Q: the product of hidden discrete covariates in each column, shape (K, p)."""
        values = {c.name: patterns[:, j] for j, c in enumerate(self.discrete)}
        return self.columns.product(values, len(patterns))

    def naive_design(self) -> Floats:
        """The design with released values in place of true ones, shape (n, p); NaN where missing."""
        values = {c.name: c.naive for c in self.covariates.values()}
        with np.errstate(over="ignore"):
            design = self.columns.product(values, self.n)
        if np.isinf(design).any():
            raise DataError(
                "A power or product of columns is too large for a number. Write the column in larger units."
            )
        for covariate in self.covariates.values():
            if covariate.levels and np.isnan(covariate.naive).any():  # an indicator of a missing level is no 0
                has = [any(name == covariate.name for name, _ in parts) for parts in self.columns.parts]
                design[np.ix_(np.isnan(covariate.naive), np.array(has))] = np.nan
        return design


def check_correlations(problem: Problem, response: str) -> None:
    """Refuse noise that is correlated in a way which no likelihood here has.

    Raises
    ------
    DataError
        Where noise on the response and on a covariate, or on a discrete and a continuous covariate, is correlated.
    """
    kinds = {c.name: "discrete" for c in problem.discrete} | {c.name: "continuous" for c in problem.continuous}
    kinds[response] = "response"
    for part in additive_parts(problem):
        for a, b in itertools.combinations([n for n in part.columns if n in kinds], 2):
            i, j = part.columns.index(a), part.columns.index(b)
            if part.covariance[i][j] and kinds[a] != kinds[b]:
                raise DataError(
                    f"The noises on {a!r} and {b!r} are correlated, one of them {kinds[a]} and the other {kinds[b]}; "
                    "such noise cannot be taken out together. Leave one of them out, or use method `naive`."
                )


def additive_parts(problem: Problem) -> list[Additive]:
    """The parts that tell of added noise, on covariates and response, each once."""
    found: dict[int, Additive] = {}
    for parts in [*([p for p, _ in c.parts] for c in problem.covariates.values()), problem.outcome.parts]:
        found.update({id(p): p for p in parts if isinstance(p, Additive)})
    return list(found.values())
