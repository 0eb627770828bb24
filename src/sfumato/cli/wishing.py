"""Options by which a custodian says what a draft should be for, and who may know what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sfumato.cli.options import names

if TYPE_CHECKING:
    from sfumato.data.profile import Guess
    from sfumato.plan.drafted import DraftedPlan
    from sfumato.plan.edited import Edited
    from sfumato.plan.wishes import Wishes
    from sfumato.tuning.synthetic import DraftedCopy

__all__ = [
    "Ask",
    "Because",
    "For",
    "Household",
    "Keep",
    "Keys",
    "LeaveOut",
    "Outcome",
    "Record",
    "Roles",
    "Sensitive",
    "Unknown",
    "after_tables",
    "edited_of",
    "screen_of",
    "screen_of_synthetic",
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
Person = Annotated[
    str | None, typer.Option(help="Column with the id of whom several rows are about.", rich_help_panel=_WISHES)
]
Household = Annotated[str | None, typer.Option(help="Column with the id of the household.", rich_help_panel=_WISHES)]
Outcome = Annotated[
    str | None, typer.Option(help="Columns that the release is meant to explain.", rich_help_panel=_WISHES)
]
Keep = Annotated[str | None, typer.Option(help="Columns that are left out last.", rich_help_panel=_WISHES)]
LeaveOut = Annotated[
    str | None, typer.Option("--leave-out", help="Columns that do not leave.", rich_help_panel=_WISHES)
]
Ask = Annotated[
    bool,
    typer.Option(
        "--ask", help="Ask at most five questions, each with what hangs on it (at a terminal).", rich_help_panel=_WISHES
    ),
]
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
    person: str | None,
    household: str | None,
    outcome: str | None,
    keep: str | None,
    leave_out: str | None,
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

    ids = {"record": names(record) or [], "person": names(person) or [], "household": names(household) or []}
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
        person=next(iter(ids["person"]), None),
        household=next(iter(ids["household"]), None),
        outcome=tuple(names(outcome) or ()),
        keep=tuple(names(keep) or ()),
        leave_out=tuple(names(leave_out) or ()),
    )


def edited_of(roles: Path | None, wishes: Wishes, because: str | None) -> Edited | None:
    """The edited plan, with the reason for what it leaves open."""
    if roles is None:
        return None
    from sfumato.plan.edited import Edited
    from sfumato.plan.plan import Plan

    return Edited(Plan.load(roles), None if wishes.of_keys else because)


def screen_of(
    data: str, out: Path | None, drafted: DraftedPlan, guesses: Sequence[Guess], typed: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """The screen of a draft, and its commands as JSON has them.

    Parameters
    ----------
    data
        The data file as it was given.
    out
        Where the plan is written.
    drafted, guesses
        What it does, and what its variables are taken for.
    typed
        Options by which the file is read, as they were typed.
    """
    from sfumato.cli.commands import command, next_plan
    from sfumato.render.drafted import screen_of_draft
    from sfumato.render.layout import Following

    plan = Path("plan.yaml") if out is None else out
    decide, following = [], []
    if drafted.because is None and drafted.open:
        asked = {"roles": plan, "because": "...", "out": next_plan(plan)}
        asked |= {} if drafted.purpose == "scientific-use" else {"for": drafted.purpose}
        following = [command("init", data, **asked, **typed)]
    elif drafted.because is None:
        following = [command("protect", plan, data, out="release", secret_file="key", **typed)]
    if drafted.because is None and drafted.method == "swap" and (known := _example(guesses, drafted)):
        decide = [command("init", data, keys=known, because="...", out=next_plan(plan), **typed)]
    name = str(plan) if out is not None else f"a plan for {Path(data).name}"
    return screen_of_draft(drafted, guesses, name, decide, following), Following(tuple(following)).plain


def screen_of_synthetic(
    data: str, out: Path | None, copy: DraftedCopy, typed: Mapping[str, Any]
) -> tuple[list[str], list[str]]:
    """The screen of a drafted synthetic copy, and its commands as JSON has them; parameters as of `screen_of`."""
    from sfumato.cli.commands import command, next_plan
    from sfumato.render.drafted_copy import screen_of_copy
    from sfumato.render.layout import Following

    plan = Path("plan.yaml") if out is None else out
    following = []
    if copy.drafted.because is None:
        asked = {} if copy.drafted.purpose == "scientific-use" else {"for": copy.drafted.purpose}
        following = [command("protect", plan, data, out="release", secret_file="key", **typed)]
        if not copy.trials:
            trial = command("init", data, "--synthetic", "--try", roles=plan, **asked, out=next_plan(plan), **typed)
            following = [trial, *following]
    name = str(plan) if out is not None else f"a plan for {Path(data).name}"
    return screen_of_copy(copy, name, following), Following(tuple(following)).plain


def after_tables(data: Sequence[str], out: Path | None) -> list[str]:
    """What leads on from a plan of several tables, as JSON has it.

    Parameters
    ----------
    data
        The files as they were given.
    out
        Where the plan is written.

    Examples
    --------
    >>> after_tables(["study/people.csv", "study/visits.csv"], Path("plan.yaml"))
    ['sfumato protect plan.yaml study --out release --secret-file key']
    """
    from sfumato.cli.commands import command
    from sfumato.render.layout import Following

    plan, folder = Path("plan.yaml") if out is None else out, Path(data[0]).parent
    source = None if folder == plan.parent else folder
    return Following((command("protect", plan, source, out="release", secret_file="key"),)).plain


def _example(guesses: Sequence[Guess], drafted: DraftedPlan) -> str:
    """Three columns that others often know, as an example."""
    known = [g.name for g in guesses if g.variable.role == "key" and g.name in drafted.kept]
    return ",".join(known[:3])
