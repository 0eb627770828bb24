"""`sfumato gate leave`: a membership ends."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "leave"]

EXAMPLE = "Example: sfumato gate leave ann north --config gate.yaml"


def leave(
    who: Annotated[str, typer.Argument(help="Who leaves.")],
    where: Annotated[str, typer.Argument(help="An organisation, a group, or public.")],
    config: Config,
    json: Json = False,
) -> None:
    """End a membership. What somebody knows stays known; what comes later does not reach them."""
    with opened(config) as gate:
        told(gate.leave(who, where), f"{who} leaves {where}", json)
