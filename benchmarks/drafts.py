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

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tests.real_data import real_data

import sfumato as sf
from sfumato.api.draft import draft
from sfumato.data.codebook import Variable
from sfumato.data.finding import Findings
from sfumato.data.roles import Kind, Role
from sfumato.plan.wishes import Wishes

Floats = NDArray[np.float64]

SECRET = bytes(range(32))
MOST_RECORDS = 5_000
"""Of a larger file so many records, evenly spread, are drafted."""


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
    File("titanic.csv", ("Sex", "Age", "Pclass"), 0.85, 0.85),
    File("adult/adult.csv", ("sex", "age", "race"), 0.85, 0.9),
    File("sdcmicro/CASCrefmicrodata.csv", ("AGI", "TAXINC"), 0.8, 0.9),
    File("sdcmicro/EIA.csv", ("STATE", "TOTREVENUE"), 0.7, 0.9),
    File("sdcmicro/Tarragona.csv", ("SALES", "LABOR.COSTS"), 0.5, 0.9),
    File("sdcmicro/free1.csv", ("REGION", "SEX", "AGE", "MARSTAT"), 0.85, 0.7),
    File("sdcmicro/testdata.csv", ("urbrur", "sex", "age"), 0.9, 0.9),
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
            codes = pl.concat(texts).rank("dense")
            both = [codes[: before.height], codes[before.height :]]
        for side, values in zip(sides, both, strict=True):
            side.append(values.cast(pl.Float64).fill_null(float("nan")).to_numpy())
    return np.column_stack(sides[0]), np.column_stack(sides[1])


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
    frame = table.frame.gather_every(-(-table.frame.height // MOST_RECORDS))
    made = draft(sf.read(frame), path.stem, wishes=wishes)
    plan = sf.Plan.from_yaml(made.text)
    aside = {Role.IDENTIFIER, Role.RECORD, Role.HOUSEHOLD, Role.WEIGHT}
    counted = (
        g for g in made.guesses if g.variable.role not in aside and g.variable.kind != Kind.TEXT and not g.leaves
    )
    count = {g.name: g.variable for g in counted}
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
        _first(_worst(found, "linkage_nearest"), _worst(found, "risk_average")),
        _first(_worst(found, "uniques_kept"), _worst(found, "uniques_sample")),
        made.drafted.group,
        release.verdict,
    )


def _worst(found: Findings, measure: str) -> float | None:
    """For whoever knows all that leaves but for what is said to be unknown; else for whoever knows the keys."""
    lines = next((some for group in ("released", "keys") if (some := found.select(measure, group=group))), ())
    return max((line.value for line in lines if line.value is not None), default=None)


def _first(*figures: float | None) -> float | None:
    return next((figure for figure in figures if figure is not None), None)


def tables() -> list[tuple[File, Drafted, Drafted]]:
    """Each file that is there, where all columns count as known, and where keys are named."""
    told = []
    for file in FILES:
        if (path := real_data() / file.path).is_file():
            by_keys = Wishes(keys=file.keys, because="invented for this benchmark")
            told.append((file, drafted(path, Wishes()), drafted(path, by_keys)))
    return told


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    if not (real_data() / FILES[0].path).is_file():
        return [("drafts of sample files", "not measured: the real data sets are absent", "told", True)]
    told = []
    for file, known, by_keys in tables():
        told.append(_row(f"draft of {file.name}", known, file.bar))
        told.append(_row(f"  {', '.join(file.keys)} known", by_keys, file.bar_by_keys))
    return told


def _row(name: str, one: Drafted, bar: float) -> tuple[str, str, str, bool]:
    holds = one.because is None and one.verdict == "holds" and one.score >= bar
    return name, one.figures, f"holds, score ≥ {bar}", holds


def page() -> str:
    """The table of `docs/howto/draft.md`."""
    lines = ["| file | known | columns | score | found | survivors | group |", "|---|---|---|---|---|---|---|"]
    for file, *both in tables():
        for known, one in zip(("all", ", ".join(file.keys)), both, strict=True):
            of = f"{one.columns[0]} of {one.columns[1]}"
            shares = " | ".join("" if x is None else f"{x:.0%}" for x in (one.found, one.kept))
            lines.append(f"| {file.name} | {known} | {of} | {one.score:.2f} | {shares} | {one.group} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page())
