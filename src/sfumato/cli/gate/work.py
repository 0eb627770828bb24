"""`sfumato gate work`: longer proofs for requests that wait."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, opened
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "work"]

EXAMPLE = "Example: sfumato gate work --config gate.yaml"


def work(
    config: Config,
    times: Annotated[float, typer.Option(min=1, max=1e6, help="So many times the usual work for each.")] = 100.0,
    json: Json = False,
) -> None:
    """Decide again what nothing was proved of, with more work. What is proved is given, by a new entry."""
    from sfumato.cli.talk import print_json
    from sfumato.cli.working import working
    from sfumato.gate.criteria.interval import EFFORT

    with opened(config) as gate, working() as progress:
        progress("proving what waits", 0)
        done = gate.work(times * EFFORT)
    if json:
        print_json({"settled": [one.to_plain() for one in done]})
    else:
        print(f"{len(done)} requests were looked at; {sum(one.granted for one in done)} are granted.")
