"""Speed of suppression: the exact search on random tables and on the notes' tables, and stages with the audit."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
from tests.real_data import real_data
from tests.tables.suppress.small import Small, grid, of_file

from benchmarks.measure import cost, report_cost
from sfumato.tables.suppress.choose import Method, suppress

TABLES = {
    "insee2": ("insee_indiv_dt.csv", ["A10>A21>A88", "NUTS1>NUTS2"], "TURNOVER"),
    "insee3": ("insee_indiv_dt.csv", ["A10>A21>A88", "NUTS1>NUTS2>NUTS3", "SIZE"], "TURNOVER"),
    "synth_S": ("synth_S.csv", ["act1>act", "geo1>geo", "size"], "turnover"),
    "synth_M": ("synth_M.csv", ["act1>act", "geo1>geo", "size"], "turnover"),
    "synth_L": ("synth_L.csv", ["act1>act2>act", "geo1>geo", "size"], "turnover"),
}


CODES = {10**4: (80, 12), 10**5: (200, 72), 10**6: (600, 192)}
"""Activities and regions of tables of about so many cells."""


def audited(name: str) -> None:
    """Protect a table by the rules of an office, with the audit, against outsiders."""
    import sfumato as sf

    file, by, value = TABLES[name]
    table = sf.tables.build(sf.read(real_data() / "tables" / file), by, value)
    report_cost(lambda: sf.tables.protect(table, ["n(3)", "p(10)"], reader="outsider"))


def people(cells: int) -> pl.DataFrame:
    """Records of people by activity and region, each with two levels above, and age: a table of about so many cells."""
    activities, regions = CODES[cells]
    rng = np.random.default_rng(1)
    records = 15 * activities * regions  # 3 for each of the finest cells; some of these have many, and many none
    activity, region = (np.int64(n * rng.random(records) ** 1.5) for n in (activities, regions))
    levels = {"a1": activity // 40, "a2": activity // 10, "a3": activity, "r1": region // 24, "r2": region // 6}
    codes = {**levels, "r3": region, "age": rng.integers(0, 5, records)}
    return pl.DataFrame({name: pl.Series(code_list).cast(pl.String) for name, code_list in codes.items()})


def counted(cells: int) -> None:
    """Protect a table of counts, with the audit."""
    import sfumato as sf

    table = sf.tables.build(sf.read(people(cells)), ["a1>a2>a3", "r1>r2>r3", "age"])
    report_cost(lambda: sf.tables.protect(table, "n(3)"))


def main(case: str) -> None:
    """Run one case: method, table, levels or exact disclosure."""
    method, name, protect = case.split("@")
    if protect == "counts":
        counted(int(name))
        return
    if protect == "audit":
        audited(name)
        return
    small: Small
    if name in TABLES:
        file, by, value = TABLES[name]
        small = of_file(real_data() / "tables" / file, by, value)
        primary, level = small.p_percent()
    else:
        size, seed = map(int, name.split("-"))
        small, primary, level = grid(np.random.default_rng(seed), (size, size))
    levels = {} if protect == "exact" else {"lower_level": level, "upper_level": level}
    n = len(primary)
    free = {"lower": np.zeros(n), "upper": np.full(n, np.inf)}
    way: Method = "optimal" if method == "optimal" else "auto"
    report_cost(lambda: suppress(small, primary, method=way, cost=small.cost, **free, **levels))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds; only random tables where the data are absent."""
    cases = [(f"optimal suppression, 20 × 20, seed {s}", f"optimal@20-{s}@level", 5.0) for s in range(10)]
    cases += [(f"optimal suppression, 50 × 50, seed {s}", f"optimal@50-{s}@level", 20.0) for s in (1, 2, 5)]
    if (real_data() / "tables").is_dir():
        cases += [
            ("optimal suppression, insee2, p%", "optimal@insee2@level", 5.0),
            ("optimal suppression, synth_S, exact disclosure", "optimal@synth_S@exact", 50.0),
            ("suppression in stages, with audit, insee2", "auto@insee2@audit", 6.0),
            ("suppression in stages, with audit, synth_S", "auto@synth_S@audit", 15.0),
            ("suppression in stages, with audit, synth_M", "auto@synth_M@audit", 90.0),
            ("suppression in stages, with audit, synth_L, not proved", "auto@synth_L@audit", 300.0),
        ]
    cases += [(f"counts, n(3), with audit, 10^{k} cells", f"auto@{10**k}@counts", 600.0) for k in (4, 5, 6)]
    found = []
    for what, case, bar in cases:
        used = cost("suppression", case)
        found.append((what, f"{used.cpu:.2f} CPU s, {used.memory:.0f} MB", f"≤ {bar:g} CPU s", used.cpu <= bar))
    return found


if __name__ == "__main__":
    main(sys.argv[1])
