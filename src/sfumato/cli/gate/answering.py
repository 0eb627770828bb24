"""How commands tell an answer of the gate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from sfumato.gate.margin import Margin
    from sfumato.gate.service import Answer

__all__ = ["parts", "tell"]


def tell(answer: Answer, out: Path | None, json: bool) -> None:
    """Show or write an answer; exit status 1 where nothing was granted."""
    from sfumato.cli.talk import print_json

    if json:
        print_json(answer.to_plain())
    else:
        _show(answer, out is None)
    if out is not None and answer.release is not None:
        _write(answer, out)
    if answer.decision != "granted":
        raise typer.Exit(1)


def parts(where: list[str] | None) -> dict[str, list[str]]:
    """Groups by node, as `--where` has them."""
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
    say([f"Could be had instead ({offer.kind}): {_named(offer.margin)}" for offer in answer.offers])
    if answer.release is not None and rows:
        print("\t".join(answer.release.columns))
        for row in answer.release.rows:
            print("\t".join("" if one is None else str(one) for one in row))
        told = answer.release.to_plain()
        if told["columns"][0] == "term":
            say([told["disclosure"]["sentence"]])
        if statistics := told.get("statistics"):
            say([", ".join(f"{name} {value:.4g}" for name, value in statistics.items())])


def _named(margin: Margin) -> str:
    return margin.label.removeprefix("~") if margin.fit else ",".join(map(str, margin.nodes))


def _write(answer: Answer, out: Path) -> None:
    import polars as pl

    from sfumato.cli.talk import say
    from sfumato.data.files.atomic import replacing

    assert answer.release is not None
    frame = pl.DataFrame(answer.release.rows, schema=answer.release.columns, orient="row", infer_schema_length=None)
    with replacing(out) as place:
        frame.write_csv(place)
    say([f"Written: {out}"])
