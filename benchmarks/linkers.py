"""Speed of the intruders: linkers over all pairs, guesses beside a control, and the neighbour whom `protect` tries."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.kernels.linkers.keys import Keys
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.scan import scan
from sfumato.measures.intruding import PAIRS_OF_RELEASES, Intruding
from sfumato.measures.known import Known
from sfumato.measures.risk.inference import findings as inference
from sfumato.measures.risk.linkers.coding import Coded, coded
from sfumato.measures.risk.linkers.linkers import chosen, link, scorings
from sfumato.measures.risk.membership import findings as membership
from sfumato.measures.risk.scenarios.measure import findings as scenarios

SIZES = (2, 5, 7, 16, 41, 7, 14, 2)
"""Categories of each key, and their shares falling by a third: as many combinations as Adult has."""
KEYS = (*(f"k{i}" for i in range(len(SIZES))), "age")


def people(n: int, seed: int) -> pl.DataFrame:
    """Eight categorical keys and an age."""
    rng = np.random.default_rng(seed)
    columns = {}
    for i, size in enumerate(SIZES):
        p = 0.66 ** np.arange(size)
        columns[f"k{i}"] = rng.choice(size, n, p=p / p.sum())
    return pl.DataFrame(columns).with_columns(age=pl.Series(rng.integers(17, 91, n)), id=pl.int_range(n))


def released(before: pl.DataFrame) -> pl.DataFrame:
    """A tenth of the categories redrawn, ages off by up to five years."""
    rng = np.random.default_rng(9)
    n = before.height
    redrawn = [
        pl.Series(k, np.where(rng.random(n) < 0.1, before[k].to_numpy()[rng.permutation(n)], before[k].to_numpy()))
        for k in KEYS[:-1]
    ]
    return before.with_columns(*redrawn, age=pl.col("age") + pl.Series(rng.integers(-5, 6, n)))


def known(n: int, **more: object) -> Known:
    """People and their release."""
    before = people(n, 1)
    book = Codebook({k: Variable(kind="categorical") for k in KEYS[:-1]} | {"age": Variable(kind="integer")})
    return Known(before, released(before), book, KEYS, record="id", **more)  # type: ignore[arg-type]


def matrices(field: Coded) -> float:
    """The nearest record by a whole matrix of distances: the baseline."""
    a, b = (
        np.vstack([keys.codes[:, keys.member], keys.numbers[:, keys.member]]) for keys in (field.known, field.released)
    )
    d = np.zeros((a.shape[1], b.shape[1]))
    for k in range(len(SIZES)):
        d += a[k][:, None] != b[k][None]
    d += np.abs(a[-1][:, None] - b[-1][None]) / field.spread[0]
    ring = d <= d.min(axis=1, keepdims=True) + 1e-9
    return float((np.diag(ring) / ring.sum(axis=1)).mean())


def plainly_nearest(field: Coded, others: Keys) -> None:
    """The nearest record alone, of the release and of the true values, for as many others as `membership` attacks."""
    for people in (field.known, others.only(np.arange(5000))):
        for records in (field.released, field.truth):
            scan(people, records, gower(field.levels, field.spread), sums=False)


def both(field: Coded) -> object:
    """Every linker."""
    rows = chosen(field, 10**9)
    return link(field, rows, scorings(field, rows), 1.0)


def main(case: str) -> None:
    """One piece of work, compiled before."""
    small = known(300)
    both(coded(small, KEYS))
    scenarios(small, Intruding())
    if case in ("matrices", "both"):
        field = coded(known(5000), KEYS)
        report_cost(lambda: (matrices if case == "matrices" else both)(field))
    elif case in ("scan", "membership"):
        membership(known(300, control=people(300, 2)))
        field = coded(known(5000), KEYS)
        whole = known(5000, control=people(10_000, 2))
        others = coded(Known(people(10_000, 2), people(10_000, 2), whole.codebook, KEYS, record="id"), KEYS).known
        report_cost(lambda: membership(whole) if case == "membership" else plainly_nearest(field, others))
    elif case == "guesses":
        inference(known(300, control=people(300, 2)), ["k7"])
        whole = known(15_000, control=people(15_000, 2))
        report_cost(lambda: inference(Known(**{**vars(whole), "keys": KEYS[:-2]}), ["k7"]))
    else:
        whole = known(int(case), pairs=PAIRS_OF_RELEASES)
        report_cost(lambda: scenarios(whole, Intruding()))


def rows() -> list[tuple[str, str, str, bool]]:
    """Rows of the table of results."""
    plain, linked = cost("linkers", "matrices"), cost("linkers", "both")
    near, reached = cost("linkers", "scan"), cost("linkers", "membership")
    more = reached.cpu / near.cpu
    guesses, many, most = cost("linkers", "guesses"), cost("linkers", "100000"), cost("linkers", "1000000", repeats=1)
    faster = plain.cpu / linked.cpu
    return [
        ("nearest records by a matrix, 5,000 people, nine keys", f"{plain.cpu:.2f} CPU s", "baseline", True),
        (
            "  all three linkers, the same",
            f"{linked.cpu:.2f} CPU s, {faster:.1f} × faster, {linked.memory:.0f} MB",
            "≤ 2 CPU s, ≥ 2 × faster",
            linked.cpu <= 2 and faster >= 2,
        ),
        (
            "  a value guessed of 15,000 members and 15,000 others, from eight keys",
            f"{guesses.cpu:.2f} CPU s",
            "told",
            True,
        ),
        (
            "  a neighbour, as protect tries it, 10^5 people",
            f"{many.cpu:.1f} CPU s, {many.memory:.0f} MB",
            "≤ 5 CPU s, ≤ 300 MB",
            many.cpu <= 5 and many.memory <= 300,
        ),
        (
            "  members told from others by three attacks, 5,000 of either, a reference of 5,000",
            f"{reached.cpu:.2f} CPU s, {more:.1f} × the nearest record alone",
            "≤ 5 ×",
            more <= 5,
        ),
        ("  10^6 people", f"{most.cpu:.1f} CPU s, {most.memory:.0f} MB", "told", True),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
