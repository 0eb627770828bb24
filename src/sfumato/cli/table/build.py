"""`sfumato table build`: a table from records, with its margins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, Reading, Sheet, SkipRows
from sfumato.cli.table.opening import (
    By,
    Contributors,
    Count,
    Hierarchies,
    Holdings,
    Overwrite,
    Records,
    TableOut,
    Weight,
    trees,
)

__all__ = ["EXAMPLE", "build"]

EXAMPLE = 'Example: sfumato table build firms.csv --by "A10>A21>A88,NUTS1>NUTS2" --value TURNOVER --out table.csv'


def build(
    data: Annotated[Path, typer.Argument(help="The data file.")],
    by: By = None,
    value: Annotated[str | None, typer.Option(help="The column that is summed; else records are counted.")] = None,
    count: Count = None,
    contributors: Contributors = None,
    holdings: Holdings = None,
    weight: Weight = None,
    hierarchy: Hierarchies = None,
    out: TableOut = None,
    overwrite: Overwrite = False,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
) -> None:
    """Build a table from records: every cell that is not empty, with totals of every level.

    The table is the custodian's, whether a file or a folder: it shows every value, and the largest contributions.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.cli.talk import print_json, say
    from sfumato.data.files.tables import cells_text
    from sfumato.errors import FileError
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.settle import internal

    if not by:
        raise FileError("Name the variables of the table: --by industry,region.")
    refuse_out(out, data, overwrite=overwrite, internal=True)
    records = Records(by, value, count, contributors, holdings, weight)
    table = records.table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet), trees(hierarchy))
    say(table.notes)
    if out is not None:
        hand_out(table, out, overwrite=overwrite)
        say([f"Written: {out}"])
    if json:
        print_json({"cells": len(table), "variables": list(table.variables), "value": table.value})
    elif out is None:
        print(cells_text(internal(table)), end="")
