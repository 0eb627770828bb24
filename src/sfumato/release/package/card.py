"""The noise card: what was done to each variable of a release, for the person who analyses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.disclosure import Additive, Averaged, Disclosed, Exchanged, Misclassified, Shuffled, Swapped
from sfumato.data.files import read_written
from sfumato.data.pair import numbers
from sfumato.errors import DataError
from sfumato.kernels.grid import significant
from sfumato.kernels.moments import Sums
from sfumato.release.package.analysis import scan_parts
from sfumato.release.package.papers import Papers, read_papers, refuse_missing_parts

__all__ = ["Card", "Entry", "read_card"]


@dataclass(frozen=True)
class Entry:
    """What was done to one variable in one stratum.

    Parameters
    ----------
    variable
        Its name.
    what
        The kind of the disclosure's part: `additive`, `misclassified`, `averaged`, …
    where
        The stratum, empty for all records.
    noise_sd
        Standard deviation of the noise, in the variable's units.
    reliability
        Share of the released variance that is no noise: how much of a slope is left in a simple regression on the
        variable that does not take the noise out. None where it cannot be told.
    correlated
        Other variables whose noise is correlated with this one's.
    sentence
        The same in words.
    multiple
        What released values are multiples of; None where that is not told.
    """

    variable: str
    what: str
    where: dict[str, Any]
    noise_sd: float | None
    reliability: float | None
    correlated: tuple[str, ...]
    sentence: str
    multiple: float | None = None


@dataclass(frozen=True)
class Card:
    """The card of a release.

    Parameters
    ----------
    papers
        What the release says of itself.
    entries
        One for each variable that was changed, and each stratum told apart.
    """

    papers: Papers
    entries: tuple[Entry, ...]

    def tidy(self) -> pl.DataFrame:
        """A frame with a row for each entry."""
        rows = [
            (
                *(e.variable, e.what, ", ".join(f"{k}={v}" for k, v in e.where.items())),
                *(e.noise_sd, e.reliability, e.multiple),
            )
            for e in self.entries
        ]
        schema = {"variable": pl.String, "what": pl.String, "where": pl.String}
        figures = dict.fromkeys(("noise_sd", "reliability", "multiple"), pl.Float64)
        return pl.DataFrame(rows, {**schema, **figures}, orient="row")

    def to_plain(self) -> dict[str, Any]:
        """Plain values for JSON."""
        variables = [
            {
                "variable": e.variable,
                "what": e.what,
                "where": e.where or None,
                "noise_sd": e.noise_sd,
                "reliability": e.reliability,
                "correlated": list(e.correlated),
                "multiple": e.multiple,
                "sentence": e.sentence,
            }
            for e in self.entries
        ]
        papers = self.papers
        return {
            "title": papers.title,
            "created": papers.created,
            "version": papers.version,
            "data": papers.data.name,
            "access": papers.access,
            "consent": papers.consent,
            "variables": variables,
            "unchanged": [n for n in papers.columns if not papers.disclosure.of(n)],
            "disclosure": papers.disclosure.to_plain(),
            "sentences": list(papers.disclosure.sentences()),
        }

    def _repr_html_(self) -> str:
        return str(self.tidy()._repr_html_())


def read_card(folder: Path, table: str | None = None) -> Card:
    """Read the card of a release folder.

    Parameters
    ----------
    folder
        What `protect` wrote.
    table
        Of a release of several tables, which one.

    Raises
    ------
    FileError
        Where it is no release.
    DataError
        Where the data are not those that the papers describe.
    """
    papers = read_papers(folder, table)
    if papers.parts:
        refuse_missing_parts(papers)
    whole = scan_parts(papers) if papers.parts else read_written(papers.data, papers.dialect).frame.lazy()
    schema = whole.collect_schema()
    if set(schema) != set(papers.columns):
        raise DataError(f"{papers.data.name} does not have the columns that datapackage.json describes.")
    rows = [pl.scan_parquet(part, glob=False, hive_partitioning=False) for part in papers.parts] or [whole]
    entries = (entry for part in papers.disclosure for entry in _entries(part, rows, schema, papers))
    return Card(papers, tuple(entries))


def _entries(part: Disclosed, rows: Sequence[pl.LazyFrame], schema: pl.Schema, papers: Papers) -> Iterator[Entry]:
    for i, n in enumerate(part.columns):
        if n not in schema:
            continue
        where = part.where if isinstance(part, Additive | Misclassified) else {}
        sd, reliability = None, None
        correlated: tuple[str, ...] = ()
        if isinstance(part, Additive):
            row = part.covariance[i]
            sd = significant(row[i] ** 0.5)
            correlated = tuple(m for j, m in enumerate(part.columns) if j != i and row[j])
            reliability = _reliability(part, i, rows, schema, papers)
        sentence = _sentence(part, n)
        if isinstance(part, Averaged | Exchanged | Shuffled | Swapped):
            left = part.left(schema[n].is_numeric() or schema[n].is_temporal())
            sentence += f" {left}" if left else ""
        rounded = getattr(part, "rounded", None)
        multiple = rounded.get(n) if isinstance(rounded, Mapping) else None
        yield Entry(n, part.what, dict(where), sd, reliability, correlated, sentence, multiple)


def _reliability(
    part: Additive, i: int, rows: Sequence[pl.LazyFrame], schema: pl.Schema, papers: Papers
) -> float | None:
    """1 − noise variance / released variance, where values were neither clipped nor noise grown."""
    n = part.columns[i]
    if n in part.bounds or n in part.grows or any(name not in schema for name in part.where):
        return None  # a stratum that the release does not show cannot be picked out
    there = [
        pl.col(name).cast(pl.String).eq_missing(pl.lit(None if value is None else str(value)))
        for name, value in part.where.items()
    ]
    sums = Sums()
    for table in rows:  # a part at a time, so that no more is in memory
        x = numbers((table.filter(*there) if there else table).select(n).collect(), [n], papers.codebook)[:, 0]
        sums = sums + Sums.of(x[x == x])
    noise = part.covariance[i][i] + part.rounded.get(n, 0.0) ** 2 / 12
    return significant(1 - noise / sums.variance) if sums.variance > noise else None


def _sentence(part: Disclosed, column: str) -> str:
    if isinstance(part, Averaged | Exchanged | Misclassified | Shuffled) or len(part.columns) == 1:
        return part.sentence()
    if isinstance(part, Additive):
        return part.of(column).sentence()
    return part.model_copy(update={"columns": (column,)}).sentence()
