"""`sfumato init`: draft a plan from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, Out, Reading, Sheet, SkipRows

__all__ = ["EXAMPLE", "init"]

EXAMPLE = "Example: sfumato init cohort.csv --out plan.yaml"


def init(
    data: Annotated[Path, typer.Argument(help="The data file.")],
    out: Out = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Write over a file that is there.")] = False,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
) -> None:
    """Look at a file and draft a commented plan: a role and a kind for each variable, with the reason.

    Nothing is guessed silently. Read the plan and change what is wrong before you use it. A plan that is there already
    may hold such changes, so it is written over only with --overwrite.
    """
    from sfumato.cli.talk import open_table, print_json, refuse_same, write_out
    from sfumato.cli.working import working
    from sfumato.data.profile import profile
    from sfumato.errors import FileError
    from sfumato.plan.draft import draft_plan
    from sfumato.progress import split

    refuse_same(out, data)
    if out is not None and out.exists() and not overwrite:
        raise FileError(
            f"{str(out)!r} is there already: it may hold your changes. Choose another path, or --overwrite."
        )
    table = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet))
    with working() as progress:
        looking, drafting = split(progress, (3, 7))
        guesses = profile(table.frame, table.codebook, looking)
        drafting("drafting a plan", 0)
        text = draft_plan(table.frame, guesses, data.stem)
    if json:
        variables = {g.name: {"role": g.variable.role, "kind": g.variable.kind, "reason": g.reason} for g in guesses}
        print_json({"plan": text, "variables": variables})
    if out is not None or not json:
        write_out(text, out)
