"""`sfumato gate maximal`: sets of tables that are safe together and to which none can be added."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sfumato.cli.gate.opening import (
    Attribution,
    Chance,
    Count,
    DependencesOption,
    IntervalOption,
    LevelsFile,
    Never,
    chances,
    hint_of_counts,
    nevers,
    policy_of,
)
from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, NameBlank, Reading, Sheet, SkipRows, names

if TYPE_CHECKING:
    from sfumato.gate.maximal import Maximal

__all__ = ["EXAMPLE", "maximal"]

EXAMPLE = "Example: sfumato gate maximal ward.csv --interval 4:10"
_SHOWN = 20


def maximal(
    data: Annotated[Path, typer.Argument(help="Records, or a table of counts (--count).")],
    interval: IntervalOption = None,
    kind: Annotated[
        Literal["decomposable", "hierarchical"] | None,
        typer.Option(help="Which sets of tables: those with bounds in closed form, or all (up to five variables)."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMNS", help="The variables, with commas between; else all with codes.")
    ] = None,
    attribution: Attribution = None,
    count: Count = None,
    levels: LevelsFile = None,
    never: Never = None,
    chance: Chance = None,
    dependences: DependencesOption = "found",
    restarts: Annotated[
        int, typer.Option(min=1, max=10_000, help="How many are searched for where there are too many to try all.")
    ] = 30,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Find the largest sets of tables that are safe together, and in how many of them each table stands.

    A table that stands in many limits least what others can still be given.
    """
    from sfumato.cli.talk import open_table, print_json
    from sfumato.cli.working import working
    from sfumato.gate.maximal import maximal as found_in

    policy = policy_of(interval, attribution)
    never_ = nevers(never)
    read = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    with working() as progress:
        found = found_in(
            read, policy=policy, kind=kind, count=count, levels=levels, never=never_, by=names(by), restarts=restarts,
            chance=chances(chance), dependences=dependences, progress=progress,
        )  # fmt: skip
    hint_of_counts(read, count)
    if json:
        print_json(found.to_plain())
    else:
        _show(found)


def _show(found: Maximal) -> None:
    how = "all releases were gone through" if found.exhaustive else "searched from chance beginnings, not exhaustive"
    print(f"{found.safe:,} of {found.looked:,} {found.kind} releases are safe ({how}).")
    print(f"{len(found.releases):,} of them are maximal: no table can be added.")
    for release in found.releases[:_SHOWN]:
        print("  " + " ".join(f"[{','.join(table)}]" for table in release))
    if len(found.releases) > _SHOWN:
        print(f"  and {len(found.releases) - _SHOWN:,} more (--json has all)")
    if found.left_out:
        print(f"Left out, for their own tables tell too much of few people: {', '.join(found.left_out)}.")
    print("Tables, by how many maximal releases hold them:")
    told = sorted(found.contained.items(), key=lambda item: (-item[1], item[0].count(","), item[0]))
    for table, many in told[:_SHOWN]:
        print(f"  {many:>6}  {table}")
