"""The screen of advice: the edit of a plan that holds, as lines that go and come, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from sfumato.render.attacks import attack, deciding
from sfumato.render.layout import HEIGHT, WIDTH, Following, cut, lost_lines, next_lines, paragraph
from sfumato.render.screen import clause
from sfumato.tuning.advising import Advised

__all__ = ["screen_of_advice"]

_FEWEST_CHANGED, _MOST_EDITS = 3, 3
_INDENT = " " * 8
_KEPT, _BEFORE = 30, 20
"""Of a long line its beginning, and what stands before the place where it differs."""


def screen_of_advice(advised: Advised, verdict: Sequence[str], following: Following, written: str = "") -> list[str]:
    """Give the screen of advice: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    advised
        What was found.
    verdict
        The line of the verdict on the plan as it was.
    following
        What to do next.
    written
        Where the plan that holds was written.

    Examples
    --------
    >>> none = Advised((), "", because="none of 3 edits helps: 33% of the people are found; the limit is 20%")
    >>> print(*screen_of_advice(none, ["EXCEEDED  ward: 33% of the people are found."], Following()), sep="\\n")
    EXCEEDED  ward: 33% of the people are found.
    <BLANKLINE>
    This cannot be released because none of 3 edits helps: 33% of the people are
      found; the limit is 20%.
    <BLANKLINE>
    """
    tail = ["", *next_lines(following)]
    if advised.report is None:
        return [*verdict, "", *paragraph(f"This cannot be released because {advised.because}.", "  "), *tail]
    many = len(advised.edits)
    first = deciding(advised.report.findings)
    held = f"{'one edit holds' if many == 1 else f'{many} edits together hold'}"
    figure = "" if first is None else f": {clause(first, advised.report.findings)}"
    limit = "" if first is None else f" (limit {attack(first).limit})"
    head = paragraph(f"ADVICE  {held}{figure}{limit}.{f' {written} is written.' if written else ''}", _INDENT)
    edits = [line for words in advised.edits for line in paragraph(f"{_INDENT}{words}", _INDENT)]
    above = [*verdict, "", *head, *edits[:_MOST_EDITS], ""]
    below = [*lost_lines(advised.report.findings, "Costs"), *tail]
    changed, room = _changed(advised.diff), max(HEIGHT - len(above) - len(below), _FEWEST_CHANGED)
    if len(changed) > room:
        changed = [*changed[: room - 1], f"… and {len(changed) - room + 1} more lines"]
    return [*above, *changed, *below]


def _changed(diff: Sequence[str]) -> list[str]:
    """Lines that go and come, each on one line: of long ones the part in which they differ."""
    lines = list(diff)
    for i in range(len(lines) - 1):
        gone, new = lines[i], lines[i + 1]
        if gone[0] == "-" and new[0] == "+":
            same = 1 + sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(gone[1:], new[1:], strict=False)))
            if max(len(gone), len(new)) > WIDTH and same > _KEPT:
                start = max(same - _BEFORE, _KEPT)
                lines[i], lines[i + 1] = (f"{line[:_KEPT]} … {line[start:]}" for line in (gone, new))
    return [cut(line, WIDTH) for line in lines]
