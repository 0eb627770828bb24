"""`sfumato gate token`: what programs come in with."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "token"]

EXAMPLE = "Example: sfumato gate token ann --scopes tables,analyses,releases --days 30 --config gate.yaml"


def token(
    user: Annotated[str, typer.Argument(help="For whom a program comes in.")],
    scopes: Annotated[
        str, typer.Option(help="What for, with commas between: tables, analyses, releases, steward, audit.")
    ],
    config: Config,
    days: Annotated[int, typer.Option(min=1, max=365, help="How long it holds.")] = 30,
    json: Json = False,
) -> None:
    """Make a token, and print it. It is shown once, and kept as a hash alone; no more is in it than the role may do."""
    from sfumato.cli.options import names
    from sfumato.cli.talk import print_json, say

    with opened(config) as gate:
        made, opens = gate.issue_token(user, names(scopes) or [], days)
    if json:
        print_json({**made.to_plain(), "token": opens})
    else:
        print(opens)
        say([f"A token of {user}, until {made.until[:10]}. It is not shown again."])
