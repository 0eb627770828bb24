"""`sfumato gate ask`: a request, decided and remembered."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.gate.running import Config, chosen_dataset, opened
from sfumato.cli.options import Json

if TYPE_CHECKING:
    from sfumato.gate.service import Answer

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
    from sfumato.cli.talk import print_json, refuse_same

    refuse_same(out, config)
    with opened(config) as gate:
        chosen = chosen_dataset(gate, dataset)
        margin, shown = gate.read_request(chosen, table, version, _parts(where))
        answer = gate.ask(who, chosen, margin, shown, key, perturbed=perturbed)
    if json:
        print_json(answer.to_plain())
    else:
        _show(answer, out is None)
    if out is not None and answer.release is not None:
        _write(answer, out)
    if answer.decision != "granted":
        raise typer.Exit(1)


def _parts(where: list[str] | None) -> dict[str, list[str]]:
    from sfumato.errors import DataError

    out: dict[str, list[str]] = {}
    for one in where or []:
        node, sign, group = one.partition("=")
        if not sign:
            raise DataError("--where is NODE=GROUP: region@area=North.")
        out.setdefault(node.strip(), []).append(group.strip())
    return out


def _show(answer: Answer, rows: bool) -> None:
    from sfumato.cli.talk import say

    why = f" ({', '.join(answer.reasons)})" if answer.reasons else ""
    say([f"{answer.decision.capitalize()}{why}. Entry {answer.ledger[0]} of the ledger: {answer.ledger[1]}"])
    say([f"Could be had instead ({offer.kind}): {','.join(map(str, offer.margin.nodes))}" for offer in answer.offers])
    if answer.release is not None and rows:
        print("\t".join(answer.release.columns))
        for row in answer.release.rows:
            print("\t".join(map(str, row)))


def _write(answer: Answer, out: Path) -> None:
    import polars as pl

    from sfumato.cli.talk import say
    from sfumato.data.files.atomic import replacing

    assert answer.release is not None
    frame = pl.DataFrame(answer.release.rows, schema=answer.release.columns, orient="row", infer_schema_length=None)
    with replacing(out) as place:
        frame.write_csv(place)
    say([f"Written: {out}"])
