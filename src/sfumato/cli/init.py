"""`sfumato init`: draft a plan from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli import wishing
from sfumato.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Json,
    MaxStratum,
    Memory,
    NameBlank,
    Out,
    Reading,
    Sheet,
    SkipRows,
    Temp,
    names,
    path_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sfumato.data.looking import Looking
    from sfumato.data.profile import Guess
    from sfumato.progress import Progress
    from sfumato.tuning.draft_tables import Drafted
    from sfumato.tuning.synthetic import DraftedCopy

__all__ = ["EXAMPLE", "init"]

EXAMPLE = "Example: sfumato init cohort.csv --out plan.yaml"


def init(
    data: Annotated[
        list[str],
        typer.Argument(
            help="The data file; several make a plan of several tables. Or a folder of Parquet parts, or "
            "postgresql://[user@][host]/database/schema.table."
        ),
    ],
    out: Out = None,
    purpose: wishing.For = "scientific-use",
    keys: wishing.Keys = None,
    unknown: wishing.Unknown = None,
    because: wishing.Because = None,
    sensitive: wishing.Sensitive = None,
    record: wishing.Record = None,
    person: wishing.Person = None,
    household: wishing.Household = None,
    outcome: wishing.Outcome = None,
    keep: wishing.Keep = None,
    leave_out: wishing.LeaveOut = None,
    ask: wishing.Ask = False,
    roles: wishing.Roles = None,
    synthetic: Annotated[
        bool,
        typer.Option("--synthetic", help="Draft a synthetic copy: all values drawn anew, relations of the file kept."),
    ] = False,
    trying: Annotated[
        bool, typer.Option("--try", help="With --synthetic: try three ways to draw, and choose by what they cost.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write over a file that is there.")] = False,
    kinds: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="Which personal data to look for in texts and value labels, with commas between: email, url, ip, "
            "phone, postcode, nhs_number, ni_number, iban, card, date. Else all.",
        ),
    ] = None,
    sample: Annotated[int, typer.Option(min=1, help="How many different values of a column are looked at.")] = 2000,
    threshold: Annotated[
        float,
        typer.Option(
            min=0,
            max=1,
            help="Share of a column's values from which on it counts as holding personal data; 0: one value is enough.",
        ),
    ] = 0.0,
    engine: Engine = None,
    memory: Memory = "1GB",
    temp: Temp = None,
    max_stratum: MaxStratum = None,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Look at files and draft a commented plan: a role and a kind for each variable, with the reason.

    Nothing is guessed silently. Read the plan and change what is wrong before you use it. A plan that is there already
    may hold such changes, so it is written over only with --overwrite. Say which columns others may know (--keys), or
    which nobody does (--unknown), and only what is known is changed.
    """
    from sfumato.cli.asking import asked, command_of, refuse_asking
    from sfumato.cli.talk import print_json, print_screen, refuse_same, say, write_out
    from sfumato.cli.working import working
    from sfumato.data.looking import Looking
    from sfumato.errors import DataError, FileError
    from sfumato.plan.wishes import Wishes
    from sfumato.tuning.draft_tables import draft_tables
    from sfumato.tuning.drafts import draft_copy_for, draft_for

    refuse_same(out, *map(path_of, data))
    if out is not None and out.exists() and not overwrite:
        raise FileError(
            f"{str(out)!r} is there already: it may hold your changes. Choose another path, or --overwrite."
        )
    said = (purpose, keys, unknown, because, sensitive, record, person, household, outcome, keep, leave_out)
    wishes = wishing.wishes_of(*said, roles is not None)
    edited = wishing.edited_of(roles, wishes, because)
    if len(data) > 1 and (wishes != Wishes() or edited is not None):
        raise DataError("What you say of columns is for one table: draft its plan from one file.")
    if trying and not synthetic:
        raise DataError("--try is for synthetic copies: say --synthetic, too.")
    if synthetic and len(data) > 1:
        raise DataError("A synthetic copy is of one table: draft its plan from one file.")
    if ask:
        refuse_asking(len(data), edited is not None)
    how = Looking(tuple(names(kinds) or ()), sample, threshold)
    reading = Reading(
        delimiter, encoding, decimal, header, skip_rows, sheet, name_blank, engine, memory, temp, max_stratum
    )
    screen: list[str] = []
    with working() as progress:
        found = _looked_at(data, reading, how, progress)
    if ask:
        (one,) = found.values()
        said_so = command_of(data[0], out, reading.typed())
        wishes = asked(one.frame, one.codebook, one.guesses, wishes, said_so)
    with working() as progress:
        progress("drafting a plan", 0)
        if len(data) > 1:
            text, told = draft_tables(found, ", ".join(map(_stem, data)), progress), _told_tables(found)
            commands = wishing.after_tables(data, out)
        elif synthetic:
            (one,) = found.values()
            given = (one.frame, one.codebook, one.guesses, _stem(data[0]), wishes, edited)
            copy, guesses = draft_copy_for(*given, trying=trying, progress=progress)
            screen, commands = wishing.screen_of_synthetic(data[0], out, copy, reading.typed())
            text, told = copy.drafted.text, _told_copy(copy, guesses, commands)
        else:
            (one,) = found.values()
            title = _stem(data[0])
            drafted, guesses = draft_for(one.frame, one.codebook, one.guesses, title, wishes, edited, progress)
            screen, commands = wishing.screen_of(data[0], out, drafted, guesses, reading.typed())
            text = drafted.text
            told = {"variables": {g.name: _told(g) for g in guesses}}
            told |= {"draft": drafted.with_next(commands).to_dict()}
    if json:
        print_json({"plan": text} | told | {"next": commands})
    if out is not None or not json:
        write_out(text, out)
    if screen and not json:
        (print_screen if out is not None else say)(screen)


