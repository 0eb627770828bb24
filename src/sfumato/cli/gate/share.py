"""`sfumato gate share`: one passes on to another all that it holds."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened, told
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "share"]

EXAMPLE = "Example: sfumato gate share north south --config gate.yaml"


def share(
    giver: Annotated[str, typer.Argument(help="Who passes on.")],
    taker: Annotated[str, typer.Argument(help="Who receives.")],
    config: Config,
    end: Annotated[bool, typer.Option("--end", help="End it: what was passed on stays known.")] = False,
    json: Json = False,
) -> None:
    """Declare that what one holds may reach another, in this direction alone.

    It is decided like a request. Exit status 1 where it is not granted.
    """
    with opened(config) as gate:
        done = gate.withdraw(giver, taker) if end else gate.share(giver, taker)
        told(done, f"{giver} {'stops sharing' if end else 'shares'} with {taker}", json)
