"""What `sfumato protect` reads and tells, of one table or of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.cli.options import Reading, path_of
from sfumato.cli.talk import open_source, open_table, print_json, say
from sfumato.cli.working import working
from sfumato.data.dataset import Dataset, Parted
from sfumato.data.files.address import has_scheme
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import FileError
from sfumato.plan.binding import refuse_several
from sfumato.plan.passes import check_strata, how_steps_run
from sfumato.plan.plan import Plan
from sfumato.release.release import NO_ADDRESS, Release
from sfumato.release.several.release import TablesRelease
from sfumato.release.verdict import to_decide

__all__ = ["closing_all", "open_tables", "rehearsed", "tell", "written"]


ONE_CROSSWALK = (
    "--crosswalk is of a plan of one table: protect each table of several with a plan of its own to get one."
)
Tables = PolarsDataset | Parted | Mapping[str, PolarsDataset]


def open_tables(plan: Plan, path: Path, data: str | None, how: Reading) -> Tables:
    """Read the data of a plan: a file, or the file of each table, every file once; or open what stays where it is.

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
    if how.engine not in (None, "memory") or (data is not None and path_of(data) is None):
        refuse_several(plan)
    folder = path.parent if data is None else Path(data)
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


def _opened(plan: Plan, source: str, how: Reading) -> PolarsDataset | Parted:
    table = open_source(source, how)
    if held(table):
        _guessed(plan, table, Path(source).name)
    return table


@contextmanager
def closing_all(tables: Tables) -> Iterator[Tables]:
    """Remove, in the end, what an engine has put aside."""
    try:
        yield tables
    finally:
        if not (isinstance(tables, Mapping) or held(tables)):
            tables.close()


def written(
    release: Release | TablesRelease,
    out: str,
    overwrite: bool,
    force: bool,
    internal: Path | None,
    crosswalk: Path | None = None,
) -> tuple[tuple[str, ...], int]:
    """Write a release; give what is to be said of it, and in how many parts it is."""
    if isinstance(release, Release):
        notes = release.write(out, overwrite=overwrite, force=force, internal_report=internal, crosswalk=crosswalk)
        return notes, len(notes.parts)
    if has_scheme(out):
        raise FileError(NO_ADDRESS)
    if crosswalk is not None:
        raise FileError(ONE_CROSSWALK)
    return release.write(out, overwrite=overwrite, force=force, internal_report=internal), len(release.tables)


def rehearsed(plan: Plan, tables: Tables, engine: str, max_stratum: int | None, as_json: bool) -> None:
    """Tell how each step would run; nothing is written, and rows are only counted."""
    from rich.console import Console

    from sfumato.api.opening import MAX_STRATUM
    from sfumato.plan.binding import entered

    if isinstance(tables, Mapping):
        raise FileError("--dry-run is of a plan of one table: its steps run in memory, one table after the other.")
    with working() as progress:
        progress("checking the plan", 0)
        data: Dataset = entered(plan, tables)
        bound = plan.bound(data.codebook)
        if not held(tables):
            check_strata(bound, data, max_stratum or MAX_STRATUM)
    steps = how_steps_run(bound, data.codebook)
    if as_json:
        print_json({"engine": engine, "steps": [step.to_plain() for step in steps], "ok": True})
        return
    console = Console()
    console.print(f"Engine: {engine}", highlight=False)
    for number, step in enumerate(steps, start=1):
        over = "whole strata" if step.how == "stratum" else "batches"
        looks = f"{step.passes} pass{'es' if step.passes > 1 else ''}"
        console.print(f"{number}. {step.do}: over {over}, {looks} over the rows", highlight=False)
    say(["The plan can run. Nothing was written."])


def _guessed(plan: Plan, table: PolarsDataset, name: str) -> None:
    say([f"{name}: {guess}" for guess in plan.guesses(table.frame, table.codebook)])


def tell(
    release: Release | TablesRelease,
    out: str | None,
    notes: tuple[str, ...],
    as_json: bool,
    engine: str = "memory",
    parts: int = 1,
) -> None:
    """Print what came of it."""
    from rich.console import Console

    from sfumato.render.text import summary

    if isinstance(release, TablesRelease):
        for name, one in release.tables.items():
            say([f"{name}: {said}" for said in (*one.report.warnings, *_assumed(one, out, release.linked(name)))])
    first = (*release.guesses, *_assumed(release, out)) if isinstance(release, Release) else ()
    say([*first, *release.report.warnings, *notes])
    if as_json:
        place = {"release": out, "ok": release.ok, "engine": engine, "parts": parts}
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
        folders = list(map(str, release.folders(Path(out)))) if isinstance(release, TablesRelease) else [out]
        say([f"Release written: {folder} (open report.html there)" for folder in folders])


def _assumed(release: Release, out: str | None, linked: Sequence[str] = ()) -> tuple[str, ...]:
    """What nobody is said to know, and what is still to be decided: of what was not written the error says that."""
    told = release.report.assumed.sentences()
    asked = to_decide(release.report, release.plan, linked)
    return (*told, asked) if out is not None and asked else told


def _tables(release: TablesRelease) -> dict[str, Any]:
    return {
        "tables": {name: {"ok": one.ok, **one.report.to_plain()} for name, one in release.tables.items()},
        "verdict": release.verdict,
        "undecided": list(release.undecided),
        "links": [link.to_plain() for link in release.links.links],
        "refusals": list(release.report.refusals),
        "notes": list(release.links.notes),
    }
