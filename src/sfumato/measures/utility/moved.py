"""Which coefficients of a model left one standard error of what they are in the table as it was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.dataset import rows
from sfumato.data.design import is_factor
from sfumato.data.finding import Finding, Findings
from sfumato.data.formula import Formula, parse_formula
from sfumato.data.hidden import leaving
from sfumato.errors import DataError, FormulaError
from sfumato.kernels.glm import Family
from sfumato.measures.folds.input import released
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject
from sfumato.measures.utility.default_model import default_model
from sfumato.measures.utility.model import ModelFit, fit_model

__all__ = ["MEASURE", "moved"]

_CLOSE = 1e-9
"""By how much of itself a coefficient may differ that did not move: what the order of sums does."""
NOT_FITTED = "coefficients_moved was not measured: the model cannot be fitted to the table as it was read."
_INTERCEPT = "Intercept"


def moved(before: ModelFit, after: ModelFit | None) -> tuple[int, int]:
    """How many coefficients of a fit are more than a standard error away in another, and how many it has.

    Parameters
    ----------
    before, after
        Fits to the original and to the release; None where nothing can be fitted to the release. The intercept is not
        counted; a coefficient that the release does not have has moved.

    Examples
    --------
    >>> table = pl.DataFrame({"dose": [0.0, 1.0, 2.0, 3.0], "response": [1.0, 3.0, 5.0, 7.5]})
    >>> first = fit_model(table, Codebook(), "response ~ dose", "linear")
    >>> moved(first, first), moved(first, None)
    ((0, 1), (1, 1))
    """
    labels = [n for n, b in zip(before.labels, before.estimate, strict=True) if n != _INTERCEPT and not np.isnan(b)]
    if after is None:
        return len(labels), len(labels)
    one, two = before.at(labels), after.at(labels)
    near = np.abs(two.estimate - one.estimate) <= np.nan_to_num(one.se) + _CLOSE * np.abs(one.estimate)
    return len(labels) - int(near.sum()), len(labels)


def _compute(subject: Subject) -> Findings:
    table = released(subject)
    book = table.codebook.only(leaving(table.codebook))
    read = rows(subject.read)
    after = rows(table).select(list(book))
    named = _model(subject, read, after)
    if named is None:
        return Findings()
    for original in _originals(subject, read):
        try:
            formula = parse_formula(named[0])
            first = fit_model(*original, formula, named[1])
        except (DataError, FormulaError):
            continue
        gone = {n for n in formula.columns if n not in after.columns or _other(n, original, (after, book))}
        count, of = moved(first, _fitted(formula, gone, after, book, named[1], first))
        return Findings((Finding("coefficients_moved", at=float(of), value=count / of),) if of else ())
    return Findings(notes=(NOT_FITTED,))


def _originals(subject: Subject, read: pl.DataFrame) -> Iterator[tuple[pl.DataFrame, Codebook]]:
    """The input; then, for models of columns that steps prepared, the table as it was before masking."""
    yield read, subject.read.codebook
    if subject.pair is not None:
        yield subject.pair.tables.before, subject.pair.codebook


def _model(subject: Subject, read: pl.DataFrame, after: pl.DataFrame) -> tuple[str, Family] | None:
    """The model that somebody named; else the first outcome of the input on all its other variables."""
    if subject.how.model is not None and not subject.how.usual:
        return subject.how.model, subject.how.family or "linear"
    book = subject.read.codebook
    return default_model(read, read, book) or default_model(read, after, book)


def _other(name: str, *tables: tuple[pl.DataFrame, Codebook]) -> bool:
    """Whether a column holds categories in one table and numbers in the other."""
    return len({is_factor(name, frame.schema[name], book) for frame, book in tables}) > 1


def _fitted(
    formula: Formula, gone: set[str], after: pl.DataFrame, book: Codebook, family: Family, first: ModelFit
) -> ModelFit | None:
    """The model without terms whose columns are gone; None where nothing of it can be fitted to the release."""
    terms = tuple(term for term in formula.terms if not any(factor.name in gone for factor in term))
    if formula.response in gone or not terms:
        return None
    try:
        return fit_model(after, book, replace(formula, terms=terms), family, first.levels)
    except DataError:
        return None


MEASURE = Measure(
    family="lost",
    place=40,
    doing="moved coefficients",
    needs=frozenset({"input"}),
    figures=(
        Figure(
            "coefficients_moved",
            title="Coefficients moved by over 1 SE",
            what="The share of the coefficients of a model, without the intercept, that left one standard error of the "
            "fit to the input. The model is the user's, else the first outcome explained by all other variables of "
            "the input; a coefficient whose column is gone, or holds categories in place of numbers, has moved. "
            "Of a large table both are fitted to a sample, whose standard errors are wider.",
            form="share",
            published="rate",
            whole="the model's coefficients",
            at="{0:g} of them",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"sample": _compute},
    effort=2,
)
