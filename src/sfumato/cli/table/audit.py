"""`sfumato table audit`: what an attacker works out of tables as they are handed out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import Hierarchies, Lower, Sliding, Tolerance, Value, Work, open_tables, trees

if TYPE_CHECKING:
    from sfumato.tables.audit.attack import Audit
    from sfumato.tables.reader import Reader

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
    work: Work = 1.0,
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
    from sfumato.tables.reader import reader_of_all
    from sfumato.tables.settle import published

    reading, known = Reading(delimiter, None, decimal), trees(hierarchy)
    opened = open_tables([*data, *(against or [])], value, known, reading, numbered=True)
    own = [is_jj(path) for path in data]  # such a file holds values and levels: it is judged by itself
    tables = [published(table) if mine else table for table, mine in zip(opened, own, strict=False)]
    judged = opened[len(data) :] or [table for table, mine in zip(opened, own, strict=True) if mine]
    with working() as progress:
        found = attack(
            tables,
            against=judged or None,
            lower=lower,
            sliding=sliding,
            tolerance=tolerance,
            work=work,
            progress=progress,
        )
    told = found.summary()
    if json:
        print_json(
            {
                "audit": told,
                "reader": _plain(reader_of_all(tables, lower)),
                "levels": None if found.levels is None else found.levels.to_plain(),
                "unions": found.unions,
                "insiders": found.insiders(),
            }
        )
    else:
        _show(found, hidden=any(table.cells[table.value].null_count() for table in tables))
    if not found.passed:
        raise typer.Exit(1)


def _plain(readers: Sequence[Reader]) -> dict[str, object] | list[dict[str, object]]:
    """What readers know: once where it is the same of all tables."""
    plain = [reader.to_plain() for reader in readers]
    return plain[0] if all(one == plain[0] for one in plain) else plain


def _show(found: Audit, *, hidden: bool) -> None:
    """What came of it, for a person."""
    print("Passed: no hidden cell can be worked out." if found.passed else "Failed: hidden cells can be worked out.")
    if not hidden:
        print("No cell is hidden.")
    print(f"Exactly: {found.exact} hidden cells.")
    if found.below_level is not None:
        print(f"More closely than their level allows: {found.below_level}.")
    if found.levels is not None and found.levels.unproved:
        print(f"Not proved within the work allowed: {found.levels.unproved}. --work 4 allows four times the work.")
    if found.unions is not None:
        print(
            f"Sums of hidden cells that totals tell: {found.unions['judged']} judged, {found.unions['unsafe']} unsafe."
        )
    if found.insider is not None:
        print(f"By contributors who are alone in hidden cells, exactly: {found.insider}.")
    if found.insider_below is not None:
        print(f"By who is alone or largest in one, more closely than allowed: {found.insider_below}.")
    if found.useless:
        print(f"{found.useless} hidden cells could be published without harm.")
    for note in found.notes:
        print(note)
