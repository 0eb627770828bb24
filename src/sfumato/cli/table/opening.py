"""Tables as commands open and write them: from records, or from files of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options import Reading

if TYPE_CHECKING:
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.tables.axis import Axis
    from sfumato.tables.table import Table

__all__ = [
    "By",
    "Contributors",
    "Count",
    "Hierarchies",
    "Holdings",
    "Lower",
    "Margins",
    "Overwrite",
    "Records",
    "Requested",
    "Sliding",
    "TableOut",
    "TablePlan",
    "Tolerance",
    "Value",
    "Waived",
    "Weight",
    "Work",
    "open_tables",
    "open_whole",
    "trees",
]

By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS",
        help="Variables, with commas between; A10>A21>A88 are nested columns of one. Again for a linked table.",
    ),
]
Value = Annotated[
    str | None, typer.Option(help="The column that is summed, or the value's column of a table file; else counts.")
]
Count = Annotated[str | None, typer.Option(help="Column of how many records each row stands for.")]
Contributors = Annotated[
    str | None, typer.Option(help="Whose record it is; of a table file, how many contributors a cell has.")
]
Holdings = Annotated[str | None, typer.Option(help="Who owns the contributor: a holding is one.")]
Weight = Annotated[str | None, typer.Option(help="Column of sampling weights.")]
Waived = Annotated[
    str | None, typer.Option(help="Column of 0 and 1: who gave up protection by rules on shares (p, pq, nk).")
]
Requested = Annotated[str | None, typer.Option(help="Column of 0 and 1: who asked for it; no other is protected.")]
Margins = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Variables that have totals, with commas between; all, or none.")
]
TablePlan = Annotated[
    Path | None, typer.Option("--plan", help="Plan whose steps run over the records before; its limits are not judged.")
]
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
Lower = Annotated[
    float | None,
    typer.Option(help="That readers know more: every hidden value is at least this. Counts are 1 or more anyway."),
]
Work = Annotated[
    float, typer.Option(min=0.01, help="How much work the search and the proofs may cost: times the default.")
]
Sliding = Annotated[
    bool,
    typer.Option("--sliding", help="Only the width of each unsafe cell's interval counts: both its levels together."),
]
TableOut = Annotated[
    Path | None, typer.Option(help="Where to: one file (.csv), else a folder that holds the table with its papers.")
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace a folder that is there.")]


@dataclass(frozen=True)
class Records:
    """What the records of a table are read and summed by.

    Parameters
    ----------
    by, value, count, contributors, holdings, weight, waived, requested
        As `sfumato.tables.build` takes them.
    margins
        Variables with commas between, `all` or `none`.
    ranks
        How many of the largest contributions are kept.
    plan, secret_file, plan_table
        The plan whose steps run before, the file of its secret, and its table, where it has several.
    record
        The column of the records' ids, where cells get keys.
    """

    by: Sequence[str]
    value: str | None
    count: str | None = None
    contributors: str | None = None
    holdings: str | None = None
    weight: str | None = None
    waived: str | None = None
    requested: str | None = None
    margins: str = "all"
    ranks: int = 3
    plan: Path | None = None
    secret_file: Path | None = None
    plan_table: str | None = None
    record: str | None = None

    def table(self, path: Path, reading: Reading, hierarchies: dict[str, tuple[Hierarchy, ...]]) -> Table:
        """Read the records, run the plan's steps over them where there is one, and build the table."""
        from sfumato.cli.talk import open_table, say
        from sfumato.cli.working import working
        from sfumato.plan.plan import Plan
        from sfumato.release.secret import Secret
        from sfumato.release.tabulate import tabulate
        from sfumato.tables import build

        by = [text.split(",") for text in self.by] if len(self.by) > 1 else self.by[0]
        options = {
            **{
                n: getattr(self, n)
                for n in ("count", "contributors", "holdings", "weight", "waived", "requested", "record")
            },
            "hierarchies": hierarchies,
            "margins": {"all": True, "none": False}.get(self.margins, self.margins.split(",")),
            "ranks": self.ranks,
        }
        secret = Secret.known(self.secret_file) if self.plan is not None or self.record else None
        if self.plan is None:
            own = None if secret is None else secret.value
            made = build(open_table(path, reading), by, self.value, secret=own, **options)
        else:
            plan = Plan.load(self.plan).the_table(self.plan_table)
            records = open_table(path, reading)
            with working() as progress:
                made = tabulate(plan, records, by, self.value, secret=secret, progress=progress, **options)
        say(made.notes)
        return made


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


