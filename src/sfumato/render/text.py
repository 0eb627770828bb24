"""Findings for the terminal: compact, and safe to print (no markup or control codes from the data)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sfumato.data.finding import Finding, Findings
from sfumato.data.unseen import seen
from sfumato.plan.limits import unmeasured
from sfumato.render import words
from sfumato.report.advice import advice

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["paragraphs", "plain_text", "show"]

_MOST_LINES = 6
_WORST = 4


def show(findings: Findings, console: Console, *, verbose: bool = False) -> None:
    """Print findings as a table, grouped by measure.

    Parameters
    ----------
    findings
        The custodian's: they may hold categories and counts, so the console should be the custodian's too.
    console
        Where to.
    verbose
        Every line; else of a measure with many lines the worst only.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> show(Findings((Finding("risk1", at=0.01, value=0.04),)), Console(file=sys.stdout, width=72))
    ... # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
     Measure  Of                      Figure  Compared with  Limit
     risk1    all records, w1 = 0.01      4%
    <BLANKLINE>
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=True, padding=(0, 1))
    for name in ("Measure", "Of", "Figure", "Compared with", "Limit"):
        table.add_column(name, justify="right" if name in ("Figure", "Compared with") else "left", overflow="fold")
    names = list(dict.fromkeys(f.measure for f in findings))
    told = [name for name in names if verbose or _told(findings.select(name))]
    for measure in told:
        lines = list(findings.select(measure))
        shown = lines if verbose else _worst(lines)
        for i, line in enumerate(shown):
            table.add_row(*_cells(line, first=i == 0))
        if len(shown) < len(lines):
            table.add_row("", plain_text(f"… and {len(lines) - len(shown)} less extreme", style="dim"), "", "", "")
    console.print()
    console.print(table)
    if further := [name for name in names if name not in told]:
        console.print(plain_text(f" Measured as well (--json shows them): {', '.join(further)}.", style="dim"))
    for note in findings.notes:
        console.print(plain_text(f" {note}", style="dim"))
    console.print()


def paragraphs(findings: Findings, console: Console) -> None:
    """Print what findings mean in plain words, where something was measured that there are words for.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> paragraphs(Findings((Finding("k_anonymity", group="keys", value=1.0),)), Console(file=sys.stdout, width=72))
    Somebody who knows what is released unmasked of a person (the keys) may
    find that person at once: at least one record is alone with its
    combination of values. Each figure holds for the attack it names and for
    no other; none of them shows that nobody can be recognised.
    <BLANKLINE>
    """
    for measured, paragraph in advice(findings).told:
        if measured:
            console.print(plain_text(paragraph))
            console.print()


def _told(lines: Sequence[Finding]) -> bool:
    """Whether a person should see a measure's lines: not those of details that no limit speaks of."""
    return not words.word(lines[0].measure).detail or any(line.ok is not None for line in lines)


def _worst(lines: Sequence[Finding]) -> list[Finding]:
    """All lines of a short measure; of a long one those of the whole table that fit, and the worst."""
    if len(lines) <= _MOST_LINES:
        return list(lines)
    least = min((line.at for line in lines if line.at is not None), default=None)
    compared = [line for line in lines if line.group != "all" and line.at in (None, least)]  # one t, or all are alike
    worst = sorted(compared, key=lambda line: (line.ok is not False, -words.badness(line)))[:_WORST]
    whole = [
        line
        for line in lines
        if line.group is not None and not words.of_one(line) and (line.group != "all" or _headline(line, least))
    ]
    kept = set(map(id, [*worst, *whole, *(line for line in lines if line.ok is False)]))
    return [line for line in lines if id(line) in kept]


def _headline(line: Finding, least: float | None) -> bool:
    """Every attacker at the smallest t, and the best of them at the others."""
    return line.at == least or line.attack in (None, "worst")


def _cells(line: Finding, *, first: bool) -> tuple[Text, ...]:
    value = words.figure(line, line.value, internal=True)
    if line.interval is not None:
        low, high = (words.figure(line, end, internal=True) for end in line.interval)
        value += f" ({low} to {high})"
    baseline = words.figure(line, line.baseline, internal=True) if line.baseline is not None else ""
    limit = words.bound(line)
    if line.ok is not None:
        limit += " ✓" if line.ok else " ✕ not measured" if unmeasured(line) else " ✕ exceeded"
    return (
        plain_text(line.measure if first else "", style="bold"),
        plain_text(words.of_what(line)),
        plain_text(value),
        plain_text(baseline, style="dim"),
        plain_text(limit.strip(), style="red" if line.ok is False else ""),
    )


def plain_text(text: str, style: str = "") -> Text:
    """Text as it is: brackets are no markup, and characters that are not seen are written out."""
    from rich.text import Text

    return Text(seen(text), style=style)
