"""Speed of what is done with households, and of `shuffle`, against what they cannot do without.

`swap_households` counts people, `shuffle` ranks columns; synthetic households are people, too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.base import Method
from sfumato.methods.shuffle.method import Shuffle
from sfumato.methods.swap_households.method import SwapHouseholds
from sfumato.methods.synthesise.method import Synthesise
from sfumato.release.run import run_steps

HOUSEHOLDS = 30_000
LEVELS = ("region", "district", "ward")
KEYS = ("sex", "age", "born")
CATEGORY = Variable(kind="categorical")


def census() -> PolarsDataset:
    """About 10^5 people in 30,000 households, 240 lowest areas."""
    rng = np.random.default_rng(1)
    size = rng.choice([1, 2, 3, 4, 5, 6, 7], HOUSEHOLDS, p=[0.18, 0.23, 0.16, 0.15, 0.11, 0.1, 0.07])
    home = np.repeat(np.arange(HOUSEHOLDS), size)
    place = {"region": 5, "district": 8, "ward": 6}
    columns = {n: rng.integers(0, areas, HOUSEHOLDS)[home] for n, areas in place.items()}
    frame = pl.DataFrame(
        {
            "id": np.arange(len(home)),
            "household": home,
            **columns,
            "size": size[home],
            "sex": rng.choice(["f", "m"], len(home)),
            "age": rng.integers(0, 18, len(home)) * 5,
            "born": rng.choice(["here", "near", "far"], len(home), p=[0.85, 0.1, 0.05]),
        }
    )
    book = {"id": Variable(role="record"), "household": Variable(role="household")}
    return PolarsDataset(frame, Codebook(book | dict.fromkeys(frame.columns[2:], CATEGORY)))


def exchange() -> SwapHouseholds:
    """Three levels, two profiles."""
    similar = (("size", "sex"), ("size",))
    return SwapHouseholds(geography=LEVELS, keys=KEYS, similar=similar, on_unswapped="keep")


def people() -> PolarsDataset:
    """The same people, and nothing about who lives with whom."""
    table = census()
    return PolarsDataset(table.frame.drop("household"), table.codebook.without("household"))


def numbers() -> PolarsDataset:
    """10^6 records of six related numbers."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(10**6, 6)) + rng.normal(size=(10**6, 1))
    frame = pl.DataFrame(x, schema=[f"x{j}" for j in range(6)]).with_row_index("id")
    book = {"id": Variable(role="record")} | dict.fromkeys(frame.columns[1:], Variable(kind="continuous"))
    return PolarsDataset(frame, Codebook(book))


def rank(table: PolarsDataset) -> None:
    """Every column ranked."""
    table.frame.select(pl.exclude("id").rank())


def run(step: Method, table: PolarsDataset) -> None:
    """The step alone."""
    run_steps([step], table, Draws(bytes(16)))


def count(table: PolarsDataset) -> None:
    """People by keys in the areas of each level."""
    for level in range(len(LEVELS)):
        table.frame.select(pl.len().over([*LEVELS[: level + 1], *KEYS]))


def main(case: str) -> None:
    """Run one case."""
    table = numbers() if case in ("rank", "shuffle") else census()
    shuffle = Shuffle(columns=("x0", "x1"), given=("x2", "x3", "x4", "x5"))
    work: dict[str, Callable[[], None]] = {
        "count": lambda: count(table),
        "exchange": lambda: run(exchange(), table),
        "rank": lambda: rank(table),
        "shuffle": lambda: run(shuffle, table),
        "people": lambda: run(Synthesise(copies=1), people()),
        "homes": lambda: run(Synthesise(copies=1, households=True), table),
    }
    work[case]()  # compile
    report_cost(work[case])


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    counted, exchanged = cost("households", "count"), cost("households", "exchange")
    ranked, shuffled = cost("households", "rank"), cost("households", "shuffle")
    apart, together = cost("households", "people"), cost("households", "homes")
    ratio, more = exchanged.cpu / counted.cpu, shuffled.cpu / ranked.cpu
    wholes = together.cpu / apart.cpu
    return [
        ("people by keys and area, 10^5 people, 3 levels", f"{counted.cpu:.3f} CPU s", "baseline", True),
        (
            "swap_households, the same, 30,000 households",
            f"{exchanged.cpu:.2f} CPU s, {ratio:.1f} × counting",
            "≤ 2 CPU s",
            exchanged.cpu <= 2,
        ),
        ("six columns of 10^6 ranked", f"{ranked.cpu:.2f} CPU s", "baseline", True),
        ("shuffle, two of them given four", f"{shuffled.cpu:.1f} CPU s, {more:.1f} × ranking", "≤ 10 ×", more <= 10),
        ("synthetic people, 10^5, one copy", f"{apart.cpu:.2f} CPU s", "baseline", True),
        (
            "synthetic households, the same",
            f"{together.cpu:.2f} CPU s, {wholes:.1f} × people alone",
            "≤ 3 ×",
            wholes <= 3,
        ),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
