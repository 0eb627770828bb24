"""Tables as commands open and write them: from records, or from files of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Reading

if TYPE_CHECKING:
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.tables.table import Table

__all__ = [
    "By",
    "Contributors",
    "Count",
    "Hierarchies",
    "Holdings",
    "Records",
    "TableOut",
    "Tolerance",
    "Value",
    "Weight",
    "open_table_file",
    "refuse_release",
    "trees",
]

By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Variables, with commas between; A10>A21>A88 are nested columns of one. Again for a linked table.",
    ),
]
Value = Annotated[str, typer.Option(help="The column that is summed, or the value's column of a table; else counts.")]
Count = Annotated[str | None, typer.Option(help="Column of how many records each row stands for.")]
Contributors = Annotated[
    str | None, typer.Option(help="Whose record it is; of a table file, how many contributors a cell has.")
]
Holdings = Annotated[str | None, typer.Option(help="Who owns the contributor: a holding is one.")]
Weight = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="VARIABLE=FILE",
        help="Tree of a variable's codes: code,parent CSV, .hrc, or levels side by side. Again for others.",
    ),
]
Tolerance = Annotated[
    float | None, typer.Option(min=0, help="Difference of totals from their parts that is taken for rounding.")
]
TableOut = Annotated[Path | None, typer.Option(help="File to write (.csv).")]


@dataclass(frozen=True)
class Records:
    """What the records of a table are read and summed by.

    Parameters
    ----------
    by, value, count, contributors, holdings, weight
        As `sfumato.tables.build` takes them.
    """

    by: Sequence[str]
    value: str | None
    count: str | None = None
    contributors: str | None = None
    holdings: str | None = None
    weight: str | None = None

    def table(self, path: Path, reading: Reading, hierarchies: dict[str, tuple[Hierarchy, ...]]) -> Table:
        """Read the records and build the table."""
        from sfumato.cli.talk import open_table
        from sfumato.tables import build

        return build(
            open_table(path, reading),
            [text.split(",") for text in self.by] if len(self.by) > 1 else self.by[0],
            self.value,
            count=self.count,
            contributors=self.contributors,
            holdings=self.holdings,
            weight=self.weight,
            hierarchies=hierarchies,
        )


def trees(given: Sequence[str] | None) -> dict[str, tuple[Hierarchy, ...]]:
    """Read hierarchies that are given as VARIABLE=FILE; a variable that stands twice has two groupings.

    Raises
    ------
    FileError
        Where a file is missing, or what is given has another form.
    """
    from sfumato.data.files.hierarchies import read_hierarchy
    from sfumato.errors import FileError

    found: dict[str, tuple[Hierarchy, ...]] = {}
    for text in given or ():
        variable, sign, path = text.partition("=")
        if not (variable and sign and path):
            raise FileError(f"A hierarchy is given as VARIABLE=FILE, for instance act=act.csv; {text!r} is not.")
        found[variable] = (*found.get(variable, ()), read_hierarchy(Path(path)))
    return found


def open_table_file(
    path: Path, value: str, hierarchies: dict[str, tuple[Hierarchy, ...]], reading: Reading, contributors: str | None
) -> Table:
    """Read a file of a table: a line for each cell."""
    from sfumato.data.files.tables import read_cells
    from sfumato.tables.table import RESERVED, STATUS, Table

    figures = [n for n in RESERVED if n != STATUS]
    figures += [contributors] if contributors else []
    comma = reading.decimal == ","
    frame = read_cells(path, value, figures, delimiter=reading.delimiter, decimal_comma=comma)
    known = {n: trees for n, trees in hierarchies.items() if n in frame.columns}
    return Table.of(frame, value, known, contributors)


def refuse_release(path: Path | None) -> None:
    """Refuse to put a table that shows hidden values into the folder of a release.

    Raises
    ------
    FileError
        Where that is asked for.
    """
    from sfumato.errors import FileError

    if path is not None and (path.resolve().parent / "datapackage.json").exists():
        raise FileError("The internal table shows hidden values: it must not be in a release folder.")
