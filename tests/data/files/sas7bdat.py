"""A minimal writer of SAS data sets (32-bit, little-endian, uncompressed), as no library has one.

After M. Shotwell, "SAS7BDAT Database Binary Format" (2013), https://cran.r-project.org/package=sas7bdat. Only what the
tests need: doubles with special missing values, short text, labels and formats.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096
HEADER = 1024


@dataclass
class Column:
    name: str
    cells: Sequence[float | str | None]
    width: int = 8
    label: str = ""
    format: str = ""
    format_width: int = 0
    text: bool = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.width != 8

    def bytes(self, i: int) -> bytes:
        cell = self.cells[i]
        if self.text:
            return str(cell or "").encode().ljust(self.width)
        if cell is None or isinstance(cell, str):  # A missing value is a NaN whose third byte tells which.
            tag = {None: 1, "_": 0}.get(cell, ord(cell or "A") - ord("A") + 2)
            return bytes([0, 0, 0, 0, 0, ~tag & 0xFF, 0xFF, 0xFF])
        assert not math.isnan(cell)
        return struct.pack("<d", cell)


def write(path: Path, columns: Sequence[Column]) -> None:
    rows, width = len(columns[0].cells), sum(c.width for c in columns)
    texts = b"\0" * 8  # Offsets count from behind the signature; the subheader begins with its length.
    places: dict[str, tuple[int, int, int]] = {"": (0, 0, 0)}
    for text in [t for c in columns for t in (c.name, c.label, c.format) if t]:
        places[text] = (0, len(texts), len(text.encode()))
        texts += text.encode().ljust((len(text.encode()) + 3) // 4 * 4, b"\0")
    page_rows = (PAGE - 24) // width
    subheaders = [
        _row_size(rows, width),
        struct.pack("<II", 0xF6F6F6F6, len(columns)) + bytes(4),
        struct.pack("<IH", 0xFFFFFFFD, len(texts) - 8) + texts[2:],
        _listed(0xFFFFFFFF, b"".join(struct.pack("<HHHH", *places[c.name], 0) for c in columns)),
        _listed(0xFFFFFFFC, _attributes(columns)),
        *(_format(places[c.format], places[c.label], c.format_width) for c in columns),
    ]
    pages = [_meta(subheaders)]
    for start in range(0, rows, page_rows):
        cells = b"".join(c.bytes(i) for i in range(start, min(start + page_rows, rows)) for c in columns)
        count = min(page_rows, rows - start)
        pages.append((bytes(16) + struct.pack("<HHHH", 0x0100, count, 0, 0) + cells).ljust(PAGE, b"\0"))
    path.write_bytes(_header(len(pages)) + b"".join(pages))


def _header(pages: int) -> bytes:
    magic = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    start = magic + b"\x22\0\0\x22\0\x01\0" + b"1" + bytes(30) + b"\x14" + bytes(13)  # 0x14: UTF-8
    start += b"SAS FILE" + b"TEST".ljust(32) + bytes(32) + b"DATA    "
    end = struct.pack("<ddddIII", 1e9, 1e9, 0, 0, HEADER, PAGE, pages) + bytes(8)
    return (start + end + b"9.0401M1" + b"Linux".ljust(16) + bytes(96)).ljust(HEADER, b"\0")


def _row_size(rows: int, width: int) -> bytes:
    body = bytearray(480)
    struct.pack_into("<I", body, 0, 0xF7F7F7F7)
    struct.pack_into("<II", body, 20, width, rows)
    return bytes(body)


def _listed(signature: int, entries: bytes) -> bytes:
    return struct.pack("<IH", signature, len(entries) + 8) + bytes(6) + entries + bytes(8)


def _attributes(columns: Sequence[Column]) -> bytes:
    entries, offset = b"", 0
    for c in columns:
        entries += struct.pack("<IIHBB", offset, c.width, 4, 2 if c.text else 1, 0)
        offset += c.width
    return entries


def _format(form: tuple[int, int, int], label: tuple[int, int, int], width: int) -> bytes:
    body = bytearray(52)
    struct.pack_into("<I", body, 0, 0xFFFFFBFE)
    struct.pack_into("<H", body, 12, width)
    struct.pack_into("<HHH", body, 34, *form)
    struct.pack_into("<HHH", body, 40, *label)
    return bytes(body)


def _meta(subheaders: Sequence[bytes]) -> bytes:
    page = bytearray(PAGE)
    struct.pack_into("<HHHH", page, 16, 0, len(subheaders), len(subheaders), 0)
    end = PAGE
    for i, subheader in enumerate(subheaders):
        end = (end - len(subheader)) // 4 * 4
        page[end : end + len(subheader)] = subheader
        struct.pack_into("<II", page, 24 + 12 * i, end, len(subheader))
    return bytes(page)
