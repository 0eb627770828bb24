"""`sfumato measures`: the measures that a limit may name, and what each of them says."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "measures"]

EXAMPLE = "Example: sfumato measures --json"


def measures(
    name: Annotated[str | None, typer.Argument(help="A measure, to see what it says.")] = None,
    json: Json = False,
) -> None:
    """List the measures that a limit may name, or what one of them says."""
    from rich.console import Console

    from sfumato.cli.talk import print_json
    from sfumato.measures.registry import failed_measures, figures, figures_told
    from sfumato.plug_ins import failed_told
    from sfumato.render.measures import show_measure, show_measures

    every = figures()
    if name is not None and name not in every:
        raise typer.BadParameter(f"there is no measure {name!r}; measures: {', '.join(every)}")
    if json:
        told = [told for told in figures_told() if name in (None, told["name"])]
        print_json({"measures": told, "failed": failed_told(failed_measures().values())})
    elif name is None:
        show_measures(Console())
    else:
        show_measure(every[name], Console())
