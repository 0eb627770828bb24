"""Backups of a gate: its store, its log, its configuration, and hashes of its data, in a folder; never the secret."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.data.files.atomic import system_says, to_disk, unfinished
from sfumato.errors import DataError, FileError
from sfumato.gate.config import Config
from sfumato.gate.derived import Described
from sfumato.gate.ledger import now
from sfumato.gate.log import Log
from sfumato.gate.sources import sha256_of

__all__ = ["LOG", "STORE", "Backup", "copied_store", "dump_line", "read_backup", "write_backup"]

STORE, LOG = "gate.db", "gate.ledger"
_TOLD, _CONFIG = "backup.json", "gate.yaml"
_PASSWORD = re.compile(r"(postgresql://[^\s:/@]*):[^\s/@]*@")
"""Of an address; what stands before it is kept."""


@dataclass(frozen=True)
class Backup:
    """A backup that is whole.

    Parameters
    ----------
    folder
        Where it lies.
    head
        Number and hash of the last entry of its log, which has no fewer than its store.
    first
        Hash of the first entry: by it a gate is known.
    files
        SHA-256 by file.
    """

    folder: Path
    head: tuple[int, str]
    first: str
    files: Mapping[str, str] = field(default_factory=dict)


def write_backup(config: Config, out: Path, catch_up: Callable[[], None], datasets: Mapping[str, Described]) -> None:
    """Write a backup: whole, or not at all.

    Parameters
    ----------
    config
        Of the gate.
    out
        A folder that is not there yet; its owner alone can read what is made.
    catch_up
        Lets the log have every entry that the store has: between the copies of the two, so that the log's has no less.
    datasets
        Whose files' hashes are kept.

    Raises
    ------
    FileError
        The folder is there, or cannot be written.
    """
    if out.exists() or out.is_symlink():
        raise FileError(f"{out.name!r} is there already: a backup is written into a folder of its own.")
    if not out.absolute().parent.is_dir():
        raise FileError(f"The folder of {out.name!r} does not exist. Make it first.")
    with unfinished():
        try:
            made = Path(tempfile.mkdtemp(prefix=".sfumato-backup-", dir=out.absolute().parent))  # its owner's alone
            try:
                _fill(config, made, catch_up, datasets)
                os.rename(made, out)
            finally:
                shutil.rmtree(made, ignore_errors=True)
        except OSError as error:
            raise FileError(f"{out.name!r} could not be written: {system_says(error)}.") from None
        except sqlite3.Error:
            raise FileError(f"{out.name!r} could not be written: the store could not be copied.") from None


def _fill(config: Config, folder: Path, catch_up: Callable[[], None], datasets: Mapping[str, Described]) -> None:
    if config.store_url.startswith("sqlite"):
        copied_store(Path(config.store_url.removeprefix("sqlite:///")), _private(folder / STORE))
    catch_up()
    with Log(config.log_path).held():
        _private(folder / LOG).write_bytes(config.log_path.read_bytes())
    log = Log.open(folder / LOG)
    _private(folder / _CONFIG).write_text(_PASSWORD.sub(r"\1@", config.text), encoding="utf-8")
    levels: dict[str, str] = {}
    for said in config.datasets.values():
        for own in said.levels.values():
            for source in own.values():
                if isinstance(source, str) and source not in levels:
                    levels[source] = f"level-{len(levels) + 1}{Path(source).suffix}"
                    _private(folder / levels[source]).write_bytes(config.path(source).read_bytes())
    names = sorted(one.name for one in folder.iterdir())
    told = {
        "backup": 1,
        "at": now(),
        "head": {"seq": log.head[0], "hash": log.head[1]},
        "first": log.first() or "",
        "files": {name: sha256_of(folder / name) for name in names},
        "levels": levels,
        "data": {
            name: {version.name: {"path": version.path, "sha256": version.sha256} for version in own.versions}
            for name, own in sorted(datasets.items())
        },
    }
    _private(folder / _TOLD).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for one in folder.iterdir():
        to_disk(one)
    to_disk(folder)


def _private(path: Path) -> Path:
    """A file that its owner alone can read, before anything is in it."""
    path.touch(mode=0o600, exist_ok=False)
    return path


def copied_store(source: Path, target: Path) -> None:
    """Copy a store of SQLite as it is at one moment, while others go on, into a file that is there.

    Raises
    ------
    sqlite3.Error
        It is no store, or it cannot be written.
    """
    with closing(_connected(source, "ro")) as one, closing(_connected(target, "rw")) as other:
        one.backup(other)


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=60)


def dump_line(config: Config, out: Path) -> str:
    """What copies a store that is in PostgreSQL; its address is shown without a password.

    Examples
    --------
    >>> from sfumato.gate.config import Config
    >>> config = Config.model_construct(store="postgresql://gate:word@host/gate")
    >>> dump_line(config, Path("b"))
    "pg_dump --format=custom --file='b/store.dump' 'postgresql://gate@host/gate'"
    """
    address = _PASSWORD.sub(r"\1@", config.store)
    return f"pg_dump --format=custom --file='{out / 'store.dump'}' '{address}'"


def read_backup(folder: Path) -> Backup:
    """Read a backup, each file of which is what was written.

    Raises
    ------
    FileError, DataError
        It is none, or something in it is missing or was changed.
    """
    try:
        told: Any = json.loads((folder / _TOLD).read_text(encoding="utf-8"))
        head = int(told["head"]["seq"]), str(told["head"]["hash"])
        found = Backup(folder, head, str(told["first"]), {str(k): str(v) for k, v in told["files"].items()})
    except OSError:
        raise FileError(f"{folder.name!r} is no backup of a gate, or cannot be read.") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"The backup {folder.name!r} is damaged. Nothing was touched.") from None
    for name, wanted in found.files.items():
        path = folder / name
        if Path(name).name != name or not path.is_file() or sha256_of(path) != wanted:
            raise DataError(
                f"The backup {folder.name!r} is damaged: a file of it is gone or changed. Nothing was touched."
            )
    if LOG not in found.files:
        raise DataError(f"The backup {folder.name!r} has no log. Nothing was touched.")
    return found
