"""What a release does to the user's model: the same regression fitted to the original and to the release."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import polars as pl
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.design import Levels, build_design, find_levels, is_factor, level_codes
from sfumato.data.finding import Finding, Findings
from sfumato.data.formula import Formula, parse_formula
from sfumato.data.pair import Pair, numbers
from sfumato.errors import DataError
from sfumato.kernels.glm import Family, Fit, fit
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import value_of, with_value, worst
from sfumato.measures.subject import Subject

__all__ = [
    "MEASURE",
    "ModelComparison",
    "ModelFit",
    "ci_overlap",
    "compare_models",
    "findings",
    "fit_model",
    "moved_most",
    "standardised_difference",
]

Floats = NDArray[np.float64]

_MEASURES = ("standardised_difference", "ci_overlap")
ALIASED = "Coefficients that the other columns determine in one of the tables were not estimated there."


@dataclass(frozen=True)
class ModelFit:
    """A regression fitted to one table.

    Parameters
    ----------
    labels
        Names of the coefficients: `Intercept`, `Age`, `C(Pclass)[T.2]`.
    estimate, se, z, p
        Estimate, standard error, their ratio and its two-sided p-value, shape (p,); NaN where a coefficient cannot be
        estimated. Student's t for the linear model, the normal distribution for the others.
    low, high
        95% interval of each coefficient.
    n
        Records in the fit.
    converged
        Whether the maximum of the likelihood was found; not so where some records are separated.
    left_out
        Share of the table's records that lack a value, 0 to 1.
    levels
        Levels of each factor, and of a binary outcome, the reference level first.
    notes
        What a reader should know.
    """

    labels: tuple[str, ...]
    estimate: Floats
    se: Floats
    z: Floats
    p: Floats
    low: Floats
    high: Floats
    n: int
    converged: bool
    left_out: float
    levels: Levels
    notes: tuple[str, ...] = ()

    def tidy(self) -> pl.DataFrame:
        """One row for each coefficient."""
        columns = {name: getattr(self, name) for name in ("estimate", "se", "z", "p", "low", "high")}
        return pl.DataFrame({"coefficient": list(self.labels), **columns})

    def at(self, labels: Sequence[str]) -> ModelFit:
        """The same fit with the coefficients `labels`; NaN for those that it does not have."""
        place = {label: i for i, label in enumerate(self.labels)}
        index = np.array([place.get(label, -1) for label in labels], dtype=np.int64)

        def laid(values: Floats) -> Floats:
            return np.asarray(np.append(values, np.nan)[index])

        parts = [laid(v) for v in (self.estimate, self.se, self.z, self.p, self.low, self.high)]
        estimate, se, z, p, low, high = parts
        return replace(self, labels=tuple(labels), estimate=estimate, se=se, z=z, p=p, low=low, high=high)


@dataclass(frozen=True)
class ModelComparison:
    """One regression on both tables.

    Parameters
    ----------
    labels
        Names of the coefficients of either table, those of the original first.
    before, after
        The fits, both with all of `labels`.
    standardised_difference, ci_overlap
        Of each coefficient, shape (p,); NaN where one of the tables does not have it.
    notes
        What a reader should know.
    """

    labels: tuple[str, ...]
    before: ModelFit
    after: ModelFit
    standardised_difference: Floats
    ci_overlap: Floats
    notes: tuple[str, ...] = ()

    def tidy(self) -> pl.DataFrame:
        """One row for each coefficient."""
        both = {f"{what}_{when}": getattr(f, what) for when, f in self._fits() for what in ("estimate", "se")}
        measures = {"standardised_difference": self.standardised_difference, "ci_overlap": self.ci_overlap}
        return pl.DataFrame({"coefficient": list(self.labels), **both, **measures})

    def _fits(self) -> tuple[tuple[str, ModelFit], ...]:
        return ("before", self.before), ("after", self.after)


def fit_model(
    frame: pl.DataFrame, codebook: Codebook, formula: str | Formula, family: Family, levels: Levels | None = None
) -> ModelFit:
    """Fit a linear, logistic or probit regression to a table.

    Records that lack a value in a column of the model are left out. This is a plain fit: nothing takes out noise that a
    protection put in, and no weights are used.

    Parameters
    ----------
    frame
        The table.
    codebook
        Says which columns are categories and which codes stand for missing.
    formula
        See `parse_formula`.
    family
        `linear` for a numeric outcome; `logistic` or `probit` for one with two values, of which the second in order
        counts as success.
    levels
        Levels as another fit had them (`ModelFit.levels`), so that the coefficients mean the same.

    Raises
    ------
    FormulaError
        For a formula outside the grammar.
    DataError
        For columns that are not there, or an outcome that the family does not fit.

    Examples
    --------
    >>> table = pl.DataFrame({"dose": [0.0, 1.0, 2.0, 3.0], "response": [1.0, 3.0, 5.0, 7.5]})
    >>> fit_model(table, Codebook(), "response ~ dose", "linear").estimate.round(9).tolist()
    [0.9, 2.15]
    """
    formula = parse_formula(formula) if isinstance(formula, str) else formula
    if family not in get_args(Family):
        raise DataError(f"There is no family {family!r}. Families: {', '.join(get_args(Family))}.")
    levels = levels or {}
    design = build_design(
        frame, codebook, formula.terms, intercept=formula.intercept, levels=levels, also=(formula.response,)
    )
    used = frame.filter(pl.Series(design.rows, dtype=pl.Boolean))
    y, outcome = _outcome(used, codebook, formula.response, family, levels.get(formula.response))
    fitted = fit(lambda: design.blocks(y), None, family)
    known = {**design.levels, **({formula.response: outcome} if outcome else {})}
    notes = (*design.notes, *_notes(fitted, design.left_out))
    return _inference(fitted, design.labels, family, design.left_out, known, notes)


def compare_models(
    before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook, formula: str | Formula, family: Family
) -> ModelComparison:
    """Fit one regression to the original and to the release and compare the coefficients.

    Parameters are those of `fit_model`; the levels of factors are fixed from the original.

    Examples
    --------
    >>> before = pl.DataFrame({"dose": [0.0, 1.0, 2.0, 3.0], "response": [1.0, 3.0, 5.0, 7.5]})
    >>> after = before.with_columns(dose=pl.Series([0.5, 0.5, 2.5, 2.5]))
    >>> compared = compare_models(before, after, Codebook(), "response ~ dose", "linear")
    >>> dict(zip(compared.labels, compared.standardised_difference.round(3).tolist()))
    {'Intercept': 0.231, 'dose': 0.289}
    """
    first = fit_model(before, codebook, formula, family)
    return _compared(first, fit_model(after, codebook, formula, family, first.levels))


def standardised_difference(before: Floats, after: Floats, se_before: Floats) -> Floats:
    """Give |b − b'| / SE(b) of each coefficient: how far it moved, in standard errors of the original fit.

    Parameters
    ----------
    before, after : ndarray, shape (p,)
        Estimates from original and release.
    se_before : ndarray, shape (p,)
        Standard errors from the original; where not positive, the result is NaN.

    Examples
    --------
    >>> standardised_difference(np.array([3.519]), np.array([3.615]), np.array([0.437])).round(3).tolist()
    [0.22]

    References
    ----------
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), doi:10.1111/rssa.12358.
    """
    return np.asarray(np.abs(before - after) / np.where(se_before > 0, se_before, np.nan))


def ci_overlap(low_before: Floats, high_before: Floats, low_after: Floats, high_after: Floats) -> Floats:
    """Give the overlap of two intervals, as the mean of its shares of the one and of the other.

    1 where they are equal; 0 where they touch; below 0 where they are disjoint, by how far they are apart (Karr et al.
    define it for overlapping intervals; the formula is used as it stands for the others too).

    Parameters
    ----------
    low_before, high_before, low_after, high_after : ndarray, shape (p,)
        Ends of the intervals from original and release; where one has no length, the result is NaN.

    Examples
    --------
    >>> ci_overlap(*(np.array([v]) for v in (0.0, 2.0, 1.0, 5.0))).tolist()
    [0.375]

    References
    ----------
    Karr, Kohnen, Oganian, Reiter & Sanil (2006), doi:10.1198/000313006X124640.
    """
    common = np.minimum(high_before, high_after) - np.maximum(low_before, low_after)
    one, other = high_before - low_before, high_after - low_after
    return np.asarray((common / np.where(one > 0, one, np.nan) + common / np.where(other > 0, other, np.nan)) / 2)


def comparison_of(pair: Pair, formula: str | Formula, family: Family) -> ModelComparison | tuple[tuple[str, ...], str]:
    """Compare the model on a pair, worked out once.

    Returns
    -------
    ModelComparison, or the coefficients' labels and the reason
        The latter where the model cannot be fitted to the release.

    Raises
    ------
    FormulaError, DataError
        Where the model cannot be fitted to the original.
    """

    def compute() -> ModelComparison | tuple[tuple[str, ...], str]:
        before = fit_model(pair.before, pair.codebook, formula, family)
        try:
            after = fit_model(pair.after, pair.codebook, formula, family, before.levels)
        except DataError as error:
            return before.labels, f"The model could not be fitted to the release. {error}"
        return _compared(before, after)

    return pair.once(("model", str(formula), family), compute)


def findings(pair: Pair, formula: str | Formula, family: Family) -> Findings:
    """Give `standardised_difference` and `ci_overlap`, one line each for every coefficient.

    Where the model cannot be fitted to the release, the lines have no value and a note says why.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    formula, family
        As in `fit_model`.

    Raises
    ------
    FormulaError, DataError
        Where the model cannot be fitted to the original.
    """
    compared = comparison_of(pair, formula, family)
    if not isinstance(compared, ModelComparison):
        labels, problem = compared
        lines = tuple(Finding(measure, variable=label) for measure in _MEASURES for label in labels)
        return Findings(lines, (problem,))
    lines = tuple(
        Finding(measure, variable=label, value=None if np.isnan(value) else float(value))
        for measure in _MEASURES
        for label, value in zip(compared.labels, getattr(compared, measure), strict=True)
    )
    return Findings(lines, compared.notes)


def _compared(before: ModelFit, after: ModelFit) -> ModelComparison:
    labels = tuple(dict.fromkeys((*before.labels, *after.labels)))
    notes = [f"{when}: {note}" for when, f in (("Original", before), ("Release", after)) for note in f.notes]
    before, after = before.at(labels), after.at(labels)
    difference = standardised_difference(before.estimate, after.estimate, before.se)
    overlap = ci_overlap(before.low, before.high, after.low, after.high)
    if np.isnan(difference).any() or np.isnan(overlap).any():
        notes.append(ALIASED)
    return ModelComparison(labels, before, after, difference, overlap, tuple(notes))


def _outcome(
    used: pl.DataFrame, codebook: Codebook, name: str, family: Family, known: tuple[str, ...] | None
) -> tuple[Floats, tuple[str, ...]]:
    """The outcome as numbers, and its two levels where it is binary."""
    if family == "linear":
        if is_factor(name, used.schema[name], codebook):
            raise DataError(
                f"Column {name!r} holds categories; a linear model needs a numeric outcome. Use logistic or probit for "
                "two categories, or set its kind to continuous or integer."
            )
        return numbers(used, [name], codebook)[:, 0], ()
    two = f"The outcome of a {family} model has two values; column {name!r} does not."
    if used.get_column(name).n_unique() > 2:
        raise DataError(f"{two} Use linear for a numeric outcome, or derive a column with two values.")
    here = find_levels(used, codebook, name)
    levels = here if known is None else known
    if len(levels) != 2:
        raise DataError(f"{two} Derive a column that varies.")
    if not set(here) <= set(levels):
        raise DataError(f"Column {name!r} has a value that the original does not have; the outcome's must be the same.")
    return (level_codes(used, codebook, name, levels) == 1).astype(np.float64), levels


def _inference(
    fitted: Fit, labels: tuple[str, ...], family: Family, left_out: float, levels: Levels, notes: tuple[str, ...]
) -> ModelFit:
    """Standard errors, tests and intervals from a fit."""
    estimate, se = fitted.coefficients, np.sqrt(np.diag(fitted.covariance))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = estimate / se
    if family == "linear":
        df = fitted.residual_degrees
        p, quantile = 2 * scipy.special.stdtr(df, -np.abs(z)), scipy.special.stdtrit(df, 0.975)
    else:
        p, quantile = 2 * scipy.special.ndtr(-np.abs(z)), scipy.special.ndtri(0.975)
    low, high = estimate - quantile * se, estimate + quantile * se
    return ModelFit(labels, estimate, se, z, p, low, high, fitted.n, fitted.converged, left_out, levels, notes)


def _notes(fitted: Fit, left_out: float) -> Iterator[str]:
    if left_out:
        yield f"Records that lack a value in a column of the model were left out: {left_out:.1%}."
    if fitted.separated:
        yield "The outcome of some records is certain (separation), so their coefficients have no finite estimate."
    elif not fitted.converged:
        yield "The fit did not converge; its coefficients are those of the last step."


def _compute(subject: Subject) -> Findings:
    how = subject.how
    if how.model is None:
        return Findings()
    return findings(subject.two.tables, how.model, how.family or "linear")


def moved_most(findings: Findings) -> str | None:
    """The coefficient that moved most, in a sentence; None where none has a value.

    Examples
    --------
    >>> moved_most(Findings((Finding("standardised_difference", variable="age", value=0.2),)))[-60:]
    'well within what another sample of the same size would give.'
    """
    lines = with_value(findings, "standardised_difference")
    if not lines:
        return None
    most = worst(lines)
    d = value_of(most)
    meaning = (
        "more than chance alone would move it in another sample of the same size"
        if d > 1
        else "well within what another sample of the same size would give"
        if d <= 0.5
        else "about what another sample of the same size would give"
    )
    return (
        f"In the model that was fitted to both tables, the coefficient that moved most ({most.variable}) moved by "
        f"{d:.2g} of its standard errors, {meaning}."
    )


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    moved = any(value_of(f) > 1 for f in with_value(findings, "standardised_difference"))
    return (Complaint("A coefficient moved by more than its standard error", Aim.GENTLER),) if moved else ()


MEASURE = Measure(
    family="models",
    place=10,
    doing="the user's model",
    needs=frozenset({"pair", "model"}),
    figures=(
        Figure(
            "standardised_difference",
            title="Moved coefficients",
            what="How far each coefficient of the user's model moved, in standard errors of the original fit. Below 1 "
            "it moved less than another sample would move it.",
            published="rate",
            of="coefficient",
            aim=Aim.GENTLER,
        ),
        Figure(
            "ci_overlap",
            title="Overlap of confidence intervals",
            what="How much the 95% intervals of a coefficient from original and release overlap. 1 is all; 0 or less "
            "is none.",
            better="high",
            published="rate",
            of="coefficient",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"sample": _compute},
    effort=2,
    complain=_complain,
)
