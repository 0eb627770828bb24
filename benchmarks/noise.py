"""Speed of adding noise: ten million records, five columns."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost

N = 10**7


def _data() -> pl.DataFrame:
    random = np.random.default_rng(1)
    columns = {f"x{j}": random.normal(10, 1 + j, N) for j in range(5)}
    return pl.DataFrame({"id": np.arange(N), **columns})


def noise() -> None:
    """Run the step as `protect` does, without measures."""
    from sfumato.data.codebook import Codebook, Variable
    from sfumato.draws import Draws
    from sfumato.engines.polars import PolarsDataset
    from sfumato.methods.noise.method import Noise
    from sfumato.release.run import run_steps

    book = {n: Variable(kind="continuous") for n in FRAME.columns[1:]}
    data = PolarsDataset(FRAME, Codebook({"id": Variable(role="record", kind="integer"), **book}))
    run_steps([Noise(columns=tuple(book), share=0.1)], data, Draws(bytes(16)))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found = cost("noise", "noise", repeats=1)
    figure = f"{found.cpu:.1f} CPU s, {found.memory:,.0f} MB"
    return [("noise on 10^7 records, 5 columns", figure, "≤ 20 CPU s", found.cpu <= 20)]


if __name__ == "__main__":
    FRAME = _data()
    report_cost({"noise": noise}[sys.argv[1]])
