"""`sfumato gate backup`, `restore`, `repair` and `log start`: a gate whose memory is lost, or is to be kept."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.gate.running import By, Config, opened
from sfumato.cli.options import Json

__all__ = ["BACKUP", "REPAIR", "RESTORE", "START", "backup", "repair", "restore", "start"]

BACKUP = "Example: sfumato gate backup --out monday --config gate.yaml"
RESTORE = "Example: sfumato gate restore monday --config gate.yaml"
REPAIR = "Example: sfumato gate repair --config gate.yaml"
START = 'Example: sfumato gate log start --reason "The disk was lost" --config gate.yaml'


def backup(
    out: Annotated[Path, typer.Option(help="Folder to make; nobody but its owner can read it.")],
    config: Config,
    json: Json = False,
) -> None:
    """Write store, log, configuration, levels and hashes of the data into a folder. The secret is not in it.

    Of a store in PostgreSQL the line is printed that copies it.
    """
    from sfumato.cli.talk import print_json, say
    from sfumato.gate.backup import dump_line

    with opened(config) as gate:
        gate.backup(out)
        line = None if gate.config.store.startswith("sqlite") else dump_line(gate.config, out)
    if json:
        print_json({"out": str(out), "dump": line})
    elif line is not None:
        say(["The store is in PostgreSQL. Copy it as well:"])
        print(line)
    else:
        print(f"Written: {out}. The secret is not in it: keep a copy of that elsewhere.")


def restore(
    folder: Annotated[Path, typer.Argument(help="A backup.")],
    config: Config,
    json: Json = False,
) -> None:
    """Put the store back from a backup, with all entries that the log has since: nobody's knowledge is lost.

    What was given since then is made again where the data are unchanged. Passwords and tokens are those of the backup.
    Into PostgreSQL the store is put back by `pg_restore` before.
    """
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    with working() as progress:
        progress("putting the store back", 0)
        done = Gate.restore(read_config(config), folder)
    if json:
        print_json(done.to_plain())
    else:
        print(
            f"The store is back, at entry {done.head[0]}. {done.later} entries came from the log; {done.made} releases "
            f"of these were made again, {len(done.gone)} are gone."
        )
    if not done.logged:
        say(["There is no log, so the gate does not open. Begin one: sfumato gate log start --reason TEXT"])


def repair(config: Config, json: Json = False) -> None:
    """Write what follows from the entries of the ledger in place of what is stored beside them."""
    from sfumato.cli.talk import print_json
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    found = Gate.repair(read_config(config))
    if json:
        print_json({"repaired": found})
    else:
        print("\n".join(["Repaired. What was stored otherwise:", *found]) if found else "There was nothing to repair.")


def start(
    reason: Annotated[str, typer.Option(help="Why there is none; it stands in the ledger.")],
    config: Config,
    by: By = "command line",
    json: Json = False,
) -> None:
    """Begin a log where there is none: it was lost, or the gate is older than logs. An entry says so.

    Whether the store was set back before, no log shows: `gate ledger verify --head` with the head of a release does.
    """
    from sfumato.cli.talk import print_json
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    seq, digest = Gate.start_log(read_config(config), reason, by)
    if json:
        print_json({"ledger": {"seq": seq, "hash": digest}})
    else:
        print(f"The log is begun. Entry {seq} of the ledger says so.")
