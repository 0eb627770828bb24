"""l-diversity: how many different values of a sensitive variable each class of records has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.patterns import (
    NO_CLASS,
    MissingSensitive,
    Values,
    has_columns,
    value_counts,
    value_findings,
)
from sfumato.measures.risk.k_anonymity import class_label
from sfumato.measures.saying import listed, value_of, with_value
from sfumato.measures.subject import KEYS_AND_OTHERS, Classes, Subject
from sfumato.measures.taking_part import taking_part

__all__ = ["MEASURE", "class_lines", "findings", "l_distinct"]


def l_distinct(
    data: Dataset, by: Sequence[str], sensitive: str, *, missing: MissingSensitive = "ignore"
) -> pl.DataFrame:
    """Count the different sensitive values in each class.

    It protects against learning a value without finding the record: with l = 1 whoever knows that a person is in the
    class knows the value. It does not see that one of several values may be nearly certain, nor that different values
    may mean the same (see `t_closeness` for the first).

    Source: Machanavajjhala, Kifer, Gehrke & Venkitasubramaniam (2007), doi:10.1145/1217299.1217302.

    Parameters
    ----------
    data
        The table; its codebook says which codes stand for missing.
    by
        The keys, at least one. Null and NaN are together one category of a key; a user-missing code is one of its own.
    sensitive
        A column that an intruder must not learn.
    missing
        A missing sensitive value is no value (`ignore`), or one common `category`; never several different values.

    Returns
    -------
    pl.DataFrame
        Columns `class` and `l`; smallest first, then by name. A class without any known value has l = 1; none is there
        where no class has a known value, and records without any key are in no class.

    Examples
    --------
    >>> import sfumato as sf
    >>> data = sf.read(pl.DataFrame({"sex": ["f", "f", "m"], "ill": ["yes", "no", "no"]}))
    >>> l_distinct(data, ["sex"], "ill").rows()
    [('sex=m', 1), ('sex=f', 2)]
    """
    counts = value_counts(data, by, sensitive, missing)
    diversity = counts.group_by(by).agg(pl.len().cast(pl.Int64).alias("l"))
    return diversity.select(class_label(by), "l").sort("l", "class")


def findings(
    data: Dataset,
    classes: Sequence[Classes],
    sensitive: Sequence[str],
    *,
    missing: MissingSensitive = "ignore",
    given: Dataset | None = None,
    most: int = 200,
) -> Findings:
    """Give the lines `l_distinct`: of each group and sensitive variable the smallest, then one for each class.

    Parameters
    ----------
    data
        The table as it is, or as it is to be released.
    classes
        The columns whose combinations are classes; single classes of equal columns have their lines once.
    sensitive
        Columns that an intruder must not learn; one that is itself among a group's columns is passed over there.
    missing
        As in `l_distinct`.
    given
        The original table, where there is one; its figures are the baselines, and a class that it did not have has
        none. The two need not be joined.
    most
        Largest number of classes that get a line of their own, for each variable.
    """
    per_class = partial(l_distinct, missing=missing)
    return class_lines("l_distinct", per_class, Subject(data, given=given, classes=tuple(classes)), sensitive, most)


def class_lines(
    measure: str,
    per_class: Callable[[Dataset, Sequence[str], str], pl.DataFrame],
    subject: Subject,
    sensitive: Sequence[str],
    most: int = 200,
) -> Findings:
    """Give the lines of a measure of sensitive values in classes: per group and variable the worst, then each class.

    `per_class` takes a table, its keys and a sensitive column, and gives class and figure, the worst first.
    """
    lines: list[Finding] = []
    notes: dict[str, None] = {}
    for group, told in subject.each_once():
        for name in (n for n in sensitive if n not in group.by):
            found = _figures(per_class, subject.after, group.by, name, subject.how.missing)
            known = _figures(per_class, subject.given, group.by, name, subject.how.missing)
            figure, baseline = next(iter(found.values()), None), next(iter(known.values()), None)
            lines.append(Finding(measure, name, group.group, value=figure, baseline=baseline))
            if not told:
                single = list(found.items())[:most]
                lines += [Finding(measure, name, label, value=x, baseline=known.get(label)) for label, x in single]
            if figure is None:
                notes[f"Column {name!r} holds no value in any class, so there is no {measure}."] = None
            if len(found) > most:
                notes[f"{measure}: only the {most} worst classes have a line."] = None
    return Findings(tuple(lines), tuple(notes) if subject.classes else (NO_CLASS,))


def _figures(
    per_class: Callable[[Dataset, Sequence[str], str], pl.DataFrame],
    data: Dataset | None,
    by: Sequence[str],
    sensitive: str,
    missing: str,
) -> dict[str, float]:
    """The figure of each class by its name, the worst first; none without keys or of a table without these columns."""
    if data is None or not by or not has_columns(data, (*by, sensitive)):
        return {}
    of_classes = per_class(data, taking_part(data, by, missing), sensitive)
    return {str(label): float(figure) for label, figure in of_classes.rows()}


def _compute(subject: Subject) -> Findings:
    told = class_lines("l_distinct", l_distinct, subject, subject.sensitive)
    more = (place for place in subject.of_sensitive_together() if place[0].group == KEYS_AND_OTHERS)
    return told + value_findings(subject, [("l_distinct", None, _fewest)], places=more)


def _fewest(found: Values) -> float:
    """The fewest different values of a class."""
    return float(np.diff(found.starts, append=len(found.group)).min())


def _homogeneous(findings: Findings) -> list[str]:
    lines = [f for f in with_value(findings, "l_distinct") if value_of(f) < 2]
    return list(dict.fromkeys(f.variable or "sensitive value" for f in lines))


def _say(findings: Findings, fraction: float) -> str | None:
    names = _homogeneous(findings)
    if not names:
        return None
    return (
        f"In at least one group everyone has the same {listed(names)}, so whoever knows that a person is in that group "
        "learns it without finding the record."
    )


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    names = _homogeneous(findings)
    return (Complaint(f"Everyone in at least one group has the same {listed(names)}", Aim.DIVERSE),) if names else ()


MEASURE = Measure(
    family="groups",
    place=30,
    doing="diversity",
    needs=frozenset({"table", "keys", "strata", "sensitive"}),
    figures=(
        Figure(
            "l_distinct",
            title="Different outcomes in a group (l-diversity)",
            what="How many different values of a sensitive variable a group has. With 1, whoever knows that a person "
            "is in the group knows the value, without finding the record.",
            form="count",
            better="high",
            published="ladder",
            baseline="Original",
            whole="worst group",
            aim=Aim.DIVERSE,
            attacker="whole group",
            clause="the fewest different values in a group are {}",
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
    say=_say,
    complain=_complain,
)
