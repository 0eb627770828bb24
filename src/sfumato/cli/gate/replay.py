"""`sfumato gate replay`: what would have been decided, event by event."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.gate.opening import (
    Chance,
    Count,
    DependencesOption,
    LevelsFile,
    Never,
    chances,
    hint_of_counts,
    nevers,
    read_groups,
)
from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, NameBlank, Reading, Sheet, SkipRows

__all__ = ["EXAMPLE", "replay"]

EXAMPLE = "Example: sfumato gate replay ward.csv --policies policies.yaml --events events.txt"


def replay(
    data: Annotated[Path, typer.Argument(help="Records, or a table of counts (--count): the version v1.")],
    policies: Annotated[Path, typer.Option(help="YAML file of policies: name, then criteria.")],
    events: Annotated[Path, typer.Option(help="Events, one a line: `user ann research`, `ask ann A,B`, ...")],
    count: Count = None,
    record: Annotated[str | None, typer.Option(help="Column of record ids, by which versions are paired.")] = None,
    levels: LevelsFile = None,
    never: Never = None,
    chance: Chance = None,
    dependences: DependencesOption = "found",
    json: Json = False,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    header: Header = None,
    skip_rows: SkipRows = 0,
    sheet: Sheet = None,
    name_blank: NameBlank = False,
) -> None:
    """Decide event after event without a server, and look in the end whether anybody knows too much.

    \b
    organisation north research   group north research   user ann research
    join ann north                leave ann north        (also: join ann public)
    share north south             withdraw north south   (one way)
    version v2 more.csv           (a file beside the events)
    ask ann A,B                   ask ann A,B v2         ask public A

    Exit status 1 where a joint cell of few people is known too closely in the end.
    """
    from sfumato.cli.talk import open_table, print_json
    from sfumato.gate.events import read_events
    from sfumato.gate.policies import read_policies
    from sfumato.gate.replay import replay as replayed

    wanted, lines, groups, never_ = read_policies(policies), read_events(events), read_groups(levels), nevers(never)
    read = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    done = replayed(
        read, wanted, lines, count=count, record=record, levels=groups, never=never_, folder=events.parent,
        chance=chances(chance), dependences=dependences,
    )  # fmt: skip
    hint_of_counts(read, count)
    if json:
        print_json({"decisions": list(done.decisions), "narrow": done.narrow})
    else:
        for event, outcome in zip(lines, done.outcomes, strict=True):
            why = f" ({', '.join(outcome.reasons)})" if outcome.reasons else ""
            print(f"{outcome.decision:<10}{' '.join((event.word, *event.arguments))}{why}")
        print(f"Joint cells that are known too closely in the end: {done.narrow}.")
    if done.narrow:
        raise typer.Exit(1)
