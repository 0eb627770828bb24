"""`sfumato gate group`: groups, such as a project of people of several organisations."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "add"]

EXAMPLE = "Example: sfumato gate group add north --policy research --config gate.yaml"


def add(
    name: Annotated[str, typer.Argument(help="An id; it is never given again.")],
    policy: Annotated[str, typer.Option(help="Name of its policy.")],
    config: Config,
    json: Json = False,
) -> None:
    """Declare a group, such as a project of people of several organisations."""
    with opened(config) as gate:
        told(gate.add_group(name, policy), f"Group {name}", json)
