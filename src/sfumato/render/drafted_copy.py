"""The screen of `init --synthetic`: what the plan draws, which relations it keeps, and what other settings cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfumato.plan.relations import Relation
from sfumato.plan.synthetic import LIMITS, Settings
from sfumato.render.layout import TITLE, WIDTH, Command, command_lines, cut, paragraph
from sfumato.tuning.synthetic import DraftedCopy, Trial

__all__ = ["screen_of_copy"]

_MOST, _LEFT_OUT = 7, 3
_RULE, _NAME = 44, 24
_HEADS = ("Settings", "Tables", "Largest", "Rows", "Members", "Guesses")
_NOT_WRITTEN = "Not written: add it if it is public knowledge. What a plan says of all it says of each."


def screen_of_copy(copy: DraftedCopy, name: str, following: Sequence[Command]) -> list[str]:
    """Give the screen of a drafted copy: at most 24 lines of 80 columns, or as many more as commands take.

    Parameters
    ----------
    copy
        The plan, the relations that were found, and what settings came to.
    name
        Of the plan, or of the file where it has none.
    following
        Commands to go on with.

    Examples
    --------
    >>> from sfumato.plan.drafted import DraftedPlan
    >>> plan = DraftedPlan("", "scientific-use", "synthesise", ("age",), (), ("age",))
    >>> copy = DraftedCopy(plan, (Relation("order", ("a", "b"), "a <= b"),), (), Settings())
    >>> print(*screen_of_copy(copy, "plan.yaml", [])[:4], sep="\\n")
    DRAFTED  plan.yaml: one synthetic copy, all values of 1 column drawn anew
             (scientific use).
    <BLANKLINE>
     Relation  Holds  In the plan
    """
    drafted = copy.drafted
    if drafted.because is not None:
        return paragraph(f"This file cannot be released in this way because {drafted.because}.", "  ")
    many = len(drafted.known)
    said = f"all values of {many} column{'' if many == 1 else 's'} drawn anew ({drafted.purpose.replace('-', ' ')})."
    lines = paragraph(f"DRAFTED  {cut(name, TITLE)}: one synthetic copy, {said}", " " * 9)
    lines += ["", *_left_out(copy), *_relations(copy.relations)]
    lines += _trials(copy.trials, drafted.purpose) if copy.trials else []
    return [
        *lines,
        *(["Next:"] if following else []),
        *(line for command in following for line in command_lines(command)),
    ]


def _left_out(copy: DraftedCopy) -> list[str]:
    gone = copy.drafted.left_out
    if not gone:
        return []
    shown = [f"{cut(one.column, _NAME)} ({one.because})" for one in gone[:_LEFT_OUT]]
    more = [f"{len(gone) - _LEFT_OUT} more (see the plan)"] if len(gone) > _LEFT_OUT else []
    return paragraph(f"Left out: {', '.join([*shown, *more])}.", " " * 10)


def _relations(relations: Sequence[Relation]) -> list[str]:
    """Relations, those that the plan does not say after the others."""
    if not relations:
        return ["No sum, order, function, impossible cell or repeated row was found."]
    room = _MOST if all(one.written for one in relations) else _MOST - 1
    written, others = ([one for one in relations if one.written is said] for said in (True, False))
    many = min(len(written), max(room - len(others), room // 2 + 1))
    shown = [*written[:many], *others[: room - many]]
    rows = [("Relation", "Holds", "In the plan"), *map(_row, shown)]
    wide = min(max(len(row[0]) for row in rows), _RULE)
    lines = [cut(f" {cut(rule, wide):{wide}}  {holds:5}  {said}", WIDTH) for rule, holds, said in rows]
    lines += [f" … and {len(relations) - len(shown)} more (--json)"] if len(shown) < len(relations) else []
    return [*lines, *(paragraph(_NOT_WRITTEN, " ") if others else [])]


def _row(one: Relation) -> tuple[str, str, str]:
    holds = "all" if one.share == 1 else f"{100 * one.share:.1f}%"
    return one.rule, holds, "yes" if one.written else f"no: {one.because}"


def _trials(trials: Sequence[Trial], purpose: str) -> Iterator[str]:
    """What settings came to, and which was chosen."""
    limits = LIMITS["public-use" if purpose == "public-use" else "scientific-use"]
    rows = [_HEADS, *map(_figures, trials)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    marks = ["", *(_mark(one) for one in trials)]
    for row, mark in zip(rows, marks, strict=True):
        first, *others = (f"{cell:{'<' if i == 0 else '>'}{widths[i]}}" for i, cell in enumerate(row))
        yield cut(f" {'  '.join([first, *others])}  {mark}".rstrip(), WIDTH)
    asked = f"members {_short(limits.membership)}, guesses {_short(limits.inference)}"
    yield f" Limits: {asked}. Tables and rows: 1 is chance alone."
    if not any(one.holds for one in trials):
        yield from paragraph(
            "None meets the limits: protect will refuse this plan. Leave columns out, or coarsen them.", " "
        )


def _mark(one: Trial) -> str:
    if one.because is not None:
        return f"not tried: {one.because}"
    return "chosen" if one.chosen else "" if one.holds else "exceeds"


def _figures(one: Trial) -> tuple[str, ...]:
    figures = (one.table_ratio, one.worst, one.pmse_ratio, one.membership, one.inference)
    return (_words(one.settings), *map(_short, figures))


def _words(settings: Settings) -> str:
    told = [settings.method]
    told += [f"min_leaf: {settings.min_leaf}"] if settings.min_leaf != Settings().min_leaf else []
    return ", ".join([*told, *(["smooth"] if settings.smooth else [])])


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.1f}"
