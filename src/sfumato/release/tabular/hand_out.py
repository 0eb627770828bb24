"""Hand a table of totals out: one file, or a folder with papers. Every command writes its tables through here."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path

import polars as pl

from sfumato.data.files.atomic import refuse_link
from sfumato.data.files.jj import is_jj
from sfumato.data.files.tables import cells_text, write_cells
from sfumato.errors import DataError, FileError
from sfumato.release.package.datapackage import datapackage
from sfumato.release.package.folder import refuse_existing, whole_folder
from sfumato.release.package.papers import PACKAGE, read_package
from sfumato.release.tabular.package import DATA, MORE, WHOSE, TableResource
from sfumato.report.tabular.papers import TablePapers
from sfumato.tables.settle import internal
from sfumato.tables.table import (
    CELL_KEY,
    CONTRIBUTORS,
    HIDDEN,
    LARGEST,
    LOWER_LEVEL,
    OWN,
    PROVED,
    SECOND,
    STATUS,
    UPPER_LEVEL,
    Table,
)
from sfumato.tables.whose import lines

__all__ = ["TableRenderer", "hand_out", "is_table_file", "refuse_out"]

TableRenderer = Callable[[Table, TablePapers], Mapping[str, bytes]]
"""Makes the documents of a folder: what they are called, and what is in them."""

_CONFIDENTIAL = (CONTRIBUTORS, LARGEST, SECOND, LOWER_LEVEL, UPPER_LEVEL, CELL_KEY, PROVED)
_OTHER_FILES = {".txt", ".tsv", ".parquet", ".xlsx", ".xls", ".sav", ".dta", ".xpt", ".json", ".hst", ".hrc", ".jj"}


def is_table_file(path: Path) -> bool:
    """Whether a table goes into one file of this name; else the name is a folder's.

    Examples
    --------
    >>> is_table_file(Path("protected.csv")), is_table_file(Path("release"))
    (True, False)
    """
    return path.suffix.lower() == ".csv"


def refuse_out(
    out: Path | None,
    *inputs: Path | None,
    overwrite: bool = False,
    internal: bool = False,
    numbered: bool = False,
) -> None:
    """Refuse a place to write to, before any work is done in vain.

    Parameters
    ----------
    out
        Where a table is to go.
    inputs
        What is read, and what else is written.
    overwrite
        Whether a folder that is there may be replaced.
    internal
        Whether the table shows what must not leave.
    numbered
        Whether a file of cells by number (.jj) may be written.

    Raises
    ------
    FileError
        A link, a place within a folder that is read or a release, the name of a file of another kind.
    ReleaseExists
        A folder that is there.
    """
    if out is None:
        return
    refuse_link(out)
    place = out.resolve()
    for path in (p.resolve() for p in inputs if p is not None):
        if path == place or (not is_table_file(out) and path.is_relative_to(place)) or place.is_relative_to(path):
            raise FileError(f"{str(out)!r} is, or holds, what this command reads or writes. Choose another path.")
    if internal and any(_is_a_release(folder) for folder in (place, *place.parents)):
        raise FileError("The internal table shows hidden values: it must not be in a release folder.")
    if is_table_file(out):
        if out.is_dir():
            raise FileError(f"{str(out)!r} is a folder; a name that ends in .csv is a file's. Choose another name.")
        return
    if numbered and is_jj(out):
        if out.is_dir():
            raise FileError(f"{str(out)!r} is a folder; a name that ends in .jj is a file's. Choose another name.")
        return
    if out.suffix.lower() in _OTHER_FILES:
        raise FileError(f"Tables are written as .csv, or as a folder (a name without {out.suffix}).")
    refuse_existing(out, overwrite)


def _is_a_release(folder: Path) -> bool:
    """Whether a folder is handed out: it has papers, and they do not say that it is the custodian's."""
    if not (folder / PACKAGE).exists():
        return False
    try:
        return not read_package(folder / PACKAGE)["sfumato"]["table"]["internal"]
    except (FileError, KeyError, TypeError):
        return True


def hand_out(
    table: Table, out: Path, papers: TablePapers, *, overwrite: bool = False, renderer: TableRenderer | None = None
) -> None:
    """Write a table as one file where the name is a table file's (.csv), else as a folder with its papers.

    Parameters
    ----------
    table
        What leaves. Only columns of table files are written; a folder of the custodian's holds what else is known of
        the cells, and whose the contributions are, in files beside.
    out
        Where to. A file is replaced as a whole, a folder is there whole or not at all.
    papers
        What is told beside it; a single file has none.
    overwrite
        Whether a folder that is there may be replaced.
    renderer
        Draws the page; without it a folder has none.

    Raises
    ------
    DataError
        Where a table that is not said to be internal shows contributions or levels, or the value of a hidden cell.
    FileError, ReleaseExists
        Where nothing can be written there.
    """
    refuse_out(out, overwrite=overwrite, internal=papers.internal)
    if not papers.internal:
        _refuse_confidential(table)
    cells = internal(table)
    if is_table_file(out):
        write_cells(cells, out)
        return
    content = cells_text(cells).encode()
    beside = _beside(table) if papers.internal else {}
    resource = TableResource(table, tuple(cells.columns), content, papers, beside)
    package = datapackage(
        [resource],
        title=papers.title,
        description=None,
        created=datetime.date.today().isoformat(),
        version=version("sfumato"),
        fingerprint=table.origin.fingerprint,
        plan_digest=table.origin.plan,
    )
    documents = {DATA: content, PACKAGE: package, **beside}
    if renderer is not None:
        documents |= renderer(table, papers)
    with whole_folder(out, overwrite=overwrite) as work:
        for name, document in documents.items():
            (work / name).write_bytes(document)


def _refuse_confidential(table: Table) -> None:
    """Refuse to hand out what only the custodian may see."""
    if shown := [n for n in _CONFIDENTIAL if n in table.cells.columns]:
        raise DataError(f"A table with {', '.join(map(repr, shown))} is the custodian's, so it is not handed out.")
    if STATUS in table.cells.columns:
        told = table.cells.filter(pl.col(STATUS).is_in(list(HIDDEN)) & pl.col(table.value).is_not_null())
        if told.height:
            raise DataError("The table shows the value of a hidden cell, so it is not handed out.")


def _beside(table: Table) -> dict[str, bytes]:
    """What is known of the cells beside the columns of table files, and whose contributions are in them."""
    own = [n for n in table.cells.columns if n.startswith(OWN)]
    held = lines(table)
    more = {} if not own else {MORE: cells_text(table.cells.select(*table.variables, *own)).encode()}
    return more if held is None else more | {WHOSE: cells_text(held).encode()}
