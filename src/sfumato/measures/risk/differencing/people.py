"""Who is who in several releases of the same people: by record ids, or by columns that no step masked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Disclosure
from sfumato.data.roles import IDS, Role
from sfumato.draws import written
from sfumato.errors import DataError

__all__ = ["KEY", "Told", "tell_apart"]

KEY = "sfumato:key"
"""Text by which a person is known in all releases; missing for those who cannot be told from others."""
_APART = "\x1f"
_NO_PEOPLE = (*IDS, Role.IDENTIFIER, Role.WEIGHT)


@dataclass(frozen=True)
class Told:
    """Releases, newest first, with who is who.

    Parameters
    ----------
    tables, truths
        Each release and what was true then, with the column `KEY`.
    disclosures
        What each release tells.
    codebook
        What is known about the variables.
    by
        Columns that told people apart where there were no ids.
    """

    tables: tuple[pl.DataFrame, ...]
    truths: tuple[pl.DataFrame, ...]
    disclosures: tuple[Disclosure, ...]
    codebook: Codebook
    by: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that every release has and every file of true values, without ids and weights."""
        first, *others = (*self.tables, *self.truths)
        common = [n for n in first.columns if n != KEY and all(n in t.columns for t in others)]
        book = self.codebook
        return tuple(n for n in common if n not in self.by and not (n in book and book[n].role in _NO_PEOPLE))


def tell_apart(
    tables: Sequence[pl.DataFrame],
    truths: Sequence[pl.DataFrame],
    disclosures: Sequence[Disclosure],
    codebook: Codebook,
    record: str | None,
) -> Told:
    """Give every record the key of its person.

    Parameters
    ----------
    tables, truths, disclosures
        Of each release, newest first.
    codebook
        What is known about the variables.
    record
        Column with the record's id; without it people are told apart by the columns that all have, that no disclosure
        speaks of, and whose released values are all among the true ones.

    Raises
    ------
    DataError
        Where a table lacks the record column, an id stands twice, or nothing tells people apart.
    """
    frames = [*tables, *truths]
    if record is not None:
        if any(record not in frame.columns for frame in frames):
            raise DataError(
                f"The record column {record!r} is not in all releases and files of true values. Name the column that "
                "all have; where a release has no ids, leave it out."
            )
        keyed = [_by_id(frame, record) for frame in frames]
        by: tuple[str, ...] = ()
    else:
        by = _unmasked(tables, truths, disclosures, codebook)
        if not by:
            raise DataError(
                "Nothing tells the releases' people apart: they have no record ids in common, and no column that all "
                "files have was left as it was. Name the column with the record's id."
            )
        keyed = [_by_values(frame, by) for frame in frames]
    n = len(tables)
    return Told(tuple(keyed[:n]), tuple(keyed[n:]), tuple(disclosures), codebook, by)


def _by_id(frame: pl.DataFrame, record: str) -> pl.DataFrame:
    key = written(frame[record])
    if key.null_count() or key.n_unique() < key.len():
        raise DataError(
            f"The record column {record!r} has missing ids or holds one more than once, in a release or in a file of "
            "true values. Every record needs its own."
        )
    return frame.with_columns(key.alias(KEY))


def _by_values(frame: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Keys of values in unmasked columns; of people who are alike in them none has one."""
    texts = pl.DataFrame([written(frame[n]).fill_null("") for n in by])
    key = texts.select(pl.concat_str(by, separator=_APART).alias(KEY))
    alone = key.select(pl.when(pl.col(KEY).is_unique()).then(KEY)).to_series()
    return frame.with_columns(alone.alias(KEY))


def _unmasked(
    tables: Sequence[pl.DataFrame],
    truths: Sequence[pl.DataFrame],
    disclosures: Sequence[Disclosure],
    codebook: Codebook,
) -> tuple[str, ...]:
    """Columns that all have and that leave as they are."""
    first, *others = (*tables, *truths)
    common = [n for n in first.columns if all(n in t.columns for t in others)]
    said = {n for told in disclosures for part in told for n in part.columns}
    free = [n for n in common if n not in said and not (n in codebook and codebook[n].role == Role.WEIGHT)]
    return tuple(n for n in free if all(_among(a[n], b[n]) for a, b in zip(tables, truths, strict=True)))


def _among(released: pl.Series, true: pl.Series) -> bool:
    return bool(written(released).drop_nulls().is_in(written(true).drop_nulls().unique().implode()).all())
