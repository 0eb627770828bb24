"""`sfumato tune`: the least protection that meets limits, and the frontier of risk and utility."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import (
    W1,
    W2,
    Decimal,
    Delimiter,
    Encoding,
    Family,
    Header,
    Json,
    Model,
    NameBlank,
    Reading,
    Sheet,
    SkipRows,
    Table,
)

if TYPE_CHECKING:
    from sfumato.tuning.tune import Tuned

__all__ = ["EXAMPLE", "refuse_other_picture", "tune"]

EXAMPLE = (
    "Example: sfumato tune plan.yaml cohort.csv --parameter steps.0.share --range 0.01:0.5 --limit 'h_rank[h<3] < 0.1'"
)
_GRID = 9
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"


def tune(
    plan: Annotated[Path, typer.Argument(help="The plan.")],
    data: Annotated[Path, typer.Argument(help="The data file.")],
    parameter: Annotated[str, typer.Option(help="What is tuned: steps.<number from 0>.<parameter>[.<column>].")],
    between: Annotated[
        str,
        typer.Option("--range", help="Lowest and highest value: 0.01:0.5. Of a choice two values: cart:parametric."),
    ],
    limit: Annotated[
        list[str] | None, typer.Option(help="What must hold, may be repeated. Else the plan's limits.")
    ] = None,
    utility: Annotated[
        list[str] | None, typer.Option(help="Figure to report beside the risk: 'delta[variable=bmi]'. May be repeated.")
    ] = None,
    replications: Annotated[
        int | None, typer.Option(help="Most runs at each value. Else 10, and 5 above 100,000 records.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Share of the value to which it is found.")] = 0.01,
    grid: Annotated[
        int | None, typer.Option(help=f"Values to try besides. Else {_GRID} for a picture or report, or none.")
    ] = None,
    kept: Annotated[
        float | None,
        typer.Option(help="Probability with which one release must keep the limits: 0.95. Else their mean must."),
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Where to draw the frontier: .png or .svg.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Where to write a page with frontier and figures, for the custodian.")
    ] = None,
    table: Table = None,
    model: Model = None,
    family: Family = None,
    w1: W1 = 0.01,
    w2: W2 = 0.05,
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Find the least noise, smallest k or least of any other number of a plan that meets limits.

    No secret is needed: figures are means over runs with public secrets, and the far end of each 95% interval must
    meet the limit; with --kept a single release must, with that probability. Where no value of the range does, the
    exit status is 1.
    """
    from sfumato.api.tune import tune as search
    from sfumato.cli.talk import open_table, refuse_same
    from sfumato.cli.working import working

    for path in (picture, report):
        refuse_same(path, data, plan)
        _refuse_no_folder(path)
    refuse_other_picture(picture)
    ends = _ends(between)
    rows = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    with working() as progress:
        found = search(
            plan,
            rows,
            parameter=parameter,
            range=ends,
            limit=limit,
            utility=utility or (),
            replications=replications,
            tolerance=tolerance,
            grid=(_GRID if picture or report else 0) if grid is None else grid,
            kept=kept,
            table=table,
            model=model,
            family=family,
            w1=w1,
            w2=w2,
            progress=progress,
        )
    _write(found, picture, report)
    _tell(found, json)


def _ends(text: str) -> tuple[float, float] | tuple[str, str]:
    """The two numbers of `0.01:0.5`, or the words of `cart:parametric`."""
    from sfumato.errors import FormulaError

    if words := re.fullmatch(r"\s*([A-Za-z]\w*)\s*:\s*([A-Za-z]\w*)\s*", text):
        return words[1], words[2]
    found = re.fullmatch(rf"\s*({_NUMBER})\s*:\s*({_NUMBER})\s*", text)
    if not found:
        raise FormulaError(f"{text!r} is no range. Give two numbers with a colon between, the lower first: 0.01:0.5")
    return float(found[1]), float(found[2])


def refuse_other_picture(picture: Path | None) -> None:
    """Refuse a picture that is neither .png nor .svg."""
    from sfumato.errors import FileError

    if picture is not None and picture.suffix.lower() not in (".png", ".svg"):
        raise FileError(f"A picture is a .png or .svg file; {str(picture)!r} is neither.")


def _refuse_no_folder(path: Path | None) -> None:
    """Refuse a place that cannot be written to before the long work, rather than after it."""
    from sfumato.errors import FileError

    if path is not None and not path.resolve().parent.is_dir():
        raise FileError(f"There is no folder {str(path.parent)!r} to write {path.name!r} to. Make it first.")
    if path is not None and (path.resolve().parent / "datapackage.json").exists():
        raise FileError("What tuning finds is the custodian's: it must not be written into a release folder.")


def _write(found: Tuned, picture: Path | None, report: Path | None) -> None:
    from sfumato.cli.talk import say
    from sfumato.data.files.atomic import replacing
    from sfumato.render.frontier import frontier_page, frontier_picture

    documents = {}
    if picture is not None:
        documents[picture] = frontier_picture(found, "svg" if picture.suffix.lower() == ".svg" else "png")
    if report is not None:
        documents[report] = frontier_page(found)
    for path, content in documents.items():
        with replacing(path) as temporary:
            temporary.write_bytes(content)
        say([f"Written: {path}"])


def _tell(found: Tuned, as_json: bool) -> None:
    """Print what was found, and leave with status 1 where the limits are not met."""
    from rich.console import Console

    from sfumato.cli.talk import print_json, say
    from sfumato.render.frontier import show_tuned

    if as_json:
        print_json(found.to_plain())
    else:
        show_tuned(found, Console())
    say(found.notes)
    if not found.met:
        say(["The limits are not met."])
        raise typer.Exit(1)
