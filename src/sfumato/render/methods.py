"""Methods and their parameters for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.render.text import plain_text

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show_method", "show_methods"]


def show_methods(methods: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print a line for each method.

    Parameters
    ----------
    methods
        From `sfumato.methods.registry.methods_told`.
    console
        Where to.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> told = [{"name": "drop", "purpose": "Leave columns out.", "masks": False}]
    >>> show_methods(told, Console(file=sys.stdout, width=60))  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
     Method  Masks  Purpose
     drop    no     Leave columns out.
    <BLANKLINE>
    """
    from rich.table import Table

    table = Table("Method", "Masks", "Purpose", box=None, header_style="bold", padding=(0, 1))
    for method in methods:
        masks = plain_text("yes" if method["masks"] else "no", style="dim")
        table.add_row(plain_text(method["name"], style="bold"), masks, plain_text(method["purpose"]))
    console.print()
    console.print(table)
    console.print()


def show_method(method: Mapping[str, Any], console: Console) -> None:
    """Print what a method does and what each of its parameters means.

    Parameters
    ----------
    method
        One of `sfumato.methods.registry.methods_told`.
    console
        Where to.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> from sfumato.methods.registry import methods_told
    >>> drop = next(method for method in methods_told() if method["name"] == "drop")
    >>> show_method(drop, Console(file=sys.stdout, width=60))  # doctest: +NORMALIZE_WHITESPACE
    <BLANKLINE>
    drop
    <BLANKLINE>
    Leave columns out of the release.
    <BLANKLINE>
    Protects against anyone who would look a direct identifier
    up; says nothing about what the other columns give away.
    <BLANKLINE>
      columns (required)  The columns to leave out.
      reason              Why, for the readers of the release:
                          `cannot be aggregated`.
    <BLANKLINE>
    """
    from rich.table import Table

    schema = method["parameters"]
    table = Table(box=None, show_header=False, padding=(0, 1), pad_edge=False)
    for name, part in schema["properties"].items():
        if name != "do":
            needed = " (required)" if name in schema.get("required", ()) else ""
            table.add_row(plain_text(f"  {name}{needed}", style="bold"), plain_text(part["description"]))
    console.print()
    console.print(plain_text(method["name"], style="bold"))
    console.print()
    for paragraph in schema["description"].split("\n\n"):
        console.print(plain_text(" ".join(paragraph.split())))
        console.print()
    console.print(table)
    console.print()
