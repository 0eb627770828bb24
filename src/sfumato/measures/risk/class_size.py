"""Class sizes: how many records share each combination of key values."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.aim import Aim
from sfumato.data.dataset import Dataset
from sfumato.data.finding import Finding, Findings
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.measuring import CATEGORY, Measuring
from sfumato.measures.patterns import NO_CLASS, has_columns, patterns
from sfumato.measures.risk.k_anonymity import class_sizes
from sfumato.measures.subject import Classes, Subject

__all__ = ["MEASURE", "average_class_size", "findings"]


def average_class_size(data: Dataset, by: Sequence[str], *, missing: str = CATEGORY) -> float | None:
    """Number of records over the number of classes; with wildcards, over the sum of 1/size over all records.

    Small classes are where people can be singled out; the average tells how far the table is from that as a whole, and
    is no protection of the smallest ones. An intruder who knows the keys of everybody, and guesses within the class,
    is right for one in this many.

    Parameters
    ----------
    data, by, missing
        As in `class_sizes`.

    Returns
    -------
    float or None
        None where there is no record or no key.

    Examples
    --------
    >>> import polars as pl, sfumato as sf
    >>> average_class_size(sf.read(pl.DataFrame({"sex": ["f", "m", "m"]})), ["sex"])
    1.5
    """
    found = patterns(data, by, missing)
    return None if found is None else found.total / float((found.records / found.alike).sum())


def findings(
    data: Dataset,
    classes: Sequence[Classes],
    *,
    given: Dataset | None = None,
    most: int = 200,
    missing: str = CATEGORY,
) -> Findings:
    """Give the lines `class_size`: the mean of each group of classes, then one for each class, smallest first.

    Parameters
    ----------
    data
        The table as it is, or as it is to be released.
    classes
        The columns whose combinations are classes; single classes of equal columns have their lines once.
    given
        The original table, where there is one; its figures are the baselines, and a class that it did not have has
        none. The two need not be joined.
    most
        Largest number of classes of a group that get a line of their own.
    missing
        As in `class_sizes`.
    """
    return _findings(Subject(data, given=given, classes=tuple(classes), how=Measuring(missing=missing)), most)


def _findings(subject: Subject, most: int = 200) -> Findings:
    missing = subject.how.missing
    lines: list[Finding] = []
    notes: dict[str, None] = {}
    for group, told in subject.each_once():
        known = subject.given if subject.given is not None and has_columns(subject.given, group.by) else None
        value = average_class_size(subject.after, group.by, missing=missing)
        baseline = None if known is None else average_class_size(known, group.by, missing=missing)
        lines.append(Finding("class_size", group=group.group, value=value, baseline=baseline))
        if value is None:
            notes[NO_CLASS] = None
        elif not told:
            single, cut = _single(subject.after, known, group.by, most, missing)
            lines += single
            notes |= dict.fromkeys([f"Class sizes: only the {most} smallest classes have a line."] if cut else [])
    return Findings(tuple(lines), tuple(notes))


def _single(
    data: Dataset, given: Dataset | None, by: Sequence[str], most: int, missing: str
) -> tuple[list[Finding], bool]:
    """Lines of the smallest classes, and whether there are more."""
    sizes = class_sizes(data, by, most, missing=missing)
    first = sizes.head(most)
    known: dict[str, float] = {}
    if given is not None:
        original = class_sizes(given, by, missing=missing).join(first.select("class"), on="class", how="semi")
        known = {str(label): float(size) for label, size in original.rows()}
    lines = [Finding("class_size", None, label, value=float(n), baseline=known.get(label)) for label, n in first.rows()]
    found = patterns(data, by, missing)
    return lines, found is not None and len(found.records) > most


def _compute(subject: Subject) -> Findings:
    return _findings(subject)


MEASURE = Measure(
    family="groups",
    place=20,
    doing="class sizes",
    needs=frozenset({"table", "keys", "strata"}),
    figures=(
        Figure(
            "class_size",
            title="Size of each group",
            what="How many records share each combination of values.",
            form="count",
            better="high",
            published="ladder",
            baseline="Original",
            whole="mean of all groups",
            aim=Aim.ALIKE,
        ),
    ),
    compute=_compute,
    forms={"folded": _compute},
)
