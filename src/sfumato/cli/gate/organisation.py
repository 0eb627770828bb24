"""`sfumato gate organisation`: organisations, whose members share all that they know."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "add"]

EXAMPLE = "Example: sfumato gate organisation add north --policy research --config gate.yaml"


def add(
    name: Annotated[str, typer.Argument(help="An id; it is never given again.")],
    policy: Annotated[str, typer.Option(help="Name of its policy.")],
    config: Config,
    json: Json = False,
) -> None:
    """Declare an organisation, whose members share all that they know."""
    with opened(config) as gate:
        told(gate.add_organisation(name, policy), f"Organisation {name}", json)
