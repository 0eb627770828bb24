"""`sfumato table bounds`: what released tables tell together of every cell of their cross product."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import Hierarchies, Tolerance, trees

if TYPE_CHECKING:
    from sfumato.data.hierarchy import Hierarchy
    from sfumato.tables.possible import Possible
    from sfumato.tables.table import Table

__all__ = ["EXAMPLE", "bounds"]

EXAMPLE = "Example: sfumato table bounds age_sex.csv sex_ill.csv age_ill.csv --count n --out bounds.csv"


def bounds(
    data: Annotated[list[Path], typer.Argument(help="Released tables of the same records, with totals or without.")],
    count: Annotated[str, typer.Option(help="The column of counts.")] = "count",
    value: Annotated[str | None, typer.Option(help="The column of sums, which may be fractions; else counts.")] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COLUMNS", help="The variables, with commas between; else all columns but the value's."),
    ] = None,
    method: Annotated[
        Literal["auto", "frechet", "decomposable", "reducible", "shuttle", "linear", "integer"],
        typer.Option(help="How cells are bounded; auto takes the best that the size allows."),
    ] = "auto",
    rounded: Annotated[int | None, typer.Option(metavar="BASE", help="Counts were rounded to multiples of it.")] = None,
    rounding: Annotated[
        Literal["conventional", "random", "controlled"], typer.Option(help="How they were rounded.")
    ] = "random",
    steps: Annotated[int, typer.Option(min=0, help="Controlled rounding went so many multiples further.")] = 0,
    barnardised: Annotated[bool, typer.Option("--barnardised", help="Counts were Barnardised: -1, 0 or +1.")] = False,
    totals: Annotated[
        Literal["own", "summed"],
        typer.Option(help="own: totals were changed as cells were; summed: they are sums of changed cells."),
    ] = "own",
    against: Annotated[Path | None, typer.Option(help="The true table: how small cells fare.")] = None,
    small: Annotated[int, typer.Option(min=1, help="With --against: counts up to this are small.")] = 3,
    known: Annotated[
        int | None, typer.Option(min=0, help="With --against: SAP (reconstructed) of who knows so many people.")
    ] = None,
    hierarchy: Hierarchies = None,
    tolerance: Tolerance = None,
    out: Annotated[Path | None, typer.Option(help="File to write (.csv): lower and upper of every cell.")] = None,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Work out what every cell of the cross product of all variables can be, from released tables by logic alone.

    Variables of several files are matched by name. A finest cell that a file does not list is empty; hidden ones have
    no value.
    """
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.data.files.tables import write_cells
    from sfumato.errors import DataError, FileError
    from sfumato.release.tabular.hand_out import is_table_file, refuse_out
    from sfumato.tables.bounds.bound import bounds as bound
    from sfumato.tables.bounds.judged import judged

    refuse_out(out, *data, against)
    if out is not None and not is_table_file(out):
        raise FileError("Bounds are one file: give --out a name that ends in .csv.")
    changed = _changed(rounded, rounding, steps, barnardised, totals)
    reading, known_trees = Reading(delimiter, None, decimal), trees(hierarchy)
    name = value or count
    wanted = None if by is None else [one.strip() for one in by.split(",")]
    tables = [_opened(path, name, known_trees, reading, wanted) for path in data]
    if odd := [n for n in known_trees if not any(n in table.variables for table in tables)]:
        raise DataError(f"{', '.join(map(repr, odd))} has a hierarchy, but is no variable of any table.")
    with working() as progress:
        found = bound(
            tables,
            method,
            changed=changed,
            whole=value is None,
            tolerance=tolerance or 0.0,
            names=[path.name for path in data],
            progress=progress,
        )
    told: dict[str, Any] = found.summary()
    if against is not None:
        told |= judged(found, _opened(against, name, known_trees, reading, wanted), small, known)
    if out is not None:
        write_cells(found.cells, out)
    if json:
        print_json({**told, "notes": list(found.notes)})
    else:
        _show(told)
        say(found.notes)
    say([f"Written: {out}"] if out is not None else [])


def _opened(
    path: Path, value: str, hierarchies: dict[str, tuple[Hierarchy, ...]], reading: Reading, by: list[str] | None
) -> Table:
    """A file of a table; what is wrong with it is said with its name."""
    from sfumato.api.read_table import read_table
    from sfumato.data.files.tables import read_cells
    from sfumato.errors import DataError, FileError
    from sfumato.tables.table import LOWER, STATUS, UPPER, Table

    comma = reading.decimal == ","
    try:
        if by is None or path.is_dir():
            return read_table(path, value, hierarchies=hierarchies, delimiter=reading.delimiter, decimal_comma=comma)
        wanted = [*by, value, STATUS, LOWER, UPPER]
        frame = read_cells(path, value, [LOWER, UPPER], delimiter=reading.delimiter, decimal_comma=comma, only=wanted)
        if not any(n in frame.columns for n in by):
            raise DataError("it has none of the variables that --by names.")
        return Table.of(frame, value, {n: t for n, t in hierarchies.items() if n in frame.columns})
    except FileError:
        raise
    except DataError as error:
        raise DataError(str(error) if path.name in str(error) else f"{path.name}: {error}") from None


def _changed(
    rounded: int | None,
    rounding: Literal["conventional", "random", "controlled"],
    steps: int,
    barnardised: bool,
    totals: Literal["own", "summed"],
) -> Possible | None:
    from sfumato.errors import DataError
    from sfumato.tables.possible import Barnardised, Rounded

    if rounded is not None and barnardised:
        raise DataError("Counts were rounded, or Barnardised: give --rounded or --barnardised, not both.")
    if barnardised:
        return Barnardised(totals)
    return None if rounded is None else Rounded(rounded, rounding, steps, totals)


def _show(told: dict[str, Any]) -> None:
    print(f"{told['cells']} cells by {', '.join(told['variables'])}; bounded by {', '.join(told['by'])}.")
    if told["mean_width"] is not None:
        print(f"Mean width {told['mean_width']:.4g}, largest {told['largest_width']:.4g}.")
    print(f"{told['exact']} cells are told exactly; {told['zeros']} are certainly empty.")
    if (small := told.get("small")) is not None:
        print(
            f"Of {small['cells']} cells with counts of 1 to {small['at_most']}, {small['exact']} are told exactly; the "
            f"narrowest width is {'not known' if small['narrowest'] is None else format(small['narrowest'], 'g')}."
        )
    if (attribution := told.get("attribution")) is not None:
        sap = attribution["sap"]
        print(
            f"SAP({attribution['k']}) ({attribution['label']}): {sap['before']:.4g} before, {sap['after']:.4g} after."
        )
