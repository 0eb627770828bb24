"""What screens of the terminal are made of: the line of the verdict, the table of attacks, what was lost, what is next.

Everything is plain text of at most 80 columns; only a command to paste is never cut.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.data.finding import Finding, Findings
from sfumato.measures.registry import measures
from sfumato.measures.saying import capital
from sfumato.render.attacks import Attack, attack

__all__ = [
    "HEIGHT",
    "LOST",
    "ROWS",
    "TITLE",
    "WIDTH",
    "Command",
    "Following",
    "command_lines",
    "cut",
    "headline",
    "lost_lines",
    "next_lines",
    "padded",
    "paragraph",
    "table",
]

HEIGHT, WIDTH = 24, 80
"""Lines and columns of the smallest terminal that a screen fits."""
ROWS = 12
"""Most lines of a table."""
TITLE = 30
"""Most columns of a title."""
LOST = "lost"
"""The family of measures that say what was lost."""
_LOST, _ADVICE, _COPIED = 5, 4, 5
_SENTENCE = 220
"""Most characters of a sentence on what was lost, so that others have room."""
_INDENT = "  "
_UNQUOTED = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+')
"""What stands between blanks of a line of a plan, where none within quotes counts."""
_UNKNOWN, _ALL_OTHERS = "unknown:", '  - {columns: others, because: "?"}'
"""In place of a list of columns that would fill the screen: all that are no keys, strata or ids."""
Command = tuple[str, ...]
"""A command to paste, in the parts between which its line may be broken."""


@dataclass(frozen=True)
class Following:
    """What to do next.

    Parameters
    ----------
    commands
        To paste, in this order.
    lines
        To copy into the plan, as they are.
    """

    commands: tuple[Command, ...] = ()
    lines: tuple[str, ...] = ()

    @property
    def plain(self) -> list[str]:
        """The commands as JSON has them.

        Examples
        --------
        >>> Following((("sfumato", "init", "a.csv"),)).plain
        ['sfumato init a.csv']
        """
        return [" ".join(command) for command in self.commands]


def headline(verdict: str, title: str, said: str) -> list[str]:
    """The line of the verdict, which may go on below.

    Examples
    --------
    >>> headline("exceeded", "ward", "33% of the people are found; the limit is 20%.")
    ['EXCEEDED  ward: 33% of the people are found; the limit is 20%.']
    """
    first = f"{verdict.upper()}  "
    return paragraph(f"{first}{cut(title, TITLE)}: {said}", " " * len(first))


def table(findings: Sequence[Finding], most: int = ROWS, only: str = "") -> list[str]:
    """The table of attacks: its first line, and at most so many others.

    Parameters
    ----------
    findings
        In order, from `to_show`.
    most
        Lines below the heads; where there are more findings, the last one says how many.
    only
        The head of the one column of figures, where one file was measured and nothing is before or after.

    Examples
    --------
    >>> print(*table([Finding("k_anonymity", group="keys", value=3.0, limit=5.0, ok=False)]), sep="\\n")
     Who attacks     Knows     Before  After  Limit
     smallest group  the keys              3  min 5  exceeded
    """
    from rich.cells import cell_len

    if not findings or most < 1:
        return []
    shown = findings if len(findings) <= most else findings[: most - 1]
    rows = [Attack("Who attacks", "Knows", "Before", "After", "Limit"), *map(attack, shown)]
    if only:
        rows = [replace(rows[0], before="", after=only), *(replace(row, before="") for row in rows[1:])]
    before, after, limit, mark = (
        max(len(getattr(row, name)) for row in rows) for name in ("before", "after", "limit", "mark")
    )
    room = WIDTH - 1 - sum(2 + width for width in (before, after, limit, mark) if width) - 2
    who, knows = (max(cell_len(getattr(row, name)) for row in rows) for name in ("who", "knows"))
    who = min(who, max(room - knows, room // 2))
    knows = min(knows, room - who)
    figures = [f"  {row.before:>{before}}" if before else "" for row in rows]
    lines = [
        f" {padded(row.who, who)}  {padded(row.knows, knows)}{was}  {row.after:>{after}}  "
        f"{row.limit:>{limit}}  {row.mark}".rstrip()
        for row, was in zip(rows, figures, strict=True)
    ]
    return lines if len(shown) == len(findings) else [*lines, f" … and {len(findings) - len(shown)} more (--json)"]


def lost_lines(findings: Findings, head: str = "Lost", more: Sequence[str] = ()) -> list[str]:
    """What was lost, on at most five lines: what the measures say that look at the file as it was read.

    Parameters
    ----------
    findings
        All that was measured.
    head
        The first word.
    more
        Sentences that other measures add.

    Examples
    --------
    >>> lost_lines(Findings((Finding("risk1", value=0.1),)))
    []
    """
    said = [one for m in measures().values() if m.family == LOST and (one := m.say(findings, 1.0))]
    said += more
    told = f"{head}: {' '.join(cut(capital(one), _SENTENCE) for one in said)}"
    lines = paragraph(told, " " * (len(head) + 2)) if said else []
    return lines if len(lines) <= _LOST else [*lines[: _LOST - 1], cut(f"{lines[_LOST - 1]} …", WIDTH)]


def next_lines(following: Following, advice: str = "") -> list[str]:
    """What to do next: lines to copy, and commands to paste.

    Parameters
    ----------
    following
        Lines and commands.
    advice
        A sentence in front of them.

    Examples
    --------
    >>> print(*next_lines(Following((("sfumato", "init", "a.csv"),)), "Take a larger k."), sep="\\n")
    Next: Take a larger k.
      sfumato init a.csv
    """
    condition = " (if nobody knows them, write why)" if _UNKNOWN in following.lines else ""
    lines = paragraph(f"Next{condition}:{f' {advice}' if advice else ''}", _INDENT)
    if len(lines) > _ADVICE:
        lines = [*lines[: _ADVICE - 1], f"{lines[_ADVICE - 1][: WIDTH - 1]}…"]
    lines += _copied(following.lines)
    return [*lines, *(line for command in following.commands for line in command_lines(command))]


def command_lines(command: Command) -> list[str]:
    """A command to paste, broken between its parts where it is longer than a line.

    Examples
    --------
    >>> command_lines(("sfumato", "init", "a.csv"))
    ['  sfumato init a.csv']
    """
    lines = [_INDENT]
    for part in command:
        if len(lines[-1]) + len(part) + 3 > WIDTH and lines[-1].strip():
            lines[-1] += " \\"
            lines.append(_INDENT * 3)
        lines[-1] += f" {part}" if lines[-1].strip() else part
    return lines


def _copied(lines: Sequence[str]) -> list[str]:
    """Lines of a plan, broken where YAML lets them be: the same is read back; of very many columns all others."""
    copied: list[str] = []
    for before, line in zip(("", *lines), lines, strict=False):
        parts = _broken(f"{_INDENT}{line}")
        copied += parts if before != _UNKNOWN or len(parts) <= _COPIED else [f"{_INDENT}{_ALL_OTHERS}"]
    return copied


def _broken(line: str) -> list[str]:
    indent = " " * (len(line) - len(line.lstrip()))
    first, *words = _UNQUOTED.findall(line)
    lines = [f"{indent}{first}"]
    for each in words:
        if len(lines[-1]) + 1 + len(each) > WIDTH:
            lines.append(f"{indent}   {each}")
        else:
            lines[-1] += f" {each}"
    return lines


def paragraph(text: str, indent: str) -> list[str]:
    """A text on lines of 80 columns, those after the first indented.

    Examples
    --------
    >>> paragraph("Lost: nothing.", "  ")
    ['Lost: nothing.']
    """
    return textwrap.wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def cut(text: str, width: int) -> str:
    """A text of at most so many columns, with an ellipsis where it was longer.

    Examples
    --------
    >>> cut("neighbourhood", 9), cut("town", 9)
    ('neighbou…', 'town')
    """
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1).rstrip()}…"


def padded(text: str, width: int) -> str:
    """A text of just so many columns of a terminal.

    Examples
    --------
    >>> padded("neighbourhood", 9), padded("town", 6)
    ('neighbou…', 'town  ')
    """
    from rich.cells import set_cell_size

    return set_cell_size(cut(text, width), width)