def _looked_at(data: Sequence[str], reading: Reading, how: Looking, progress: Progress) -> dict[str, Drafted]:
    """Each table with what its columns seem to be."""
    from sfumato.cli.talk import open_source, say
    from sfumato.data.profile import profile
    from sfumato.progress import split, within
    from sfumato.release.large_risk import SAMPLE_OF, seen
    from sfumato.tuning.draft_tables import Drafted, named_tables

    named = named_tables([Path(file) for file in data]) if len(data) > 1 else {_stem(data[0]): data[0]}
    tables = {name: open_source(str(file), reading) for name, file in named.items()}
    found = {}
    for (name, table), file, part in zip(tables.items(), data, split(progress, [1] * len(data)), strict=True):
        shown = within(part, Path(file).name)
        frame, columns, book, whole = seen(table)
        found[name] = Drafted(Path(file).name, frame, book, profile(columns, book, shown, how))
        say([] if whole else [f"{name}: {SAMPLE_OF.format(most=frame.height)}"])
    return found


def _told_tables(found: Mapping[str, Drafted]) -> dict[str, Any]:
    return {"tables": {n: {"variables": {g.name: _told(g) for g in one.guesses}} for n, one in found.items()}}


def _told_copy(copy: DraftedCopy, guesses: Sequence[Guess], commands: Sequence[str]) -> dict[str, Any]:
    """What is told of a drafted copy: shares and figures for the custodian alone."""
    told: dict[str, Any] = {"variables": {g.name: _told(g) for g in guesses}}
    told |= {"draft": copy.drafted.with_next(commands).to_dict()}
    told |= {"relations": [one.to_plain() for one in copy.relations]}
    return told | ({"trials": [one.to_plain() for one in copy.trials]} if copy.trials else {})


def _stem(source: str) -> str:
    """What a plan is called after: a file or folder, or the last name of an address."""
    path = path_of(source)
    return source.rpartition("/")[2] if path is None else path.stem


def _told(guess: Guess) -> dict[str, Any]:
    """What is guessed of a variable; shares of what was found in it only where something was."""
    told: dict[str, Any] = {"role": guess.variable.role, "kind": guess.variable.kind, "reason": guess.reason}
    told |= {"sensitive": True} if guess.variable.sensitive else {}
    told |= {"found": dict(guess.found)} if guess.found else {}
    return told | ({"found_in_labels": dict(guess.found_in_labels)} if guess.found_in_labels else {})
