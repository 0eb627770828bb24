"""`sfumato table build`: a table from records, with its margins."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Header,
    Json,
    NameBlank,
    Reading,
    SecretFile,
    Sheet,
    SkipRows,
)
from sfumato.cli.options import Table as PlanTable
from sfumato.cli.table.opening import (
    By,
    Contributors,
    Count,
    Hierarchies,
    Holdings,
    Margins,
    Overwrite,
    Records,
    Requested,
    TableOut,
    TablePlan,
    Waived,
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
    waived: Waived = None,
    requested: Requested = None,
    margins: Margins = "all",
    ranks: Annotated[
        int, typer.Option(min=2, max=100, help="Largest contributions to keep, for nk on more than 2; in a folder.")
    ] = 3,
    cell_keys: Annotated[
        bool, typer.Option("--cell-keys", help="Give each cell a key, for `perturb`; with --record and a secret.")
    ] = False,
    record: Annotated[str | None, typer.Option(help="Column of the records' ids, for --cell-keys.")] = None,
    plan: TablePlan = None,
    secret_file: SecretFile = None,
    table: PlanTable = None,
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
    name_blank: NameBlank = False,
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
    if cell_keys != (record is not None):
        raise FileError("Keys of cells need the column of the records' ids: give --cell-keys and --record together.")
    refuse_out(out, data, plan, secret_file, overwrite=overwrite, internal=True)
    records = Records(
        by=by,
        value=value,
        count=count,
        contributors=contributors,
        holdings=holdings,
        weight=weight,
        waived=waived,
        requested=requested,
        margins=margins,
        ranks=ranks,
        plan=plan,
        secret_file=secret_file,
        plan_table=table,
        record=record,
    )
    reading = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank)
    built = records.table(data, reading, trees(hierarchy))
    if out is not None:
        hand_out(built, out, overwrite=overwrite)
        say([f"Written: {out}"])
    if json:
        print_json({"cells": len(built), "variables": list(built.variables), "value": built.value})
    elif out is None:
        print(cells_text(internal(built)), end="")
