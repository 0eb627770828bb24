"""Prosecutor's risk: how often a guess within the class is right, on average and at worst."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import Patterns, class_findings, patterns
from sfumato.measures.saying import percent, value_of, with_value, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "risk_average", "risk_highest"]


def risk_average(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Average over all records of 1/size of its class, which is the number of classes over that of records.

    It is the share of right guesses of an intruder who knows the keys of everybody, knows that they are in the file,
    and takes any record of the class: the marketer's risk. It says nothing of the worst records (`risk_highest`).

    Source: Dankar & El Emam (2010), doi:10.1145/1754239.1754271.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`.

    Returns
    -------
    float or None
        None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> round(risk_average(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"]), 3)
    0.667
    """
    found = patterns(data, by, missing)
    return None if found is None else _average(found)


def risk_highest(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """1/size of the smallest class: the chance that a guess is right where it is easiest.

    It is the prosecutor's risk of the records that stand most alone. It does not tell how many they are
    (`risk_average`, `below_k`).

    Source: Dankar & El Emam (2010), doi:10.1145/1754239.1754271.

    Parameters
    ----------
    data, by, missing
        As in `sfumato.measures.patterns.patterns`.

    Returns
    -------
    float or None
        None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> risk_highest(sf.read(pl.DataFrame({"sex": ["m", "m", "f", "f"]})), ["sex"])
    0.5
    """
    found = patterns(data, by, missing)
    return None if found is None else _highest(found)


def _average(found: Patterns) -> float:
    return float((found.records / found.alike).sum()) / found.total


def _highest(found: Patterns) -> float:
    return 1 / float(found.alike.min())


def _compute(subject: Subject) -> Findings:
    return class_findings(subject, [("risk_average", None, _average), ("risk_highest", None, _highest)])


def _say(findings: Findings, fraction: float) -> str | None:
    lines = with_value(findings, "risk_average")
    if not lines:
        return None
    return (
        "Somebody who looks everybody up by these values, and takes any record of the group, finds "
        f"{percent(value_of(worst(lines)))} of the people."
    )


MEASURE = Measure(
    family="groups",
    place=12,
    doing="guesses within groups",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "risk_average",
            title="Right guesses within groups, on average",
            what="Somebody who looks everybody up by these values, and takes any record of the group, is right for "
            "this share of the people: the number of groups over that of records.",
            form="share",
            published="rate",
            baseline="Original",
            whole="average",
            aim=Aim.ALIKE,
            attacker="guess within groups",
            clause="{} of the people are found",
        ),
        Figure(
            "risk_highest",
            title="Right guesses in the smallest group",
            what="The chance that any record of the smallest group is the person's: 1 over its size.",
            form="share",
            published="rate",
            baseline="Original",
            whole="smallest group",
            aim=Aim.ALIKE,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
    say=_say,
)
