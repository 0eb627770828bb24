"""`sfumato table audit`: what an attacker works out of tables as they are handed out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import Hierarchies, Lower, Sliding, Tolerance, Value, open_tables, trees

__all__ = ["EXAMPLE", "audit"]

EXAMPLE = "Example: sfumato table audit protected.csv --value turnover --hierarchy act=act.csv --against judged.csv"


def audit(
    data: Annotated[
        list[Path],
        typer.Argument(help="Tables as handed out: files, folders; several are one attack."),
    ],
    value: Value = None,
    hierarchy: Hierarchies = None,
    against: Annotated[
        list[Path] | None,
        typer.Option(help="The judged table, with values and levels: how close is too close. Again for others."),
    ] = None,
    sliding: Sliding = False,
    tolerance: Tolerance = None,
    lower: Lower = None,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Attack protected tables: the interval of every hidden cell, from what is handed out alone.

    The exit status is 1 where a cell can be worked out exactly, or more closely than its level allows.
    """
    from sfumato.cli.talk import print_json
    from sfumato.cli.working import working
    from sfumato.data.files.jj import is_jj
    from sfumato.tables.audit import audit as attack
    from sfumato.tables.settle import published

    reading, known = Reading(delimiter, None, decimal), trees(hierarchy)
    opened = open_tables([*data, *(against or [])], value, known, reading, numbered=True)
    own = [is_jj(path) for path in data]  # such a file holds values and levels: it is judged by itself
    tables = [published(table) if mine else table for table, mine in zip(opened, own, strict=False)]
    judged = opened[len(data) :] or [table for table, mine in zip(opened, own, strict=True) if mine]
    with working() as progress:
        found = attack(
            tables, against=judged or None, lower=lower, sliding=sliding, tolerance=tolerance, progress=progress
        )
    told = found.summary()
    if json:
        print_json({"audit": told, "insiders": found.insiders()})
    else:
        for note in found.notes:
            print(note)
        if not any(table.cells[table.value].null_count() for table in tables):
            print("No cell is hidden.")
        print(f"{told['exact']} hidden cells can be worked out exactly.")
        if told["below_level"] is not None:
            print(f"{told['below_level']} can be worked out more closely than their level allows.")
        if found.insider is not None:
            print(f"Insiders: whoever is alone in a hidden cell works out {found.insider} others exactly.")
        if found.insider_below is not None:
            print(f"Whoever is alone or largest in one bounds {found.insider_below} more closely than allowed.")
        if told["useless"]:
            print(f"{told['useless']} hidden cells could be published without harm.")
    if not found.passed:
        raise typer.Exit(1)
