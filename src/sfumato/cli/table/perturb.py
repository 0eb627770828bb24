"""`sfumato table perturb`: noise by cell keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading
from sfumato.cli.table.opening import Hierarchies, Overwrite, TableOut, Value, open_whole, trees

if TYPE_CHECKING:
    from sfumato.tables.perturb.magnitudes import Flex

__all__ = ["EXAMPLE", "perturb"]

EXAMPLE = "Example: sfumato table perturb keyed.csv --largest 5 --variance 3 --forbidden 2 --out perturbed.csv"


def perturb(
    data: Annotated[Path, typer.Argument(help="The table, built with --cell-keys: a file or a folder.")],
    value: Value = None,
    largest: Annotated[
        int | None, typer.Option(min=1, help="Largest change (D); 5 where nothing is said. Of sums, in units of noise.")
    ] = None,
    variance: Annotated[
        float | None, typer.Option(help="Variance of the change at most (V); 3 for counts, 2 for sums.")
    ] = None,
    forbidden: Annotated[int, typer.Option(min=0, help="Counts of 1 up to this are not published (js).")] = 2,
    exact_variance: Annotated[
        bool, typer.Option("--exact-variance", help="Every count has just this variance, not less.")
    ] = False,
    stay: Annotated[
        float, typer.Option(min=0, max=1, help="Least probability that a count stays as it is, where it may.")
    ] = 0.0,
    weighted: Annotated[
        bool, typer.Option("--weighted", help="Counts are sums of sampling weights; contributors are perturbed.")
    ] = False,
    contributions: Annotated[
        str,
        typer.Option(metavar="PARTS", help="Of sums: parts of the largest contribution, the second, ...: 1,0.5,0.2."),
    ] = "1",
    small: Annotated[float, typer.Option(help="Of sums: noise as a share of small contributions.")] = 0.3,
    large: Annotated[float, typer.Option(help="Of sums: noise as a share of very large contributions.")] = 0.03,
    flex_point: Annotated[float, typer.Option(help="Of sums: above it the share falls from small to large.")] = 1000.0,
    flex_power: Annotated[float, typer.Option(help="Of sums: how fast it falls, above 1.")] = 3.0,
    floor: Annotated[float, typer.Option(help="Of sums: contributions below it get noise as if they were it.")] = 0.0,
    extra: Annotated[float, typer.Option(help="Of sums: additional noise of unsafe cells, in units of noise.")] = 0.0,
    hierarchy: Hierarchies = None,
    out: TableOut = None,
    overwrite: Overwrite = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Add noise to every cell that hangs on the records in it: the same cell has the same noise in every table.

    A zero stays a zero. Totals are changed by themselves, so that they differ from the sums of their parts.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.cli.talk import print_json, say
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.perturb.perturb import perturb as run

    refuse_out(out, data, overwrite=overwrite)
    flex = _flex(contributions, small, large, flex_point, flex_power, floor, extra)
    given = open_whole(data, value, trees(hierarchy), Reading(delimiter, None, decimal))
    done = run(
        given,
        largest=largest,
        variance=variance,
        forbidden=forbidden,
        exact=exact_variance,
        stay=stay,
        weighted=weighted,
        flex=flex,
    )
    if out is not None:
        hand_out(done, out, overwrite=overwrite)
    told = done.to_plain()
    if json:
        print_json(told)
    else:
        print(f"{done.changed} of {done.cells} cells were changed, by {done.largest_change:g} at most.")
        print(f"Mean change {done.d1:.4g}, as a share of the true value {done.d2:.2%}.")
        if done.false_zeros:
            print(f"{done.false_zeros} cells became 0.")
        if done.additivity_gap is not None:
            print(f"Totals differ from the sums of their parts by up to {done.additivity_gap:g}.")
        say(done.notes)
    say([f"Written: {out}"] if out is not None else [])


def _flex(parts: str, small: float, large: float, point: float, power: float, floor: float, extra: float) -> Flex:
    from sfumato.errors import DataError
    from sfumato.tables.perturb.magnitudes import Flex

    try:
        shares = tuple(float(part) for part in parts.split(","))
    except ValueError:
        raise DataError("--contributions takes numbers with commas between, such as 1,0.5,0.2.") from None
    return Flex(small, large, point, power, shares, floor, extra)
