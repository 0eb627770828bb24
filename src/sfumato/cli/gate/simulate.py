"""`sfumato gate simulate`: a year of requests under each policy, before the gate is opened."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.gate.opening import Chance, DependencesOption, chances
from sfumato.cli.options import Json

if TYPE_CHECKING:
    from sfumato.gate.simulate import Quarter

__all__ = ["EXAMPLE", "simulate"]

EXAMPLE = "Example: sfumato gate simulate --config gate.yaml --requests 800"


def simulate(
    config: Annotated[Path, typer.Option(help="The gate's configuration.")],
    requests: Annotated[int, typer.Option(min=4, max=100_000, help="Requests of the year, under each policy.")] = 800,
    dataset: Annotated[str | None, typer.Option(help="The data set, where there are several.")] = None,
    seed: Annotated[int, typer.Option(help="Of the requests.")] = 1,
    chance: Chance = None,
    dependences: DependencesOption = "found",
    json: Json = False,
) -> None:
    """Let invented users ask for tables for a year, and tell what each policy gives and what it keeps.

    Nothing is stored, and nothing is asked of a running gate. Exit status 1 where somebody would know too much.
    """
    from sfumato.cli.talk import print_json
    from sfumato.cli.working import working
    from sfumato.gate.config import read_config
    from sfumato.gate.decide import searching
    from sfumato.gate.opening import records_from
    from sfumato.gate.simulate import simulate as simulated

    known = read_config(config)
    columns = chances(chance)
    data = records_from(known, dataset, chance=columns, search=searching(dependences, columns))
    with working() as progress:
        year = simulated(data, known.policies, requests, seed=seed, progress=progress)
    if json:
        print_json({"quarters": [quarter.to_plain() for quarter in year], "narrow": sum(q.narrow for q in year)})
    else:
        _show(year)
    if any(quarter.narrow for quarter in year):
        raise typer.Exit(1)


def _show(year: tuple[Quarter, ...]) -> None:
    head = ("policy", "quarter", "granted", "repeated", "refused", "undecided", "2-way", "3-way", "p95 ms", "narrow")
    rows = [
        (
            q.policy, str(q.quarter), str(q.granted), str(q.repeated), str(q.refused), str(q.undecided),
            f"{q.possible[2]:.0%}", f"{q.possible[3]:.0%}", f"{1000 * q.p95:.0f}", str(q.narrow),
        )
        for q in year
    ]  # fmt: skip
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    for first, *others in (head, *rows):
        cells = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
        print("  ".join([first.ljust(widths[0]), *cells]))
    print("2-way, 3-way: tables of so many variables that a user has or could still be given.")
