"""Rows off memory: a table in Parquet parts on one machine, masked and written as parts, with the processor's time.

Run one case by hand: `python -m benchmarks.scale noise@3000000`. A table is made once, beside this machine's other
temporary files.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import Cost, cost, report_cost

_PART = 10**6
KEY = bytes(range(16))
PLAN = """sfumato: 1
variables:
  id: {role: record, kind: integer}
  region: {role: key}
  sex: {role: key}
  age: {role: key, kind: integer}
  bmi: {kind: continuous}
  height: {kind: continuous}
  weight: {kind: continuous, missing: [-9]}
  income: {kind: continuous}
steps:
  - {do: noise, columns: [bmi, height, weight, income], by: [region], share: 0.1}
limits:
  - {measure: k_anonymity, at_least: 3}
  - {measure: linkage_nearest, at_most: 0.2}
"""


def table(n: int) -> Path:
    """A folder with the notes' table of ten columns, in parts of 10^6 rows."""
    folder = Path(tempfile.gettempdir()) / f"sfumato-scale-{n}"
    if folder.exists():
        return folder
    making = folder.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    regions = pl.Series([f"region {i}" for i in range(8)] + [None])
    for number, start in enumerate(range(0, n, _PART)):
        random = np.random.default_rng(number)
        m = min(_PART, n - start)
        bmi, height, kind = random.normal(26, 4, m), random.normal(170, 10, m).round(1), pl.Series(random.random(m))
        weight = (bmi * (height / 100) ** 2).round(1)
        pl.DataFrame(
            {
                "id": np.arange(start, start + m),
                "region": regions.gather(random.integers(0, 9, m)),
                "sex": pl.Series(["f", "m"]).gather(random.integers(0, 2, m)),
                "bmi": bmi,
                "height": height,
                "weight": weight,
                "income": random.lognormal(10, 0.7, m).round(0),
                "age": random.integers(0, 100, m),
                "smoker": random.random(m) < 0.2,
                "day": pl.Series(random.integers(0, 3650, m).astype(np.int32)).cast(pl.Date),
            }
        ).with_columns(weight=pl.when(kind > 0.05).then("weight").when(kind > 0.02).then(-9.0)).write_parquet(
            making / f"part-{number:05d}.parquet"
        )
    making.rename(folder)
    return folder


def run(case: str, n: int) -> None:
    """Run one case; the release goes to a folder that is removed."""
    if case == "protect":
        return _protect(n)
    from sfumato.data.codebook import Codebook, Variable
    from sfumato.data.dataset import with_codebook
    from sfumato.data.query import Quantiles
    from sfumato.draws import Draws, Purpose, units
    from sfumato.engines.opening import open_parted
    from sfumato.methods.centroids.method import Centroids
    from sfumato.methods.noise.method import Noise
    from sfumato.release.run import run_steps

    amounts = ("bmi", "height", "weight", "income")
    book = {n: Variable(kind="continuous", missing=[-9] if n == "weight" else ()) for n in amounts}
    with tempfile.TemporaryDirectory() as out, open_parted(str(table(n)), "duckdb", memory="1GB") as opened:
        known = Codebook({**opened.codebook, **book, "id": Variable(role="record", kind="integer")})
        data = with_codebook(opened, known)
        draws = Draws(KEY)
        if case == "quantiles":
            data.ask(Quantiles("bmi", (0.25, 0.5, 0.75)))
            return
        if case == "centroids":
            step = Centroids(columns=("bmi", "height", "income"), by=("region", "sex"), k=5)
        else:
            step = Noise(columns=amounts, share=0.1, by=("region",))
        after = run_steps([step], data, draws).after
        order: tuple[str, ...] = ()
        if case == "permuted":
            what = Purpose("order")

            def keyed(batch: pl.DataFrame) -> pl.DataFrame:
                return batch.with_columns(
                    pl.Series("sfumato:word", draws.words(units(batch["id"]), what)[:, 0]),
                    pl.col("id").alias("sfumato:u"),
                )

            after, order = after.map(keyed), ("sfumato:word", "sfumato:u")
        after.write_parts(out, order)


def _protect(n: int) -> None:
    """From parts to a release with its report, everything measured."""
    import sfumato as sf
    from sfumato.plan.plan import Plan

    with tempfile.TemporaryDirectory() as out, sf.read(str(table(n)), engine="duckdb", memory="1GB") as data:
        sf.protect(Plan.from_yaml(PLAN), data, secret=KEY).write(Path(out) / "release")


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    some, many = 10**7, 3 * 10**7
    used = {at: cost("scale", at, repeats=1) for at in _cases(some, many)}
    noise, more, permuted = (used[f"{case}@{n}"] for case, n in (("noise", some), ("noise", many), ("permuted", many)))
    beside = more.memory / noise.memory
    added = (permuted.cpu - more.cpu) / many * 10**6
    centroids, quantiles = used[f"centroids@{many}"], used[f"quantiles@{some}"]
    protect = used[f"protect@{some}"]
    each = [_each(one, n) for one, n in ((more, many), (centroids, many), (quantiles, some), (protect, some))]
    held = more.memory <= 700 and beside <= 1.1
    return [
        (
            "noise on 4 columns by region, Parquet to Parquet, 10^7 rows off memory",
            _figure(noise, some),
            "baseline",
            True,
        ),
        (
            "  3·10^7 rows",
            f"{_figure(more, many)}, {beside:.2f} ×",
            "≤ 2.5 s, ≤ 700 MB, ≤ 1.1 ×",
            each[0] <= 2.5 and held,
        ),
        (
            "  records permuted",
            f"{added:.2f} CPU s more, {permuted.memory:,.0f} MB",
            "≤ 1.5 s, ≤ 1,400 MB",
            added <= 1.5 and permuted.memory <= 1400,
        ),
        (
            "centroids k = 5 of 3 columns by region and sex, 3·10^7 rows off memory",
            _figure(centroids, many),
            "≤ 1,800 MB",
            centroids.memory <= 1800,
        ),
        ("exact quartiles of a column, 10^7 rows off memory", _figure(quantiles, some), "≤ 0.25 s", each[2] <= 0.25),
        (
            "protect with all measures, from parts to a release, 10^7 rows off memory",
            _figure(protect, some),
            "≤ 15 s, ≤ 2,000 MB",
            each[3] <= 15 and protect.memory <= 2000,
        ),
    ]


def _cases(some: int, many: int) -> list[str]:
    """All cases, with their tables made."""
    for n in (some, many):
        table(n)
    return [
        *(f"{case}@{some}" for case in ("noise", "quantiles", "protect")),
        *(f"{case}@{many}" for case in ("noise", "permuted", "centroids")),
    ]


def _each(used: Cost, n: int) -> float:
    """CPU seconds per 10^6 rows."""
    return used.cpu / n * 10**6


def _figure(used: Cost, n: int) -> str:
    return f"{_each(used, n):.2f} CPU s per 10^6, {used.memory:,.0f} MB"


if __name__ == "__main__":
    CASE, _, ROWS = sys.argv[1].partition("@")
    report_cost(lambda: run(CASE, int(ROWS)))
