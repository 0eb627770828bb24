"""Speed of suppression by elimination and of the attacker's programs, on hierarchical tables of three dimensions."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from tests.kernels.tabular.small_tables import Built, insee, synth

from benchmarks.measure import cost, report_cost
from sfumato.kernels.tabular.attacker import intervals
from sfumato.kernels.tabular.determined import motions
from sfumato.kernels.tabular.elimination import eliminate, inner_sums, publication_order


def hide(built: Built) -> np.ndarray:
    """Primary cells (n < 3, p% = 10) and what elimination hides beside them."""
    inner, primary = inner_sums(built.matrix), built.primary(3, 10)
    return primary | eliminate(inner, primary, publication_order(built.value, inner.sums)).secondary


def firms(records: int) -> pl.DataFrame:
    """Records of firms, most of which have one or two, by activity and region with two levels above, and size."""
    rng = np.random.default_rng(1)
    activity, region = rng.integers(0, 120, records), rng.integers(0, 48, records)
    levels = {"a1": activity // 40, "a2": activity // 10, "a3": activity, "r1": region // 24, "r2": region // 6}
    codes = {**levels, "r3": region, "size": rng.integers(0, 5, records)}
    columns = {name: [str(code) for code in code_list] for name, code_list in codes.items()}
    turnover = rng.lognormal(3, 1.5, records).round(1)
    return pl.DataFrame({**columns, "turnover": turnover, "firm": rng.integers(0, 7 * records // 10, records)})


def building(records: int, contributors: str | None) -> None:
    """Time the table of so many records; compiled before on a few."""
    import sfumato as sf

    def table(data: sf.Dataset) -> object:
        return sf.tables.build(data, ["a1>a2>a3", "r1>r2>r3", "size"], "turnover", contributors=contributors)

    table(sf.read(firms(3_000)))
    data = sf.read(firms(records))
    report_cost(lambda: table(data))


def main(case: str) -> None:
    """Run one case."""
    what, name = case.split("-")
    if what == "build":
        building(10**6, "firm" if name == "firms" else None)
        return
    small = synth("S")
    hidden = hide(small)  # compile
    intervals(small.matrix, np.where(hidden, np.nan, small.value), hidden)
    motions(small.matrix, hidden)
    built = synth(name) if name in "SML" else insee(("A10", "A21", "A88"), ("NUTS1", "NUTS2", "NUTS3"), ("SIZE",))
    if what == "eliminate":
        report_cost(lambda: hide(built))
        return
    hidden = hide(built)
    if what == "attack":
        report_cost(lambda: intervals(built.matrix, np.where(hidden, np.nan, built.value), hidden))
    else:
        report_cost(lambda: motions(built.matrix, hidden))


_CASES = (
    ("eliminate-M", "cells hidden by elimination, synth_M: 10,416 cells", 0.5),
    ("eliminate-L", "  synth_L: 101,304 cells", 15.0),
    ("motions-L", "  its audit by elimination", 5.0),
    ("attack-insee3", "intervals of all hidden cells by linear programs, insee3: 9,680 cells", 30.0),
    ("attack-M", "  synth_M: 10,416 cells", 30.0),
    ("build-records", "a table of three dimensions with levels from 10^6 records, each of its own", 3.0),
    ("build-firms", "  of 700,000 firms, spread over it", 3.0),
)


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    out = []
    for case, what, bar in _CASES:
        spent = cost("tabular", case, repeats=1)
        out.append((what, f"{spent.cpu:.2f} CPU s, {spent.memory:.0f} MB", f"≤ {bar:g} CPU s", spent.cpu <= bar))
    return out


if __name__ == "__main__":
    main(sys.argv[1])
