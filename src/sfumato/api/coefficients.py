"""The coefficients of an intended model: of the original, of the release as it is, and with its noise taken out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.api.read import read_whole
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.inference.copies import fit_copies
from sfumato.inference.fit import fit as estimate
from sfumato.inference.outcome import Family as NoiseFamily
from sfumato.inference.result import Fit
from sfumato.kernels.glm import Family
from sfumato.measures.utility.default_model import default_model
from sfumato.measures.utility.model import ModelComparison, ModelFit, comparison_of, fit_model, moved_most
from sfumato.plan.plan import Plan
from sfumato.progress import Progress, quiet, split
from sfumato.release.copies import apart
from sfumato.release.package.analysis import open_releases
from sfumato.release.package.papers import read_papers
from sfumato.release.package.renaming import as_planned
from sfumato.release.prepared import Prepared

__all__ = ["Coefficient", "Coefficients", "Estimated", "coefficients"]

NO_MODEL = (
    "There is no model to take by itself: no variable has the role outcome, or nothing explains it. Name one, for "
    "instance event ~ age + sex."
)
OTHER_REFERENCE = (
    "The noise was not taken out: the release lacks the category that others are compared with in the original, so "
    "that its coefficients say something else."
)
FIRST_COPY = "The release holds several synthetic copies. As it is, the first is told of; without noise, all together."
_WITHOUT_NOISE: dict[Family, NoiseFamily] = {"linear": "linear", "logistic": "logit", "probit": "probit"}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimated:
    """A coefficient in one of the fits.

    Parameters
    ----------
    estimate
        The coefficient.
    se
        Its standard error; None where it is not determined.
    low, high
        Ends of its 95% interval; None where there is no bound.
    """

    estimate: float
    se: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Coefficient:
    """A coefficient, side by side.

    Parameters
    ----------
    term
        Its name.
    original, released, corrected
        In the fit of the original, of the release as it is, and of the release with its noise taken out; None where
        that fit does not have it.
    moved
        How far it moved from the original to the release as it is, in standard errors of the original fit.
    """

    term: str
    original: Estimated | None
    released: Estimated | None
    corrected: Estimated | None
    moved: float | None


@dataclass(frozen=True)
class Coefficients:
    """An intended model, fitted to the original and to the release.

    Parameters
    ----------
    formula, family
        What was fitted.
    terms
        A line for each coefficient.
    records
        Records of each fit.
    sentences
        What was lost, in words.
    notes
        What a reader should know.
    missing
        By `released` or `corrected`, why there is no such fit.

    Examples
    --------
    >>> Coefficients("y ~ x", "linear", (), {}, ("Nothing moved.",), (), {}).to_plain()["formula"]
    'y ~ x'
    """

    formula: str
    family: Family
    terms: tuple[Coefficient, ...]
    records: dict[str, int]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    missing: dict[str, str]

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def coefficients(
    before: Any,
    release: str | PathLike[str],
    *,
    plan: Plan | None = None,
    model: str | None = None,
    family: Family | None = None,
    progress: Progress = quiet,
) -> Coefficients:
    """Fit a model to the original and to its release, as it is and with its disclosed noise taken out.

    What comes out is the custodian's: coefficients of the original, with labels of its categories.

    Parameters
    ----------
    before
        The original; what `read` gives or takes. The plan's preparing steps are run on it.
    release
        The folder that `protect` wrote.
    plan
        The plan that it was made by.
    model, family
        The model and `linear`, `logistic` or `probit`. By default the first outcome is explained by all other
        variables, as in `protect`.
    progress
        Called with what is being done, and the share of the work that is done.

    Returns
    -------
    Coefficients
        Where the release cannot be fitted so, with the reason in `missing`.

    Raises
    ------
    FormulaError, DataError
        Where the model cannot be fitted to the original.
    FileError
        The folder is no release.

    References
    ----------
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), doi:10.1111/rssa.12358, for how far coefficients moved. Carroll,
    Ruppert, Stefanski & Crainiceanu (2006), doi:10.1201/9781420010138, for taking noise out.

    Examples
    --------
    >>> import tempfile, polars as pl
    >>> from sfumato import protect, steps
    >>> rows = pl.DataFrame({"id": range(90), "x": [float(i % 9) for i in range(90)]})
    >>> rows = rows.with_columns(y=pl.col("x") * 2 + 1)
    >>> plan = Plan(variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["y"], sd=1)])
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = protect(plan, rows, secret=bytes(16)).write(f"{place}/release", force=True)
    ...     found = coefficients(rows, f"{place}/release", plan=plan, model="y ~ x")
    >>> [(one.term, round(one.original.estimate, 6)) for one in found.terms]
    [('Intercept', 1.0), ('x', 2.0)]
    """
    comparing, taking_out = split(progress, (1, 3))
    comparing("fitting the model to the original", 0)
    papers = read_papers(Path(release))
    opened = open_releases([Path(release)])
    after, told = as_planned(PolarsDataset(opened.frame, opened.codebook, papers.data.suffix), papers)
    copies = apart(after, told)
    tables = Prepared.prepare(read_whole(before, "Comparing models"), copies[0], plan)
    alike, notes = tables.comparable()
    pair = alike.pair(None, None, None, None)
    if model is None:
        usual = default_model(pair.before, pair.after, pair.codebook)
        if usual is None:
            raise DataError(NO_MODEL)
        model, family = usual
    family = family or "linear"
    first, both, missing = _compared(tables, pair, model, family, notes)
    taking_out("taking the noise out of the released data", 0)
    without: Fit | None = None
    if both is not None:
        try:
            without = _without_noise(after.frame, after.codebook, told, model, family, taking_out)
            if _other_reference(first, without):
                without, missing["corrected"] = None, OTHER_REFERENCE
        except DataError as error:
            missing["corrected"] = f"The noise could not be taken out. {error}"
    return _together(model, family, first, both, without, (FIRST_COPY,) if len(copies) > 1 else (), missing)


def _compared(
    tables: Prepared, pair: Pair, model: str, family: Family, notes: Sequence[str]
) -> tuple[ModelFit, ModelComparison | None, dict[str, str]]:
    """The fit of the original, the comparison where both can be fitted, else why not."""
    try:
        compared = comparison_of(pair, model, family)
    except DataError:
        # a column that was coarsened is in neither table of the pair; whoever knows the original can still fit it
        first = fit_model(tables.before.frame, tables.codebook, model, family)
        return first, None, dict.fromkeys(("released", "corrected"), " ".join(notes))
    if isinstance(compared, ModelComparison):
        return compared.before, compared, {}
    first = fit_model(pair.before, pair.codebook, model, family)
    return first, None, {"released": compared[1], "corrected": compared[1]}


def _without_noise(
    frame: pl.DataFrame, book: Codebook, told: Disclosure, model: str, family: Family, progress: Progress
) -> Fit:
    def one(copy: pl.DataFrame, known: Disclosure) -> Fit:
        return estimate(model, copy, known, _WITHOUT_NOISE[family], codebook=book, complete=True, progress=progress)

    return fit_copies(one, frame, told)


def _other_reference(first: ModelFit, without: Fit) -> bool:
    """Whether a category is compared with another one than in the original."""
    return any(first.levels.get(name, levels)[:1] != levels[:1] for name, levels in without.levels.items())


def _together(
    model: str,
    family: Family,
    first: ModelFit,
    both: ModelComparison | None,
    without: Fit | None,
    notes: tuple[str, ...],
    missing: dict[str, str],
) -> Coefficients:
    labels = first.labels if both is None else both.labels
    original = _sides(first)
    released = {} if both is None else _sides(both.after)
    corrected = {} if without is None else _noise_out(without)
    moved = {} if both is None else dict(zip(both.labels, both.standardised_difference, strict=True))
    terms = tuple(
        Coefficient(term, original.get(term), released.get(term), corrected.get(term), _or_none(moved.get(term)))
        for term in (*labels, *(term for term in corrected if term not in labels))
    )
    records = {"original": first.n}
    lines = [Finding("standardised_difference", variable=one.term, value=one.moved) for one in terms]
    sentences = [] if (said := moved_most(Findings(tuple(lines)))) is None else [said]
    if both is not None:
        records["released"] = both.after.n
        notes = (*notes, *both.notes)
    if without is not None:
        records["corrected"] = without.n
        sentences += without.noise_sentences()
        failed = without.state == "NOT CONVERGED"
        told = (*without.notes, "The fit without noise did not converge.") if failed else without.notes
        notes = (*notes, *(f"Noise taken out: {note}" for note in told))
    return Coefficients(model, family, terms, records, tuple(sentences), notes, missing)


def _sides(fit: ModelFit) -> dict[str, Estimated]:
    return _estimated(fit.labels, fit.estimate, fit.se, fit.low, fit.high)


def _noise_out(fit: Fit) -> dict[str, Estimated]:
    interval = fit.interval
    return _estimated(fit.terms, fit.estimate, fit.se, interval[:, 0], interval[:, 1])


def _estimated(terms: Sequence[str], *columns: Floats) -> dict[str, Estimated]:
    """Those that are determined, by term; what is not finite is None."""
    return {
        term: Estimated(float(value), *map(_or_none, more))
        for term, value, *more in zip(terms, *columns, strict=True)
        if np.isfinite(value)
    }


def _or_none(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
