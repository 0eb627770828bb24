"""`sfumato table recode`: coarser codes until no unsafe cell is left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import Hierarchies, Overwrite, TableOut, Tolerance, Value, open_whole, trees

__all__ = ["EXAMPLE", "recode"]

EXAMPLE = "Example: sfumato table recode judged.csv --value turnover --hierarchy act=act.csv --out recoded.csv"


def recode(
    data: Annotated[Path, typer.Argument(help="The judged table, as --internal wrote it: a file or a folder.")],
    value: Value = None,
    by: Annotated[
        Literal["branches", "levels"],
        typer.Option("--cut", help="branches: each branch is cut where it must be. levels: a whole level at once."),
    ] = "branches",
    time_limit: Annotated[float | None, typer.Option(min=0, help="Seconds to look for less loss.")] = None,
    hierarchy: Hierarchies = None,
    tolerance: Tolerance = None,
    out: TableOut = None,
    overwrite: Overwrite = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Publish coarser codes only, as fine as can be without an unsafe cell, and prove that nothing loses less.

    Every published cell has its true value, and totals add up.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.cli.talk import print_json, say
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.recode import recode as run

    refuse_out(out, data, overwrite=overwrite)
    given = open_whole(data, value, trees(hierarchy), Reading(delimiter, None, decimal), tolerance)
    done = run(given, by=by, seconds=time_limit, tolerance=tolerance)
    if out is not None:
        hand_out(done, out, overwrite=overwrite)
    if json:
        print_json(done.to_plain())
    else:
        print(f"{done.cells_before} cells, {done.primary} of them unsafe: {len(done.table)} are published.")
        for name, kept in done.variables.items():
            print(f"{name}: {kept.codes} of {kept.codes_before} codes, {kept.levels} of {kept.levels_before} levels.")
        proved = "nothing loses less" if done.optimal else f"others may lose less, by {done.gap:.1%} at most"
        print(f"Loss: {done.loss_share:.1%} of the information on codes ({proved}).")
        say(done.notes)
    say([f"Written: {out}"] if out is not None else [])
