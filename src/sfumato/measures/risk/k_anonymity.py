"""k-anonymity: the fewest records that share one combination of key values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import SIZE
from sfumato.data.query import Classes as Sizes
from sfumato.errors import TooManyGroups
from sfumato.measures.folds.asking import TOO_MANY
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.patterns import NO_CLASS, has_columns, patterns
from sfumato.measures.persons import person_of
from sfumato.measures.saying import FEW_ALIKE, value_of, with_value
from sfumato.measures.subject import WIDE, Classes, Subject

__all__ = ["MEASURE", "class_label", "class_sizes", "findings", "k_anonymity"]

TOO_WIDE = (
    "There are too many combinations of all columns that leave to look at each of them: the size of the smallest class "
    "was measured, and all other measures of these classes were left out."
)
_SIZE = "sfumato:size"  # no column of the data can bear this name


def class_label(by: Sequence[str]) -> pl.Expr:
    """Expression that names a class: `Pclass=1, Sex=female`, or `Sex missing` without a value.

    A value with a comma or a quotation mark stands in quotation marks, so that no two classes share a name.
    """
    parts = []
    for name in by:
        value = pl.col(name).cast(pl.String)
        quoted = pl.concat_str(pl.lit('"'), value.str.replace_all('"', '""', literal=True), pl.lit('"'))
        value = pl.when(value.str.contains('[,"]')).then(quoted).otherwise(value)
        parts.append(pl.concat_str(pl.lit(f"{name}="), value).fill_null(f"{name} missing"))
    return pl.concat_str(parts, separator=", ").alias("class")


def class_sizes(data: Dataset, by: Sequence[str], most: int | None = None, *, missing: str = CATEGORY) -> pl.DataFrame:
    """Count the records of each combination of key values, and name it.

    Parameters
    ----------
    data
        The table.
    by
        The keys, at least one. Null and NaN are together one category of a key; a user-missing code is one of its
        own, since the release shows it.
    most
        Name only the smallest classes, so many and those that tie with them.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`: where it is a wildcard, a class has all
        records that agree with it.

    Returns
    -------
    pl.DataFrame
        Columns `class` (its name) and `size`; smallest first, then by name.

    Examples
    --------
    >>> import sfumato as sf
    >>> class_sizes(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"]).rows()
    [('sex=f', 1), ('sex=m', 2)]
    """
    found = patterns(data, by, missing)
    if found is None:
        return pl.DataFrame(schema={"class": pl.String, "size": pl.Int64})
    sizes = found.people if missing == CATEGORY else found.alike
    counted = found.keys.with_columns(pl.Series(_SIZE, sizes))
    if most is not None and counted.height > most:
        counted = counted.filter(pl.col(_SIZE) <= counted[_SIZE].bottom_k(most).max())
    return counted.select(class_label(found.keys.columns), pl.col(_SIZE).alias("size")).sort("size", "class")


def k_anonymity(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Size of the smallest class of records that share their key values.

    It protects against singling out: an intruder who knows only the keys of a person is left with at least k records.
    It does not protect against one who knows more than the keys, and says nothing of what the k records have in
    common (see `l_diversity`).

    Source: Sweeney (2002), doi:10.1142/S0218488502001648.

    Parameters
    ----------
    data, by, missing
        As in `class_sizes`.

    Returns
    -------
    float or None
        A whole number, unless wildcards count in part; None where there is no record or no key.

    Examples
    --------
    >>> import sfumato as sf
    >>> k_anonymity(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"])
    1.0
    """
    found = patterns(data, by, missing)
    return None if found is None else float(found.alike.min())


def findings(
    data: Dataset, classes: Sequence[Classes], *, given: Dataset | None = None, missing: str = CATEGORY
) -> Findings:
    """Give the line `k_anonymity` of each group of classes; the baseline is that of the original table.

    Parameters
    ----------
    data
        The table as it is, or as it is to be released.
    classes
        The columns whose combinations are classes.
    given
        The original table, where there is one. The two need not be joined.
    missing
        As in `class_sizes`.
    """
    lines, notes = [], []
    for group in classes:
        value = k_anonymity(data, group.by, missing=missing)
        known = given is not None and has_columns(given, group.by)
        baseline = k_anonymity(given, group.by, missing=missing) if given is not None and known else None
        lines.append(Finding("k_anonymity", group=group.group, value=value, baseline=baseline))
        notes += [NO_CLASS] if value is None else []
    return Findings(tuple(lines), tuple(dict.fromkeys(notes)))


def _compute(subject: Subject) -> Findings:
    return findings(subject.after, subject.classes, given=subject.given, missing=subject.how.missing)


def _smallest(findings: Findings) -> float | None:
    """Size of the smallest group; where only single groups are told of, of these."""
    single = [
        f
        for f in findings.select("class_size")
        if f.value is not None and f.group not in (None, "keys", "strata", *WIDE)
    ]
    of_keys = [line for line in with_value(findings, "k_anonymity") if line.group not in WIDE]
    return min((value_of(line) for line in of_keys or single), default=None)


def _say(findings: Findings, fraction: float) -> str | None:
    k = _smallest(findings)
    if k is None:
        return None
    if k < 2:
        return (
            "Somebody who knows what is released unmasked of a person (the keys) may find that person at once: at "
            "least one record is alone with its combination of values."
        )
    few = f", which is few: {FEW_ALIKE} is the most used lower bound" if k < FEW_ALIKE else ""
    return (
        "Somebody who knows no more of a person than what is released unmasked (the keys) cannot tell the record from "
        f"the others of its group; the smallest group holds at least {k:.0f} records{few}."
    )


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    k = _smallest(findings)
    if k is None or k >= FEW_ALIKE:
        return ()
    return (Complaint("Some groups of people with equal categories are very small", Aim.ALIKE, urgent=True),)


def _folded(subject: Subject) -> Findings:
    """Of all records; where classes are too many to be counted one by one, the size of the smallest."""
    try:
        return _compute(subject)
    except TooManyGroups:  # a gap is then a value of its own whatever the rule, which makes no class too large
        narrow = tuple(each for each in subject.classes if each.group not in WIDE)
    if len(narrow) < len(subject.classes):
        wide = [each for each in subject.classes if each.group in WIDE]
        return _folded(replace(subject, classes=narrow)) + Findings(_by_size(subject, wide), (TOO_WIDE,))
    return Findings(_by_size(subject, narrow), (TOO_MANY,))


def _by_size(subject: Subject, classes: Sequence[Classes]) -> tuple[Finding, ...]:
    """The smallest class of each group, counted without the classes' names; people are not counted so."""
    if person_of(subject.after) is not None:
        return tuple(Finding("k_anonymity", group=each.group, value=None) for each in classes)
    sizes = [(each.group, subject.after.ask(Sizes(each.by))[SIZE].min()) for each in classes]
    return tuple(Finding("k_anonymity", group=group, value=float(k)) for group, k in sizes if isinstance(k, int))


MEASURE = Measure(
    family="groups",
    place=10,
    doing="k-anonymity",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "k_anonymity",
            title="Smallest group (k-anonymity)",
            what="The fewest records that share one combination of values: of all released keys that no step masks, "
            "and of the strata of masking steps. Somebody who knows only these values of a person cannot tell the "
            "record from the others of its group. It says nothing of somebody who knows masked numbers too.",
            form="count",
            better="high",
            published="ladder",
            baseline="Original",
            whole="smallest group",
            aim=Aim.ALIKE,
            attacker="smallest group",
            clause="the size of the smallest group is {}",
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
    say=_say,
    complain=_complain,
)
