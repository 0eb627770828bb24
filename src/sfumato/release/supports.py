"""What a synthetic release supports, graded beside the original: for the custodian, and as it may be published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Synthetic
from sfumato.data.finding import Findings
from sfumato.data.formula import parse_formula
from sfumato.data.pair import Pair
from sfumato.data.support import Support
from sfumato.errors import DataError
from sfumato.inference.combine import Rule, combine
from sfumato.kernels.glm import Family
from sfumato.measures.copies import Copies
from sfumato.measures.measuring import Measuring
from sfumato.measures.utility.model import ModelFit, fit_model
from sfumato.measures.utility.supports import Fitted, supports_of_tables, supports_of_terms

__all__ = ["refuse_supports", "to_publish", "with_supports"]

ONLY_SYNTHETIC = (
    "What copies support is graded of synthetic releases alone, in which all columns or some were drawn: give the "
    "folder of such a release, or its data file there."
)
STRUCTURE = (
    "These copies hold names and kinds alone (`method: structure`) and nothing of the data, so that they support "
    "nothing."
)
ONE_COPY = (
    "Terms have no grades: where the rows are true people's, variances hold what differs between copies, and there is "
    "one alone."
)
NOT_FITTED = "The model could not be fitted to each copy, so that its terms are lost. {error}"
NOT_FOUND = "The fit of a copy did not converge, so that the terms of the model are lost."
PLAIN = "Grades of terms are those of plain fits: what else was done to {columns} is not taken out."
_RULES: dict[str, Rule] = {"full": "simple", "partial": "partial"}
_MEANS = {
    "supported": "what is found in the copies is found in the data, but for chance",
    "rough": "what is found in the copies is near to what is found in the data",
    "lost": "nothing is to be concluded from the copies",
}


def refuse_supports(told: Synthetic | None) -> None:
    """Refuse what has no grades: no synthetic release, filled-in gaps alone, structure alone.

    Parameters
    ----------
    told
        What the release discloses of copies.

    Raises
    ------
    DataError
        With what to do.
    """
    if told is None or told.kind == "missing":
        raise DataError(ONLY_SYNTHETIC)
    if told.structure:
        raise DataError(STRUCTURE)


def with_supports(
    found: Findings, copies: Copies, book: Codebook, told: Synthetic, others: Sequence[str], how: Measuring
) -> Findings:
    """Add grades to what was measured.

    Parameters
    ----------
    found
        What was measured.
    copies
        The original beside each copy.
    book
        What the release says of its variables: ids and weights have no grades, and missing codes are no values.
    told
        What the release discloses of them.
    others
        Columns that other steps changed, too.
    how
        With the model, where there is one.

    Raises
    ------
    FormulaError, DataError
        Where the model cannot be fitted to the original.
    """
    copies = replace(copies, pairs=tuple(_as_described(pair.tables, book) for pair in copies.pairs))
    supports, notes = supports_of_tables(copies)
    if how.model is not None:
        terms, more = _terms(copies.pairs, told, others, how.model, how.family or "linear")
        supports, notes = [*supports, *terms], [*notes, *more]
    return replace(found, supports=tuple(supports), notes=(*found.notes, *notes))


def _as_described(pair: Pair, book: Codebook) -> Pair:
    """A pair as analysts take it, who read what the release says of its variables."""
    both = {n: book.get(n, variable) for n, variable in pair.codebook.items()}
    return replace(pair, codebook=Codebook(both))


def _terms(
    pairs: Sequence[Pair], told: Synthetic, others: Sequence[str], model: str, family: Family
) -> tuple[list[Support], list[str]]:
    if told.kind == "partial" and len(pairs) < 2:
        return [], [ONE_COPY]
    formula = parse_formula(model)
    first = fit_model(pairs[0].before, pairs[0].codebook, formula, family)
    fitted, notes = _combined(pairs, told, model, family, first)
    masked = [name for name in formula.columns if name in others]
    notes += [PLAIN.format(columns=", ".join(masked))] if masked else []
    found, more = supports_of_terms(pairs, formula, family, first, fitted)
    return found, more or notes


def _combined(
    pairs: Sequence[Pair], told: Synthetic, model: str, family: Family, first: ModelFit
) -> tuple[Fitted, list[str]]:
    """The copies' fits together; NaN where one does not give a coefficient."""
    none = np.full(len(first.labels), np.nan)
    try:
        fits = [fit_model(pair.after, pair.codebook, model, family, first.levels).at(first.labels) for pair in pairs]
    except DataError as error:
        return Fitted(none, none, none), [NOT_FITTED.format(error=error)]
    if not all(fit.converged for fit in fits):
        return Fitted(none, none, none), [NOT_FOUND]
    estimates, errors = np.array([fit.estimate for fit in fits]), np.array([fit.se for fit in fits])
    there = np.isfinite(estimates + errors).all(axis=0)
    figures = np.full((3, len(there)), np.nan)
    if there.any():
        degrees = min(fit.n for fit in fits) - int(there.sum()) if family == "linear" else None
        own = combine(estimates[:, there], errors[:, there] ** 2, _RULES[told.kind], told.ratio, told.proper, degrees)
        figures[:, there] = own.estimate, own.low, own.high
    return Fitted(*figures), []


def to_publish(found: Findings, model: str | None, family: Family | None) -> dict[str, Any]:
    """Give the grades alone, as they may leave with a release.

    Terms whose name has a category that the copies do not hold are left out: it would be told by it.

    Parameters
    ----------
    found
        With grades.
    model, family
        What was fitted, if anything was.

    Examples
    --------
    >>> graded = Findings(supports=(Support("variable", ("sex",), "rough"),))
    >>> to_publish(graded, None, None)["supports"]
    [{'what': 'variable', 'columns': ['sex'], 'term': None, 'grade': 'rough'}]
    """
    fitted = {} if model is None else {"model": model, "family": family or "linear"}
    return {**fitted, "grades": _MEANS, "supports": [one.to_plain() for one in found.supports or () if one.named]}
