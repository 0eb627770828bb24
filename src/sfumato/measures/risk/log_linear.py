"""Uniques of the population, and right matches of the file's uniques, by a log-linear model of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.errors import DataError
from sfumato.kernels.classes.log_linear import ENOUGH, LogLinear, Model
from sfumato.kernels.classes.log_linear import log_linear as fit
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import NO_CLASS, coded, has_columns, once, patterns
from sfumato.measures.subject import KEYS, Subject
from sfumato.measures.taking_part import taking_part
from sfumato.progress import Progress, quiet

__all__ = ["MATCHES", "MEASURE", "UNIQUES", "log_linear"]

UNIQUES, MATCHES = "tau1", "tau2"
"""Groups of `loglinear_fit`: its test for the expected uniques, and for the expected right matches."""

NAMES = ("uniques_population_loglinear", "matches_population_loglinear", "loglinear_fit")

MODEL = "Log-linear model ({model}): main effects{terms}."
UNDERFIT = (
    "Log-linear model: the test (tau2) is above {enough}: the model leaves out what keys have in common, and its "
    "figures may be far off, mostly too high. {way}"
)
OVERFIT = (
    "Log-linear model: the test (tau2) is below -{enough}: the model follows chance, and its figures may be far off, "
    "mostly too low. {way}"
)
TAKE_AUTO, FEWER = "Take --log-linear auto.", "Name fewer keys, or recode those with many values."
WHOLE = "The file is the whole population (--fraction 1): its uniques are counted, and there is no fit to test."
NO_FRACTION = (
    "Population uniques by a log-linear model were not measured: say what share of the population the file holds "
    "(--fraction)."
)
NO_BASELINE = (
    "Log-linear model: the original has too many combinations of these keys, so there is nothing to compare with."
)
UNTESTED = "loglinear_fit has no value: there is nothing in these keys that the model could miss."
UNSETTLED = "Log-linear model: the fit had not quite settled after the steps allowed, so that its figures are rough."


def log_linear(
    data: Dataset,
    by: Sequence[str],
    fraction: float,
    *,
    model: Model = "auto",
    missing: str = CATEGORY,
    progress: Progress = quiet,
) -> LogLinear | None:
    """Estimate how many of the file's uniques are alone in the population, and how many matches of them are right.

    The keys are modelled as a table of counts: which values go together tells of each unique how many people like it
    the population is expected to have. It answers an intruder who looks the file's uniques up in the whole population,
    knowing their keys exactly. It does not hold for whoever knows who is in the file, nor where the file is no simple
    random sample (weights play no part). A missing key is a category. See `loglinear_fit` before believing it.

    Source: Skinner & Shlomo (2008), doi:10.1198/016214507000001328.

    Parameters
    ----------
    data, by
        As in `sfumato.measures.patterns.patterns`.
    fraction
        Share of the population that the file holds, above 0 and at most 1.
    model
        `main`, `two-way`, or `auto`, see `sfumato.kernels.classes.log_linear`.
    missing
        Where a missing key is a wildcard, keys in which nobody differs take no part.
    progress
        Called as the model grows.

    Returns
    -------
    LogLinear or None
        None where there is no record or no key.

    Raises
    ------
    DataError
        Where the keys have more than 10,000,000 combinations of values, or the fraction is not above 0 and at most 1.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> people = sf.read(pl.DataFrame({"sex": ["f", "m", "m"], "age": [20, 20, 30]}))
    >>> found = log_linear(people, ["sex", "age"], 0.5, model="main")
    >>> round(found.uniques, 3), round(found.matches, 3)
    (1.29, 2.012)
    """

    def make() -> LogLinear | None:
        there = patterns(data, telling)
        if there is None:
            return None
        codes = coded(there.keys)
        return fit(
            codes - codes.min(axis=0),
            there.records,
            fraction,
            model,
            step=lambda terms: progress(f"choosing a log-linear model: {terms + 1} two-way terms", 0),
        )

    telling = taking_part(data, by, missing)
    return once(data, ("log-linear", telling, fraction, model), make)


def _compute(subject: Subject) -> Findings:
    by = next(c.by for c in subject.classes if c.group == KEYS)
    fraction, asked = subject.how.fraction, subject.how.log_linear
    model: Model = asked or "auto"
    if fraction is None:
        return _nothing(NO_FRACTION)
    fitted = partial(
        log_linear, by=by, fraction=fraction, model=model, missing=subject.how.missing, progress=subject.progress
    )
    try:
        there = fitted(subject.after)
    except DataError as error:
        if asked is not None:
            raise
        return _nothing(str(error))
    if there is None:
        return _nothing(NO_CLASS)
    notes = tuple(_notes(there, by, model, fraction))
    given, was = subject.given, None
    if given is not None and has_columns(given, by):
        try:
            was = fitted(given)
        except DataError:  # what was not yet coarsened may have too many combinations
            notes = (*notes, NO_BASELINE)
    return Findings(tuple(_lines(there, was)), notes)


def _nothing(note: str) -> Findings:
    return Findings(tuple(_line(name, group, None) for name, group in _WHERE), (note,))


_WHERE = ((NAMES[0], KEYS), (NAMES[1], KEYS), (NAMES[2], UNIQUES), (NAMES[2], MATCHES))


def _line(name: str, group: str, value: float | None, baseline: float | None = None) -> Finding:
    return Finding(name, group=group, value=value, baseline=baseline)


def _figures(of: LogLinear | None) -> tuple[float | None, ...]:
    return (None,) * 4 if of is None else (of.uniques, of.matches, of.z_uniques, of.z_matches)


def _lines(there: LogLinear, was: LogLinear | None) -> Iterator[Finding]:
    for where, value, baseline in zip(_WHERE, _figures(there), _figures(was), strict=True):
        yield _line(*where, value, baseline)


def _notes(found: LogLinear, by: tuple[str, ...], model: Model, fraction: float) -> Iterator[str]:
    if fraction == 1:
        yield WHOLE
        return
    pairs = ", ".join(f"{by[a]} × {by[b]}" for a, b in found.terms)
    yield MODEL.format(model=model, terms=f" and {pairs}" if pairs else "")
    if not found.converged:
        yield UNSETTLED
    if found.z_matches is None:
        yield UNTESTED
    elif found.z_matches > ENOUGH:
        yield UNDERFIT.format(enough=ENOUGH, way=TAKE_AUTO if model == "main" else FEWER)
    elif found.z_matches < -ENOUGH:
        yield OVERFIT.format(enough=ENOUGH, way=TAKE_AUTO if model == "two-way" else FEWER)


MEASURE = Measure(
    family="groups",
    place=18,
    doing="uniques of the population by a log-linear model",
    needs=frozenset({"table", "keys"}),
    figures=(
        Figure(
            "uniques_population_loglinear",
            title="Uniques of the population (log-linear)",
            what="How many of the records alone in the file are expected to be alone in the population too, by a "
            "log-linear model of the values and the share of the population that the file holds (`--fraction`). "
            "Other estimates of population uniques count people of the whole population; this one counts records.",
            form="count",
            baseline="Original",
            whole="records alone in the file",
            aim=Aim.ALIKE,
        ),
        Figure(
            "matches_population_loglinear",
            title="Right matches of uniques (log-linear)",
            what="How many right matches somebody is expected to have who takes each record that is alone in the file "
            "for anybody of the population with its values: the sum of 1 over how many share them, by the same model.",
            form="count",
            baseline="Original",
            whole="records alone in the file",
            aim=Aim.ALIKE,
        ),
        Figure(
            "loglinear_fit",
            title="Fit of the log-linear model (test)",
            what="How far the figures of the model are off, in standard deviations: of the uniques (`tau1`), of the "
            "right matches (`tau2`). Above 1.645 the model leaves out what values have in common; far below 0 it "
            "follows chance: either way its figures may be far off.",
            better="change",
            baseline="Original",
            aim=Aim.ALIKE,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
    when=lambda subject: subject.how.log_linear is not None,
    effort=5.0,
)
