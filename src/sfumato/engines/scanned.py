"""An engine for a file that is too large to read for one question: it is scanned, and only the columns asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import polars.selectors as cs

from sfumato.data.codebook import Codebook
from sfumato.data.files.parquet import scan_parquet
from sfumato.data.files.table import checked, listed, opening
from sfumato.data.query import COUNT, Classes, Counts, Folded, Largest, Moments, Quantiles, Query
from sfumato.engines.answers import keys, refuse_unknown
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError

__all__ = ["ScannedDataset"]


@dataclass(frozen=True)
class ScannedDataset:
    """A Parquet file with its codebook, whose rows stay where they are.

    Counts without weights are streamed over the file; every other question, and `map`, read the columns that they need.

    Parameters
    ----------
    rows
        The file, not yet read.
    codebook
        What is known about each variable.
    path
        Where it is, for messages.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pl.DataFrame({"sex": ["f", "m", "f"]}).write_parquet(Path(folder) / "a.parquet")
    ...     ScannedDataset.open(Path(folder) / "a.parquet").ask(Counts(("sex",)))["sfumato:count"].to_list()
    [2, 1]
    """

    rows: pl.LazyFrame
    codebook: Codebook
    path: Path

    @classmethod
    def open(cls, path: Path) -> ScannedDataset:
        """Open a file.

        Raises
        ------
        FileError
            Where it is no Parquet file, or cannot be read.
        """
        rows, codebook = scan_parquet(path)
        return cls(rows.with_columns(cs.by_dtype(pl.Null).cast(pl.String)), codebook, path)

    @property
    def schema(self) -> pl.Schema:
        """Types of the columns."""
        return self.rows.collect_schema()

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that the reader of files would refuse: no flat values, infinite ones, no rows.

        Raises
        ------
        DataError
            Names the columns.
        """
        checked(self._read(columns, 1))
        floats = self.rows.select(columns).select(cs.float().is_infinite().any())
        with opening(self.path, "Parquet"):
            found = floats.collect(engine="streaming")
        if infinite := [n for n in found.columns if found[n].item()]:
            raise DataError(f"Infinite values in {listed(infinite)}. Replace them by missing values or by finite ones.")

    @property
    def engine(self) -> str:
        """What it is called where a release or a screen names it."""
        return "memory"

    def ask(self, query: Query) -> pl.DataFrame:
        """Answer a question, see `sfumato.data.query`."""
        refuse_unknown(query, self.schema)
        match query:
            case Counts(by, None):
                return self._counts(by)
            case Counts(by, weight):
                columns = {*by, weight}
            case Moments(asked, by):
                columns = {*by, *asked}
            case Classes(by, value):
                columns = {*by, *((value,) if value else ())}
            case Folded(asked):
                columns = set(asked)
            case Quantiles(column, _, by) | Largest(column, by, _):
                columns = {*by, column}
        some = [n for n in self.schema if n in columns]
        return PolarsDataset(self._read(some), self.codebook.only(some)).ask(query)

    def _counts(self, by: Sequence[str]) -> pl.DataFrame:
        count = pl.len().cast(pl.Int64).alias(COUNT)
        asked = self.rows.group_by(keys(by, self.schema)).agg(count).sort(by) if by else self.rows.select(count)
        with opening(self.path, "Parquet"):
            return asked.collect(engine="streaming")

    def map(
        self,
        f: Callable[[pl.DataFrame], pl.DataFrame],
        by: Sequence[str] | None = None,
        codebook: Codebook | None = None,
    ) -> ScannedDataset:
        """Read all rows, and apply `f` as the engine in memory does, see `sfumato.data.dataset`."""
        done = PolarsDataset(self._read(list(self.schema)), self.codebook).map(f, by, codebook)
        return replace(self, rows=done.frame.lazy(), codebook=done.codebook)

    def _read(self, columns: Sequence[str], most: int | None = None) -> pl.DataFrame:
        part = self.rows.select(columns)
        with opening(self.path, "Parquet"):
            return (part if most is None else part.head(most)).collect()
