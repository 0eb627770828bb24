"""`sfumato gate queue`: requests that nothing was proved of, and exceptions."""

from __future__ import annotations

from typing import Annotated

import typer

from sfumato.cli.gate.running import By, Config, chosen_dataset, opened, told
from sfumato.cli.options import Json

__all__ = ["CONFIRM", "LIST", "PROPOSE", "REFUSE", "confirm", "list_", "propose", "refuse"]

LIST = "Example: sfumato gate queue list --config gate.yaml"
REFUSE = "Example: sfumato gate queue refuse 7f3a --by eve --reason 'coarser levels will do' --config gate.yaml"
PROPOSE = "Example: sfumato gate queue propose ann age,hiv --by eve --reason 'ethics board 12/4' --config gate.yaml"
CONFIRM = "Example: sfumato gate queue confirm 51c0 --by dan --config gate.yaml"

Reason = Annotated[str, typer.Option(help="Why; it stands in the ledger.")]


def list_(config: Config, json: Json = False) -> None:
    """Show the requests that wait, and the exceptions that wait for a second steward."""
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        waiting, exceptions = gate.queue(), gate.exceptions()
    if json:
        print_json({"queue": [one.to_plain() for one in waiting], "exceptions": [one.to_plain() for one in exceptions]})
        return
    for one in waiting:
        print(f"{one.id}  {one.who} asks for {one.margin.label} of {one.dataset}")
    for one in exceptions:
        print(f"{one.id}  {one.by} proposes {one.words}: {one.reason}", *([one.means] if one.means else []))
    if not waiting and not exceptions:
        print("Nothing waits.")


def refuse(
    request: Annotated[str, typer.Argument(help="Id of the request, as `queue list` shows it.")],
    by: By,
    reason: Reason,
    config: Config,
    json: Json = False,
) -> None:
    """Refuse a request that waits."""
    with opened(config) as gate:
        done = gate.refuse(request, by, reason)
        if json:
            from sfumato.cli.talk import print_json

            print_json(done.to_plain())
        else:
            print(f"Refused, entry {done.ledger[0]} of the ledger.")


def propose(
    who: Annotated[str, typer.Argument(help="Who would get it.")],
    table: Annotated[str, typer.Argument(help="The table: A,B; region@county,C; a sum cost|A,B.")],
    by: By,
    reason: Reason,
    config: Config,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    version: Annotated[str | None, typer.Option(help="Its version; else the newest.")] = None,
    json: Json = False,
) -> None:
    """Propose to give a table though it was not proved safe. A second steward confirms it."""
    from sfumato.cli.talk import print_json

    with opened(config) as gate:
        chosen = chosen_dataset(gate, dataset)
        margin, _ = gate.read_request(chosen, table, version, {})
        found = gate.propose_exception(who, chosen, margin, by, reason)
    if json:
        print_json({"id": found})
    else:
        print(f"Proposed as {found}. Another steward confirms it: sfumato gate queue confirm {found} --by ...")


def confirm(
    exception: Annotated[str, typer.Argument(help="Id of the exception, as `queue list` shows it.")],
    by: By,
    config: Config,
    json: Json = False,
) -> None:
    """Give what another steward proposed to give; it reaches all whom the receiver reaches. Or let be chance what they
    proposed as chance: that a dependence between columns counts no more.
    """
    with opened(config) as gate:
        told(gate.confirm_exception(exception, by), "Exception", json)
