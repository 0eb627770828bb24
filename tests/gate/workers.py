"""Processes that ask a gate: in step with each other, until they are killed, or while their disk is full."""

import itertools
import multiprocessing
import os
import resource
import signal
from pathlib import Path

import numpy as np

from sfumato.errors import FileError
from sfumato.gate.config import read_config
from sfumato.gate.margin import Margin, Node
from sfumato.gate.service import Gate

METHOD = "forkserver"
USERS = 5


def started():
    """A way to start processes that have their modules loaded."""
    context = multiprocessing.get_context(METHOD)
    context.set_forkserver_preload(["tests.gate.workers", "tests.gate.loaded"])
    return context


def rows(seed: int = 1) -> str:
    """400 people of five variables."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, size, 400) for size in (2, 3, 4, 6, 9)]
    lines = [",".join(map(str, line)) for line in np.stack(columns, axis=1).tolist()]
    return "a,b,c,d,e\n" + "\n".join(lines) + "\n"


def margins() -> list[Margin]:
    """All tables of one to three of them."""
    return [Margin.of(map(Node, names)) for many in (1, 2, 3) for names in itertools.combinations("abcde", many)]


def races(config: str, number: int, rounds: int, barrier, out) -> None:
    """Ask for one of two tables that are not safe together, at the same moment as three others."""
    told = []
    with Gate.open(read_config(Path(config))) as gate:
        for i in range(rounds):
            gate.ask(f"u{number}", f"d{i}", Margin())
        for i in range(rounds):
            barrier.wait()
            told.append(gate.ask(f"u{number}", f"d{i}", Margin.of([Node("AB"[number % 2])])).decision)
    out.put((number, told))


def asks(config: str, seed: int, path: str) -> None:
    """Ask until it is killed; write down every answer once it has it."""
    rng = np.random.default_rng(seed)
    wanted = margins()
    with Gate.open(read_config(Path(config))) as gate:
        gate.ask("u0", "ward", Margin.of([Node("a")]))
        log = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.write(log, b"ready\n")
        for i in itertools.count():
            who, which = int(rng.integers(USERS)), int(rng.integers(len(wanted)))
            os.write(log, f"? u{who} {which} {seed}-{i}\n".encode())
            answer = gate.ask(f"u{who}", "ward", wanted[which], key=f"{seed}-{i}")
            os.write(log, f"! {answer.id} {answer.decision} {answer.ledger[1]}\n".encode())


def asks_on_a_full_disk(config: str, room: int, out) -> None:
    """Ask until files may grow no more, then once more when there is room again."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    wanted = margins()
    with Gate.open(read_config(Path(config))) as gate:
        folder = Path(config).parent
        largest = max(one.stat().st_size for one in folder.iterdir())
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest + room, hard))
        given, message = 0, ""
        for i in range(5000):
            try:
                gate.ask(f"u{i % USERS}", "ward", wanted[i % len(wanted)], key=f"full-{i}")
                given += 1
            except FileError as error:
                message = str(error)
                break
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        after = gate.ask("u0", "ward", wanted[0], key=f"full-{given}").decision
    out.put((given, message, after))


def asks_some(config: str, seed: int, many: int) -> None:
    """Ask for so many tables."""
    rng = np.random.default_rng(seed)
    wanted = margins()
    with Gate.open(read_config(Path(config))) as gate:
        for _ in range(many):
            gate.ask(f"u{int(rng.integers(USERS))}", "ward", wanted[int(rng.integers(len(wanted)))])
