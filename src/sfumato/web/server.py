"""Running an application: one process, or several that share a socket; a signal ends all of them, with status 0."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Any, NoReturn

from uvicorn import Config, Server

from sfumato.errors import DataError, FileError
from sfumato.web.shell import LOOPBACK

__all__ = ["address", "end_with_parent", "leave", "listening", "refuse_open", "run", "run_workers"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_WAITING = 2048
_PATIENCE = 5.0
"""Seconds that a worker has to end."""
_READY = 120.0
"""Seconds that workers have to begin."""


def refuse_open(host: str, hosts: tuple[str, ...]) -> None:
    """Refuse to serve to other machines where it is not said by what name they call.

    Raises
    ------
    DataError
        What to do.
    """
    if host not in LOOPBACK and not hosts:
        raise DataError(
            f"{host} is reached from other machines: say by what name they call, in the configuration: "
            "`server: {hosts: [gate.example.org]}`, behind something that speaks https."
        )


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens already: who is told of it is not turned away.

    Raises
    ------
    FileError
        The port is taken, or the host is none of this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name != "nt":  # there, it lets several listen on one port
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(_WAITING)
    except OSError as error:
        made.close()
        raise FileError(f"Cannot listen on {host}, port {port}: {error.strerror or 'there is no such host'}.") from None
    made.set_inheritable(True)
    return made


def address(listens: socket.socket, host: str) -> str:
    """Where a browser finds it."""
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{listens.getsockname()[1]}"


class _Quiet(Server):
    """A server that keeps the signal handlers that are there: uvicorn would raise the signal again at its end."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def run(app: Any, listens: socket.socket, begun: Callable[[], None], ending: Callable[[], None] | None = None) -> None:
    """Serve an application in this process, until it is told to stop.

    Parameters
    ----------
    app
        What is served.
    listens
        Where.
    begun
        Is called once signals end it.
    ending
        Is called by the signal that ends it, before answers that are still being sent are waited for.
    """
    server = _Quiet(
        Config(
            app,
            log_config=None,
            log_level="critical",  # its messages have paths, and paths have names
            access_log=False,
            proxy_headers=False,  # who asks is who is connected, whatever a header says
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
    )
    signal.set_wakeup_fd(-1)

    def ends(number: int, frame: FrameType | None) -> None:
        if ending is not None:
            ending()
        server.handle_exit(number, frame)

    for number in _SIGNALS:
        signal.signal(number, ends)
    begun()
    server.run(sockets=[listens])


def run_workers(
    target: Callable[..., None],
    arguments: tuple[Any, ...],
    listens: socket.socket,
    many: int,
    begun: Callable[[], None],
) -> int:
    """Serve in several processes that share a socket; if one of them ends, all do.

    Parameters
    ----------
    target
        What each process does: it is given the socket, something to send when it is ready, and the arguments.
    arguments
        Further ones.
    listens
        Where.
    many
        How many processes.
    begun
        Is called when all are ready.

    Returns
    -------
    int
        Exit status: 0 where it was told to stop.
    """
    context = multiprocessing.get_context("spawn")
    stopped = threading.Event()
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS:
        signal.signal(number, lambda *_: stopped.set())
    pairs = [context.Pipe(duplex=False) for _ in range(many)]
    workers = [context.Process(target=target, args=(listens, told, *arguments), daemon=True) for _, told in pairs]
    for worker in workers:
        worker.start()
    for _, told in pairs:
        told.close()
    try:
        if _all_ready([hears for hears, _ in pairs], stopped):
            begun()
            while not stopped.is_set() and all(worker.is_alive() for worker in workers):
                wait([worker.sentinel for worker in workers], 0.2)
        return 0 if stopped.is_set() else 70
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join(_PATIENCE)
            if worker.is_alive():
                worker.kill()
                worker.join()


def _all_ready(pipes: list[Connection], stopped: threading.Event) -> bool:
    """Whether all said that they are ready; those that end before close their pipes."""
    left, waited = list(pipes), 0.0
    while left and waited < _READY and not stopped.is_set():
        found = wait(left, 0.2)
        waited += 0.2
        for one in [pipe for pipe in left if pipe in found]:
            try:
                one.recv()
            except EOFError:
                return False
            left.remove(one)
    return not left


def end_with_parent() -> None:
    """Let this process end when the one that started it does, however that ended: nobody else would end it."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        leave(0)

    threading.Thread(target=watch, daemon=True).start()


def leave(status: int) -> NoReturn:
    """End the process at once: what threads still decide is not written, and the store takes it back."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
