"""The screen of what synthetic copies support: how much of it, what is rough or lost, and what is next."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.data.finding import Findings
from sfumato.data.support import Grade, Support, counted
from sfumato.render.layout import WIDTH, Following, cut, next_lines, paragraph

__all__ = ["screen_of_supports"]

_HEAD = "SUPPORTS  "
_LINES = 6
"""Most lines of a list."""
_NAME = 40
_KINDS = (("variable", "Variables"), ("pair", "Pairs"), ("term", "Terms"))
_ANSWERS = (
    "Each grade is a small answer about the true data: publish one file a release, with models that were chosen "
    "beforehand."
)


def screen_of_supports(findings: Findings, following: Following, *, published: bool = False) -> list[str]:
    """Give the screen of `compare --supports`: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    findings
        With grades.
    following
        What to do next.
    published
        Whether the grades were written to be published.

    Examples
    --------
    >>> graded = Support("variable", ("sex",), "supported"), Support("pair", ("sex", "age"), "rough")
    >>> print(*screen_of_supports(Findings(supports=graded), Following((("sfumato risk", "a.csv"),))), sep="\\n")
    SUPPORTS  1 of 2 grades is supported, 1 is rough, none is lost.
    <BLANKLINE>
     Variables       1 supported    0 rough    0 lost
     Pairs           0 supported    1 rough    0 lost
    <BLANKLINE>
    Rough: sex × age.
    <BLANKLINE>
    Each grade is a small answer about the true data: publish one file a release,
      with models that were chosen beforehand.
    Next:
      sfumato risk a.csv
    """
    graded = findings.supports or ()
    many = counted(graded)
    if graded:
        said = f"{many['supported']} of {len(graded)} grades {_are(many['supported'])} supported, "
        said += f"{_so_many(many['rough'])} rough, {_so_many(many['lost'])} lost."
    else:
        said = "nothing has a grade: no variable, pair or term of enough records."
    lines = [*paragraph(f"{_HEAD}{said}", " " * len(_HEAD)), ""]
    for what, name in _KINDS:
        if own := [one for one in graded if one.what == what]:
            lines.append(f" {name:<12}" + "".join(f"{n:>5} {grade}" for grade, n in counted(own).items()))
    for grade in ("lost", "rough"):
        lines += _list(graded, grade)
    answers = [] if published else paragraph(_ANSWERS, "  ")
    return [*lines, "", *answers, *next_lines(following)]


def _are(many: int) -> str:
    return "is" if many == 1 else "are"


def _so_many(many: int) -> str:
    return f"{many or 'none'} {'is' if many < 2 else 'are'}"


def _list(graded: Sequence[Support], grade: Grade) -> list[str]:
    """What has a grade, on a few lines."""
    names = [cut(one.text, _NAME) for one in graded if one.grade == grade]
    if not names:
        return []
    shown = len(names)
    while len(found := _named(grade, names, shown)) > _LINES:
        shown -= 1
    return ["", *found]


def _named(grade: Grade, names: Sequence[str], shown: int) -> list[str]:
    more = f", and {len(names) - shown} more (--json)" if shown < len(names) else ""
    text = f"{grade.capitalize()}: {', '.join(names[:shown])}{more}."
    return [cut(line, WIDTH) for line in paragraph(text, "  ")]
