"""How long decisions of the gate take, and maximal releases."""

from __future__ import annotations

import collections
import json
import subprocess
import sys
import time

import numpy as np
import polars as pl
from tests.real_data import real_data

import sfumato as sf
from benchmarks.measure import cost, report_cost
from sfumato.gate.margin import Margin, Node
from sfumato.gate.maximal import maximal, maximal_of
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.records import Records
from sfumato.gate.world import Principal, World

_ROWS = 1_000_000
_LEVELS = (2, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20)
_POLICY = Policy(interval={"count": 4, "width": 5})


def ward(rows: int = _ROWS, seed: int = 1) -> pl.DataFrame:
    """Twelve variables of 2 to 20 uneven levels; half of them hang on one thing."""
    rng = np.random.default_rng(seed)
    common, out = rng.normal(size=rows), {}
    for i, levels in enumerate(_LEVELS):
        own = rng.normal(size=rows)
        score = 0.5 * common + np.sqrt(0.75) * own if i % 2 else own
        cuts = np.cumsum(rng.dirichlet(np.full(levels, 1.5)))[:-1]
        out[f"x{i:02d}"] = np.searchsorted(np.quantile(score[:10_000], cuts), score).astype(np.int64)
    return pl.DataFrame(out)


def _world(data: Records, users: int, together: bool) -> World:
    world = World({"ward": data}, {"research": _POLICY, "public": _POLICY})
    world.add(Principal("north", "organisation", "research"))
    for i in range(users):
        world.add(Principal(f"user{i}", "user", "research"))
        if together:
            world.carry_out(world.join(f"user{i}", "north"))
    return world


def _stream(together: bool, requests: int = 400, users: int = 20) -> dict[str, float]:
    """Users with topics of four to six variables ask for tables of one to four of them."""
    data, rng = records_of(ward()), np.random.default_rng(5)
    world = _world(data, users, together)
    names = data.structure.variables
    topics = [rng.choice(len(names), int(rng.integers(4, 7)), replace=False) for _ in range(users)]
    spent, told = [], collections.Counter[str]()
    for _ in range(requests):
        who = int(rng.integers(users))
        wanted = rng.choice(topics[who], min(len(topics[who]), int(rng.integers(1, 5))), replace=False)
        start = time.process_time()
        outcome = world.ask(f"user{who}", "ward", Margin.of(Node(names[i]) for i in wanted))
        spent.append(time.process_time() - start)
        world.carry_out(outcome)
        told["repeated" if outcome.reasons == ("known",) else outcome.decision] += 1
    new = requests - told["repeated"]
    return {
        "p95": float(np.quantile(spent, 0.95)),
        "undecided": told["undecided"] / new,
        "granted": told["granted"] + told["repeated"],
    }


def _public() -> dict[str, float]:
    """A grant that everybody would know, over fifty people who each know something else."""
    data, rng = records_of(ward()), np.random.default_rng(3)
    world, names = _world(data, 50, together=False), data.structure.variables
    for who in range(50):
        for _ in range(4):
            wanted = Margin.of(Node(names[i]) for i in rng.choice(len(names), 2, replace=False))
            world.carry_out(world.ask(f"user{who}", "ward", wanted))
    start = time.process_time()
    outcome = world.ask("public", "ward", Margin.of([Node(names[0]), Node(names[2])]))
    return {"seconds": time.process_time() - start, "granted": float(outcome.granted)}


def main(case: str) -> None:
    """Run one case."""
    if case in ("stream", "together", "public"):
        _stream(case == "together", requests=40)  # loops are compiled before
        print(json.dumps(_public() if case == "public" else _stream(case == "together")))
    elif case == "czech":
        data = sf.read(real_data() / "tables" / "czech_autoworkers.csv")
        report_cost(lambda: maximal(data, (2, 4), kind="decomposable", count="n"))
    else:
        records = records_of(ward())
        report_cost(lambda: maximal_of(records, _POLICY, "decomposable", restarts=30))


def _figures(case: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-m", "benchmarks.gate", case], check=True, capture_output=True, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    return told


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    alone, one = _figures("stream"), _figures("together")
    figure = f"{1000 * alone['p95']:.0f} CPU ms for 19 of 20, {alone['undecided']:.0%} of new requests undecided"
    holds = alone["p95"] <= 0.1 and alone["undecided"] <= 0.15
    out.append(("decisions, 10^6 × 12, 20 users, 400 requests", figure, "≤ 100 ms, ≤ 15%", holds))
    figure = f"{1000 * one['p95']:.0f} CPU ms for 19 of 20, {one['granted']:.0f} granted"
    holds = one["p95"] <= 0.25 and one["granted"] >= 150
    out.append(("  all users one organisation", figure, "≤ 250 ms, ≥ 150 granted", holds))
    public = _figures("public")
    out.append(
        ("  a public grant over 50 people", f"{public['seconds']:.2f} CPU s", "≤ 1 CPU s", public["seconds"] <= 1)
    )
    for case, what, bar in (
        ("czech", "18,154 decomposable releases, all maximal ones", 3.0),
        ("maximal", "30 maximal releases of 10^6 × 12", 10.0),
    ):
        spent = cost("gate", case, repeats=1)
        out.append((what, f"{spent.cpu:.2f} CPU s, {spent.memory:.0f} MB", f"≤ {bar:g} CPU s", spent.cpu <= bar))
    return out


if __name__ == "__main__":
    main(sys.argv[1])
