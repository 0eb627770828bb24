"""What links tables, for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.data.links import Link, Links
from sfumato.render.text import plain_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show_links"]

_MOST = 40
_NOTHING = "Nothing was found by which records of one table could be found in another."
_ADVICE = (
    "Give the tables codes of their own (pseudonymise with another scope each), coarsen or drop in one of them what "
    "they share, and sort the rows by what is released."
)


def show_links(links: Links, console: Console) -> None:
    """Print links as a table, and what can be done.

    Parameters
    ----------
    links
        From `sfumato.data.links`; shares are the custodian's.
    console
        Where to.
    """
    from rich.table import Table

    if not links.links:
        console.print(plain_text(_NOTHING))
        return
    table = Table(box=None, header_style="bold", pad_edge=True, padding=(0, 1))
    for name in ("Tables", "Linked by", "Records of the first that take part"):
        table.add_column(name, justify="right" if name[0] == "R" else "left", overflow="fold")
    for link in links.links[:_MOST]:
        table.add_row(*(plain_text(cell) for cell in _cells(link)))
    console.print(table)
    if len(links) > _MOST:
        console.print(plain_text(f" … and {len(links) - _MOST} more (--json shows all)", style="dim"))
    console.print()
    console.print(plain_text(_ADVICE))


def _cells(link: Link) -> tuple[str, str, str]:
    by = f"the order of their rows, as {', '.join(link.columns)} show" if link.row_order else ", ".join(link.columns)
    return " and ".join(link.tables), by, f"{link.share:.1%}" if link.share >= 0.001 else "under 0.1%"
