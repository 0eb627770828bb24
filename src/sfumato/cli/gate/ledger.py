"""`sfumato gate ledger`: what was given to whom, and whether it is as it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.gate.running import looked_at, opened
from sfumato.cli.options import Json

__all__ = ["EXPORT", "HEAD", "VERIFY", "export", "head", "verify"]

EXPORT = "Example: sfumato gate ledger export --out ledger.jsonl --config gate.yaml"
VERIFY = "Example: sfumato gate ledger verify --head 12:9f86d081884c --config gate.yaml"
HEAD = "Example: sfumato gate ledger head --config gate.yaml"

ConfigFile = Annotated[Path | None, typer.Option(help="The gate's configuration: gate.yaml.")]


def export(
    config: ConfigFile = None,
    out: Annotated[Path | None, typer.Option(help="File to write, a line of JSON for each entry.")] = None,
    json: Json = False,
) -> None:
    """Write the whole ledger as lines of JSON."""
    from sfumato.cli.talk import print_json, refuse_same
    from sfumato.errors import FileError

    if out is None:
        raise FileError("Say where the ledger is written to: --out ledger.jsonl.")
    refuse_same(out, config)
    with opened(_needed(config)) as gate:
        many = gate.export(out)
    if json:
        print_json({"entries": many, "out": str(out)})
    else:
        print(f"{many} entries written.")


def verify(
    config: ConfigFile = None,
    file: Annotated[Path | None, typer.Option(help="An exported ledger, in place of the store.")] = None,
    head: Annotated[
        str | None, typer.Option(metavar="SEQ:HASH", help="Where the ledger stood, as papers of a release state it.")
    ] = None,
    json: Json = False,
) -> None:
    """Look whether every entry is as it was written, none is missing, and releases and knowledge are what they say.

    With `--head`, whether the end is still there. Exit status 1 where something is wrong; it is named.
    """
    from sfumato.cli.talk import print_json
    from sfumato.gate.service import verify_file

    stood = _head(head)
    if file is not None:
        faults = verify_file(file, stood)
    else:
        with looked_at(_needed(config)) as gate:  # also one that does not open: it says why
            faults = gate.verify(stood)
    if json:
        print_json({"ok": not faults, "faults": faults})
    else:
        print("\n".join(faults) if faults else "Everything is as it was written.")
    if faults:
        raise typer.Exit(1)


def head(config: ConfigFile = None, json: Json = False) -> None:
    """Show where the ledger stands: number and hash of its last entry."""
    from sfumato.cli.talk import print_json

    with opened(_needed(config)) as gate:
        seq, digest = gate.head()
    if json:
        print_json({"seq": seq, "hash": digest})
    else:
        print(f"{seq}:{digest}")


def _needed(config: Path | None) -> Path:
    from sfumato.errors import FileError

    if config is None:
        raise FileError("Say which gate is meant: --config gate.yaml.")
    return config


def _head(text: str | None) -> tuple[int, str] | None:
    from sfumato.errors import DataError

    if text is None:
        return None
    seq, colon, digest = text.partition(":")
    if not colon or not seq.isascii() or not seq.isdigit() or not digest:
        raise DataError("--head is SEQ:HASH, as `sfumato gate ledger head` shows it.")
    return int(seq), digest
