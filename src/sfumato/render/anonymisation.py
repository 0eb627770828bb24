"""The screen of `anonymise`: the verdict, the level of each key, what is left out, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sfumato.methods.anonymise.method import NOT_PROVEN, Anonymised
from sfumato.release.anonymising import Anonymisation
from sfumato.release.measure import NO_GUESS
from sfumato.render.attacks import to_show
from sfumato.render.layout import HEIGHT, ROWS, Following, cut, lost_lines, next_lines, padded, paragraph, table
from sfumato.render.measured import learnt
from sfumato.render.screen import beside, verdict_lines
from sfumato.report.report import Report

__all__ = ["others_of_anonymised", "screen_of_anonymised", "searched"]

_FEW = 5
"""Values of a key of which more could be told in broader categories."""
_MOST = 0.5
"""More records than this share left out: then it is said which key to coarsen."""
_MOST_NAMED, _NAME, _CHANGES, _LEFT = 3, 20, 26, " " * 10


def screen_of_anonymised(found: Anonymisation, report: Report, following: Following, *, written: bool) -> list[str]:
    """Give the screen of `anonymise`: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    found
        The levels.
    report
        Of the release that they make: the custodian's.
    following
        What to do next.
    written
        Whether the release was written.

    Examples
    --------
    >>> import polars as pl
    >>> import sfumato as sf
    >>> table = pl.DataFrame({"sex": list("mfmfmfmf")})
    >>> found = sf.anonymise(table, ["sex"], k=2)
    >>> report = sf.protect(found.plan, table, secret=bytes(32)).report
    >>> print(*screen_of_anonymised(found, report, Following(), written=True)[:5], sep="\\n")
    HOLDS  every class of sex has 2 records or more.
           What can be guessed was not measured: no category is sensitive.
    <BLANKLINE>
     Key  Level  Of  Categories  Before
     sex      0   1           2       2
    """
    head = _verdict(found, report, written=written) + beside(report)
    if NO_GUESS not in report.findings.notes and (told := learnt(report.findings)):
        indent = " " * (len(report.verdict) + 2)
        head += paragraph(f"{indent}{told}", indent)
    rest = replace(report.findings, lines=tuple(f for f in report.findings if f.measure != "records_kept"))
    below = [*paragraph(_left_out(found), _LEFT), *lost_lines(rest), *next_lines(following, next(_advice(found), ""))]
    room = HEIGHT - len(head) - len(below) - 2  # two blank lines
    levels = _levels(found, min(ROWS, max(room - 1, 1)))
    room -= len(levels) + 2
    rows = table(to_show(report.findings), min(ROWS, room)) if room > 0 else []
    return [*head, "", *levels, *(["", *rows] if rows else []), "", *below]


def _verdict(found: Anonymisation, report: Report, *, written: bool) -> list[str]:
    """The line of the verdict; where it holds, what every class meets."""
    if report.verdict != "holds":
        return verdict_lines(report, written=written)
    keys = found.step.keys
    more = f" and {len(keys) - _MOST_NAMED} more" if keys[_MOST_NAMED:] else ""
    said = f"every class of {', '.join(cut(n, _NAME) for n in keys[:_MOST_NAMED])}{more}"
    asked = found.step.said(found.found.secret).removeprefix(f"k = {found.step.k}").removeprefix(", ")
    others = f", and meets {asked}" if asked else ""
    return paragraph(f"HOLDS  {said} has {found.step.k} records or more{others}.", " " * len("HOLDS  "))


def _levels(found: Anonymisation, most: int) -> list[str]:
    """The level of each key on a line, those that lost most categories first where there are too many."""
    keys = found.key_levels()
    shown = keys if len(keys) <= most else sorted(keys, key=lambda key: key.now / max(key.before, 1))[: most - 1]
    level = "Level up to" if found.step.local else "Level"
    rows = [("Key", level, "Of", "Categories", "Before")]
    rows += [(cut(k.name, _NAME), str(k.level), str(k.height), f"{k.now:,}", f"{k.before:,}") for k in shown]
    lines = _aligned(rows, left=1)
    return lines if len(shown) == len(keys) else [*lines, f" … and {len(keys) - len(shown)} more (--json)"]


def _aligned(rows: Sequence[tuple[str, ...]], left: int) -> list[str]:
    """Rows of a table: so many columns on the left of their room, the others on the right."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        lines.append("  ".join(padded(c, w) if i < left else f"{c:>{w}}" for i, (c, w) in enumerate(cells)))
    return [f" {line}" for line in lines]


def _left_out(found: Anonymisation) -> str:
    """How many records do not leave, and why."""
    if not found.suppressed:
        return "Left out: no record."
    share = f"{found.suppressed:,} of {found.records:,} records ({found.suppressed / found.records:.2%})"
    return f"Left out: {share}, whose class does not meet {found.step.said(found.found.secret)}."


def _advice(found: Anonymisation) -> Iterator[str]:
    """What would lose less."""
    if found.suppressed > _MOST * found.records:
        widest = max(found.key_levels(), key=lambda key: key.now)
        yield f"Coarsen {cut(widest.name, _NAME)}, whose categories are the most, or leave it out."
    if bare := [key.name for key in found.key_levels() if key.level == key.height == 1 and key.before > _FEW]:
        named = ", ".join(cut(name, _NAME) for name in bare[:_MOST_NAMED])
        yield f"Nothing but * is left of {named}, which has no hierarchy: give one (--hierarchies)."


def searched(found: Anonymisation) -> str:
    """Say how much is lost, and whether something better may exist.

    Parameters
    ----------
    found
        The levels.

    Examples
    --------
    >>> import polars as pl
    >>> import sfumato as sf
    >>> searched(sf.anonymise(pl.DataFrame({"sex": list("mfmfmfmf")}), ["sex"], k=2))
    'Loss (loss): 0; nothing loses less.'
    """
    if found.step.local:
        return f"Loss (loss-arithmetic, cell by cell): {found.score:.6g}, the better of two ways; less may be possible."
    told = f"Loss ({found.step.loss}): {found.score:.6g}; nothing loses less"
    return f"{told}." if found.optimal else f"{told} than {found.bound:.6g}. {NOT_PROVEN}"


def others_of_anonymised(found: Anonymisation, others: Sequence[tuple[str, Anonymised | None]]) -> list[str]:
    """Give the table of what else could be had.

    Parameters
    ----------
    found
        What was found.
    others
        What each other demand would give; None where nothing meets it.

    Examples
    --------
    >>> import polars as pl
    >>> import sfumato as sf
    >>> found = sf.anonymise(pl.DataFrame({"sex": list("mfmfmfmf")}), ["sex"], k=2)
    >>> print(*others_of_anonymised(found, [("k = 9", None)]), sep="\\n")
     What else  Loss  Left out  Levels that change
     k = 9      none            no levels meet it
    """
    rows = [("What else", "Loss", "Left out", "Levels that change")]
    for said, other in others:
        if other is None:
            rows.append((said, "none", "", "no levels meet it"))
            continue
        local = found.step.local
        moved = [] if local else [f"{n} {other.levels[n]}" for n, v in found.levels.items() if other.levels[n] != v]
        changes = ", ".join(moved) or ("" if local else "none")
        rows.append((said, f"{other.score:.6g}", f"{other.suppressed:,}", cut(changes, _CHANGES)))
    return [f"{line}  {row[3]}".rstrip() for line, row in zip(_aligned([r[:3] for r in rows], 1), rows, strict=True)]
