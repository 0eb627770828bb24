"""`sfumato gate join`: somebody becomes a member, where that is safe."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "join"]

EXAMPLE = "Example: sfumato gate join ann north --config gate.yaml"


def join(
    who: Annotated[str, typer.Argument(help="Who joins.")],
    where: Annotated[str, typer.Argument(help="An organisation, a group, or public.")],
    config: Config,
    guest: Annotated[bool, typer.Option("--guest", help="Receives, and gives nothing back.")] = False,
    json: Json = False,
) -> None:
    """Let somebody become a member: what each side knows reaches the other.

    It is decided like a request: whoever would come to know more must be allowed to. Exit status 1 where it is not
    granted.
    """
    with opened(config) as gate:
        told(gate.join(who, where, guest), f"{who} joins {where}", json)
