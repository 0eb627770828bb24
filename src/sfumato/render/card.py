"""The noise card for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.data.disclosure import Additive
from sfumato.release.package.card import Card, Entry
from sfumato.render.text import plain_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show_card"]

_MOST_ENTRIES = 40


def show_card(card: Card, console: Console) -> None:
    """Print a card: a table of the noisy variables, then what was done to the others, then what to do.

    Parameters
    ----------
    card
        From `sfumato.release.package.card.read_card`; it holds nothing that the release does not.
    console
        Where to.
    """
    from rich.table import Table

    papers = card.papers
    console.print()
    console.print(plain_text(papers.title, style="bold"))
    console.print(plain_text(f"{papers.data.name}, made {papers.created} with sfumato {papers.version}", style="dim"))
    if papers.access:
        console.print(plain_text(f"Access: {papers.access}", style="dim"))
    if papers.consent:
        console.print(plain_text(f"What people agreed to: {papers.consent}", style="dim"))
    noisy = [e for e in card.entries if e.noise_sd is not None]
    if noisy:
        table = Table(box=None, header_style="bold", pad_edge=True, padding=(0, 1))
        for name in ("Variable", "Where", "sd of the noise", "Reliability", "Multiples of"):
            table.add_column(name, justify="left" if name in ("Variable", "Where") else "right", overflow="fold")
        for entry in noisy[:_MOST_ENTRIES]:
            table.add_row(*(plain_text(cell) for cell in _cells(entry)))
        console.print()
        console.print(table)
        if len(noisy) > _MOST_ENTRIES:
            console.print(plain_text(f" … and {len(noisy) - _MOST_ENTRIES} more (--json shows all)", style="dim"))
    console.print()
    for sentence in papers.disclosure.sentences():
        console.print(plain_text(f"- {sentence}"))
    unchanged = [n for n in papers.columns if not papers.disclosure.of(n)]
    console.print(plain_text(f"- As they were: {', '.join(unchanged) or 'none'}."))
    if noisy:
        console.print()
        changed = any(isinstance(p, Additive) and (p.bounds or p.coarse) for p in papers.disclosure)
        console.print(plain_text(f"{_ADVICE} {_CLIPPED}" if changed else _ADVICE))
    console.print()


_ADVICE = (
    "Noise has mean zero. Variances are too large by its variance. A slope on a noisy variable comes out too small, in "
    "a simple regression by the factor 'reliability'; a slope of a noisy response on exact variables is unbiased, with "
    "a larger standard error. The figures above are what a measurement-error model needs."
)
_CLIPPED = "Where values were set to a bound or rounded coarsely, means and variances have moved besides."


def _cells(entry: Entry) -> tuple[str, ...]:
    where = ", ".join(f"{k} = {v}" for k, v in entry.where.items()) or "all records"
    reliability = "" if entry.reliability is None else f"{entry.reliability:.3g}"
    multiple = "" if entry.multiple is None else f"{entry.multiple:g}"
    return entry.variable, where, f"{entry.noise_sd:.3g}", reliability, multiple
