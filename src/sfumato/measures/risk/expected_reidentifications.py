"""Expected re-identifications: individual risks of all records, summed, alone and through their households."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Role
from sfumato.kernels.classes.individual_risk import household_risk
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import Patterns, class_findings, has_columns, patterns
from sfumato.measures.subject import Subject, weight_of

__all__ = ["MEASURE", "expected_reidentifications", "expected_reidentifications_household"]

WEIGHTED = (
    "Expected re-identifications are those of people drawn from the population, by the sampling weights of {}. Whoever "
    "knows that a person is in the file does better (risk_average)."
)


def expected_reidentifications(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Sum of the individual risks of all records.

    The risk of a record is the chance that a person of the population who matches its keys is the right one: the
    posterior mean of 1/F, where F is estimated by the sum of the class's sampling weights; without weights 1/f, f the
    size of the class. It answers an intruder who knows the keys exactly, not one who knows more, and with weights not
    one who knows that the person is in the file.

    Source: Benedetti & Franconi (1998); Franconi & Polettini (2004), doi:10.1007/978-3-540-25955-8_20.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`; weights are the column with the role weight.

    Returns
    -------
    float or None
        People; None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> expected_reidentifications(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"])
    2.0
    """
    found = patterns(data, by, missing)
    return None if found is None else _expected(found)


def expected_reidentifications_household(
    data: Dataset, by: Sequence[str], household: str, *, missing: str = CATEGORY
) -> float | None:
    """Sum over all records of the risk that somebody of the household is recognised.

    Who recognises one member knows the others too: the risk of a record is 1 − ∏(1 − r) over the members of its
    household, who are taken to be recognised independently of each other. A record without a household is one of its
    own.

    Source: Franconi & Polettini (2004), doi:10.1007/978-3-540-25955-8_20.

    Parameters
    ----------
    data, by, missing
        As in `expected_reidentifications`.
    household
        Column with the id of the household.

    Returns
    -------
    float or None
        People; None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> data = sf.read(pl.DataFrame({"sex": ["f", "f", "m", "m"], "home": [1, 1, 2, 3]}))
    >>> round(expected_reidentifications_household(data, ["sex"], "home"), 6)
    2.5
    """
    found = patterns(data, by, missing)
    if found is None:
        return None
    risks = found.keys.with_columns(pl.Series(_RISK, found.risk))
    members = data.ask(Counts((*by, *(n for n in [household] if n not in by))))
    joined = members.join(risks, on=found.keys.columns, how="left", nulls_equal=True)
    joined = joined.with_columns(pl.col(_RISK).fill_null(0.0))  # of records without any key, by which nobody finds them
    gone = data.codebook.missing(household, members.schema[household])
    alone, homes = joined.filter(gone), joined.filter(~gone)
    homes = homes.select(pl.col(household).rank("dense").cast(pl.Int64).alias("home") - 1, COUNT, _RISK)
    home, count, risk = (homes[n].to_numpy() for n in ("home", COUNT, _RISK))
    shared = household_risk(np.repeat(risk, count), np.repeat(home, count)) if len(home) else np.zeros(0)
    return float(shared.sum()) + float((alone[_RISK] * alone[COUNT]).sum())


_RISK = "sfumato:risk"  # no column of the data can bear this name


def _expected(found: Patterns) -> float:
    return float((found.people * found.risk).sum())


def _compute(subject: Subject) -> Findings:
    found = class_findings(subject, [("expected_reidentifications", None, _expected)])
    weight = weight_of(subject.after.codebook)
    notes = () if weight is None or not subject.classes else (WEIGHTED.format(repr(weight)),)
    return found + Findings(_through_households(subject), notes)


def _through_households(subject: Subject) -> tuple[Finding, ...]:
    household = subject.after.codebook.the(Role.HOUSEHOLD)
    if household is None:
        return ()
    lines = []
    for classes in subject.classes:
        given = subject.given
        known = given is not None and has_columns(given, (*classes.by, household))
        value, baseline = (
            None
            if data is None
            else expected_reidentifications_household(data, classes.by, household, missing=subject.how.missing)
            for data in (subject.after, given if known else None)
        )
        name = "expected_reidentifications_household"
        lines.append(Finding(name, group=classes.group, value=value, baseline=baseline))
    return tuple(lines)


_WHAT = (
    "How many records somebody is expected to find who looks for people of the population by these values, and takes "
    "any record that fits: the sum of the individual risks, with sampling weights where there are any, else the number "
    "of groups."
)

MEASURE = Measure(
    family="groups",
    place=15,
    doing="expected re-identifications",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "expected_reidentifications",
            title="Expected re-identifications",
            what=_WHAT,
            form="count",
            baseline="Original",
            aim=Aim.ALIKE,
            detail=True,
        ),
        Figure(
            "expected_reidentifications_household",
            title="Expected, through households",
            what=_WHAT + " Whoever finds one member of a household has found all.",
            form="count",
            baseline="Original",
            aim=Aim.ALIKE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
