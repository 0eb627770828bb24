"""Rows of a run that are not in memory, brought there to be looked at one by one: all of a small table, or a sample."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.hidden import HIDDEN, ROW, VIEW, WAS, leaving
from sfumato.data.query import COUNT, Counts, Folded
from sfumato.data.roles import Role
from sfumato.draws import PUBLIC, Purpose, public_places, sortable, units, units_of, written
from sfumato.engines.polars import PolarsDataset
from sfumato.release.parted.run import PartedRun
from sfumato.release.run import Ran

__all__ = ["sample_of", "strata_of", "true_id", "whole_of"]

_WORD, _UNIT = f"{HIDDEN}sample:word", f"{HIDDEN}sample:unit"
_STRATA = Purpose("measured strata")
_SPARE = 1.2
"""Records that are kept of each batch, beside those that are needed in the mean: that too few are is all but never."""


def whole_of(ran: PartedRun) -> Ran[PolarsDataset] | None:
    """The run as one in memory leaves it behind, of a small table; None where records cannot be told by their ids.

    Parameters
    ----------
    ran
        What a run left behind; of few records.
    """
    told = ran.disclosure.synthetic
    given, before = (_collected(each) for each in (ran.given, ran.before))
    after = _collected(ran.after)
    nobodys = told is not None and told.kind == "full"
    if nobodys:
        return _run(ran, _numbered(given), _numbered(before), _numbered(after.select(leaving(ran.after.codebook))), {})
    true = true_id(ran)
    record = ran.before.codebook.the(Role.RECORD)
    if true is None or record is None or record not in before.columns:
        return None
    rows = before.select(record).sort(record).unique(maintain_order=True).with_row_index(ROW)
    after = after.join(rows, left_on=true, right_on=record, how="inner", validate="m:1")
    before = before.join(rows, on=record, how="inner", validate="m:1")
    return _run(ran, _numbered(given), *_in_order(ran, before, after))


def sample_of(ran: PartedRun, most: int) -> Ran[PolarsDataset] | None:
    """A sample of a run's records as one in memory leaves them behind; None where they cannot be told by their ids.

    They are those with the smallest public draws of their ids: the same on every engine and in any order of rows.
    `given` is as `before`; records that steps left out are in none of the tables.

    Parameters
    ----------
    ran
        What a run left behind.
    most
        How many records.
    """
    true = true_id(ran)
    if true is None or ran.disclosure.synthetic is not None:
        return None
    n = int(ran.after.ask(Counts(())).item(0, COUNT))
    after = _smallest(ran.after, true, most, min(1.0, _SPARE * most / n))
    if after.height < min(most, n):
        after = _smallest(ran.after, true, most, 1.0)
    return _beside(ran, after.drop(_WORD, _UNIT), true)


def strata_of(ran: PartedRun, by: Sequence[str], most: int) -> Ran[PolarsDataset] | None:
    """A sample of whole strata: whoever looks for a record in its stratum finds as often there as among all.

    They are those with the smallest public draws of their labels, as many as have `most` records together; one that is
    larger by itself is passed over.

    Parameters
    ----------
    ran
        What a run left behind.
    by
        Columns of the strata, as they are released.
    most
        How many records.

    Returns
    -------
    Ran or None
        None where there are no strata, all are too large, or records cannot be told by their ids.

    Raises
    ------
    TooManyGroups
        Where there are more strata than can be held.
    """
    true = true_id(ran)
    if true is None or not by or ran.disclosure.synthetic is not None:
        return None
    sizes = ran.after.ask(Counts(tuple(by))).filter(pl.col(COUNT) <= most)
    words = PUBLIC.words(units(_labels(sizes, by)), _STRATA)[:, 0]
    drawn = sizes.with_columns(pl.Series(_WORD, sortable(words))).sort(_WORD, *by)
    chosen = drawn.filter(pl.col(COUNT).cum_sum() <= most).select(by)
    if chosen.is_empty():
        return None

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return batch.join(chosen, on=list(by), how="semi", nulls_equal=True)

    return _beside(ran, ran.after.ask(Folded(tuple(ran.after.schema), f, lambda frames: frames)), true)


def _labels(strata: pl.DataFrame, by: Sequence[str]) -> pl.Series:
    """A text for each stratum, the same on every engine; a missing value is unlike any text."""
    texts = [written(strata[n]).alias(str(i)) for i, n in enumerate(by)]
    lengths = [pl.col(t.name).str.len_chars().cast(pl.String) for t in texts]
    parts = [pl.concat_str(n, pl.lit(":"), t.name).fill_null("-") for n, t in zip(lengths, texts, strict=True)]
    return pl.DataFrame(texts).select(pl.concat_str(parts, separator=",").alias("label")).to_series()


def _beside(ran: PartedRun, after: pl.DataFrame, true: str) -> Ran[PolarsDataset]:
    """Records of the result with what they were, as a run in memory has them, in the order of their ids."""
    after = after.sort(true).with_row_index(ROW)
    names = [n for n in ran.before.schema if f"{WAS}{n}" in after.columns or n in after.columns]
    was = [(pl.col(f"{WAS}{n}") if f"{WAS}{n}" in after.columns else pl.col(n)).alias(n) for n in names]
    before = after.select(ROW, *was)
    return _run(ran, before, *_in_order(ran, before, after))


def true_id(ran: PartedRun) -> str | None:
    """The column of the result that holds the id which a record had before it was masked."""
    record = ran.before.codebook.the(Role.RECORD)
    if record is None:
        return None
    return next((n for n in (f"{WAS}{record}", record) if n in ran.after.schema), None)


def _collected(data: Parted) -> pl.DataFrame:
    return pl.concat(list(data.batches()))


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_row_index(ROW)


def _in_order(
    ran: PartedRun, before: pl.DataFrame, after: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:
    """Both tables in the order of the records' numbers, and what an attacker could compute, by name."""
    after = after.sort(ROW, maintain_order=True)
    views: dict[str, dict[str, str]] = {}
    for n in after.columns:
        if n.startswith(VIEW):
            view, _, column = n.removeprefix(VIEW).partition(":")
            views.setdefault(view, {})[n] = column
    found = {view: after.select(ROW, *names).rename(names) for view, names in views.items()}
    return before.sort(ROW), after.select(ROW, *leaving(ran.after.codebook)), found


