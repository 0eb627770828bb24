"""What an Excel sheet holds, told from its XML before anything is loaded: where its cells are, and which are merged.

The library that reads a sheet makes room for every cell between the first and the last, empty ones too, so one cell far
away from the table would take all memory.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers import expat

from sfumato.errors import FileError

__all__ = ["Extent", "extent_of", "letters", "refuse_far_cells"]

_CHUNK = 1 << 20
_MOST_TAG = 1 << 24
_MOST_LIST = 1 << 24
_ROOM = 2_000_000
"""Cells, empty ones too, for which there is always room."""
_SPARSE = 20
"""Beyond that, one cell in so many must be filled."""
_PREFIX = rb"<(?:[A-Za-z_][\w.-]*:)?"
_CELL = re.compile(_PREFIX + rb"c(?:\s[^>]*[^/>])?>\s*<(?!/)")
_PLACED = re.compile(_PREFIX + rb'c\s(?:[^>]*\s)?r="([A-Z]{1,3})([0-9]{1,7})"(?:[^>]*[^/>])?>\s*<(?!/)')
_MERGED = re.compile(_PREFIX + rb'mergeCell\s(?:[^>]*\s)?ref="([A-Z]{1,3})([0-9]{1,7}):([A-Z]{1,3})([0-9]{1,7})"')

Range = tuple[int, int, int, int]
"""First row, first column, last row, last column, from 1."""


@dataclass(frozen=True)
class Extent:
    """Where the cells of a sheet are.

    Parameters
    ----------
    box
        The smallest range that holds all filled cells; None where there are none.
    cells
        How many cells are filled.
    merged
        Ranges of merged cells.
    """

    box: Range | None
    cells: int
    merged: tuple[Range, ...] = ()


def letters(column: int) -> str:
    """Give the letters of a column, numbered from 1.

    Examples
    --------
    >>> letters(2), letters(16_384)
    ('B', 'XFD')
    """
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text


def _number(text: bytes) -> int:
    value = 0
    for letter in text:
        value = 26 * value + letter - 64
    return value


def refuse_far_cells(extent: Extent, path: Path, sheet: str) -> None:
    """Refuse a sheet whose cells are so far apart that what is between them would take all memory.

    Raises
    ------
    FileError
        Names the last cell.
    """
    if extent.box is None:
        return
    top, left, bottom, right = extent.box
    if (bottom - top + 1) * (right - left + 1) <= max(_ROOM, _SPARSE * extent.cells):
        return
    raise FileError(
        f"Sheet {sheet!r} of {str(path)!r} reaches to cell {letters(right)}{bottom} although nearly all cells before "
        "it are empty. Delete the cells that are far away from the table, or save the table as .csv."
    )


def extent_of(path: Path, sheet: str) -> Extent:
    """Scan a sheet's XML in pieces.

    Parameters
    ----------
    path
        The workbook.
    sheet
        Name of the sheet.

    Raises
    ------
    ValueError, KeyError
        A damaged workbook.
    """
    with zipfile.ZipFile(path) as archive:
        part = _part(archive, sheet)
        found = _scanned(archive, part)
        return found if found is not None else _parsed(archive, part)


def _part(archive: zipfile.ZipFile, sheet: str) -> str:
    """Give the name of the file within the workbook that holds a sheet."""
    relations = {r.get("Id"): r.get("Target") for r in _xml(archive, "xl/_rels/workbook.xml.rels").iter()}
    for element in _xml(archive, "xl/workbook.xml").iter():
        if element.tag.rpartition("}")[2] == "sheet" and element.get("name") == sheet:
            key = next((v for k, v in element.attrib.items() if k.rpartition("}")[2] == "id"), None)
            target = relations[key] or ""
            wanted = posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
            return next(name for name in archive.namelist() if name.lower() == wanted.lower())
    raise KeyError(sheet)


def _xml(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    part = next(n for n in archive.namelist() if n.lower() == name)
    with archive.open(part) as file:
        text = file.read(_MOST_LIST + 1)
    if len(text) > _MOST_LIST or b"<!DOCTYPE" in text:
        raise ValueError
    return ElementTree.fromstring(text)


def _pieces(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """The text of a part, cut before closing tags, so that no opening tag is cut."""
    rest = b""
    with archive.open(part) as file:
        while chunk := file.read(_CHUNK):
            rest += chunk
            cut = rest.rfind(b"</")
            if cut > 0:
                yield rest[:cut]
                rest = rest[cut:]
            if len(rest) > _MOST_TAG:
                raise ValueError
    yield rest


def _scanned(archive: zipfile.ZipFile, part: str) -> Extent | None:
    """Find the cells by regular expressions; None where some do not say plainly where they are."""
    rows: list[int] = []
    columns: set[bytes] = set()
    merged: list[Range] = []
    cells = 0
    for piece in _pieces(archive, part):
        placed = _PLACED.findall(piece)
        if len(placed) != len(_CELL.findall(piece)) or b"\0" in piece[:100]:
            return None
        merged += [(int(b), _number(a), int(d), _number(c)) for a, b, c, d in _MERGED.findall(piece)]
        if placed:
            numbers = [int(row) for _, row in placed]
            rows += [min(numbers), max(numbers)]
            columns |= {column for column, _ in placed}
            cells += len(placed)
    if not cells:
        return Extent(None, 0, tuple(merged))
    numbers = [_number(column) for column in columns]
    return Extent((min(rows), min(numbers), max(rows), max(numbers)), cells, tuple(merged))


class _Cells:
    """Follows the cells of a sheet, also those that stand without their place behind the one before."""

    def __init__(self) -> None:
        self.row = self.column = self.cells = 0
        self.box: Range | None = None
        self.merged: list[Range] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take note of an opening tag."""
        name = tag.rpartition(":")[2]
        if name == "row":
            self.row, self.column = int(attributes.get("r", self.row + 1)), 0
        elif name == "c":
            self.column += 1
            if place := re.fullmatch(r"([A-Z]{1,3})([0-9]{1,7})", attributes.get("r", "")):
                self.column, self.row = _number(place[1].encode()), int(place[2])
        elif name in ("v", "is", "f"):
            self._filled()
        elif name == "mergeCell" and (ends := _MERGED.match(f'<mergeCell ref="{attributes.get("ref")}"'.encode())):
            a, b, c, d = ends.groups()
            self.merged.append((int(b), _number(a), int(d), _number(c)))

    def _filled(self) -> None:
        self.cells += 1
        top, left, bottom, right = self.box or (self.row, self.column, self.row, self.column)
        self.box = (min(top, self.row), min(left, self.column), max(bottom, self.row), max(right, self.column))


def _parsed(archive: zipfile.ZipFile, part: str) -> Extent:
    """Find the cells by parsing, which is slower and follows all that XML allows."""
    found = _Cells()
    parser = expat.ParserCreate()
    parser.StartElementHandler = found.start
    with archive.open(part) as file:
        try:
            parser.ParseFile(file)
        except expat.ExpatError:
            raise ValueError from None
    return Extent(found.box, found.cells, tuple(found.merged))
