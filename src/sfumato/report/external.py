"""What of a report may be published: no data value, no record id, no category label, no count from the data.

Everything is refused that is not allowed by name: a measure that this module does not know is left out, and only its
verdict stays. So a new measure is confidential until somebody has thought about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from sfumato.data.finding import Finding, Findings
from sfumato.kernels.grid import significant
from sfumato.measures.risk.h_rank.measure import FRACTION
from sfumato.report.picture import Coefficients
from sfumato.report.report import Report, StepDone

__all__ = ["AT_LEAST", "CHANGES", "at_least", "external"]

AT_LEAST = frozenset({"k_anonymity", "class_size", "l_distinct"})
"""Measures that are counts: published as the largest of a ladder that they reach."""
CHANGES = frozenset({"mean", "sd", "correlation"})
"""Measures of one table: published as the change from original to release, in sds of the original column."""
_RATES = frozenset(
    {
        "attribute_alike",
        "attribute_nearest",
        "attribute_posterior",
        "ci_overlap",
        "delta",
        "h_rank",
        "il1s",
        "interval_disclosure",
        "linkage_nearest",
        "linkage_one_to_one",
        "out_of_range",
        "risk1",
        "risk2",
        "standardised_difference",
        "t_equal",
        "u_interactions",
        "u_main",
        "u_trees",
        "unchanged",
    }
)
_OF_COEFFICIENTS = frozenset({"standardised_difference", "ci_overlap"})
_GROUPS = frozenset({None, "all", "overall", "stratum", "unscaled", "wrong record"})
"""Groups that tell nothing of where in the table the risk is: no decile, and not the worst records."""
_SMALL_RUNGS = (2, 3, 5)
_NOTES = frozenset({FRACTION})
"""Notes without which published figures would mislead; they hold nothing from the data."""


def external(report: Report) -> Report:
    """Narrow a report to what may be published.

    Step notes, warnings, notes on measures (but the one on figures that hold for a sample), the plan's text (it may
    hold categories) and figures of single strata go. Counts become "at least 2, 3, 5, 10, 20, 50, …"; means, standard
    deviations and correlations become changes, so that no figure of the original table is told; rates keep 3
    significant digits. A limit that only figures left out were bound by keeps its verdict.

    Parameters
    ----------
    report
        The custodian's report.

    Returns
    -------
    Report
        With `internal` false. Of an external report it is the same again.

    Notes
    -----
    It protects against reading confidential values off the report. It does not lower what the released table itself
    tells, and rates of a small table still tell counts to whoever knows its size: the release shows its size.

    Examples
    --------
    >>> import datetime
    >>> from sfumato.data.disclosure import Disclosure
    >>> found = Findings((Finding("k_anonymity", value=32.0), Finding("class_size", group="ward=7", value=32.0)))
    >>> report = Report("t", datetime.date(2024, 1, 1), "1", (), Disclosure(), found, "", "ab", True)
    >>> [line.value for line in external(report).findings]
    [20.0]
    """
    if not report.internal:
        return report
    pictures = tuple(p for picture in report.pictures if (p := picture.external()) is not None)
    return replace(
        report,
        steps=tuple(StepDone(step.do, step.masks, step.sentence) for step in report.steps),
        findings=_findings(report.findings, _coefficient_names(report)),
        plan_yaml="",
        warnings=(),
        pictures=pictures,
        internal=False,
    )


def at_least(count: float) -> float:
    """The largest of 2, 3, 5, 10, 20, 50, 100, … that is not above `count`; 1 below two.

    Examples
    --------
    >>> [at_least(count) for count in (1, 4, 9, 32, 700)]
    [1.0, 3.0, 5.0, 20.0, 500.0]
    """
    rung, power = 1.0, 10
    for small in _SMALL_RUNGS:
        rung = float(small) if count >= small else rung
    while count >= power:
        rung = float(max(power * step for step in (1, 2, 5) if count >= power * step))
        power *= 10
    return rung


def _coefficient_names(report: Report) -> Mapping[str, str | None]:
    """Public names of coefficients; what no picture vouches for has none."""
    names: dict[str, str | None] = {}
    for picture in report.pictures:
        if isinstance(picture, Coefficients):
            names.update(picture.public)
    return names


def _findings(findings: Findings, names: Mapping[str, str | None]) -> Findings:
    sds = {f.variable: f.baseline for f in findings.select("sd") if f.group in _GROUPS}
    public = {line: _line(line, names, sds) for line in findings}
    kept = [line for line in public.values() if line is not None]
    left_out = [line for line, shown in public.items() if shown is None]
    return Findings((*kept, *_verdicts(left_out, kept)), tuple(note for note in findings.notes if note in _NOTES))


def _line(line: Finding, names: Mapping[str, str | None], sds: Mapping[str | None, float | None]) -> Finding | None:
    """One finding as it may be published, or None."""
    if line.group not in _GROUPS:
        return None
    if line.measure in AT_LEAST:
        return replace(line, value=_rung(line.value), baseline=_rung(line.baseline), interval=None)
    if line.measure in CHANGES:
        return _change(line, sds.get(line.variable))
    if line.measure in _OF_COEFFICIENTS and line.variable is not None:
        name = names.get(line.variable)
        return None if name is None else _rounded(replace(line, variable=name))
    return _rounded(line) if line.measure in _RATES else None


def _rung(count: float | None) -> float | None:
    return None if count is None else at_least(count)


def _rounded(line: Finding) -> Finding:
    interval = None if line.interval is None else (significant(line.interval[0]), significant(line.interval[1]))
    value, baseline = (None if v is None else significant(v) for v in (line.value, line.baseline))
    return replace(line, value=value, baseline=baseline, interval=interval)


def _change(line: Finding, sd: float | None) -> Finding | None:
    """The change in sds of the original; the limit's number goes, for it is in the column's own units.

    Quantiles are not published: the released one, the sd and a rounded change would give the original one back, which
    is some record's value.
    """
    unit = 1.0 if line.measure == "correlation" else sd
    if line.value is None or line.baseline is None or not unit:
        return None
    change = round((line.value - line.baseline) / unit, 2) + 0.0
    return replace(line, value=change, baseline=None, interval=None, limit=None)


def _verdicts(left_out: Iterable[Finding], kept: Iterable[Finding]) -> list[Finding]:
    """One line, without a figure, for each limit whose verdict would otherwise be lost."""
    said = {(f.measure, f.limit, f.ok) for f in kept}
    held: dict[tuple[str, float | None], bool] = {}
    for line in left_out:
        if line.ok is not None:
            limit = None if line.measure in CHANGES else line.limit
            held[line.measure, limit] = held.get((line.measure, limit), True) and line.ok
    return [
        Finding(measure, group="stratum", limit=limit, ok=ok)
        for (measure, limit), ok in held.items()
        if not said & {(measure, limit, ok), (measure, limit, False)}
    ]