def open_tables(
    paths: Sequence[Path],
    value: str | None,
    hierarchies: dict[str, tuple[Hierarchy, ...]],
    reading: Reading,
    contributors: str | None = None,
    numbered: bool = False,
) -> list[Table]:
    """Read tables, from files or from folders that were handed out; what one knows of a variable holds for all.

    `numbered` says whether files of cells by number (.jj) are taken.

    Raises
    ------
    FileError, DataError
        As `sf.read_table`; a hierarchy of a variable that none of them has.
    """
    from sfumato.api.read_table import read_table
    from sfumato.data.files.jj import is_jj
    from sfumato.errors import FileError
    from sfumato.release.tabular.opening import folder_of

    if not numbered and (by_number := next((path for path in paths if is_jj(path)), None)):
        raise FileError(f"{by_number.name} has its cells by number, and no codes: only `protect` and `audit` take it.")

    comma = reading.decimal == ","
    told: dict[str, Any] = {"contributors": contributors, "delimiter": reading.delimiter, "decimal_comma": comma}
    tables: dict[int, Table] = {}
    knowing = [folder_of(path) is not None or is_jj(path) for path in paths]
    for i in sorted(range(len(paths)), key=lambda i: not knowing[i]):
        # folders first: they know what their value is called, which a file beside them does not
        named = value if value or knowing[i] else next((table.value for table in tables.values()), None)
        tables[i] = read_table(paths[i], named, hierarchies=hierarchies, **told)
    return _known_to_all([tables[i] for i in range(len(paths))], hierarchies)


def _known_to_all(tables: list[Table], hierarchies: dict[str, tuple[Hierarchy, ...]]) -> list[Table]:
    """The tables, each with the trees and equations that any of them knows."""
    from sfumato.errors import DataError

    told_by_folders = {axis.name: axis for table in tables for axis in table.axes if len(axis.relations) > 1}
    tables = [_with_trees(table, told_by_folders) for table in tables]
    if own := next((table for table in tables if table.sums is not None), None):
        tables = [_with_sums(table, own) for table in tables]
    if odd := [n for n in hierarchies if not any(n in table.variables for table in tables)]:
        known = ", ".join(dict.fromkeys(n for table in tables for n in table.variables))
        raise DataError(f"{', '.join(map(repr, odd))} has a hierarchy, but is no variable. Variables: {known}.")
    return tables


def _with_sums(table: Table, own: Table) -> Table:
    """A table of cells by number, with the equations that another one knows."""
    from sfumato.errors import DataError

    if table.sums is not None or table.variables != own.variables:
        return table
    if set(table.axes[0].codes) - set(own.axes[0].codes) or len(table) < len(own):
        raise DataError("The protected table and the .jj file are not of the same cells.")
    return replace(replace(table, axes=own.axes), sums=own.sums)


def open_whole(
    path: Path,
    value: str | None,
    hierarchies: dict[str, tuple[Hierarchy, ...]],
    reading: Reading,
    tolerance: float | None = None,
    contributors: str | None = None,
) -> Table:
    """Read a table with all its values; which codes are totals of others is read off the sums where nothing says it.

    Raises
    ------
    FileError, DataError
        As `open_tables`; a table that adds up in no way, or in several.
    """
    from sfumato.tables.nested import nested

    (given,) = open_tables([path], value, hierarchies, reading, contributors)
    return nested(given, tolerance)


def _with_trees(table: Table, known: Mapping[str, Axis]) -> Table:
    """A table of a single file, whose variables have no levels, with those that another one knows for its codes."""
    axes = {axis.name: known.get(axis.name, axis) for axis in table.axes}
    flat = [axis for axis in table.axes if len(axis.relations) == 1 and set(axis.codes) <= set(axes[axis.name].codes)]
    if not flat:
        return table
    return replace(table, axes=tuple(axes[axis.name] if axis in flat else axis for axis in table.axes))
