"""`sfumato table adjust`: controlled tabular adjustment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import (
    Contributors,
    Hierarchies,
    Overwrite,
    TableOut,
    Tolerance,
    Value,
    open_whole,
    trees,
)

__all__ = ["EXAMPLE", "adjust"]

EXAMPLE = "Example: sfumato table adjust judged.csv --value turnover --out adjusted.csv"


def adjust(
    data: Annotated[Path, typer.Argument(help="The judged table with values and levels, as --internal writes it.")],
    value: Value = None,
    cost: Annotated[
        Literal["value", "unity", "count", "root"], typer.Option(help="What a unit of change of a cell costs.")
    ] = "value",
    capacity: Annotated[
        float | None, typer.Option(min=0, help="Largest change of a safe cell, as a share of its value.")
    ] = None,
    zeros: Annotated[bool, typer.Option("--zeros", help="Zeros may become something else.")] = False,
    method: Annotated[
        Literal["auto", "exact", "fixed"],
        typer.Option(help="exact: directions are chosen with the rest; fixed: beforehand, for large tables."),
    ] = "auto",
    gap: Annotated[float, typer.Option(min=0, help="Share of the cost at which to stop, such as 0.01.")] = 0.0,
    time_limit: Annotated[float, typer.Option(min=0, help="Seconds to look for something cheaper.")] = 60,
    contributors: Contributors = None,
    hierarchy: Hierarchies = None,
    tolerance: Tolerance = None,
    out: TableOut = None,
    overwrite: Overwrite = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Move every unsafe value far enough, and others as little as it takes for totals to add up.

    What is written has values alone: no status, level or number of contributors.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.adjust import adjust as run

    refuse_out(out, data, overwrite=overwrite)
    reading = Reading(delimiter, None, decimal)
    given = open_whole(data, value, trees(hierarchy), reading, tolerance, contributors)
    with working() as progress:
        progress("adjusting", 0)
        done = run(
            given,
            cost=cost,
            capacity=capacity,
            zeros=zeros,
            method=method,
            seconds=time_limit,
            gap=gap,
            tolerance=tolerance,
        )
    if out is not None:
        hand_out(done, out, overwrite=overwrite)
    if json:
        print_json(done.to_plain())
    else:
        print(f"{done.primary} unsafe cells; {done.changed} of {done.cells} cells were changed.")
        print(f"Largest change {done.largest_change:g}, sum of changes {done.total_change:g}.")
        if done.optimal:
            print("Nothing cheaper exists.")
        say(done.notes)
    say([f"Written: {out}"] if out is not None else [])
