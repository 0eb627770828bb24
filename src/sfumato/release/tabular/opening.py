"""Read a table of totals again, from a folder with papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from sfumato.data.disclosure import Disclosure
from sfumato.data.files.tables import read_cells
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError, FileError
from sfumato.release.package.papers import NOT_OURS, PACKAGE, read_package
from sfumato.release.tabular.package import DATA, MORE, WHOSE, digest
from sfumato.tables.reader import Reader
from sfumato.tables.table import OWN, RESERVED, STATUS, Origin, Released, Table
from sfumato.tables.whose import FIGURES, with_lines

__all__ = ["folder_of", "open_table_folder"]


def folder_of(path: Path) -> Path | None:
    """The folder with papers that a path names: itself, by its `datapackage.json`, or by its data file; else None.

    Examples
    --------
    >>> folder_of(Path("protected.csv"))
    """
    if path.is_dir():
        return path
    if path.name == PACKAGE:
        return path.parent
    if path.name == DATA and (path.parent / PACKAGE).is_file():
        try:
            return path.parent if "table" in read_package(path.parent / PACKAGE)["sfumato"] else None
        except FileError:
            return None
    return None


def open_table_folder(
    folder: Path, value: str | None = None, hierarchies: Mapping[str, Sequence[Hierarchy]] | None = None
) -> Table:
    """Open a folder that holds a table of totals.

    Parameters
    ----------
    folder
        The folder.
    value
        The value's column, where it must be a certain one; the papers know it.
    hierarchies
        Trees that go before those of the papers; those of other variables are left aside.

    Raises
    ------
    FileError
        A folder of another kind, or one that was changed after it was written.
    DataError
        A value's column that the table does not have, or a tree that does not list its codes.
    """
    package = read_package(folder / PACKAGE)
    told = package["sfumato"].get("table")
    if told is None:
        raise FileError(f"{str(folder)!r} is a release of records, not of a table of totals. Build one from its data.")
    try:
        resource = package["resources"][0]
        fields = [str(field["name"]) for field in resource["schema"]["fields"]]
        named, own = str(told["value"]), told["hierarchies"]
        trees = {str(n): tuple(Hierarchy.parents(tree) for tree in given) for n, given in own.items()}
        run = package["sfumato"]
        disclosed = Disclosure.from_plain(told.get("disclosure", []))
        records = told.get("records", {})
        origin = Origin(
            disclosed, run.get("plan"), run.get("fingerprint"), "weighted" in records, "negative" in records
        )
        known = None if told.get("reader") is None else Reader.of(told["reader"])
        rule = told.get("rules") if told["internal"] else None  # the others' lacks its parameters
        released = Released(_number(told.get("tolerance")), known, rule)
        files = {MORE: told.get("more"), WHOSE: told.get("contributors")}
        hashes = {DATA: resource["hash"]} | {path: file["hash"] for path, file in files.items() if file is not None}
        if set(trees) != {n for n in fields if n != named and n not in RESERVED} or named not in fields:
            raise ValueError(fields)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, DataError):
        raise FileError(NOT_OURS.format(path=str(folder / PACKAGE))) from None
    for name, known in hashes.items():
        _refuse_changed(folder / name, known)
    if value is not None and value != named:
        raise DataError(f"The table in {str(folder)!r} holds {named!r}, not {value!r}.")
    frame = read_cells(folder / DATA, named, [n for n in RESERVED if n != STATUS], delimiter=",")
    if frame.columns != fields:
        raise FileError(NOT_OURS.format(path=str(folder / PACKAGE)))
    if MORE in hashes:
        frame = _with_more(frame, folder / MORE, list(trees))
    given = {n: tuple(tree) for n, tree in (hierarchies or {}).items() if n in trees}
    table = replace(Table.of(frame, named, trees | given), origin=origin, released=released)
    return with_lines(table, read_cells(folder / WHOSE, "", FIGURES, delimiter=",")) if WHOSE in hashes else table


def _number(told: object) -> float | None:
    return None if told is None else float(str(told))


def _refuse_changed(path: Path, known: object) -> None:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    if digest(content) != known:
        raise FileError(
            f"{str(path)!r} is not the file that its {PACKAGE} describes: it was changed. Take the folder as it was "
            "handed out; a copy of the file by another name is read without its papers."
        )


def _with_more(frame: pl.DataFrame, path: Path, variables: Sequence[str]) -> pl.DataFrame:
    """The cells with what the file beside knows of them."""
    figures = [n for n in path.read_text(encoding="utf-8").partition("\n")[0].split(",") if n.startswith(OWN)]
    further = read_cells(path, "", figures, delimiter=",").select(*variables, *figures)
    return frame.join(further, on=list(variables), how="left", maintain_order="left")
