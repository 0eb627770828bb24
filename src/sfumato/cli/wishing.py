"""Options by which a custodian says what a draft should be for, and who may know what."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sfumato.cli.options import names

if TYPE_CHECKING:
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited
    from sfumato.plan.wishes import Wishes

__all__ = [
    "Because",
    "For",
    "Household",
    "Keep",
    "Keys",
    "Outcome",
    "Record",
    "Roles",
    "Sensitive",
    "Unknown",
    "edited_of",
    "in_words",
    "next_of",
    "wishes_of",
]

_WISHES = "What you know of the columns (names with commas between)"

For = Annotated[
    Literal["scientific-use", "public-use"],
    typer.Option(
        "--for", help="Who gets the release: researchers under a contract, or everybody.", rich_help_panel=_WISHES
    ),
]
Keys = Annotated[
    str | None,
    typer.Option(help="Columns that others may know; all others count as unknown, and stay.", rich_help_panel=_WISHES),
]
Unknown = Annotated[
    str | None,
    typer.Option(
        help="Columns that nobody outside knows, or patterns such as 'Q*'; without --keys all others count as known.",
        rich_help_panel=_WISHES,
    ),
]
Because = Annotated[
    str | None,
    typer.Option(
        help="Why nobody knows them, one line of 20 to 300 characters, which is published.", rich_help_panel=_WISHES
    ),
]
Sensitive = Annotated[str | None, typer.Option(help="Columns that nobody must learn.", rich_help_panel=_WISHES)]
Record = Annotated[str | None, typer.Option(help="Column with the id of the record.", rich_help_panel=_WISHES)]
Household = Annotated[str | None, typer.Option(help="Column with the id of the household.", rich_help_panel=_WISHES)]
Outcome = Annotated[
    str | None, typer.Option(help="Columns that the release is meant to explain.", rich_help_panel=_WISHES)
]
Keep = Annotated[str | None, typer.Option(help="Columns that are left out last.", rich_help_panel=_WISHES)]
Roles = Annotated[
    Path | None,
    typer.Option(
        help="An edited plan: its title, its variables and what it says that nobody knows stay; steps and limits are "
        "drafted again.",
        rich_help_panel=_WISHES,
    ),
]


def wishes_of(
    purpose: Literal["scientific-use", "public-use"],
    keys: str | None,
    unknown: str | None,
    because: str | None,
    sensitive: str | None,
    record: str | None,
    household: str | None,
    outcome: str | None,
    keep: str | None,
    edited: bool,
) -> Wishes:
    """What was said on the command line; with an edited plan its open questions may be what the reason is for.

    Raises
    ------
    DataError
        Where several columns are named as the one id.
    """
    from sfumato.errors import DataError
    from sfumato.plan.wishes import Wishes

    ids = {"record": names(record) or [], "household": names(household) or []}
    if several := [wish for wish, columns in ids.items() if len(columns) > 1]:
        raise DataError(f"--{several[0]} names several columns: a table has one id of its {several[0]}s.")
    of_plan = edited and not (keys or unknown)
    return Wishes(
        purpose=purpose,
        keys=tuple(names(keys) or ()),
        unknown=tuple(names(unknown) or ()),
        because=None if of_plan else because,
        sensitive=tuple(names(sensitive) or ()),
        record=next(iter(ids["record"]), None),
        household=next(iter(ids["household"]), None),
        outcome=tuple(names(outcome) or ()),
        keep=tuple(names(keep) or ()),
    )


def edited_of(roles: Path | None, wishes: Wishes, because: str | None) -> Edited | None:
    """The edited plan, with the reason for what it leaves open."""
    if roles is None:
        return None
    from sfumato.plan.edited import Edited
    from sfumato.plan.plan import Plan

    return Edited(Plan.load(roles), None if wishes.of_keys else because)


def next_of(data: str, out: Path | None, drafted: DraftedPlan) -> list[str]:
    """Commands to go on with after a draft.

    Parameters
    ----------
    data
        The data file as it was given.
    out
        Where the plan is written.
    drafted
        What it does.
    """
    import shlex

    if drafted.because is not None:
        return []
    plan = Path("plan.yaml") if out is None else out
    if drafted.open:
        new = plan.with_name(f"{plan.stem}2{plan.suffix}")
        purpose = [] if drafted.purpose == "scientific-use" else ["--for", drafted.purpose]
        command = ["init", data, *purpose, "--roles", str(plan), "--because", "...", "--out", str(new)]
    else:
        command = ["protect", str(plan), data, "--out", "release", "--secret-file", "key"]
    return [shlex.join(["sfumato", *command])]


def in_words(drafted: DraftedPlan) -> list[str]:
    """What a draft does, in lines: known columns that are left out first."""
    if drafted.because is not None:
        return [f"This file cannot be released in this way because {drafted.because}."]
    known = [one for one in drafted.left_out if one.column in drafted.known]
    lines = [f"Left out: {one.column}, because {one.because}." for one in known]
    lines.append(f"Known to others: {', '.join(n for n in drafted.known if n in drafted.kept)}.")
    if drafted.unknown:
        why = "write why, or nothing is released" if drafted.open else "they leave unchanged"
        lines.append(f"Unknown to others: {', '.join(drafted.unknown)} ({why}).")
    return [*lines, *(f"Next: {command}" for command in drafted.next)]
