"""`sfumato table round`: multiples of a base, or counts off by one, in place of values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sfumato.cli.options import Decimal, Delimiter, Json, Reading, SecretFile
from sfumato.cli.table.opening import Hierarchies, Overwrite, TableOut, Tolerance, Value, open_whole, trees

__all__ = ["EXAMPLE", "round"]

EXAMPLE = "Example: sfumato table round table.csv --base 5 --method controlled --out rounded.csv"


def round(
    data: Annotated[Path, typer.Argument(help="The table with all its values: a file or a folder.")],
    base: Annotated[int, typer.Option(help="Values become multiples of it, 2 or more.")] = 5,
    method: Annotated[
        Literal["conventional", "random", "controlled", "barnardise"],
        typer.Option(help="To the nearest; at random; such that totals add up; or counts -1, 0 or +1."),
    ] = "controlled",
    value: Value = None,
    steps: Annotated[
        int | None, typer.Option(min=0, help="Controlled: so many multiples further; else as many, up to 3, as needed.")
    ] = None,
    keep: Annotated[
        float, typer.Option(min=0, max=1, help="Barnardisation: the probability that a count is kept.")
    ] = 0.9,
    totals: Annotated[
        Literal["own", "summed"],
        typer.Option(help="own: totals are changed by themselves; summed: they are sums of changed cells."),
    ] = "own",
    secret_file: SecretFile = None,
    time_limit: Annotated[float, typer.Option(min=0, help="Controlled: seconds to look for smaller changes.")] = 60,
    hierarchy: Hierarchies = None,
    tolerance: Tolerance = None,
    out: TableOut = None,
    overwrite: Overwrite = False,
    json: Json = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
) -> None:
    """Round every value of a table.

    At random and by Barnardisation, a cell with the same count gets the same draw in every table that holds it, as long
    as the secret is the same.
    """
    from sfumato.api.hand_out import hand_out
    from sfumato.api.protect_table import audit_of, told_by_rounding
    from sfumato.cli.talk import print_json, say
    from sfumato.cli.working import working
    from sfumato.release.secret import Secret
    from sfumato.release.tabular.hand_out import refuse_out
    from sfumato.tables.round.round import round as run

    refuse_out(out, data, secret_file, overwrite=overwrite)
    drawn = method in ("random", "barnardise")
    secret = Secret.known(secret_file) if drawn or secret_file is not None else None
    given = open_whole(data, value, trees(hierarchy), Reading(delimiter, None, decimal), tolerance)
    with working() as progress:
        progress("rounding", 0)
        done = run(
            given,
            base,
            method,
            steps=steps,
            keep=keep,
            totals=totals,
            secret=None if secret is None else secret.value,
            seconds=time_limit,
            tolerance=tolerance,
        )
        told = done.to_plain() | {"audit": audit_of(told_by_rounding(done))}
    if out is not None:
        hand_out(done, out, overwrite=overwrite)
    if json:
        print_json(told)
    else:
        _show(told)
        say(done.notes)
    say([f"Written: {out}"] if out is not None else [])


def _show(told: dict[str, Any]) -> None:
    print(f"{told['changed']} of {told['cells']} cells were changed, by {told['largest_change']:g} at most.")
    print("Totals are the sums of their parts." if told["additive"] else "Totals are not the sums of their parts.")
    if told["optimal"]:
        print(f"Sum of changes {told['total_change']:g}; no smaller one exists.")
    if (audit := told["audit"]) is not None:
        print(
            f"Of the finest cells, {audit['exact']} can be worked out exactly, beside {audit['zeros']} that are "
            "certainly empty."
        )
        if audit["exact"]:
            print(
                "They are not protected: sum totals up (--totals summed), or take a larger base or --method controlled."
            )