def _run(
    ran: PartedRun, given: pl.DataFrame, before: pl.DataFrame, after: pl.DataFrame, views: dict[str, pl.DataFrame]
) -> Ran[PolarsDataset]:
    def of(frame: pl.DataFrame, book: Codebook) -> PolarsDataset:
        return PolarsDataset(frame, _known(book, frame.columns))

    return Ran(
        of(given, Codebook({**ran.before.codebook, **ran.given.codebook})),
        of(before, ran.before.codebook),
        of(after, ran.after.codebook),
        ran.steps,
        ran.disclosure,
        views,
        ran.suppression,
    )


def _known(book: Codebook, columns: Sequence[str]) -> Codebook:
    return book.only([n for n in columns if n in book])


def _smallest(data: Parted, record: str, most: int, share: float) -> pl.DataFrame:
    """The records with the smallest draws, among those whose draws are in the lowest share of all draws."""
    below = min(int(share * 2**64) - 2**63, 2**63 - 1)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        unit = units_of(batch[record])
        places = (pl.Series(_WORD, public_places(batch[record])), pl.Series(_UNIT, sortable(unit)))
        return least(batch.with_columns(*places).filter(pl.col(_WORD) <= below))

    def least(frames: pl.DataFrame) -> pl.DataFrame:
        return frames if frames.height <= most else frames.sort(_WORD, _UNIT).head(most)

    return data.ask(Folded(tuple(data.schema), f, least))
