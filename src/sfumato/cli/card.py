"""`sfumato card`: what was done to each variable of a release, for whoever analyses it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Json, Table

__all__ = ["EXAMPLE", "card"]

EXAMPLE = "Example: sfumato card release"


def card(
    release: Annotated[Path, typer.Argument(help="The release folder.")],
    table: Table = None,
    json: Json = False,
) -> None:
    """Show the noise card of a release: how strong the noise on each variable is, and what it does to an analysis."""
    from rich.console import Console

    from sfumato.cli.talk import print_json
    from sfumato.release.package.card import read_card
    from sfumato.render.card import show_card

    found = read_card(release, table)
    if json:
        print_json(found.to_plain())
    else:
        show_card(found, Console())
