"""Running a studio: on this machine alone, until it is told to stop."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sfumato.release.secret import Secret
from sfumato.web.server import address, leave, listening, run
from sfumato.web.studio.application import serve
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

__all__ = ["each_line", "run_studio"]

_HOST = "127.0.0.1"
_PATIENCE = 2.0
"""Seconds that answers have which are being worked out when it is told to end."""


def run_studio(
    file: Path | None,
    plan: Path | None,
    secret: Secret,
    how: Mapping[str, Any],
    port: int,
    begun: Callable[[Callable[[], str], Path], None],
) -> None:
    """Serve a studio until a signal ends it; what it wrote for itself is removed.

    Parameters
    ----------
    file, plan
        To begin with.
    secret
        What draws are keyed with.
    how
        How the file is read: options of `sfumato.api.read.read`.
    port
        Where; 0 is any that is free.
    begun
        Is given what makes an address that is good for one use, and the studio's private folder.
    """
    listens = listening(_HOST, port)
    try:
        studio = Studio(Path.cwd(), None if file is None else Source(file, how), plan, secret)
    except BaseException:
        listens.close()
        raise

    def new_address() -> str:
        return f"{address(listens, _HOST)}/?token={studio.keys.token()}"

    def ready() -> None:
        begun(new_address, studio.temporary)
        threading.Thread(target=_warm, args=(studio,), daemon=True).start()

    def ending() -> None:
        studio.ending.set()
        later = threading.Timer(_PATIENCE, _left, (studio,))
        later.daemon = True
        later.start()

    try:
        run(serve(studio, int(listens.getsockname()[1])), listens, ready, ending)
    finally:
        studio.close()
        listens.close()


def _left(studio: Studio) -> None:
    """End although something is still being worked out: a thread that computes cannot be told to stop."""
    studio.close()
    leave(0)


def _warm(studio: Studio) -> None:
    """Start the process for long work once the first page had time to come."""
    if not studio.ending.wait(2.0):
        studio.jobs.warm()


def each_line(do: Callable[[], None]) -> None:
    """Do something for each line that is typed in the terminal."""

    def listen() -> None:
        for _ in sys.stdin:
            do()

    threading.Thread(target=listen, daemon=True).start()
