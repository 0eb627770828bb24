"""`sfumato init`: draft a plan from a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, Out, Reading, Sheet, SkipRows, names

if TYPE_CHECKING:
    from sfumato.data.profile import Guess

__all__ = ["EXAMPLE", "init"]

EXAMPLE = "Example: sfumato init cohort.csv --out plan.yaml"


def init(
    data: Annotated[list[Path], typer.Argument(help="The data file; several make a plan of several tables.")],
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
    from sfumato.cli.talk import open_table, print_json, refuse_same, write_out
    from sfumato.cli.working import working
    from sfumato.data.looking import Looking
    from sfumato.data.profile import profile
    from sfumato.errors import FileError
    from sfumato.plan.draft import draft_plan
    from sfumato.plan.draft_tables import Drafted, draft_tables, named_tables
    from sfumato.progress import split, within

    refuse_same(out, *data)
    how = Looking(tuple(names(kinds) or ()), sample, threshold)
    if out is not None and out.exists() and not overwrite:
        raise FileError(
            f"{str(out)!r} is there already: it may hold your changes. Choose another path, or --overwrite."
        )
    reading = Reading(delimiter, encoding, decimal, header, skip_rows, sheet)
    named = named_tables(data) if len(data) > 1 else {data[0].stem: data[0]}
    tables = {name: open_table(Path(file), reading) for name, file in named.items()}
    with working() as progress:
        looking, drafting = split(progress, (3, 7))
        found = {
            name: Drafted(file.name, table.frame, profile(table.frame, table.codebook, within(part, file.name), how))
            for (name, table), file, part in zip(tables.items(), data, split(looking, [1] * len(data)), strict=True)
        }
        drafting("drafting a plan", 0)
        if len(data) == 1:
            (one,) = found.values()
            text = draft_plan(one.frame, one.guesses, data[0].stem)
        else:
            text = draft_tables(found, ", ".join(file.stem for file in data))
    if json:
        told = {name: {g.name: _told(g) for g in one.guesses} for name, one in found.items()}
        several = {"tables": {name: {"variables": variables} for name, variables in told.items()}}
        print_json({"plan": text} | ({"variables": next(iter(told.values()))} if len(data) == 1 else several))
    if out is not None or not json:
        write_out(text, out)


def _told(guess: Guess) -> dict[str, Any]:
    """What is guessed of a variable; shares of what was found in it only where something was."""
    told: dict[str, Any] = {"role": guess.variable.role, "kind": guess.variable.kind, "reason": guess.reason}
    told |= {"found": dict(guess.found)} if guess.found else {}
    return told | ({"found_in_labels": dict(guess.found_in_labels)} if guess.found_in_labels else {})
