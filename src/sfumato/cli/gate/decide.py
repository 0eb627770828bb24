"""`sfumato gate decide`: may somebody who knows these tables be given that one?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.gate.opening import (
    Attribution,
    Chance,
    Count,
    DependencesOption,
    Dominance,
    IntervalOption,
    LevelsFile,
    Never,
    chances,
    hint_of_counts,
    nevers,
    policy_of,
)
from sfumato.cli.options import Decimal, Delimiter, Encoding, Header, Json, NameBlank, Reading, Sheet, SkipRows

if TYPE_CHECKING:
    from sfumato.gate.decision import Decision

__all__ = ["EXAMPLE", "decide"]

EXAMPLE = "Example: sfumato gate decide ward.csv --known age,sex --ask age,hiv --interval 4:10"


def decide(
    data: Annotated[Path, typer.Argument(help="Records, or a table of counts (--count).")],
    ask: Annotated[str, typer.Option(metavar="TABLE", help="What is asked: A,B; region@county,C; a sum cost|A,B.")],
    known: Annotated[
        list[str] | None, typer.Option(metavar="TABLE", help="What is known already. Repeat it for each table.")
    ] = None,
    interval: IntervalOption = None,
    attribution: Attribution = None,
    dominance: Dominance = None,
    count: Count = None,
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
    """Decide whether a table may be given to somebody who knows others: only where that is proved to be safe.

    What is decided is the whole table; what is shown of it may be any part. Exit status 0: granted. 1: refused, or
    undecided, which means that nothing was proved.
    """
    from sfumato.cli.talk import open_table, print_json
    from sfumato.gate.decide import margin_of, opened, refuse_unknown
    from sfumato.gate.decision import judge
    from sfumato.gate.policy import Interval

    policy = policy_of(interval, attribution, dominance)
    never_ = nevers(never)
    read = open_table(data, Reading(delimiter, encoding, decimal, header, skip_rows, sheet, name_blank))
    records = opened(read, count=count, levels=levels, never=never_, chance=chances(chance), dependences=dependences)
    refuse_unknown(policy, records)
    found = judge(records, [margin_of(one, records) for one in known or []], margin_of(ask, records), policy)
    hint_of_counts(read, count)
    small = (policy.interval or Interval(count=4, width=10)).count
    if json:
        print_json({**found.to_plain(), "small": found.small(small), "dependences": len(records.found)})
    else:
        _show(found, small)
        _show_found(len(records.found))
    if not found.granted:
        raise typer.Exit(1)


def _show(found: Decision, small: int) -> None:
    words = {
        "granted": "Granted: what would be known together is proved to meet every criterion.",
        "refused": "Refused: what would be known together does not meet",
        "undecided": "Undecided, so not granted: nothing was proved of",
    }
    if found.reasons == ("known",):
        print("Granted: it follows from what is known already.")
    elif found.granted:
        print(words["granted"])
    else:
        print(f"{words[found.decision]} {', '.join(_IN_WORDS.get(reason, reason) for reason in found.reasons)}.")
    print(
        f"Known together: a joint table of {found.joint_cells:,} cells, of which {found.small(small):,} hold 1 to "
        f"{small} people. Shown by: {found.stage}. For you alone: none of this may go to who asked."
    )


def _show_found(many: int) -> None:
    if many:
        told = "1 dependence between columns was" if many == 1 else f"{many} dependences between columns were"
        counts = "counts" if many == 1 else "count"
        print(f"{told} found in the data and {counts} as known to everybody: sfumato gate dependences lists them.")


_IN_WORDS = {
    "interval": "interval (a cell of few people would be known too closely)",
    "attribution": "attribution (of a group it would be known what all have)",
    "dominance": "dominance (a sum would tell of one contributor)",
    "sum": "sum (a sum would tell that all have the least or the largest value)",
    "sap": "sap (subtracting known people would often leave nobody)",
}
