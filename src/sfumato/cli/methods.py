"""`sfumato methods`: the methods that a step of a plan may name, and what their parameters mean."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "methods"]

EXAMPLE = "Example: sfumato methods centroids"


def methods(
    name: Annotated[str | None, typer.Argument(help="A method, to see what its parameters mean.")] = None,
    json: Json = False,
) -> None:
    """List the methods that a step of a plan may name, or the parameters of one."""
    from rich.console import Console

    from sfumato.cli.talk import print_json
    from sfumato.methods.registry import failed_methods, methods_told
    from sfumato.plan.field_words import step_meant
    from sfumato.plug_ins import failed_told
    from sfumato.render.methods import show_method, show_methods

    every = methods_told()
    chosen = [method for method in every if name in (None, method["name"])]
    if not chosen:
        names = [method["name"] for method in every]
        meant = step_meant(str(name), names)
        said = f"; did you mean {meant!r}?" if meant else ";"
        raise typer.BadParameter(f"there is no method {name!r}{said} methods: {', '.join(names)}")
    if json:
        print_json({"methods": chosen, "failed": failed_told(failed_methods().values())})
    elif name is None:
        show_methods(chosen, Console())
    else:
        show_method(chosen[0], Console())
