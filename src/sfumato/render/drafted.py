"""The screen of `init`: what a drafted plan does with each column, what its trial came to, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfumato.data.profile import Guess
from sfumato.data.roles import IDS, Role
from sfumato.measures.saying import percent
from sfumato.plan.by_groups import ASKED
from sfumato.plan.drafted import DraftedPlan
from sfumato.render.layout import ROWS, TITLE, WIDTH, Command, command_lines, cut, paragraph

__all__ = ["screen_of_draft"]

_MOST_LEFT_OUT = 5
_NAME, _HAPPENS = 24, 26
_HEADS = ("Column", "Role", "What happens", "Why")
_Row = tuple[str, str, str, str]
_OF_TRIAL = {
    "linkage_nearest": "found by nearest record",
    "uniques_kept": "survivors",
    "inference": "added to a guess",
}


def screen_of_draft(
    drafted: DraftedPlan, guesses: Sequence[Guess], name: str, decide: Sequence[Command], following: Sequence[Command]
) -> list[str]:
    """Give the screen of a draft: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    drafted
        What the plan does.
    guesses
        What its variables are taken for.
    name
        Of the plan, or of the file where it has none.
    decide
        Commands for whoever knows better what others know.
    following
        Commands to go on with.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> drafted = DraftedPlan("", "scientific-use", "swap", ("age",), (), ("age",), group=5)
    >>> guess = Guess("age", Variable(role="key", kind="integer"), "its name", certain=True)
    >>> print(*screen_of_draft(drafted, [guess], "plan.yaml", [], [("sfumato protect", "plan.yaml")])[:4], sep="\\n")
    DRAFTED  plan.yaml: every column that leaves counts as known (scientific use).
    <BLANKLINE>
     Column  Role  What happens              Why
     1 more  key   exchanged in groups of 5
    """
    if drafted.because is not None:
        return paragraph(f"This file cannot be released in this way because {drafted.because}.", "  ")
    first = f"{_ids_left_out(drafted, guesses)}{_who_knows(drafted)} ({_purpose(drafted)})."
    head = paragraph(f"DRAFTED  {cut(name, TITLE)}: {first}", " " * 9)
    lines = [*head, "", *_table(_rows(drafted, guesses)), *_tried(drafted), *_lost(drafted, guesses)]
    if decide:
        lines += ["If others know only some columns, name them and the rest stays as it is:"]
        lines += [line for command in decide for line in command_lines(command)]
    return [*lines, "Next:", *(line for command in following for line in command_lines(command))]


def _ids_left_out(drafted: DraftedPlan, guesses: Sequence[Guess]) -> str:
    """Which ids leave, since all rows of a person or household would be found together."""
    roles = {g.name: g.variable.role for g in guesses}
    gone = [one.column for one in drafted.left_out if roles[one.column] in (Role.PERSON, Role.HOUSEHOLD)]
    return f"without {', '.join(cut(n, _NAME) for n in gone)}; " if gone else ""


def _purpose(drafted: DraftedPlan) -> str:
    return drafted.purpose.replace("-", " ")


def _who_knows(drafted: DraftedPlan) -> str:
    if drafted.method == "swap":
        return "every column that leaves counts as known"
    known = [n for n in drafted.known if n in drafted.kept]
    more = f" and {len(known) - 3} more" if len(known) > 3 else ""
    rest = ", once it is said why nobody knows the rest" if drafted.open else ", the rest does not"
    return f"{', '.join(cut(n, _NAME) for n in known[:3])}{more} count{'s' if len(known) == 1 else ''} as known{rest}"


def _rows(drafted: DraftedPlan, guesses: Sequence[Guess]) -> Iterator[_Row]:
    """Each column with what happens to it; of columns that fare alike the last ones together."""
    roles = {g.name: g.variable.role for g in guesses}
    first = sorted(drafted.left_out, key=lambda one: (roles[one.column] not in IDS, one.column not in drafted.known))
    for one in first[:_MOST_LEFT_OUT]:
        yield one.column, roles[one.column], "left out", one.because
    if more := first[_MOST_LEFT_OUT:]:
        yield f"{len(more)} more", _roles(roles[one.column] for one in more), "left out", "see the plan"
    kept = [g for g in guesses if g.name in drafted.kept]
    yield from ((g.name, g.variable.role, "new ids", "") for g in kept if g.variable.role in IDS)
    free = [g for g in kept if g.variable.role not in IDS]
    changed = [g for g in free if g.name in drafted.known]
    named = [g for g in changed if _matters(g) or drafted.method == "keys"][: ROWS // 2]
    what = f"exchanged in groups of {drafted.group}" if drafted.method == "swap" else f"{drafted.group} or more alike"
    yield from ((g.name, g.variable.role, what, "") for g in named)
    if rest := [g for g in changed if g not in named]:
        yield f"{len(rest)} more", _roles(g.variable.role for g in rest), what, ""
    if stays := [g for g in free if g.name not in drafted.known]:
        why = "nobody knows them: write why" if drafted.open else "nobody outside knows them"
        yield f"{len(stays)} more", _roles(g.variable.role for g in stays), "stay as they are", why


def _matters(guess: Guess) -> bool:
    """Whether nobody must learn it, or the release is meant to explain it."""
    return guess.variable.private or guess.variable.role == Role.OUTCOME


def _roles(roles: Iterator[Role]) -> str:
    return ", ".join(dict.fromkeys(map(str, roles)))


def _table(rows: Iterator[_Row]) -> list[str]:
    every = [_HEADS, *list(rows)[:ROWS]]
    most = (_NAME, _NAME, _HAPPENS)
    widths = [min(max(len(row[i]) for row in every), most[i]) for i in range(3)]
    told = []
    for row in every:
        cells = [f"{cut(text, width):{width}}" for text, width in zip(row, widths, strict=False)]
        told.append(cut(f" {'  '.join([*cells, row[3]])}".rstrip(), WIDTH))
    return told


def _tried(drafted: DraftedPlan) -> list[str]:
    """What the trial came to, each figure with its limit."""
    asked = ASKED[drafted.purpose]
    figures = {name: getattr(drafted.tried, name) for name in _OF_TRIAL}
    said = [
        f"{percent(value)} {_OF_TRIAL[name]} (limit {percent(getattr(asked, name))})"
        for name, value in figures.items()
        if value is not None
    ]
    if not said:
        return []
    lines = paragraph(f"Tried: {', '.join(said)}.", " " * 7)
    if drafted.tried.inference is None:
        lines += ["       What can be guessed was not measured: nothing is sensitive or an outcome."]
    return lines


def _lost(drafted: DraftedPlan, guesses: Sequence[Guess]) -> list[str]:
    """How many columns leave, identifiers and ids aside, and how far correlations move."""
    told = [g.name for g in guesses if g.variable.role not in (Role.IDENTIFIER, *IDS)]
    left = sum(n in drafted.kept for n in told)
    moved = drafted.tried.relations_shift
    how_far = "" if moved is None else f"; correlations move by {f'{moved:.2f}'.removeprefix('0')} on average"
    return [f"Lost:  {left} of {len(told)} columns left{how_far}."]
