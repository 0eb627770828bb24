"""`sfumato check-links`: what links tables that are released apart."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, NameBlank, Reading, Sheet, SkipRows, names

__all__ = ["EXAMPLE", "check_links"]

EXAMPLE = "Example: sfumato check-links interviews.csv places.csv"


def check_links(
    data: Annotated[list[Path], typer.Argument(help="Two data files or more; every pair is looked at.")],
    declared: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns on which tables are linked openly, with commas between: what tells no more is no link. Again "
            "for another such set.",
        ),
    ] = None,
    unlinkable: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns that have the same name and nothing else in common, such as codes of each table alone.",
        ),
    ] = None,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Find what links tables: columns that two of them have, by which records find each other, and equal row order.

    A link is a smallest set of columns of the same names by which some record of one table joins uniquely to one of the
    other; its share is that of the first table's records. Or all columns that both have agree row by row, although
    neither file is sorted by them. The exit status is 1 where there is a link.
    """
    from rich.console import Console

    from sfumato.api.check_links import check_links as search
    from sfumato.cli.talk import open_table, print_json, say
    from sfumato.cli.working import working
    from sfumato.render.links import show_links

    if len(data) < 2:
        raise typer.BadParameter("two data files are needed, or more.", param_hint="DATA")
    how = Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank)
    tables = [open_table(path, how) for path in data]
    sets = [names(each) or [] for each in declared or ()]
    with working() as progress:
        found = search(*tables, declared=sets, unlinkable=names(unlinkable) or (), progress=progress)
    if json:
        print_json(found.to_plain())
    else:
        show_links(found, Console())
        say(found.notes)
    if found.links:
        raise typer.Exit(1)
