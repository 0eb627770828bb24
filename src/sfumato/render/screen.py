"""The screens of `protect`: the verdict first, who attacks, what was lost, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfumato.data.finding import Finding, Findings
from sfumato.measures.saying import capital, listed
from sfumato.measures.subject import EVERYTHING
from sfumato.plan.limits import unmeasured
from sfumato.release.measure import NO_GUESS
from sfumato.render.attacks import GUESSES, attack, deciding, in_short, once, to_show
from sfumato.render.layout import (
    HEIGHT,
    ROWS,
    TITLE,
    WIDTH,
    Following,
    cut,
    headline,
    lost_lines,
    next_lines,
    paragraph,
    table,
)
from sfumato.render.words import badness, word_of
from sfumato.report.advice import advice_on
from sfumato.report.report import Report, TablesReport

__all__ = [
    "beside",
    "clause",
    "details",
    "few",
    "guessed",
    "limit_of",
    "said_of",
    "screen",
    "screen_of_tables",
    "verdict_lines",
    "warned",
]

_REFUSALS, _WARNINGS = 3, 3
_NAME, _MOST_NAMED = 20, 3
_NONE = Findings()


def screen(report: Report, following: Following, *, written: bool) -> list[str]:
    """Give the screen of a release: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    report
        The custodian's.
    following
        What to do next.
    written
        Whether the release was written.

    Examples
    --------
    >>> import datetime
    >>> from sfumato.data.disclosure import Disclosure
    >>> found = Finding("linkage_nearest", group="released", value=0.13, baseline=0.88, limit=0.2, ok=True)
    >>> report = Report("Ward 7", datetime.date(2024, 5, 1), "1", (), Disclosure(), Findings((found,)), "", "ab", True)
    >>> print(*screen(report, Following((("open", "release/report.html"),)), written=True), sep="\\n")
    HOLDS  Ward 7: at most 13% of the people are found; the limit is 20%.
    <BLANKLINE>
     Who attacks     Knows                 Before  After  Limit
     nearest record  all released columns     88%    13%    20%
    <BLANKLINE>
    Next:
      open release/report.html
    """
    head = [*verdict_lines(report, written=written), *beside(report)]
    tail = next_lines(following, "" if written else _first_advice(report))
    missing = lost_lines(report.findings)
    room = HEIGHT - len(head) - len(tail) - 3  # two blank lines and the heads of the columns
    if room - len(missing) < 1:
        missing = missing[: max(room - 1, 0)]
    rows = table(to_show(report.findings), min(ROWS, max(room - len(missing), 1)))
    return [*head, *(["", *rows] if rows else []), "", *missing, *tail]


def verdict_lines(report: Report, *, written: bool) -> list[str]:
    """Give the line of the verdict with the figure that decides; parameters as of `screen`."""
    return headline(report.verdict, report.title, f"{said_of(report)}{_fate(report.verdict, written)}")


def screen_of_tables(
    report: TablesReport, following: Following, asked: Mapping[str, Sequence[str]], *, written: bool
) -> list[str]:
    """Give the screen of a release of several tables: the worst verdict, then each table with its own.

    Parameters
    ----------
    report
        The custodian's.
    following
        What to do next.
    asked
        By table the lines to copy into its part of the plan.
    written
        Whether the release was written.
    """
    head = headline(report.verdict, report.title, f"{_said_together(report)}{_fate(report.verdict, written)}")
    head += _further(report.refusals[1:])
    copied = [line for name, lines in asked.items() if lines for line in (f"Table {cut(name, TITLE)}:", *lines)]
    advised = (f"{cut(n, _NAME)}: {said}" for n, one in report.tables.items() if (said := _first_advice(one)))
    tail = next_lines(Following(following.commands, tuple(copied)), "" if written else next(advised, ""))
    return [*head, "", *_each_table(report, HEIGHT - len(head) - len(tail) - 2), "", *tail]


def _each_table(report: TablesReport, height: int) -> list[str]:
    """Each table's verdict and its own short table; where there are too many, those that may not leave come first."""
    blocks = []
    for name, one in sorted(report.tables.items(), key=lambda item: item[1].ok if len(report.tables) > height else 0):
        counted = _counted_on(one)
        blocks.append((one, headline(one.verdict, name, said_of(one)) + (_below(one, counted) if counted else [])))
    spare = height - sum(len(own) for _, own in blocks)
    if spare >= 0:
        rows = min(ROWS, spare // len(blocks) - 1)  # one is for the heads of the columns
        return [line for one, own in blocks for line in (*own, *table(to_show(one.findings), rows))]
    shown = blocks if len(blocks) <= height else blocks[: height - 1]
    more = len(blocks) - len(shown)
    return [*(own[0] for _, own in shown), *([f"… and {more} more tables (--json)"] if more else [])]


def _fate(verdict: str, written: bool) -> str:
    if not written:
        return " Nothing written."
    return "" if verdict == "holds" else " Written all the same."


def said_of(report: Report) -> str:
    """Say what decides: the columns on which it hangs, what is refused, or the figure."""
    if report.verdict == "undecided":
        return f"holds only if nobody knows {_names(report.undecided)}."
    first = deciding(report.findings)
    if report.verdict == "exceeded" and (first is None or first.ok):
        return f"{next(iter(report.refusals), _beside_limits(report))}."
    return "no limit is set." if first is None else f"{clause(first, report.findings)}; the limit is {limit_of(first)}."


def _beside_limits(report: Report) -> str:
    """Why a release is stopped that keeps its limits."""
    if report.open_ids:
        return f"ids leave unchanged: {_names(report.open_ids)}"
    return "what leaves unchanged singles out people whom the keys do not"


def _said_together(report: TablesReport) -> str:
    if report.verdict == "undecided":
        return f"holds only if nobody knows {_names(report.undecided)}."
    if report.refusals:
        return f"{report.refusals[0]}."
    if report.verdict == "holds":
        return "all tables hold, and nothing links them but what the plan says."
    return f"{_names([n for n, one in report.tables.items() if one.verdict == 'exceeded'])} may not leave."


def clause(line: Finding, among: Findings = _NONE) -> str:
    """What a figure says, as a clause: at most so much, where it is the worst that is measured and keeps its limit.

    Examples
    --------
    >>> kept = Finding("linkage_nearest", value=0.13, limit=0.2, ok=True)
    >>> clause(kept), clause(kept, Findings((Finding("linkage_one_to_one", value=0.4),)))
    ('at most 13% of the people are found', '13% of the people are found (nearest record)')
    >>> clause(Finding("k_anonymity", value=3.0, limit=5.0, ok=False))
    'the size of the smallest group is 3'
    """
    said = word_of(line)
    if unmeasured(line):
        return f"{line.measure} could not be measured"
    value = in_short(said, line.value)
    if not said.clause:
        return f"{cut(line.measure, TITLE)} is {value}"
    if line.ok is False or said.better != "low":
        return said.clause.format(value)
    alike = [f for f in among if word_of(f).clause == said.clause and f.group != EVERYTHING]
    if any(badness(f) > badness(line) for f in alike):
        return f"{said.clause.format(value)} ({said.attacker})"
    return said.clause.format(f"at most {value}")


def limit_of(line: Finding) -> str:
    """Give a finding's limit as a sentence has it.

    Examples
    --------
    >>> limit_of(Finding("k_anonymity", value=3.0, limit=5.0, ok=False))
    'at least 5'
    """
    return attack(line).limit.replace("min ", "at least ")


def beside(report: Report) -> list[str]:
    """Give what stands below the line of the verdict: what can be guessed, what is counted on, what else is wrong."""
    first = deciding(report.findings)
    said = [guessed(report.findings, first), _counted_on(report)]
    if report.verdict == "holds" and (high := advice_on(report).high):
        said.append(f"No limit speaks of this: {high[0]}.")
    refusals = report.refusals if first is not None and first.ok is False else report.refusals[1:]
    return [line for one in said if one for line in _below(report, one)] + _further(refusals)


def _below(report: Report, sentence: str) -> list[str]:
    indent = " " * (len(report.verdict) + 2)
    return paragraph(f"{indent}{sentence}", indent)


def guessed(findings: Findings, first: Finding | None) -> str:
    """Say what can be guessed in the worst case, unless that decides or stands in the table.

    Parameters
    ----------
    findings
        All of a table.
    first
        What decides.
    """
    guesses = [f for f in once(findings.select(GUESSES[0], group=GUESSES[1])) if f.value is not None]
    if NO_GUESS in findings.notes:
        return "What can be guessed was not measured: nothing is sensitive or an outcome."
    if not guesses or any(f.ok is False for f in guesses):
        return ""
    worst = max(guesses, key=badness)
    if first is not None and first.measure == worst.measure:
        return ""
    return f"{capital(clause(worst))}{'' if worst.limit is None else f'; limit {limit_of(worst)}'}."


def _counted_on(report: Report) -> str:
    """What the verdict stands on."""
    columns = [name for names, _ in report.assumed.unknown for name in names]
    return f"This counts on nobody knowing {_names(columns)}." if columns and report.verdict == "holds" else ""


def _further(refusals: Sequence[str]) -> list[str]:
    """What else is refused, as far as there is room."""
    told = [line for refusal in refusals for line in paragraph(f"Refused: {refusal}.", " " * 9)]
    return told if len(told) <= _REFUSALS else [*told[: _REFUSALS - 1], f"{told[_REFUSALS - 1][: WIDTH - 1]}…"]


def _names(columns: Sequence[str]) -> str:
    few = [cut(name, _NAME) for name in columns[:_MOST_NAMED]]
    more = [f"{len(columns) - _MOST_NAMED} more"] if columns[_MOST_NAMED:] else []
    return listed([*few, *more])


def _first_advice(report: Report) -> str:
    """What to try first, where a limit is exceeded; that it is stands in the table."""
    if report.verdict != "exceeded":
        return ""
    first = next(iter(advice_on(report).to_try), "")
    said, _, remedy = first.partition(": ")
    return capital(remedy) if said.startswith("The limit on ") and remedy else first


def warned(report: Report | TablesReport, *, every: bool = False) -> list[str]:
    """The warnings: few unless one asks for `every`, since each is to be read.

    Examples
    --------
    >>> import datetime
    >>> from sfumato.data.disclosure import Disclosure
    >>> said = tuple(f"Warning {i}." for i in range(1, 6))
    >>> day = datetime.date(2024, 5, 1)
    >>> warned(Report("Ward 7", day, "1", (), Disclosure(), Findings(), "", "ab", True, warnings=said))
    ['Warning 1.', 'Warning 2.', 'Warning 3.', '2 more warnings: --verbose shows them.']
    """
    return few(_warnings(report), "warning", every=every)


def few(said: Sequence[str], what: str, *, every: bool = False) -> list[str]:
    """Three of what is to be read besides a screen, and how many more there are; all where one asks for `every`.

    Examples
    --------
    >>> few(["a", "b", "c", "d"], "note")
    ['a', 'b', 'c', '1 more note: --verbose shows it.']
    """
    more = len(said) - _WARNINGS
    if every or more <= 0:
        return list(said)
    shows = "s: --verbose shows them" if more > 1 else ": --verbose shows it"
    return [*said[:_WARNINGS], f"{more} more {what}{shows}."]


def _warnings(report: Report | TablesReport) -> list[str]:
    if isinstance(report, Report):
        return list(report.warnings)
    own = [f"{name}: {said}" for name, one in report.tables.items() for said in one.warnings]
    return [*own, *report.warnings]


def details(report: Report | TablesReport, name: str = "") -> list[str]:
    """What `--verbose` tells besides: all steps, what is counted on, notes, and what else could be tried.

    Parameters
    ----------
    report
        The custodian's: notes may hold counts.
    name
        Of the table, where there are several.
    """
    if isinstance(report, TablesReport):
        return [line for table, one in report.tables.items() for line in details(one, table)]
    at = f"{name}: " if name else ""
    lines = []
    for number, step in enumerate(report.steps, 1):
        lines.append(f"{at}{number}. {step.do}: {step.sentence}")
        lines += [f"   {note}" for note in step.notes]
    lines += [f"{at}{said}." for said in report.assumed.sentences()]
    lines += [f"{at}{note}" for note in report.findings.notes]
    return lines + [f"{at}{said}" for said in advice_on(report).to_try[1:]]
