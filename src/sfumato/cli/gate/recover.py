"""`sfumato gate recover`: what somebody can work out from all that they may know."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import Config, chosen_dataset, opened
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "recover"]

EXAMPLE = "Example: sfumato gate recover ann --config gate.yaml"


def recover(
    who: Annotated[str, typer.Argument(help="Whose knowledge; public for the public's.")],
    config: Config,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    shown: Annotated[int, typer.Option(min=1, max=1000, help="How many cells are listed.")] = 20,
    json: Json = False,
) -> None:
    """Show what somebody can recover now: empty cells, single people, and the small cells that they know most closely.

    For stewards alone: it holds what nobody else may see.
    """
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        found = gate.recovered(who, chosen_dataset(gate, dataset), shown)
    if json:
        print_json(found.to_plain())
        return
    zeros = "not found out" if found.zeros is None else f"{found.zeros:,}"
    print(f"{found.joint_cells:,} joint cells. Certainly empty: {zeros}. Certainly one person: {found.ones:,}.")
    if not found.exact:
        print("The ends are those of somebody who is given more than they have.")
    for row in (found.narrowest.columns, *found.narrowest.iter_rows()):
        print("\t".join(map(str, row)))
