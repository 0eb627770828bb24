"""What can be opened: files of the folder that the studio was started in, what is sent to it, an invented cohort."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.data.files import OPTIONS, SUFFIXES
from sfumato.errors import FileError, PlanError, SfumatoError
from sfumato.web.problems import Problem
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio

__all__ = [
    "HOW",
    "command",
    "demo",
    "how_of",
    "listed",
    "opened",
    "options_for",
    "reopened",
    "sentence",
    "table_opened",
]

HOW = ("delimiter", "encoding", "decimal", "header", "skip_rows", "sheet", "name_blank")
"""Names of the reading options."""
_MOST_LISTED = 300
_RECORDS = 2_000
_HEADERS = {"": None, "yes": True, "no": False}


def listed(studio: Studio) -> tuple[list[str], int]:
    """Names of the files of the start folder that can be read, and how many more there are."""
    try:
        found = sorted(
            path.name
            for path in studio.folder.iterdir()
            if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
        )
    except OSError:
        found = []
    return found[:_MOST_LISTED], len(found[_MOST_LISTED:])


def how_of(fields: Mapping[str, str]) -> dict[str, Any]:
    """Reading options as a form sends them.

    Raises
    ------
    Problem
        422 for rows that are no number, or a header that is neither.
    """
    given = {name: fields.get(name, "").strip() for name in HOW}
    if given["header"] not in _HEADERS:
        raise Problem(422, "A first row holds names, or does not.")
    rows = given["skip_rows"] or "0"
    if not (rows.isascii() and rows.isdigit() and len(rows) < 9):
        raise Problem(422, "Rows above the table are a whole number from 0 on.")
    how: dict[str, Any] = {name: given[name] or None for name in ("delimiter", "encoding", "decimal")}
    sheet = given["sheet"]
    how |= {"header": _HEADERS[given["header"]], "skip_rows": int(rows)}
    how |= {"sheet": (int(sheet) if sheet.isdigit() else sheet) if sheet else None}
    return how | {"name_blank": bool(given["name_blank"])}


def options_for(path: Path) -> frozenset[str]:
    """Which of the reading options say something for a file."""
    return OPTIONS.get(SUFFIXES.get(path.suffix.lower(), ""), frozenset())


def opened(studio: Studio, path: Path, how: Mapping[str, Any], keep: str) -> None:
    """Open a file, with the plan as it is, or a new draft.

    Parameters
    ----------
    studio
        Which opens it.
    path, how
        The file, and how it is read.
    keep
        `yes` or `no`, where somebody wrote the plan that would be left.

    Raises
    ------
    Problem
        409 where it was not said what becomes of a plan that somebody wrote; 422 where the file cannot be read, in the
        command line's words.
    """
    if studio.touched and keep not in ("yes", "no"):
        raise Problem(409, "The plan was changed by hand. Say below whether it is kept, then open the file.")
    _open(studio, Source(path, dict(how)), keep=keep == "yes")


def reopened(studio: Studio, how: Mapping[str, Any]) -> bool:
    """Read the file anew; a plan that somebody wrote stays, and whether it did is told."""
    keep = studio.touched
    _open(studio, Source(studio.opened.source.path, dict(how)), keep=keep)
    return keep


def table_opened(studio: Studio, table: str) -> None:
    """Open the file of one of several tables of the plan, which stays as it is.

    Raises
    ------
    Problem
        404 where the plan has no such table; 422 where its file cannot be read.
    """
    plan = studio.planned.plan
    if table not in plan.tables:
        raise Problem(404, "The plan has no such table.")
    _open(studio, Source(studio.planned.base / plan.tables[table].file, {}), keep=True)


def demo(studio: Studio) -> Path:
    """An invented cohort, written to the private folder."""
    from sfumato.data.files import Table, write_table
    from sfumato.examples.cohort import cohort, cohort_codebook

    path = studio.uploads / "demo" / "cohort.csv"
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not path.exists():
        write_table(Table(cohort(_RECORDS), cohort_codebook(), ".csv"), path)
    return path


def sentence(studio: Studio, error: SfumatoError) -> str:
    """What is wrong with a file, as the command line says it in the folder where the studio was started."""
    text = str(error)
    private = list(studio.uploads.glob("*/")) if studio.uploads.exists() else []
    for folder in (*private, studio.folder):
        text = text.replace(f"{folder}/", "")
    return text


def command(studio: Studio) -> str:
    """The line that drafts the same plan from the same file in a terminal."""
    source = studio.opened.source
    parts = ["sfumato", "init", source.path.name]
    for name in ("delimiter", "encoding", "decimal", "sheet"):
        if (value := source.how.get(name)) is not None:
            parts += [f"--{name}", str(value)]
    if (header := source.how.get("header")) is not None:
        parts.append("--header" if header else "--no-header")
    if rows := source.how.get("skip_rows"):
        parts += ["--skip-rows", str(rows)]
    if source.how.get("name_blank"):
        parts.append("--name-blank")
    return shlex.join([*parts, "--out", studio.beside.name])


def _open(studio: Studio, source: Source, *, keep: bool) -> None:
    try:
        studio.open(source, keep=keep, wait=True)
    except PlanError:
        raise
    except SfumatoError as error:
        raise Problem(422, sentence(studio, FileError(str(error)))) from None
