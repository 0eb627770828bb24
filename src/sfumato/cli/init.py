"""`sfumato init`: draft a plan from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Engine,
    Header,
    Json,
    MaxStratum,
    Memory,
    Out,
    Reading,
    Sheet,
    SkipRows,
    Temp,
    names,
    path_of,
)

if TYPE_CHECKING:
    from sfumato.data.profile import Guess

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
) -> None:
    """Look at files and draft a commented plan: a role and a kind for each variable, with the reason.

    Nothing is guessed silently. Read the plan and change what is wrong before you use it. A plan that is there already
    may hold such changes, so it is written over only with --overwrite.
    """
    from sfumato.cli.talk import open_source, print_json, refuse_same, say, write_out
    from sfumato.cli.working import working
    from sfumato.data.looking import Looking
    from sfumato.data.profile import profile
    from sfumato.errors import FileError
    from sfumato.plan.draft import draft_plan
    from sfumato.plan.draft_tables import Drafted, draft_tables, named_tables
    from sfumato.progress import split, within
    from sfumato.release.large_risk import SAMPLE_OF, seen

    refuse_same(out, *map(path_of, data))
    how = Looking(tuple(names(kinds) or ()), sample, threshold)
    if out is not None and out.exists() and not overwrite:
        raise FileError(
            f"{str(out)!r} is there already: it may hold your changes. Choose another path, or --overwrite."
        )
    reading = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, engine, memory, temp, max_stratum)
    named = named_tables([Path(file) for file in data]) if len(data) > 1 else {_stem(data[0]): data[0]}
    tables = {name: open_source(str(file), reading) for name, file in named.items()}
    with working() as progress:
        looking, drafting = split(progress, (3, 7))
        found = {}
        for (name, table), file, part in zip(tables.items(), data, split(looking, [1] * len(data)), strict=True):
            shown = within(part, Path(file).name)
            frame, columns, book, whole = seen(table)
            found[name] = Drafted(Path(file).name, frame, profile(columns, book, shown, how))
            say([] if whole else [f"{name}: {SAMPLE_OF.format(most=frame.height)}"])
        drafting("drafting a plan", 0)
        if len(data) == 1:
            (one,) = found.values()
            text = draft_plan(one.frame, one.guesses, _stem(data[0]))
        else:
            text = draft_tables(found, ", ".join(map(_stem, data)))
    if json:
        told = {name: {g.name: _told(g) for g in one.guesses} for name, one in found.items()}
        several = {"tables": {name: {"variables": variables} for name, variables in told.items()}}
        print_json({"plan": text} | ({"variables": next(iter(told.values()))} if len(data) == 1 else several))
    if out is not None or not json:
        write_out(text, out)


def _stem(source: str) -> str:
    """What a plan is called after: a file or folder, or the last name of an address."""
    path = path_of(source)
    return source.rpartition("/")[2] if path is None else path.stem


def _told(guess: Guess) -> dict[str, Any]:
    """What is guessed of a variable; shares of what was found in it only where something was."""
    told: dict[str, Any] = {"role": guess.variable.role, "kind": guess.variable.kind, "reason": guess.reason}
    told |= {"found": dict(guess.found)} if guess.found else {}
    return told | ({"found_in_labels": dict(guess.found_in_labels)} if guess.found_in_labels else {})
