"""Open releases for analysis: data, codebook and disclosure together, of one release or of several joined by id."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import COPY, Disclosed, Disclosure
from sfumato.data.files import read_written
from sfumato.data.files.table import opening
from sfumato.data.roles import IDS, Role
from sfumato.draws import written
from sfumato.errors import DataError
from sfumato.release.package.datapackage import field_type
from sfumato.release.package.papers import Papers, read_papers, refuse_missing_parts

__all__ = ["Opened", "open_releases", "scan_parts"]


@dataclass(frozen=True)
class Opened:
    """What an analysis of releases starts from.

    Parameters
    ----------
    frame
        The released data.
    codebook
        What is known about the variables.
    disclosure
        What was done to them.
    complete
        Whether that is all that was done to them, as papers of a release tell it.
    """

    frame: pl.DataFrame
    codebook: Codebook
    disclosure: Disclosure
    complete: bool = False


def open_releases(folders: Sequence[Path], table: str | None = None, columns: Collection[str] | None = None) -> Opened:
    """Open release folders; several are joined on their record id, and people that all have stay.

    Parameters
    ----------
    folders
        What `protect` wrote, one or more.
    table
        Of releases of several tables, which one of each.
    columns
        The columns that are needed; of a release in parts no others are read but those that its disclosure needs.

    Raises
    ------
    FileError
        Where a folder is no release.
    DataError
        Where data are not those that their papers describe, or releases cannot be joined.

    Notes
    -----
    Releases of the same variable under different strengths are refused: leave the variable out of all but one.
    """
    first, *others = [_opened(Path(folder), table, columns) for folder in folders]
    if others and any(each.disclosure.synthetic for each in (first, *others)):
        raise DataError("Synthetic copies are fitted by themselves: they cannot be joined with another release.")
    for other in others:
        first = _joined(first, other)
    return first


def _opened(folder: Path, table_name: str | None, columns: Collection[str] | None) -> Opened:
    papers = read_papers(folder, table_name)
    if papers.parts:
        frame, known = _of_parts(papers, columns), Codebook()
    else:
        table = read_written(papers.data, papers.dialect)
        _refuse_other_schema(papers, table.frame.schema)
        frame, known = table.frame, table.codebook
    book = Codebook({**known, **papers.codebook}).only(frame.columns)
    return Opened(frame, book, papers.disclosure, True)


def _of_parts(papers: Papers, columns: Collection[str] | None) -> pl.DataFrame:
    """Of a release in parts the columns that are needed, all of them where nobody said which."""
    refuse_missing_parts(papers)
    rows = scan_parts(papers)
    schema = rows.collect_schema()
    _refuse_other_schema(papers, schema)
    needed = set(schema) if columns is None else {*columns, *_by_disclosure(papers)}
    with opening(papers.data, "Parquet"):
        return rows.select(n for n in schema if n in needed).collect(engine="streaming")


def scan_parts(papers: Papers) -> pl.LazyFrame:
    """The parts of a release, not yet read.

    Raises
    ------
    FileError
        Where one is damaged.
    """
    with opening(papers.data, "Parquet"):
        rows = pl.scan_parquet(list(papers.parts), glob=False, hive_partitioning=False)
        rows.collect_schema()
    return rows


def _by_disclosure(papers: Papers) -> set[str]:
    """Columns without which what is disclosed of others says nothing: strata, weights, copies, ids."""
    roles = papers.codebook.with_role(*IDS, Role.WEIGHT)
    strata = [n for part in papers.disclosure for n in (*getattr(part, "by", ()), *getattr(part, "where", {}))]
    return {COPY, *roles, *strata}


def _refuse_other_schema(papers: Papers, schema: Mapping[str, pl.DataType]) -> None:
    """Refuse data whose columns or types are not those that the papers describe: the disclosure is not theirs."""
    found = {n: field_type(dtype) for n, dtype in schema.items()}
    other = [n for n in {**papers.types, **found} if not _alike(papers.types.get(n), found.get(n))]
    if other:
        raise DataError(
            f"{papers.data.name} is not the file that its datapackage.json describes: it differs in "
            f"{', '.join(map(repr, sorted(other)))}. Analyse the release as it was handed over."
        )


def _alike(told: str | None, found: str | None) -> bool:
    """Whether a type read back is the one told: whole floats come back as integers, and files without yes/no as 0/1."""
    if told is None or found is None:
        return False
    numbers = {"integer", "number", "boolean"}
    return told == found or {told, found} <= numbers or ("string" in (told, found) and told not in numbers)


def _joined(a: Opened, b: Opened) -> Opened:
    record = a.codebook.the(Role.RECORD)
    if record is None or b.codebook.the(Role.RECORD) != record:
        raise DataError("Releases are joined on their record id: each needs the same column with role record.")
    if a.frame.schema[record] != b.frame.schema[record]:  # ids that are equal are equal whatever their types
        a, b = (replace(each, frame=each.frame.with_columns(written(each.frame[record]))) for each in (a, b))
    common = [n for n in b.frame.columns if n != record and n in a.frame.columns]
    both = a.frame.join(b.frame.select(record, *common), on=record, how="inner", suffix="\0again")
    if not both.height:
        raise DataError(f"No id of {record!r} stands in both releases. Are they of the same people?")
    unlike = [n for n in common if not both[n].equals(both[f"{n}\0again"])]
    if unlike:
        raise DataError(
            f"Column {', '.join(map(repr, unlike))} differs between the releases. Leave it out of all but one."
        )
    frame = a.frame.join(b.frame.drop(common), on=record, how="inner", maintain_order="left")
    told: list[Disclosed] = [*a.disclosure, *(p for p in b.disclosure if p not in a.disclosure.parts)]
    return Opened(frame, Codebook({**b.codebook, **a.codebook}).only(frame.columns), Disclosure(told), True)
