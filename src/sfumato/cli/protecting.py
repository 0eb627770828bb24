"""What `sfumato protect` reads and tells, of one table or of several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.cli.options import Reading
from sfumato.cli.talk import open_table, print_json, say
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import FileError
from sfumato.plan.plan import Plan
from sfumato.release.release import Release
from sfumato.release.several.release import TablesRelease

__all__ = ["open_tables", "tell"]


def open_tables(plan: Plan, path: Path, data: Path | None, how: Reading) -> PolarsDataset | Mapping[str, PolarsDataset]:
    """Read the data of a plan: a file, or the file of each table, every file once.

    Parameters
    ----------
    plan, path
        The plan, and where it lies.
    data
        The data file; of a plan of several tables their folder, by default the plan's own.
    how
        How files are read.

    Raises
    ------
    FileError
        Where a file or folder is missing, or is not what the plan needs.
    """
    if not plan.tables:
        if data is None:
            raise FileError(f"The data file is missing: sfumato protect {path} DATA --out FOLDER.")
        return _opened(plan, data, how)
    folder = path.parent if data is None else data
    if not folder.is_dir():
        raise FileError(
            f"{str(folder)!r} is no folder: the plan is of several tables, so give the folder that holds their files."
        )
    files = {table.file: folder / table.file for table in plan.tables.values()}
    if missing := [name for name, file in files.items() if not file.is_file()]:
        raise FileError(f"There is no {', '.join(map(repr, missing))} in {str(folder)!r}, which the plan names.")
    read = {name: open_table(file, how) for name, file in files.items()}
    for name, table in plan.tables.items():
        _guessed(plan.table(name), read[table.file], name)
    return {name: read[table.file] for name, table in plan.tables.items()}


def _opened(plan: Plan, file: Path, how: Reading) -> PolarsDataset:
    table = open_table(file, how)
    _guessed(plan, table, file.name)
    return table


def _guessed(plan: Plan, table: PolarsDataset, name: str) -> None:
    say([f"{name}: {guess}" for guess in plan.guesses(table.frame, table.codebook)])


def tell(release: Release | TablesRelease, out: Path | None, notes: tuple[str, ...], as_json: bool) -> None:
    """Print what came of it."""
    from rich.console import Console

    from sfumato.render.text import summary

    if isinstance(release, TablesRelease):
        for name, one in release.tables.items():
            say([f"{name}: {warning}" for warning in one.report.warnings])
    say([*release.report.warnings, *notes])
    if as_json:
        place = {"release": None if out is None else str(out), "ok": release.ok}
        print_json(place | (_tables(release) if isinstance(release, TablesRelease) else release.report.to_plain()))
    elif isinstance(release, TablesRelease):
        console = Console()
        for name, one in release.tables.items():
            console.rule(name)
            summary(one.report, console)
        if out is not None:  # else the error says so
            say([f"{refusal[0].upper()}{refusal[1:]}." for refusal in release.report.refusals])
    else:
        summary(release.report, Console())
    if out is not None:
        folders = release.folders(out) if isinstance(release, TablesRelease) else [out]
        say([f"Release written: {folder} (open report.html there)" for folder in folders])


def _tables(release: TablesRelease) -> dict[str, Any]:
    return {
        "tables": {name: {"ok": one.ok, **one.report.to_plain()} for name, one in release.tables.items()},
        "links": [link.to_plain() for link in release.links.links],
        "refusals": list(release.report.refusals),
        "notes": list(release.links.notes),
    }
