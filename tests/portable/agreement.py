"""Whether releases of two back ends agree: data to 1e-9 relative, findings to the digits that are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

__all__ = ["TOLERANCE", "disagreements"]

TOLERANCE = 1e-9
_NAMES = ("measure", "variable", "group", "at", "attack")
_FIGURES = ("value", "baseline")


def disagreements(one: Path, other: Path) -> list[str]:
    """Sentences on where the releases in two folders differ; none where they agree.

    Parameters
    ----------
    one, other
        What `write_releases` wrote.
    """
    names = sorted({p.stem for folder in (one, other) for p in folder.glob("*.json")})
    return [f"{name}: {told}" for name in names for told in (*_data(one, other, name), *_findings(one, other, name))]


def _data(one: Path, other: Path, name: str) -> list[str]:
    a, b = (pl.read_parquet(folder / f"{name}.parquet") for folder in (one, other))
    if a.schema != b.schema or a.height != b.height:
        return ["tables of different shape or types"]
    return [
        f"{column} differs in {count} of {a.height} rows"
        for column in a.columns
        if (count := _differ(a[column], b[column]))
    ]


def _differ(a: pl.Series, b: pl.Series) -> int:
    if not a.dtype.is_float():
        return int(a.ne_missing(b).sum())
    near = (a - b).abs() <= TOLERANCE * pl.select(pl.max_horizontal(a.abs(), b.abs())).to_series()
    return int((~(near | a.eq_missing(b)).fill_null(False)).sum())


def _findings(one: Path, other: Path, name: str) -> list[str]:
    a, b = (json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for folder in (one, other))
    if [_named(line) for line in a] != [_named(line) for line in b]:
        return ["other findings"]
    return [
        f"{' '.join(str(v) for v in _named(x) if v is not None)}: {part} {x[part]!r} or {y[part]!r}"
        for x, y in zip(a, b, strict=True)
        for i, part in enumerate(_FIGURES)
        if x["printed"][i] != y["printed"][i] and not _near(x[part], y[part])
    ]


def _named(line: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(line[n] for n in _NAMES)


def _near(a: float | None, b: float | None) -> bool:
    """Whether two figures differ by rounding alone, on which side of a printed digit they ever fall."""
    return a is not None and b is not None and abs(a - b) <= TOLERANCE * max(abs(a), abs(b), TOLERANCE)
