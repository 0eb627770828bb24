"""Drafts of the sample files: what is left of each file, and whom an intruder still finds.

The score of a draft, from 0 to 1, is fixed. It is the mean of five shares:

1. columns that have two values or more, and still have them (identifiers, texts, ids and weights aside);
2. categories kept: (e^H after - 1) / (e^H before - 1) in the mean over these columns, at most 1, H the entropy; numbers
   of more than 20 values in the tenths of the input;
3. cells: one less the mean share newly missing, times the share of records left;
4. relations: one less ten times the mean change of correlations, at least 0;
5. coefficients of one regression that moved by no more than their standard error: the outcome (else the last column
   with few gaps) on the first five other columns.

`python -m benchmarks.drafts` prints the table of `docs/howto/draft.md`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tests.real_data import real_data

import sfumato as sf
from benchmarks.measure import cost, report_cost
from sfumato.api.draft import draft
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.finding import Findings
from sfumato.data.roles import Role
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.swap import Swap
from sfumato.plan.wishes import Wishes
from sfumato.release.run import run_steps

Floats = NDArray[np.float64]

SECRET = bytes(range(32))
MOST_RECORDS = 5_000
"""Of a larger file so many records, evenly spread, are drafted."""
SIZES = (20_000, 40_000, 80_000)
MOST_TIMES = 2.4
"""Bar: CPU time of twice the records over that of once."""


@dataclass(frozen=True)
class File:
    """A sample file, the keys that its custodian might name, and the bar of its score where all columns are known."""

    path: str
    keys: tuple[str, ...]
    bar: float
    bar_by_keys: float

    @property
    def name(self) -> str:
        """What it is called in the table."""
        return Path(self.path).stem


FILES = (
    File("titanic.csv", ("Sex", "Age", "Pclass"), 0.8, 0.9),
    File("adult/adult.csv", ("sex", "age", "race"), 0.8, 0.9),
    File("sdcmicro/CASCrefmicrodata.csv", ("AGI", "TAXINC"), 0.7, 0.9),
    File("sdcmicro/EIA.csv", ("STATE", "TOTREVENUE"), 0.7, 0.9),
    File("sdcmicro/Tarragona.csv", ("SALES", "LABOR.COSTS"), 0.5, 0.9),
    File("sdcmicro/free1.csv", ("REGION", "SEX", "AGE", "MARSTAT"), 0.7, 0.9),
    File("sdcmicro/testdata.csv", ("urbrur", "sex", "age"), 0.7, 0.9),
    File("sdcmicro/testdata2.csv", ("urbrur", "sex", "age"), 0.6, 0.9),
)


def score(before: pl.DataFrame, after: pl.DataFrame, variables: dict[str, Variable]) -> float:
    """The score of a release; `variables` are those of the columns that count, in the order of the file."""
    columns = [n for n in variables if before[n].drop_nulls().n_unique() > 1]
    left = [n for n in columns if n in after.columns and after[n].drop_nulls().n_unique() > 1]
    entropies = [_categories(before[n], after[n], variables[n]) if n in left else 0.0 for n in columns]
    emptied = [max(0.0, _gaps(after[n]) - _gaps(before[n])) for n in left]
    cells = (1 - float(np.mean(emptied or [1.0]))) * after.height / before.height
    was, now = _codes(before, after, left)
    shift = _shift(was, now)
    parts = (
        len(left) / len(columns),
        float(np.mean(entropies)),
        cells,
        max(0.0, 1 - 10 * shift),
        _regression(before, after, columns, variables),
    )
    return float(np.mean(parts))


def _gaps(column: pl.Series) -> float:
    return column.null_count() / len(column)


def _categories(before: pl.Series, after: pl.Series, variable: Variable) -> float:
    """How much of the variety of a column is left."""
    if variable.numeric and before.n_unique() > 20 and after.dtype.is_numeric():
        cuts = np.unique(np.quantile(before.drop_nulls().to_numpy(), np.arange(0.1, 1, 0.1)))
        sides = [pl.Series(np.searchsorted(cuts, side.drop_nulls().to_numpy())) for side in (before, after)]
    else:
        sides = [_tenths(before) if variable.numeric else before, after]
        sides = [side.drop_nulls() for side in sides]
    was, now = (float(np.exp(side.value_counts(normalize=True)["proportion"].entropy())) - 1 for side in sides)
    return min(1.0, now / was) if was > 0 else 1.0


def _tenths(column: pl.Series) -> pl.Series:
    """Numbers of many values in tenths, which bands are held against."""
    there = column.drop_nulls()
    if there.n_unique() <= 20:
        return there
    cuts = np.unique(np.quantile(there.to_numpy(), np.arange(0.1, 1, 0.1)))
    return pl.Series(np.searchsorted(cuts, there.to_numpy()))


def _middles(bands: pl.Series) -> pl.Series:
    """Bands such as 20-29 as numbers."""
    return bands.cast(pl.String).str.extract_all(r"\d+\.?\d*").cast(pl.List(pl.Float64)).list.mean()


def _codes(before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str]) -> tuple[Floats, Floats]:
    """Both tables as numbers: categories by the place of their value among all; gaps NaN."""
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    for n in columns:
        both = [table[n] for table in (before, after)]
        if both[0].dtype.is_numeric() and not both[1].dtype.is_numeric():
            both[1] = _middles(both[1])
        elif not both[0].dtype.is_numeric():
            texts = [side.cast(pl.String) for side in both]
            both = [r for r in _split(pl.concat(texts).rank("dense"), before.height)]
        for side, values in zip(sides, both, strict=True):
            side.append(values.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    return np.column_stack(sides[0]), np.column_stack(sides[1])


def _split(values: pl.Series, at: int) -> tuple[pl.Series, pl.Series]:
    return values[:at], values[at:]


def _shift(was: Floats, now: Floats) -> float:
    """Mean change of the correlations of pairs, each over the records that have both."""
    moved = []
    for i in range(was.shape[1]):
        for j in range(i):
            pair = [_correlation(side[:, i], side[:, j]) for side in (was, now)]
            if not any(np.isnan(pair)):
                moved.append(abs(pair[0] - pair[1]))
    return float(np.mean(moved or [0.0]))


def _correlation(x: Floats, y: Floats) -> float:
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    return float(np.corrcoef(x, y)[0, 1]) if len(x) > 2 and x.std() > 0 and y.std() > 0 else float("nan")


def _regression(
    before: pl.DataFrame, after: pl.DataFrame, columns: Sequence[str], variables: dict[str, Variable]
) -> float:
    """Share of the coefficients that moved by no more than their standard error; a column that is gone has moved."""
    full = [n for n in columns if _gaps(before[n]) < 0.3]
    outcomes = [n for n in full if variables[n].role == Role.OUTCOME] or full[-1:]
    others = [n for n in full if n != outcomes[0]][:5]
    model = [outcomes[0], *others]
    left = [n for n in model if n in after.columns]
    if outcomes[0] not in left or len(left) < 2:
        return 0.0
    _, now = _codes(before, after, left)
    was, _ = _codes(before, before, model)
    old, error = _least_squares(was)
    new, _ = _least_squares(now)
    places = [left.index(n) - 1 if n in left else None for n in others]
    near = [p is not None and abs(new[p] - old[i]) <= error[i] for i, p in enumerate(places)]
    return float(np.mean(near))


def _least_squares(table: Floats) -> tuple[Floats, Floats]:
    """Slopes of the first column on the others, and their standard errors; constant columns have none."""
    table = table[~np.isnan(table).any(axis=1)]
    x = np.column_stack([np.ones(len(table)), table[:, 1:]])
    inverse = np.linalg.pinv(x.T @ x)
    slope = inverse @ x.T @ table[:, 0]
    rest = table[:, 0] - x @ slope
    error = np.sqrt(np.maximum(np.diag(inverse) * (rest @ rest) / max(1, len(table) - x.shape[1]), 0))
    return slope[1:], error[1:]


@dataclass(frozen=True)
class Drafted:
    """What a draft of a file came to; a reason instead where nothing can be released."""

    columns: tuple[int, int]
    score: float
    found: float | None
    kept: float | None
    group: int | None
    verdict: str
    because: str | None = None

    @property
    def figures(self) -> str:
        """In one line."""
        if self.because is not None:
            return f"not released: {self.because}"
        told = [f"{self.columns[0]} of {self.columns[1]} columns", f"score {self.score:.2f}"]
        told += [] if self.found is None else [f"{self.found:.0%} found"]
        told += [] if self.kept is None else [f"{self.kept:.1%} survivors"]
        return ", ".join([*told, f"groups of {self.group}", self.verdict])


def drafted(path: Path, wishes: Wishes) -> Drafted:
    """Draft a plan for a file, run it unchanged, and measure."""
    table = sf.read(path, delimiter=";") if "adult" in path.name else sf.read(path)
    frame, book = table.frame, table.codebook
    frame = frame.gather_every(-(-frame.height // MOST_RECORDS))
    made = draft(sf.read(frame), path.stem, wishes=wishes)
    plan = sf.Plan.from_yaml(made.text)
    aside = {Role.IDENTIFIER, Role.RECORD, Role.HOUSEHOLD, Role.WEIGHT}
    count = {g.name: g.variable for g in made.guesses if g.variable.role not in aside and str(g.variable.kind) != "text"}
    if made.drafted.because is not None:
        return Drafted((0, len(count)), 0.0, None, None, None, "", made.drafted.because)
    release = sf.protect(plan, sf.read(frame), secret=SECRET)
    after = release.frame
    found = release.report.findings
    columns = [n for n in count if frame[n].drop_nulls().n_unique() > 1]
    left = [n for n in columns if n in after.columns and after[n].drop_nulls().n_unique() > 1]
    return Drafted(
        (len(left), len(columns)),
        score(frame, after, count),
        _worst(found, "linkage_nearest"),
        _worst(found, "uniques_kept"),
        made.drafted.group,
        release.verdict,
    )


def _worst(found: Findings, measure: str) -> float | None:
    """Of what leaves; of the keys where nothing else was measured."""
    lines = list(found.select(measure, group="released")) or list(found.select(measure))
    return max((line.value for line in lines if line.value is not None), default=None)


def tables() -> list[tuple[File, Drafted, Drafted]]:
    """Each file that is there, where all columns count as known, and where keys are named."""
    told = []
    for file in FILES:
        if (path := real_data() / file.path).is_file():
            by_keys = Wishes(keys=file.keys, because="invented for this benchmark")
            told.append((file, drafted(path, Wishes()), drafted(path, by_keys)))
    return told


def wide(records: int) -> tuple[PolarsDataset, Codebook]:
    """Ten numbers and ten categories of people who are alike in part."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=(records, 1))
    x = (0.5 * base + rng.normal(size=(records, 20))).round(2)
    columns = {f"x{j}": x[:, j] for j in range(10)}
    columns |= {f"c{j}": np.digitize(x[:, 10 + j], [-1.5, -0.5, 0.5, 1.5]) for j in range(10)}
    kinds = {n: Variable(kind="continuous" if n[0] == "x" else "categorical", role="key") for n in columns}
    book = Codebook({"id": Variable(role="record")} | kinds)
    return PolarsDataset(pl.DataFrame({"id": np.arange(records)} | columns), book), book


