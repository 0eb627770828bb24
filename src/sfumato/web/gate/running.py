"""Serving a gate: in this process, or in several."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from sfumato.errors import SfumatoError
from sfumato.gate.config import read_config
from sfumato.gate.service import Gate
from sfumato.web.gate.application import serve
from sfumato.web.gate.daily import daily
from sfumato.web.server import address, end_with_parent, leave, listening, refuse_open, run, run_workers

__all__ = ["run_gate"]


def run_gate(config: Path, host: str, port: int, workers: int, begun: Callable[[str], None]) -> int:
    """Serve a gate until it is told to stop.

    Parameters
    ----------
    config
        Of the gate.
    host, port
        Where; port 0 is any that is free.
    workers
        How many processes.
    begun
        Is given the address once it can be called.

    Returns
    -------
    int
        Exit status.
    """
    known = read_config(config)
    refuse_open(host, known.server.hosts)
    gate = Gate.open(known)
    listens = listening(host, port)
    url, own = address(listens, host), int(listens.getsockname()[1])
    try:
        if workers == 1:
            with daily(gate):
                run(serve(gate, own), listens, lambda: _begun(gate, lambda: begun(url)))
            return 0
        gate.close()
        with tempfile.TemporaryDirectory(prefix="sfumato-metrics-") as together:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = together  # they count together
            return run_workers(_worker, (str(config), own), listens, workers, lambda: begun(url))
    finally:
        gate.close()
        listens.close()


def _worker(listens: socket.socket, ready: Connection, config: str, port: int) -> None:
    end_with_parent()
    gate = Gate.open(read_config(Path(config)))

    def begun() -> None:
        ready.send(None)
        ready.close()

    with daily(gate):
        run(serve(gate, port), listens, lambda: _begun(gate, begun))
    gate.close()
    leave(0)


def _begun(gate: Gate, begun: Callable[[], None]) -> None:
    """Read the data while nobody asks yet."""
    threading.Thread(target=_warm, args=(gate,), daemon=True).start()
    begun()


def _warm(gate: Gate) -> None:
    with suppress(SfumatoError):
        for name in gate.datasets():
            with suppress(SfumatoError):
                gate.codebook(name)
