"""What `sfumato protect` reads and tells, of one table or of several."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from sfumato.cli.advising import Advice
from sfumato.cli.commands import command, next_plan, options
from sfumato.cli.options import Reading, path_of
from sfumato.cli.talk import open_source, open_table, print_json, print_screen, say
from sfumato.cli.working import working
from sfumato.data.dataset import Dataset, Parted
from sfumato.data.files.address import has_scheme
from sfumato.engines.polars import PolarsDataset, held
from sfumato.errors import FileError, LimitExceeded
from sfumato.plan.binding import refuse_several
from sfumato.plan.passes import check_strata, how_steps_run
from sfumato.plan.plan import Plan
from sfumato.release.release import NO_ADDRESS, Release
from sfumato.release.several.release import TablesRelease
from sfumato.release.verdict import to_copy
from sfumato.render.layout import Command, Following
from sfumato.report.report import TablesReport

__all__ = ["Typed", "closing_all", "open_tables", "rehearsed", "tell", "written"]


ONE_CROSSWALK = (
    "--crosswalk is of a plan of one table: protect each table of several with a plan of its own to get one."
)
Tables = PolarsDataset | Parted | Mapping[str, PolarsDataset]


@dataclass(frozen=True)
class Typed:
    """What was typed, for commands to paste.

    Parameters
    ----------
    plan, data, out
        The plan, the data, and the release folder.
    options
        All other options that another run needs.
    """

    plan: Path
    data: str | None
    out: str
    options: Mapping[str, Any]


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
    """Write a release; give what is to be said of it, and in how many parts it is: none where it may not be written."""
    try:
        return _written(release, out, overwrite, force, internal, crosswalk)
    except LimitExceeded:
        return (), 0


def _written(
    release: Release | TablesRelease,
    out: str,
    overwrite: bool,
    force: bool,
    internal: Path | None,
    crosswalk: Path | None,
) -> tuple[tuple[str, ...], int]:
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
    typed: Typed,
    notes: tuple[str, ...],
    as_json: bool,
    engine: str,
    parts: int,
    advice: Advice | None = None,
    *,
    verbose: bool = False,
) -> None:
    """Print what came of it: the screen, or one JSON object; on stderr what is to be read besides.

    Parameters
    ----------
    release
        The release.
    typed
        The command line.
    notes
        What is to be said of the files that were written.
    as_json
        Whether to print JSON.
    engine
        Where rows were processed.
    parts
        In how many files the release was written; none: it was not.
    advice
        What to change in a plan that stops, where it was asked for.
    verbose
        Whether to tell of all steps, warnings and notes.
    """
    from sfumato.render.advised import screen_of_advice
    from sfumato.render.screen import details, screen, screen_of_tables, verdict_lines, warned

    report, written = release.report, parts > 0
    asked = _to_copy(release)
    following = Following(_commands(release, typed, written, advice), () if written else tuple(asked.get("", ())))
    say(release.guesses if isinstance(release, Release) else ())
    say([*warned(report, every=verbose), *notes])
    if verbose:
        say(details(report))
    if isinstance(report, TablesReport):
        lines = screen_of_tables(report, following, {} if written else asked, written=written)
    else:
        lines = screen(report, following, written=written)
        if advice is not None:
            told = Following(following.commands)
            lines = screen_of_advice(
                advice.found, verdict_lines(report, written=written), told, str(advice.written or "")
            )
    if not as_json:
        print_screen(lines)
        return
    if not written:
        said = [f"sfumato: {' '.join(map(str.strip, takewhile(bool, lines)))}"]
        say([*said, *(line for each in asked.values() for line in each)])
    place = {"release": typed.out if written else None, "ok": release.ok, "engine": engine, "parts": parts}
    found = _tables(release) if isinstance(release, TablesRelease) else release.report.to_plain()
    more = {} if advice is None else {"advice": advice.found.to_plain()}
    print_json({**place, **found, **more, "next": following.plain})


def _to_copy(release: Release | TablesRelease) -> dict[str, tuple[str, ...]]:
    """What an undecided plan lacks, by table; of a plan of one table under no name."""
    if isinstance(release, Release):
        return {"": to_copy(release.report, release.plan)}
    return {name: to_copy(one.report, one.plan, release.linked(name)) for name, one in release.tables.items()}


def _commands(
    release: Release | TablesRelease, typed: Typed, written: bool, advice: Advice | None
) -> tuple[Command, ...]:
    """What leads on: to read the report, to draft the plan again with the reason, to ask for advice, or to take it."""
    if written:
        folders = [typed.out.rstrip("/")]
        if isinstance(release, TablesRelease):
            folders = [str(folder) for folder in release.folders(typed.out)]
        return tuple(("open", shlex.quote(f"{folder}/report.html")) for folder in folders)
    if advice is not None:
        return (_after(advice, typed),)
    if isinstance(release, Release) and "unknown:" in to_copy(release.report, release.plan):
        drafted = command("init", typed.data, roles=typed.plan)
        return ((*drafted, *options(because="...", out=next_plan(typed.plan))),)
    asked = {}
    if isinstance(release, Release) and held(release.data):
        asked = {"advise": True, "out_plan": next_plan(typed.plan)}
    return (command("protect", typed.plan, typed.data, out=typed.out, **typed.options, **asked),)


def _after(advice: Advice, typed: Typed) -> Command:
    """What follows advice: the plan that holds, to write it first, or to say what others know."""
    if advice.found.text is None:
        return command("init", typed.data, ask=True, out=next_plan(typed.plan))
    if advice.written is None:
        asked = {"advise": True, "out_plan": next_plan(typed.plan)}
        return command("protect", typed.plan, typed.data, out=typed.out, **typed.options, **asked)
    return command("protect", advice.written, typed.data, out=typed.out, **typed.options)


def _tables(release: TablesRelease) -> dict[str, Any]:
    return {
        "tables": {name: {"ok": one.ok, **one.report.to_plain()} for name, one in release.tables.items()},
        "verdict": release.verdict,
        "undecided": list(release.undecided),
        "links": [link.to_plain() for link in release.links.links],
        "refusals": list(release.report.refusals),
        "notes": list(release.links.notes),
    }
