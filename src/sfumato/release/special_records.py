"""The list of the records that stand out, for the custodian alone."""

from __future__ import annotations

from pathlib import Path

from sfumato.data.codebook import Codebook
from sfumato.data.files.atomic import refuse_link
from sfumato.data.files.csv import write_csv
from sfumato.data.files.table import Table
from sfumato.errors import DataError, FileError
from sfumato.measures.measuring import Searching
from sfumato.measures.risk.special_uniques import special_records
from sfumato.measures.subject import KEYS, Subject
from sfumato.release.pairing import refuse_unknown

__all__ = ["refuse_place", "write_special_records"]

NO_KEYS = "There are no keys to list special uniques by. Name columns that an intruder may know with --keys."


def refuse_place(path: Path) -> None:
    """Refuse a path in a release folder, a link, and a folder that is not there, before any work is done in vain.

    Raises
    ------
    FileError
        Says which.
    """
    refuse_link(path)
    if (path.parent / "datapackage.json").exists():
        raise FileError("The list of special records points at people: it must not be in a release folder.")
    if not path.parent.is_dir():
        raise FileError(f"The folder of {str(path)!r} does not exist. Make it first.")


def write_special_records(subject: Subject, path: Path, record: str | None = None) -> None:
    """Write the records that are alone by few of their keys, whole or not at all.

    Parameters
    ----------
    subject
        The one table, with keys.
    path
        CSV file: `record`, `score`, `dis`, `keys`, the highest score first.
    record
        Column with the record's id; without it rows are numbered from 1 on.

    Raises
    ------
    DataError
        Without keys, or where there is no such column.
    FileError
        Where the file cannot be written.
    """
    by = next((c.by for c in subject.classes if c.group == KEYS), None)
    if by is None:
        raise DataError(NO_KEYS)
    if record is not None:
        refuse_unknown([record], subject.released, "the data")
    how = subject.how.special or Searching()
    listed = special_records(
        subject.after,
        subject.released,
        by,
        record,
        max_size=how.max_size,
        score=how.score,
        fraction=subject.how.fraction,
        missing=subject.how.missing,
    )
    write_csv(Table(listed, Codebook(), ".csv"), path)
