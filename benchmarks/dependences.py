"""How long the search for dependences between columns takes, beside a group-by of every pair of columns."""

from __future__ import annotations

import itertools
import json
import sys
import time

import numpy as np
import polars as pl

from benchmarks.measure import cost
from sfumato.gate.reading import records_of

_ROWS = 1_000_000
_CODES = (2, 2, 3, 4, 5, 6, 8, 12, 20, 30, 50, 100)
_BAR = 10.0


def hung(rows: int = _ROWS, seed: int = 1) -> pl.DataFrame:
    """Twenty columns: codes of chance, a tree, nested flags, two flags and their `any`, a total and a band."""
    rng = np.random.default_rng(seed)
    out: dict[str, np.ndarray] = {f"c{i:02d}": rng.integers(0, many, rows) for i, many in enumerate(_CODES)}
    days = rng.exponential(12, rows)
    one, other = rng.random(rows) < 0.3, rng.random(rows) < 0.2
    drugs, staff = rng.lognormal(0, 1, rows), rng.lognormal(1, 1, rows)
    out |= {"c11 in tens": out["c11"] // 10, "over7": days > 7, "over30": days > 30, "any": one | other}
    out |= {"one": one, "drugs": drugs, "total": drugs + staff, "staff": staff}
    return pl.DataFrame(out)


def main(case: str) -> None:
    """Run one case: CPU seconds of the search alone, or of counting all pairs."""
    frame = hung()
    records_of(frame.head(1000))  # loops are compiled before
    if case == "search":
        spent = []
        for search in (False, True):
            start = time.process_time()
            found = records_of(frame, search=search).found
            spent.append(time.process_time() - start)
        assert {one.kind for one in found} == {"tells", "never", "adds"}, found
        print(json.dumps({"cpu": spent[1] - spent[0], "memory": 0.0}))
    else:
        names = [name for name in frame.columns if frame[name].dtype != pl.Float64]
        start = time.process_time()
        for a, b in itertools.combinations(names, 2):
            frame.group_by(a, b).len()
        print(json.dumps({"cpu": time.process_time() - start, "memory": 0.0}))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    spent, plain = cost("dependences", "search", repeats=1).cpu, cost("dependences", "pairs", repeats=1).cpu
    what = "gate: dependences between columns, 10^6 × 20"
    figure = f"{spent:.1f} CPU s, {spent / plain:.2f} of a group-by of every pair of codes"
    return [(what, figure, f"≤ {_BAR:g} CPU s", spent <= _BAR)]


if __name__ == "__main__":
    main(sys.argv[1])
