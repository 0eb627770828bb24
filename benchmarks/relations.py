"""Speed of drafts of synthetic copies, relations and all, beside drafts of releases."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl

from benchmarks.measure import cost, report_cost
from sfumato.api.draft import draft
from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.plan.relations import relations_of


def table(rows: int, columns: int) -> pl.DataFrame:
    """Amounts and categories that hang together, with a sum, an order, a function and cells that cannot be."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(rows, 3))
    held: dict[str, np.ndarray] = {}
    for j in range(columns - 6):
        score = base @ rng.normal(size=3) + rng.normal(size=rows)
        if j % 2:
            held[f"x{j}"] = np.round(np.exp(score) * 100)
        else:
            held[f"c{j}"] = np.digitize(score, np.linspace(-2, 2, 3 + j % 5)).astype(str)
    held["all"] = held["x1"] + held["x3"] + held["x5"]
    held["late"] = held["x7"] + rng.integers(0, 50, rows)
    ward = rng.integers(0, 40, rows)
    held |= {"ward": ward.astype(str), "region": (ward // 8).astype(str)}
    smokes = rng.integers(0, 2, rows)
    held |= {"smokes": smokes.astype(str), "amount": smokes * rng.integers(1, 40, rows)}
    return pl.DataFrame(held)


def main(case: str) -> None:
    """Run one case: what is done, rows and columns."""
    what, rows, columns = case.split("@")
    frame = table(int(rows), int(columns))
    if what == "relations":
        guesses = profile(frame, Codebook())
        report_cost(lambda: relations_of(frame, guesses, frame.columns, Codebook()))
        return
    draft(frame.head(500).select(frame.columns[-12:]), "t", synthetic=what == "synthetic")  # compile
    report_cost(lambda: draft(frame, "t", synthetic=what == "synthetic"))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    plain, wide, long = (
        cost("relations", case, repeats=1) for case in ("init@10000@200", "synthetic@10000@200", "relations@1000000@20")
    )
    return [
        ("init, 10^4 × 200", f"{plain.cpu:.1f} CPU s", "baseline", True),
        ("  with --synthetic", f"{wide.cpu:.1f} CPU s", "≤ 30 CPU s", wide.cpu <= 30),
        ("  relations alone, 10^6 × 20", f"{long.cpu:.1f} CPU s", "≤ 20 CPU s", long.cpu <= 20),
    ]


if __name__ == "__main__":
    main(sys.argv[1])
