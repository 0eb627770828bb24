"""From a configuration to the records of its data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.files import read_table
from sfumato.errors import DataError
from sfumato.gate.config import Config, DatasetConfig, TableSource
from sfumato.gate.reading import read_levels, records_of
from sfumato.gate.records import Records
from sfumato.gate.sources import database_table

__all__ = ["coded", "records_from", "rows_of"]


def records_from(
    config: Config, name: str | None = None, *, chance: Sequence[Sequence[str]] = (), search: bool = True
) -> Records:
    """The records of a data set of a configuration; of the only one where none is named.

    What a configuration calls chance counts once a second steward has confirmed it: here it is said beside.

    Raises
    ------
    DataError
        No such data set, or several to choose from; what `records_of` refuses.
    """
    names = ", ".join(config.datasets) or "none"
    if name is None and len(config.datasets) != 1:
        raise DataError(f"Say which data set is meant. Data sets: {names}.")
    chosen = name or next(iter(config.datasets))
    if chosen not in config.datasets:
        raise DataError(f"There is no data set {chosen!r}. Data sets: {names}.")
    wanted = config.datasets[chosen]
    read = {version: rows_of(source, config) for version, source in wanted.versions.items()}
    return coded(
        wanted,
        {version: frame for version, (frame, _) in read.items()},
        _book(read),
        config.folder,
        chance=chance,
        search=search,
    )


def rows_of(source: str | TableSource, config: Config) -> tuple[pl.DataFrame, Codebook]:
    """The rows of a version, and what its file knows about the variables."""
    if isinstance(source, TableSource):
        return database_table(config, source), Codebook()
    table = read_table(config.path(source))
    return table.frame, table.codebook


def coded(
    config: DatasetConfig,
    frames: dict[str, pl.DataFrame],
    book: Codebook,
    folder: Path,
    *,
    chance: Sequence[Sequence[str]] = (),
    search: bool = True,
) -> Records:
    """Code the versions of a data set."""
    first, *others = frames.items()
    return records_of(
        first[1],
        Codebook({**book, **config.variables}),
        count=config.count,
        record=config.record,
        levels=read_levels(config.levels, folder) if config.levels else None,
        never=config.never,
        cohorts=config.cohorts,
        missing_told=config.missing_told,
        versions=others,
        first=first[0],
        chance=chance,
        search=search,
    )


def _book(read: dict[str, tuple[pl.DataFrame, Codebook]]) -> Codebook:
    return next(iter(read.values()))[1]
