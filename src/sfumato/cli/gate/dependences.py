"""`sfumato gate dependences`: what columns tell of one another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.gate.opening import Count, LevelsFile, Never, hint_of_counts, nevers
from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, NameBlank, Reading, Sheet, SkipRows

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["EXAMPLE", "dependences"]

EXAMPLE = "Example: sfumato gate dependences ward.csv"


def dependences(
    data: Annotated[Path, typer.Argument(help="Records, or a table of counts (--count).")],
    count: Count = None,
    levels: LevelsFile = None,
    never: Never = None,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Find what columns of a data set tell of one another: it counts as known to everybody who asks.

    Not found: columns that exclude something only three together, and what has a single exception.
    """
    from sfumato.cli.talk import open_table, print_json
    from sfumato.gate.dependences.door import dependences as found_in

    never_ = nevers(never)
    read = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    found = found_in(read, count=count, levels=levels, never=never_)
    hint_of_counts(read, count)
    if json:
        print_json({"found": found})
    else:
        _show(found, data)


def _show(found: Sequence[dict[str, Any]], data: Path) -> None:
    from sfumato.gate.dependences.words import BY_CHANCE, in_words

    if not found:
        print("No dependence between columns was found: only what you declare counts as known.")
        return
    many = "1 dependence between columns was found. It counts" if len(found) == 1 else (
        f"{len(found)} dependences between columns were found. They count"
    )  # fmt: skip
    print(f"{many} as known to everybody.")
    head = ("what was found", "combinations", "people expected")
    rows = [
        (in_words(one["kind"], one["from"], one["to"]), f"{one['combinations']:,}", f"{one['expected']:,.0f}")
        for one in found
    ]
    wide = [max(len(row[i]) for row in (head, *rows)) for i in range(3)]
    for first, *others in (head, *rows):
        cells = [text.rjust(width) for text, width in zip(others, wide[1:], strict=True)]
        print("  ".join([first.ljust(wide[0]), *cells]))
    print(
        "Combinations: how many cannot be (of numbers that add up: columns). People expected: in them, by chance alone."
    )
    able = next((one for one in found if one["kind"] in BY_CHANCE), None)
    if able is not None:
        columns = ",".join([*able["from"], *([able["to"]] if able["to"] else [])])
        print(
            f"To see what were given if one is chance: sfumato gate decide {data.name} --chance {columns} --ask TABLE"
        )
