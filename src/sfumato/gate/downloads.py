"""Releases as files: the table, with its papers where the format has a place for them."""

from __future__ import annotations

import io
from typing import Any

import polars as pl

from sfumato.errors import MissingExtra
from sfumato.gate.serving.core import Release

__all__ = ["TYPES", "download"]

TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
"""Formats, and their media types."""


def download(release: Release, form: str) -> bytes:
    """A release as a file.

    Parameters
    ----------
    release
        What was given.
    form
        `csv`, `xlsx` or `parquet`.

    Raises
    ------
    MissingExtra
        Without the package that writes sheets.
    """
    frame = _frame(release)
    out = io.BytesIO()
    if form == "csv":
        frame.with_columns(_plain_text(frame[name]) for name in frame.columns).write_csv(out)
    elif form == "parquet":
        frame.write_parquet(out, metadata={f"sfumato:{name}": text for name, text in _papers(release)})
    else:
        _sheets(release, frame, out)
    return out.getvalue()


def _frame(release: Release) -> pl.DataFrame:
    own = list(zip(*release.rows, strict=True)) or [()] * len(release.columns)
    names = [_free(name, i, release.columns) for i, name in enumerate(release.columns)]
    return pl.DataFrame([pl.Series(name, list(column), strict=False) for name, column in zip(names, own, strict=True)])


def _plain_text(column: pl.Series) -> pl.Series:
    """Texts that a spreadsheet would take for a formula, with a mark before them; numbers are none."""
    if column.dtype != pl.String:
        return column
    signed = column.str.contains(r"^[+-]") & column.cast(pl.Float64, strict=False).is_null()
    formula = column.str.contains(r"^[=@\t\r]") | signed
    return pl.select(pl.when(formula).then("'" + column).otherwise(column).alias(column.name)).to_series()


def _free(name: str, place: int, names: list[str]) -> str:
    """A name that no column before has: a variable can be called `count`."""
    return name if name not in names[:place] else f"{name}_{place + 1}"


def _papers(release: Release) -> list[tuple[str, str]]:
    seq, digest = release.ledger
    before = release.content.get("ledger", {})
    return [
        ("release", release.id),
        ("data set", release.dataset),
        ("version", str(release.content.get("version", ""))),
        ("table", str(release.content.get("table", ""))),
        ("given", release.at),
        ("ledger entry", f"{seq}:{digest}"),
        ("ledger before", f"{before.get('seq', '')}:{before.get('hash', '')}"),
        ("protection", str(release.content["disclosure"])),
    ]


def _sheets(release: Release, frame: pl.DataFrame, out: io.BytesIO) -> None:
    try:
        from xlsxwriter import Workbook
    except ImportError:  # pragma: no cover - tests have the extra
        raise MissingExtra("An Excel file", "files") from None
    with Workbook(out, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        told: list[tuple[str, list[list[Any]]]] = [
            ("release", [frame.columns, *map(list, frame.rows())]),
            ("papers", [list(pair) for pair in _papers(release)]),
        ]
        for name, rows in told:
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                sheet.write_row(i, 0, row)
