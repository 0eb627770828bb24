"""The report as one page of HTML: no network, no script, readable on paper, on a phone and in the dark."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.data.finding import Finding, Findings
from sfumato.data.unseen import seen
from sfumato.measures.registry import figures
from sfumato.measures.saying import capital
from sfumato.measures.subject import WIDE
from sfumato.plan.limits import unmeasured
from sfumato.render import words
from sfumato.report.advice import Advice, advice_on
from sfumato.report.picture import Boxes, Coefficients, Hidden, Picture, RiskCurves, Risky, Scatter, Strata
from sfumato.report.report import Report, TablesReport

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

__all__ = ["page_of", "render", "rendered"]

_SHARED = Path(__file__).parents[1] / "web" / "static"
"""Where `tokens.css` is: colours and type that the report has in common with pages of the web."""
_MOST_GROUPS = 40
_FORCED = "The data were released all the same, by the custodian's decision."
_OPEN = "Columns that leave as they were tell people apart, and the plan does not say whether others know them."
_STOPPED = "The data are not released unless the custodian insists."


def render(report: Report | TablesReport) -> Mapping[str, bytes]:
    """Give the report as documents by file name: one page, `report.html`, with a section for each of several tables.

    Parameters
    ----------
    report
        The custodian's report, which becomes a page marked as confidential, or one that
        `sfumato.report.external.external` narrowed, which becomes a page that may be published.

    Returns
    -------
    mapping of str to bytes
        Equal reports give equal bytes.

    Examples
    --------
    >>> import datetime
    >>> from sfumato.data.disclosure import Disclosure
    >>> report = Report("Ward 7", datetime.date(2024, 5, 1), "1.0", (), Disclosure(), Findings(), "", "ab12", True)
    >>> b"INTERNAL" in render(report)["report.html"]
    True
    """
    if isinstance(report, TablesReport):
        pages = {name: page_of(one, f"{name}-picture") for name, one in report.tables.items()}
        headline, sentence = _together(report)
        text = rendered(
            "tables.html.j2", report=report, pages=pages, headline=headline, sentence=sentence, promise=words.PROMISE
        )
    else:
        text = rendered("report.html.j2", report=report, page=page_of(report, "picture"), promise=words.PROMISE)
    return {"report.html": text.encode()}


@dataclass(frozen=True)
class _Page:
    """What a page says of one table."""

    report: Report
    verdict: _Verdict
    advice: Advice
    plots: list[_Plot]
    families: list[_Family]


def page_of(report: Report, pictures: str) -> _Page:
    """What a page says of one table; names of its pictures begin with `pictures`."""
    said = advice_on(report)
    return _Page(report, _verdict(report, said), said, _plots(report.pictures, pictures), _families(report))


def _together(report: TablesReport) -> tuple[str, str]:
    """The verdict on several tables, as a headline and a sentence."""
    if report.ok:
        return (
            "All tables may leave, together",
            "Each keeps its limits, and nothing links them but what the plan declares.",
        )
    stopped = _STOPPED if report.internal else _FORCED
    if report.verdict == "undecided":
        return words.undecided(report.undecided), f"{_OPEN} {stopped}"
    against = sum(not one.ok for one in report.tables.values())
    said = [f"{capital(refusal)}." for refusal in report.refusals]
    if against:
        said.append(
            "A table does not keep its limits." if against == 1 else f"{against} tables do not keep their limits."
        )
    said.append(stopped)
    return "The release is refused", " ".join(said)


def rendered(name: str, **context: Any) -> str:
    """A page made of a template; what is put into it is escaped, and characters that are not seen are written out."""
    return seen(_template(name).render(context), lines=True)


@cache
def _template(name: str) -> Template:
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader("sfumato.render"), FileSystemLoader(_SHARED)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    return environment.get_template(name)


def _code(text: str) -> Markup:
    """Text for a page, with what stands in backticks set as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


@dataclass(frozen=True)
class _Limit:
    title: str
    bound: str
    figure: str
    ok: bool
    measured: bool


@dataclass(frozen=True)
class _Verdict:
    state: str
    headline: str
    sentence: str
    limits: tuple[_Limit, ...]


def _verdict(report: Report, said: Advice) -> _Verdict:
    limits = tuple(_limits(report))
    stopped = _STOPPED if report.internal else _FORCED
    if report.verdict == "undecided":
        return _Verdict("warn", words.undecided(report.undecided), f"{_OPEN} {stopped}", limits)
    if not report.ok:
        headline = _broken(limits) if any(not limit.ok for limit in limits) else "The release is refused"
        told = [*(f"{capital(refusal)}." for refusal in report.refusals), stopped]
        return _Verdict("bad", headline, " ".join(told), limits)
    headline = {0: "No limits were set", 1: "The limit holds", 2: "Both limits hold"}.get(
        len(limits), f"All {len(limits)} limits hold"
    )
    if said.high:
        headline += ", but a risk is high that no limit speaks of"
        return _Verdict("warn", headline, f"{'. '.join(said.high)}.", limits)
    if not limits:
        sentence = "The plan names no limit, so the figures below stand without a verdict."
        return _Verdict("none", headline, sentence, limits)
    return _Verdict("ok", headline, "What must hold was written into the plan before the run.", limits)


