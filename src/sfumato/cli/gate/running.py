"""Opening the gate that a command works on, and telling what came of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sfumato.gate.service import Gate, Settled

__all__ = ["By", "Config", "Steward", "chosen_dataset", "looked_at", "opened", "told"]

Config = Annotated[Path, typer.Option(help="The gate's configuration: gate.yaml.")]
By = Annotated[str, typer.Option(help="The steward who does it.")]

Steward = Annotated[str | None, typer.Option("--by", help="The steward who does it, and confirms nothing of it then.")]


@contextmanager
def opened(config: Path) -> Iterator[Gate]:
    """The gate of a configuration."""
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    with Gate.open(read_config(config)) as gate:
        yield gate


@contextmanager
def looked_at(config: Path) -> Iterator[Gate]:
    """The gate of a configuration, whatever is wrong with it: to be verified."""
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    with Gate.look(read_config(config)) as gate:
        yield gate


def chosen_dataset(gate: Gate, name: str | None) -> str:
    """The data set that is meant; the only one where none is named."""
    from sfumato.errors import DataError

    names = gate.datasets()
    chosen = name or (next(iter(names)) if len(names) == 1 else None)
    if chosen is None or chosen not in names:
        raise DataError(f"Say which data set is meant. Data sets: {', '.join(names) or 'none'}.")
    return chosen


def told(settled: Settled, what: str, json: bool, **more: Any) -> None:
    """Print what was decided; exit status 1 where it was not granted."""
    from sfumato.cli.talk import print_json

    if json:
        print_json({**settled.to_plain(), **more})
    elif settled.granted:
        print(f"{what}: done, entry {settled.ledger[0]} of the ledger.")
    else:
        why = f" ({', '.join(settled.reasons)})" if settled.reasons else ""
        print(f"{what}: {settled.decision}{why}. Entry {settled.ledger[0]} of the ledger says so.")
    if not settled.granted:
        raise typer.Exit(1)