def exchange(records: int) -> None:
    """Values of twenty columns exchanged within groups of five."""
    data, book = wide(records)
    columns = tuple(n for n in data.frame.columns if n != "id")
    step = Swap(columns=columns, group=5, perturb=0.02)
    run_steps([step], wide(2_000)[0], Draws(SECRET))  # compiles
    report_cost(lambda: run_steps([step], data, Draws(SECRET)))


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    made = [(f"swap in groups, {n:,} × 20", cost("drafts", str(n))) for n in SIZES]
    told = [(made[0][0], f"{made[0][1].cpu:.1f} CPU s, {made[0][1].memory:.0f} MB", "baseline", True)]
    for (_, less), (what, more) in zip(made, made[1:], strict=False):
        times = more.cpu / less.cpu
        figure = f"{more.cpu:.1f} CPU s, {more.memory:.0f} MB, {times:.2f} × half as many"
        told.append((what, figure, f"≤ {MOST_TIMES} ×", times <= MOST_TIMES))
    if not (real_data() / FILES[0].path).is_file():
        return [*told, ("drafts of sample files", "not measured: the real data sets are absent", "told", True)]
    for file, known, by_keys in tables():
        for name, one, bar in ((file.name, known, file.bar), (f"  {', '.join(file.keys)} known", by_keys, file.bar_by_keys)):
            holds = one.because is None and one.verdict == "holds" and one.score >= bar
            told.append((f"draft of {name}" if one is known else name, one.figures, f"holds, score ≥ {bar}", holds))
    return told


def page() -> str:
    """The table of `docs/howto/draft.md`."""
    lines = ["| file | known | columns | score | found | survivors | group |", "|---|---|---|---|---|---|---|"]
    for file, *both in tables():
        for known, one in zip(("all", ", ".join(file.keys)), both, strict=True):
            of = f"{one.columns[0]} of {one.columns[1]}"
            shares = ["" if x is None else f"{x:.0%}" if x >= 0.1 or x == 0 else f"{x:.1%}" for x in (one.found, one.kept)]
            lines.append(f"| {file.name} | {known} | {of} | {one.score:.2f} | {' | '.join(shares)} | {one.group} |")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        exchange(int(sys.argv[1]))
    else:
        print(page())
