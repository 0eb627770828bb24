"""Fit every synthetic copy as one release, and combine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np
import polars as pl

from sfumato.data.disclosure import COPY, Disclosure, Synthetic
from sfumato.errors import DataError
from sfumato.inference.combine import Combined, Rule, combine
from sfumato.inference.result import Fit

__all__ = ["Combine", "fit_copies"]

Combine = Literal["auto", "simple", "rrr", "partial", "rubin"]
_RULES: dict[str, tuple[Rule, ...]] = {"full": ("simple", "rrr"), "partial": ("partial",), "missing": ("rubin",)}
_SAYS = {
    "simple": "no row is a person's, and the intervals hold that values were drawn",
    "rrr": "no row is a person's; the variance comes from what differs between copies",
    "partial": "some values of true people were drawn",
    "rubin": "missing values were filled in",
}

WALD = "Intervals are estimate ± standard errors: likelihood ratios of several copies are not combined."
ROWS_ALIKE = (
    "These intervals take rows for independent, and rows of one person are alike: they are too narrow. Give the "
    "column of persons as `cluster`."
)
STRUCTURE = (
    "These data hold names and kinds alone (`method: structure`) and nothing of the people: no estimate means "
    "anything. Have the program run on the true data by whoever holds them."
)
OTHER_TERMS = (
    "The copies do not have the same coefficients: a category of the model is not in all of them. Take rare categories "
    "together, or leave the term out."
)


def fit_copies(
    one: Callable[[pl.DataFrame, Disclosure], Fit], frame: pl.DataFrame, disclosure: Disclosure, how: Combine = "auto"
) -> Fit:
    """Fit the copies of a release one by one and combine them; a release without copies is fitted as it is.

    Parameters
    ----------
    one
        Fits one copy, given what else was disclosed.
    frame
        The release, with the column `copy` where there are several.
    disclosure
        What it discloses.
    how
        The rule, see `combine`; `auto` takes the one that suits.

    Raises
    ------
    DataError
        A rule that contradicts the disclosure, copies that are not those of the disclosure, coefficients that not all
        copies have.
    """
    if how not in get_args(Combine):
        raise DataError(f"There is no rule {how!r} to combine copies. Rules: {', '.join(get_args(Combine))}.")
    told = disclosure.synthetic
    if told is None:
        if how != "auto":
            raise DataError(f"The rule {how!r} combines synthetic copies, and the release tells of none.")
        return one(frame, disclosure)
    rule = _rule(told, how)
    rest = disclosure.without_synthetic
    fits = [one(copy, rest) for copy in _apart(frame, told.copies)]
    if any(fit.terms != fits[0].terms for fit in fits):
        raise DataError(OTHER_TERMS)
    both = _together(fits, _combined(fits, rule, told), rule, structure=told.structure)
    apart = told.persons and both.se_rule != "CR1" and not both.variance  # no clusters, and no effects of groups
    return replace(both, notes=(*both.notes, ROWS_ALIKE)) if apart else both


def _combined(fits: Sequence[Fit], rule: Rule, told: Synthetic) -> Combined:
    """The estimates of all copies; NaN for terms that a copy has no estimate or standard error of."""
    estimates, errors = np.array([fit.estimate for fit in fits]), np.array([fit.se for fit in fits])
    there = np.isfinite(estimates + errors).all(axis=0)
    figures = np.full((5, len(there)), np.nan)
    if there.any():
        found = combine(estimates[:, there], errors[:, there] ** 2, rule, told.ratio, told.proper, fits[0].degrees)
        figures[:, there] = found.estimate, found.se, found.df, found.low, found.high
    estimate, se, df, low, high = figures
    return Combined(estimate, se, df, low, high, rule)


def _rule(told: Synthetic, how: Combine) -> Rule:
    fitting = _RULES[told.kind]
    rule: Rule = fitting[0] if how == "auto" else how
    if rule not in fitting:
        raise DataError(
            f"The rule {rule!r} contradicts the disclosure, by which synthesis is {told.kind}: take "
            f"{' or '.join(map(repr, fitting))}, or 'auto'."
        )
    if rule == "rrr" and not told.proper:
        raise DataError(
            "The rule 'rrr' is for copies whose models were fitted anew for each (`proper: true`), and these were not. "
            "Take 'simple'."
        )
    if rule != "simple" and told.copies < 2:
        raise DataError(f"The rule {rule!r} looks at what differs between copies, and the release has one alone.")
    return rule


def _apart(frame: pl.DataFrame, copies: int) -> Sequence[pl.DataFrame]:
    if copies == 1:
        return [frame]
    if COPY not in frame.columns or set(frame[COPY].unique()) != set(range(1, copies + 1)):
        raise DataError(f"The release discloses {copies} copies, and its column {COPY!r} does not hold as many.")
    return [frame.filter(pl.col(COPY) == number + 1).drop(COPY) for number in range(copies)]


def _together(fits: Sequence[Fit], both: Combined, rule: Rule, *, structure: bool = False) -> Fit:
    """The first copy's fit with the estimates of all."""
    first = fits[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.mean([fit.covariance for fit in fits], axis=0)
        scale = both.se / np.sqrt(np.diagonal(spread))
    covariance = spread * np.outer(scale, scale)
    np.fill_diagonal(covariance, both.se**2)
    many = len(fits)
    copies = "1 synthetic copy" if many == 1 else f"{many} synthetic copies"
    notes = [STRUCTURE] if structure else []
    notes += [f"Combined from {copies} by the rule {rule!r}: {_SAYS[rule]}."]
    notes += [WALD] if any(fit.profile is not None for fit in fits) else []
    notes += [note for fit in fits for note in fit.notes if fit.second is None or note != fit.second.said]
    return replace(
        first,
        estimate=both.estimate,
        covariance=covariance,
        reliability=np.mean([fit.reliability for fit in fits], axis=0),
        inflation=np.mean([fit.inflation for fit in fits], axis=0),
        converged=all(fit.converged for fit in fits),
        se_rule=None if np.isnan(both.se).all() else first.se_rule,
        log_likelihood=float("nan"),
        sigma=float(np.mean([fit.sigma for fit in fits])),
        df=both.df,
        rule=rule,
        copies=many,
        evidence=min((fit.evidence for fit in fits if fit.evidence is not None), default=None),
        second=None,
        notes=tuple(dict.fromkeys(notes)),
        draws=None,
        posterior=None,
        profile=None,
        variance={name: float(np.mean([fit.variance[name] for fit in fits])) for name in first.variance},
        variance_se={name: float(np.mean([fit.variance_se[name] for fit in fits])) for name in first.variance_se},
    )
