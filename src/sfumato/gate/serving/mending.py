"""Mending a gate that does not open: what follows is written anew, or a log is begun where there is none."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import DataError
from sfumato.gate.ledger import now
from sfumato.gate.log import Log
from sfumato.gate.serving.standing import differences, followed

if TYPE_CHECKING:
    from sfumato.gate.store.store import Store

__all__ = ["log_started", "repaired"]

_LONGEST = 2_000


def repaired(store: Store) -> list[str]:
    """Write what follows from the entries in place of what is stored beside them.

    Releases and answers follow from no entry: `verify` names those that were changed.

    Parameters
    ----------
    store
        With its log.

    Returns
    -------
    list of str
        What did not follow; none where all did.

    Raises
    ------
    DataError
        The chain is broken, or the store was set back: there is nothing to go by.
    """
    assert store.log is not None
    with store.mending() as writer:
        state = followed(writer, store.log)
        found = differences(state, writer)
        if found:
            writer.rewrite(state)
    store.log.catch_up(store.seeing)
    return found


def log_started(store: Store, path: Path, reason: str, by: str) -> tuple[int, str]:
    """Begin a log where there is none, by an entry that says so.

    From then on the store cannot be set back; whether it was before, nothing shows but heads that releases carry.

    Parameters
    ----------
    store
        Whose entries are taken as they are.
    path
        The file, which is not there.
    reason
        Why there is none; it stands in the ledger.
    by
        Who begins it.

    Returns
    -------
    tuple of int and str
        Number and hash of the entry.

    Raises
    ------
    DataError
        There is one, or the chain is broken.
    """
    told = reason.strip()
    if not 3 <= len(told) <= _LONGEST or "\x00" in told:
        raise DataError("Give a reason, in 3 to 2,000 characters: it stands in the ledger.")
    with Log(path).held():
        if path.exists() or path.is_symlink():
            raise DataError(f"There is a log, {path.name!r}: none is begun. If the gate does not open, it says why.")
        with store.mending() as writer:
            writer.at_head = followed(writer, None).head
            entry = writer.append("log", by, "", {"step": "started", "reason": told, "by": by}, now())
        aside = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        try:
            Log.begin(aside).catch_up(store.seeing)
            os.replace(aside, path)
        finally:
            for left in (aside, aside.with_name(f"{aside.name}.lock")):
                with suppress(OSError):
                    left.unlink(missing_ok=True)
    return entry.head
