"""What of a report may be published: no data value, no record id, no category label, no count from the data.

Everything is refused that is not allowed: a figure of which its measure's file does not say how it may be published is
left out, and only its verdict stays. So a new measure is confidential until somebody has thought about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

from sfumato.data.finding import Finding, Findings
from sfumato.data.publishable import published
from sfumato.kernels.grid import significant
from sfumato.measures.registry import figure
from sfumato.measures.risk.h_rank.measure import FRACTION
from sfumato.measures.risk.linkers.linkers import LINKERS
from sfumato.measures.subject import EVERYTHING, KEYS, KEYS_AND_OTHERS, RELEASED, STRATA
from sfumato.report.picture import Coefficients
from sfumato.report.report import Report, StepDone, TablesReport

__all__ = ["at_least", "external", "external_tables"]

_GROUPS = frozenset(
    {
        None,
        KEYS,
        STRATA,
        KEYS_AND_OTHERS,
        RELEASED,
        EVERYTHING,
        "all",
        "sd",
        "overall",
        "stratum",
        "unscaled",
        "relative",
        "relative unscaled",
        "wrong record",
        *LINKERS,
        "risk",
        "attack",
        "control",
        "auc",
        "advantage",
        "one-way",
        "two-way",
        "main",
        "interactions",
        "trees",
    }
)
"""Groups that tell nothing of where in the table the risk is: no decile, and not the worst records."""
_SMALL_RUNGS = (2, 3, 5)
_FEWEST = 3
"""A mean over fewer variables is nearly a figure of one of them, from which counts of the original follow."""
STRUCTURE = "The data hold names and kinds alone, and nothing of the people: no figure is given that compares both."
"""What is said in place of figures."""
_NOTES = frozenset({FRACTION})
"""Notes without which published figures would mislead; they hold nothing from the data. Others say so of themselves."""


def external(report: Report) -> Report:
    """Narrow a report to what may be published.

    Step notes, warnings and notes on measures that are not `Publishable`, advice, the plan's text (it may hold
    categories) and figures of single strata go. Counts become "at least 2, 3, 5, 10, 20, 50, …"; means, standard
    deviations and correlations become changes, so that no figure of the original table is told; rates keep 3
    significant digits; of figures of single small tables only the mean stays. A limit that only figures left out were
    bound by keeps its verdict.

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
    synthetic = report.disclosure.synthetic
    structure = synthetic is not None and synthetic.structure
    pictures = () if structure else tuple(p for picture in report.pictures if (p := picture.external()) is not None)
    found = _of_structure(report.findings) if structure else _findings(report.findings, _coefficient_names(report))
    return replace(
        report,
        steps=tuple(StepDone(step.do, step.masks, step.sentence, coarsens=step.coarsens) for step in report.steps),
        findings=found,
        plan_yaml="",
        warnings=published(report.warnings),
        pictures=pictures,
        internal=False,
    )


def external_tables(report: TablesReport) -> TablesReport:
    """Narrow the report of several tables, and what is said of them together, as `external` does.

    Parameters
    ----------
    report
        The custodian's report.
    """
    tables = {name: external(one) for name, one in report.tables.items()}
    return replace(report, tables=tables, plan_yaml="", warnings=published(report.warnings), internal=False)


def at_least(count: float) -> float:
    """The largest of 2, 3, 5, 10, 20, 50, 100, … that is not above `count`; 1 below two, 0 below one.

    Examples
    --------
    >>> [at_least(count) for count in (0.4, 1, 4, 9, 32, 700)]
    [0.0, 1.0, 3.0, 5.0, 20.0, 500.0]
    """
    rung, power = (1.0 if count >= 1 else 0.0), 10
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
    means = {where for where, many in Counter(_where(f) for f in findings if _single(f)).items() if many >= _FEWEST}
    public = {line: _line(line, names, sds, means) for line in findings}
    kept = [line for line in public.values() if line is not None]
    left_out = [line for line, shown in public.items() if shown is None]
    return Findings((*kept, *_verdicts(left_out, kept)), _notes(findings.notes))


def _of_structure(findings: Findings) -> Findings:
    """Whether limits hold, and no figure: beside columns whose law everybody knows it would be one of the original."""
    return Findings(tuple(_verdicts(findings, ())), (STRUCTURE,))


def _notes(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(said for note in notes for said in ((note,) if note in _NOTES else published((note,))))


def _where(line: Finding) -> tuple[str, str | None]:
    return line.measure, line.group


def _single(line: Finding) -> bool:
    """Whether a line is of one variable, and takes part in a mean; of a table that is as it was everybody knows it."""
    return line.variable is not None and bool(line.value)


def _line(
    line: Finding,
    names: Mapping[str, str | None],
    sds: Mapping[str | None, float | None],
    means: Set[tuple[str, str | None]],
) -> Finding | None:
    """One finding as it may be published, or None; `means` says what was measured of variables enough for a mean."""
    if line.group not in _GROUPS:
        return None
    said = figure(line.measure)
    match said.published:
        case "ladder":
            return replace(line, value=_rung(line.value), baseline=_rung(line.baseline), interval=None)
        case "change":
            return _change(line, 1.0 if said.of == "pair" else sds.get(line.variable))
        case "rate" if said.of == "coefficient" and line.variable is not None:
            name = names.get(line.variable)
            return None if name is None else _rounded(replace(line, variable=name))
        case "rate":
            return _rounded(line)
        case "hundredth":
            return replace(
                line, value=None if line.value is None else round(line.value, 2), baseline=None, interval=None
            )
        case "mean":
            return _rounded(line) if line.variable is None and _where(line) in means else None
        case _:
            return None


def _rung(count: float | None) -> float | None:
    return None if count is None else at_least(count)


def _rounded(line: Finding) -> Finding:
    interval = None if line.interval is None else (significant(line.interval[0]), significant(line.interval[1]))
    value, baseline = (None if v is None else significant(v) for v in (line.value, line.baseline))
    return replace(line, value=value, baseline=baseline, interval=interval)


def _change(line: Finding, unit: float | None) -> Finding | None:
    """The change in sds of the original, or as it is; the limit's number goes, for it is in the column's own units."""
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
            limit = None if figure(line.measure).published == "change" else line.limit
            held[line.measure, limit] = held.get((line.measure, limit), True) and line.ok
    return [
        Finding(measure, group="stratum", limit=limit, ok=ok)
        for (measure, limit), ok in held.items()
        if not said & {(measure, limit, ok), (measure, limit, False)}
    ]
