"""What is left of the table as it was read: its columns, its records, and the different values of each column."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import COUNT, Counts
from sfumato.measures.folds.asking import Asking, Question, at_once
from sfumato.measures.folds.distinct import different, told_different
from sfumato.measures.folds.input import columns_read, columns_released, released
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.saying import percent, rungs, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["MEASURE"]

_TOLD = 5
"""Most columns that a sentence names."""
_NEARLY = 0.99


def _asks(subject: Subject) -> Asking:
    """Of all records, wherever they are."""
    read, after = subject.read, released(subject)
    columns, left = columns_read(subject), columns_released(subject)
    answers = yield [
        Question(read, Counts(())),
        Question(after, Counts(())),
        Question(read, different(columns, read.codebook)),
        Question(after, different(left, after.codebook)),
    ]
    n, m = (int(answer.item(0, COUNT)) for answer in answers[:2])
    was, now = told_different(answers[2], columns), told_different(answers[3], left)
    varied = [name for name in columns if was[name] > 1]
    kept = sum(now.get(name, 0) > 1 for name in varied)
    lines = []
    if varied:
        lines.append(Finding("columns_kept", at=float(len(varied)), value=kept / len(varied)))
    if n:
        lines.append(Finding("records_kept", value=min(m / n, 1.0)))
    lines += [Finding("values_kept", variable=name, value=now[name], baseline=was[name]) for name in left]
    return Findings(tuple(lines))


def _compute(subject: Subject) -> Findings:
    return at_once(_asks(subject))


def _say(findings: Findings, fraction: float) -> str | None:
    said = list(_left(findings))
    if not said:
        return None
    few = sorted(
        (f for f in with_value(findings, "values_kept") if f.baseline and 2 * value_of(f) < f.baseline),
        key=lambda f: value_of(f) / (f.baseline or 1.0),
    )
    sentence = f"{' and '.join(said)} left."
    if not few:
        return sentence
    about = "at least " if rungs(findings.select("values_kept")) else ""
    told = [
        f"`{f.variable}` has {about}{value_of(f):,.0f} value{'s'[: value_of(f) != 1]} (of {about}{f.baseline:,.0f})"
        for f in few[:_TOLD]
    ]
    more = len(few) - _TOLD
    others = "" if more <= 0 else f", {more} more {'columns have' if more > 1 else 'column has'} less than half of them"
    return f"{sentence} {', '.join(told)}{others}."


def _left(findings: Findings) -> Iterator[str]:
    """Columns and records, in words."""
    for line in with_value(findings, "columns_kept"):
        many = round(line.at or 0)
        yield f"{round(value_of(line) * many):,} of {many:,} columns"
    for line in with_value(findings, "records_kept"):
        yield _records(value_of(line))


def _records(share: float) -> str:
    if share == 1:
        return "all records"
    return f"all but {percent(1 - share)} of the records" if share >= _NEARLY else f"{percent(share)} of the records"


MEASURE = Measure(
    family="lost",
    place=10,
    doing="what is left",
    needs=frozenset({"input"}),
    figures=(
        Figure(
            "columns_kept",
            title="Columns that are left",
            what="The share of the input's columns with two values or more that leave with two values or more. "
            "Identifiers and ids of records and households are no part; a column that a step drops counts as lost.",
            form="share",
            better="high",
            published="rate",
            whole="the input's columns",
            at="{0:g} of them",
            aim=Aim.GENTLER,
        ),
        Figure(
            "records_kept",
            title="Records that are left",
            what="The released records as a share of the records that were read.",
            form="share",
            better="high",
            published="rate",
            aim=Aim.GENTLER,
        ),
        Figure(
            "values_kept",
            title="Different values",
            what="How many different values a released column has, gaps aside, beside those that it had in the input. "
            "More than 65,536 are estimated, within about half a percent.",
            form="count",
            better="high",
            published="ladder",
            baseline="Original",
            aim=Aim.GENTLER,
            detail=True,
        ),
    ),
    compute=_compute,
    forms={"folded": _asks},
    say=_say,
)
