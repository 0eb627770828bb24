"""From a scope to the arrays that kernels take, and what is looked at before anything is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import build_design
from sfumato.data.formula import Factor, Term
from sfumato.errors import DataError
from sfumato.gate.analyses.request import Request
from sfumato.gate.analyses.scope import lines_of
from sfumato.gate.analyses.values import is_number, node_of, sides
from sfumato.gate.margin import Node
from sfumato.gate.records import Records

__all__ = ["Problem", "problem_of"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Column = tuple[Ints, int]
_LARGEST = 2 * 10**8
"""Most people."""
_WORK = 10**9
"""Most people times coefficients times coefficients."""


@dataclass(frozen=True)
class Problem:
    """The people that an analysis is about.

    Parameters
    ----------
    request
        What is asked.
    records
        The data.
    lines : ndarray of int64, shape (n,)
        The line of each person: a line of counts stands as often as it counts.
    """

    request: Request
    records: Records
    lines: Ints

    @property
    def n(self) -> int:
        """How many people there are."""
        return len(self.lines)

    @cached_property
    def y(self) -> Floats:
        """The response, shape (n,): numbers, or 1 for the side of a binary one that counts."""
        name = self.request.formula.response
        if self.request.kind.response == "binary":
            return self.binary(name)
        own: Floats = self.records.numbers[name][self.lines]
        return own

    @cached_property
    def event(self) -> Floats:
        """Whether each had the event, shape (n,), 0 or 1."""
        return self.binary(self.request.event)

    @cached_property
    def cluster(self) -> Ints:
        """The number of each one's cluster, shape (n,)."""
        node = node_of(self.request.cluster)
        return self._codes(node.variable, node.level)

    @cached_property
    def design(self) -> tuple[tuple[str, ...], Floats]:
        """Labels of coefficients, and the design matrix, shape (n, p)."""
        formula = self.request.formula
        terms, intercept = formula.terms, formula.intercept
        if self.request.kind.name in ("mean", "boxes") and terms:
            intercept = False  # the means themselves, not contrasts
        if self.request.kind.name == "cox":
            intercept = True  # so that factors are contrasts; its column is taken out again
        frame = pl.DataFrame({name: self._column(name) for name in self.request.covariates})
        frame = frame if frame.width else pl.DataFrame({"@": np.zeros(self.n, dtype=np.int8)})
        design = build_design(frame, Codebook(), self._plain(terms), intercept=intercept)
        if self.n * len(design.labels) ** 2 > _WORK:
            raise DataError(
                "The model has too many coefficients for so large a data set: take fewer, or coarser levels."
            )
        labels, matrix = design.labels, design.matrix()
        return (labels[1:], matrix[:, 1:]) if self.request.kind.name == "cox" else (labels, matrix)

    @staticmethod
    def _plain(terms: Iterable[Term]) -> tuple[Term, ...]:
        return tuple(tuple(Factor(one.name, one.categorical, one.power) for one in term) for term in terms)

    def binary(self, name: str) -> Floats:
        """1 for the second of two values, shape (n,)."""
        node = node_of(name)
        groups = self.records.structure.groups(node)
        _, one = sides(name, self.request, self.records)
        is_one: NDArray[np.bool_] = self._codes(node.variable, node.level) == groups.index(one)
        return is_one.astype(np.float64)

    def _codes(self, variable: str, level: str) -> Ints:
        codes = self.records.codes[variable][self.lines].astype(np.int64)
        place: Ints = self.records.structure.place(Node(variable, level))
        groups: Ints = place[codes] if level else codes
        return groups

    def _column(self, name: str) -> pl.Series:
        """A covariate: numbers, or categories in the order of the codebook."""
        categorical = any(f.categorical for term in self.request.formula.terms for f in term if f.name == name)
        if is_number(name, categorical, self.records):
            return pl.Series(name, self.records.numbers[name][self.lines])
        node = node_of(name)
        groups = self.records.structure.groups(node)
        return pl.Series(name, self._codes(node.variable, node.level).astype(np.uint32)).cat.to(pl.Enum(list(groups)))

    def terms(self) -> list[list[tuple[str, Column]]]:
        """For each term, what its coefficient may be of few by: the groups of its factors, by variable.

        Numbers that are mostly one value, and products of such, count as a factor: who has another value.
        """
        out = []
        for term in self.request.formula.terms:
            own = [(node_of(f.name).variable, self.column(node_of(f.name))) for f in term if not self._number(f)]
            if numbers := [f for f in term if self._number(f)]:
                value = np.prod([self.records.numbers[f.name][self.lines] for f in numbers], axis=0)
                most, many = _commonest(value)
                if 2 * many >= self.n:
                    own.append(("", ((value != most).astype(np.int64), 2)))
            out.append(own)
        return out

    def _number(self, factor: Factor) -> bool:
        return is_number(factor.name, factor.categorical, self.records)

    def column(self, node: Node) -> Column:
        """The group of each one, shape (n,), and how many groups there are."""
        return self._codes(node.variable, node.level), self.records.structure.size(node)

    @property
    def side(self) -> Floats | None:
        """The response, or the event, where it has two sides."""
        if self.request.kind.response == "binary":
            return self.y
        return self.event if self.request.event else None


def _commonest(value: Floats) -> tuple[float, int]:
    """The commonest number, and how often it stands."""
    held, many = np.unique(value, return_counts=True)
    return (float(held[np.argmax(many)]), int(many.max())) if len(held) else (0.0, 0)


def problem_of(records: Records, request: Request) -> Problem:
    """The people that a request is about."""
    lines = np.flatnonzero(lines_of(records, request))
    if records.counts is not None:
        many = records.counts[lines]
        if int(many.sum()) > _LARGEST:
            raise DataError("The data set counts too many people for a fit.")
        lines = np.repeat(lines, many)
    return Problem(request, records, lines.astype(np.int64))
