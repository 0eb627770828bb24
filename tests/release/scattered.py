"""A table in scattered batches: what every engine off memory may do to the rows, done to a small table on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Part
from sfumato.data.query import CLASSES, COUNT, SIZE, Classes, Counts, Folded
from sfumato.engines.polars import PolarsDataset

BATCH = 97  # rows at a time
PART = 80  # rows of a file that is written


@dataclass(frozen=True)
class Scattered:
    """Rows in small batches, shuffled at every turn, one of them empty."""

    whole: PolarsDataset
    turn: int = 0

    @classmethod
    def of(cls, frame: pl.DataFrame, codebook: Codebook | None = None) -> Scattered:
        return cls(PolarsDataset(frame, codebook or Codebook()))

    @property
    def codebook(self) -> Codebook:
        return self.whole.codebook

    @property
    def engine(self) -> str:
        return "duckdb"

    @property
    def schema(self) -> pl.Schema:
        return self.whole.frame.schema

    def batches(self, columns=None) -> Iterator[pl.DataFrame]:
        frame = self.whole.frame
        yield frame.clear().select(columns or frame.columns)
        order = np.random.default_rng(self.turn).permutation(frame.height)
        for start in range(0, frame.height, BATCH):
            yield frame[order[start : start + BATCH]].select(columns or frame.columns)

    def ask(self, query) -> pl.DataFrame:
        if isinstance(query, Classes) and query.value is None:
            return (
                self.whole.ask(Counts(query.by))
                .group_by(pl.col(COUNT).alias(SIZE))
                .agg(pl.len().alias(CLASSES))
                .sort(SIZE)
            )
        if isinstance(query, Folded):
            parts = [query.f(batch.select(query.columns)) for batch in self.batches()]
            assert len({tuple(part.schema.items()) for part in parts}) == 1, "types that hang on the batch"
            half = len(parts) // 2
            return query.merge(
                pl.concat([query.merge(pl.concat(some)) for some in (parts[:half], parts[half:]) if some])
            )
        return self.whole.ask(query)

    def map(self, f, by=None, codebook=None) -> Scattered:
        if by is not None:
            done = self.whole.map(f, by, codebook)
            like = f(self.whole.frame.clear()).schema
            assert list(like.items()) == list(done.frame.schema.items()), "types that hang on the batch"
        else:
            parts = [f(batch) for batch in self.batches()]
            assert len({tuple(part.schema.items()) for part in parts}) == 1, "types that hang on the batch"
            frame = pl.concat(parts)
            done = PolarsDataset(frame, (codebook or self.codebook).only(frame.columns))
        return replace(self, whole=done, turn=self.turn + 1)

    def kept(self) -> Scattered:
        return self

    def write_parts(self, folder: str, order=(), part_bytes: int = 128 * 2**20) -> list[Part]:
        frame = self.whole.frame
        frame = frame.sort(*order) if order else frame
        frame = frame.select(n for n in frame.columns if not n.startswith("sfumato:"))
        told = []
        for i, part in enumerate(frame.iter_slices(PART)):
            name = f"part-{i:05d}.parquet"
            part.write_parquet(Path(folder.removeprefix("file://")) / name)
            told.append(Part(name, part.height))
        return told

    def close(self) -> None:
        pass