def _broken(limits: Sequence[_Limit]) -> str:
    """The headline where limits do not hold."""
    broken = sum(not limit.ok for limit in limits)
    unknown = sum(not limit.measured for limit in limits)
    if unknown == broken:
        return "A limit could not be measured" if unknown == 1 else f"{unknown} limits could not be measured"
    if unknown:
        return f"{broken} limits do not hold, {unknown} of them for want of a figure"
    return "A limit is exceeded" if broken == 1 else f"{broken} limits are exceeded"


def _limits(report: Report) -> Iterator[_Limit]:
    """Each limit of the plan once, with the worst of the figures that it binds."""
    bound = [f for f in report.findings if f.ok is not None]
    for _, group in groupby(sorted(bound, key=_limit_key), key=_limit_key):
        lines = list(group)
        worst = max(lines, key=lambda f: (f.ok is False, words.badness(f)))
        yield _Limit(
            title=words.word(worst.measure).title,
            bound=words.bound(worst, internal=report.internal),
            figure=words.figure(worst, worst.value, internal=report.internal),
            ok=all(f.ok is not False for f in lines),
            measured=not (report.internal and unmeasured(worst)),
        )


def _limit_key(line: Finding) -> tuple[int, str, float]:
    known = list(figures())
    place = known.index(line.measure) if line.measure in known else len(known)
    return place, line.measure, float("-inf") if line.limit is None else line.limit


@dataclass(frozen=True)
class _Plot:
    """A picture with its panels; consecutive pictures of one kind share a heading."""

    title: str
    how: str
    key: tuple[tuple[str, str], ...]
    panels: tuple[tuple[str, Markup], ...]
    strata: tuple[Strata, ...]


def _plots(pictures: Sequence[Picture], name: str) -> list[_Plot]:
    return [_plot(list(group), f"{name}{number}") for number, (_, group) in enumerate(groupby(pictures, key=type), 1)]


def _plot(pictures: Sequence[Picture], name: str) -> _Plot:
    from markupsafe import Markup

    from sfumato.render.plots import draw

    title, how = words.how_to_read(pictures[0])
    drawn = [panel for i, picture in enumerate(pictures) for panel in draw(picture, f"{name}-{i}")]
    return _Plot(
        title=title,
        how=how,
        key=_key(pictures[0]),
        panels=tuple((panel.title, Markup(panel.svg)) for panel in drawn),  # drawn here, its text escaped
        strata=tuple(picture for picture in pictures if isinstance(picture, Strata)),
    )


def _key(picture: Picture) -> tuple[tuple[str, str], ...]:
    """What the marks mean: class of the swatch and its label."""
    match picture:
        case Strata() | Boxes() | RiskCurves() | Hidden():
            return ()
        case Risky():
            return ("mark risky", "at risk"), ("mark dot", "others")
        case Coefficients():
            return ("mark solid", "original"), ("mark released diamond", "released")
        case Scatter(before=()):
            return ("mark cell", "original, as density"), ("mark released", "released")
        case Scatter():
            return ("mark original", "original"), ("mark released", "released")
        case _:
            return ("mark cell", "original"), ("mark outline", "released")


@dataclass(frozen=True)
class _Row:
    of: str
    value: str
    interval: str
    baseline: str
    bound: str
    ok: bool | None
    measured: bool


@dataclass(frozen=True)
class _Table:
    measure: str
    title: str
    what: str
    baseline: str
    rows: tuple[_Row, ...]
    folded: int

    @property
    def limited(self) -> bool:
        """Whether any line has a limit."""
        return any(row.bound for row in self.rows)

    @property
    def compared(self) -> bool:
        """Whether any line has a baseline."""
        return bool(self.baseline) and any(row.baseline != "–" for row in self.rows)


@dataclass(frozen=True)
class _Family:
    name: str
    title: str
    tables: tuple[_Table, ...]


def _families(report: Report) -> list[_Family]:
    """All figures, by family and measure, in the order of the words."""
    measures = sorted(Counter(f.measure for f in report.findings), key=lambda m: _limit_key(Finding(m)))
    found = []
    for name, title in words.FAMILIES.items():
        tables = tuple(_table(report.findings, m, report.internal) for m in measures if words.family_of(m) == name)
        if tables:
            found.append(_Family(name, title, tables))
    return found


def _table(findings: Findings, measure: str, internal: bool) -> _Table:
    word = words.word(measure)
    lines = sorted(findings.select(measure), key=lambda f: f.group not in WIDE)  # who knows most comes first
    shown, folded = words.fold(lines, _MOST_GROUPS)
    changed = not internal and word.published == "change"
    what = word.what
    if changed:
        unit = "" if word.of == "pair" else ", in standard deviations of the original column"
        what += f" What is shown is the change from the original to the release{unit}."
    return _Table(
        measure=measure,
        title=word.title,
        what=what,
        baseline="" if changed else word.baseline or "",
        rows=tuple(_row(line, internal) for line in shown),
        folded=folded,
    )


def _row(line: Finding, internal: bool) -> _Row:
    interval = ""
    if line.interval is not None:
        low, high = (words.figure(line, end, internal=internal) for end in line.interval)
        interval = f"{low} to {high}"
    return _Row(
        of=words.of_what(line),
        value=words.figure(line, line.value, internal=internal),
        interval=interval,
        baseline=words.figure(line, line.baseline, internal=internal),
        bound=words.bound(line, internal=internal),
        ok=line.ok,
        measured=not (internal and unmeasured(line)),
    )
