"""All findings for the terminal: safe to print (no markup or control codes from the data)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.data.finding import Finding, Findings
from sfumato.data.unseen import seen
from sfumato.plan.limits import unmeasured
from sfumato.render import words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["plain_text", "show"]


def show(findings: Findings, console: Console) -> None:
    """Print all findings as a table, grouped by measure.

    Parameters
    ----------
    findings
        The custodian's: they may hold categories and counts, so the console should be the custodian's too.
    console
        Where to.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> show(Findings((Finding("risk1", at=0.01, value=0.04),)), Console(file=sys.stdout, width=72))
    ... # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
     Measure  Of                      Figure  Compared with  Limit
     risk1    all records, w1 = 0.01      4%
    """
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=True, padding=(0, 1))
    for name in ("Measure", "Of", "Figure", "Compared with", "Limit"):
        table.add_column(name, justify="right" if name in ("Figure", "Compared with") else "left", overflow="fold")
    for measure in dict.fromkeys(f.measure for f in findings):
        for i, line in enumerate(findings.select(measure)):
            table.add_row(*_cells(line, first=i == 0))
    console.print()
    console.print(table)


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
