"""`sfumato gate ask`: a request, decided and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.gate.answering import parts, tell
from sfumato.cli.gate.running import Config, chosen_dataset, opened
from sfumato.cli.options import Json

__all__ = ["EXAMPLE", "ask"]

EXAMPLE = "Example: sfumato gate ask ann age,sex --out age_sex.csv --config gate.yaml"


def ask(
    who: Annotated[str, typer.Argument(help="Who asks; public for the public.")],
    table: Annotated[str, typer.Argument(help="What is asked: A,B; region@county,C; a sum cost|A,B.")],
    config: Config,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    version: Annotated[str | None, typer.Option(help="Its version; else the newest.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE=GROUP", help="Show only this group. Repeat it. Decided is the whole table."),
    ] = None,
    mean: Annotated[bool, typer.Option("--mean", help="Means beside the sums.")] = False,
    perturbed: Annotated[
        bool, typer.Option("--perturbed", help="Counts with noise, where the policy allows it.")
    ] = False,
    key: Annotated[str | None, typer.Option(help="Of the request: the same key gets the same answer.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write the table to (.csv).")] = None,
    json: Json = False,
) -> None:
    """Ask for a table on somebody's behalf: decided, written into the ledger, and given where it is granted.

    Exit status 1 where it is not; what could be had instead is offered.
    """
    from sfumato.cli.talk import refuse_same

    refuse_same(out, config)
    with opened(config) as gate:
        chosen = chosen_dataset(gate, dataset)
        margin, shown = gate.read_request(chosen, table, version, parts(where))
        answer = gate.ask(who, chosen, margin, shown, key, perturbed=perturbed, mean=mean)
    tell(answer, out, json)
