"""The screens of `risk` and `compare`: what was measured of files as they are, the figure that says most first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sfumato.data.finding import Finding, Findings
from sfumato.measures.saying import capital, listed, percent, value_of
from sfumato.measures.subject import KEYS, RELEASED, STRATA
from sfumato.plan.limits import unmeasured
from sfumato.release.verdict import verdict_of_risk
from sfumato.render.attacks import by_weight, deciding, to_show
from sfumato.render.layout import (
    HEIGHT,
    ROWS,
    Following,
    cut,
    headline,
    lost_lines,
    next_lines,
    padded,
    paragraph,
    table,
)
from sfumato.render.screen import clause, guessed, limit_of
from sfumato.render.words import of_what, plain_number, word_of

__all__ = ["learnt", "screen_of_loss", "screen_of_risk"]

_RISK, _LOST = "RISK  ", "LOST  "
_MOST_NAMED, _NAME = 3, 20
_FEW_LINES = 2
_WHAT, _OF = 30, 26
_SHIFT, _APART = 0.1, 0.25
"""Where correlations count as lost, and where a model always tells tables apart."""
_NOT_GUESSED = "What can be guessed was not measured: no category is sensitive."
_NOTHING = "nothing was measured that finds people."
_BESIDE_OTHERS = "What can be guessed was not measured: --control FILE names people to compare with."


def screen_of_risk(
    findings: Findings, title: str, following: Following, *, alone: bool, asked: Collection[str] = ()
) -> list[str]:
    """Give the screen of `risk`: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    findings
        All that was measured.
    title
        Of the file.
    following
        What to do next.
    alone
        Whether one file was measured, and not a protected one beside its original.
    asked
        Figures that the table shows because somebody asked for them.

    Examples
    --------
    >>> line = Finding("uniques_sample", group="keys", value=0.1)
    >>> found = Findings((line,), classes={"keys": ("Sex", "Age")})
    >>> print(*screen_of_risk(found, "titanic", Following((("sfumato init", "a.csv"),)), alone=True), sep="\\n")
    RISK  10% of the people stand alone by Sex and Age.
          What can be guessed was not measured: no category is sensitive.
    <BLANKLINE>
     Who attacks         Knows     Before  Limit
     unique combination  the keys     10%
    <BLANKLINE>
    Next:
      sfumato init a.csv
    """
    verdict, first = verdict_of_risk(findings), deciding(findings)
    if verdict is not None and first is not None:
        head = headline(verdict, title, _judged(first, findings))
        indent = " " * (len(verdict) + 2)
    else:
        head, indent = (
            paragraph(f"{_RISK}{_alone(findings) if alone else _found(findings)}", " " * len(_RISK)),
            " " * len(_RISK),
        )
    if said := _guess(findings, first, alone=alone):
        head += paragraph(f"{indent}{said}", indent)
    tail = next_lines(following)
    only = "" if not alone else "Before" if verdict is None else "Figure"
    shown = to_show(findings)
    shown += [f for f in findings if f.measure in asked and f.variable is None and f not in shown]
    rows = table(by_weight(shown), min(ROWS, HEIGHT - len(head) - len(tail) - 3), only)
    return [*head, *(["", *rows] if rows else []), "", *tail]


def _judged(first: Finding, findings: Findings) -> str:
    """The figure that decides, with its limit."""
    said = clause(first, findings)
    return f"{said}." if unmeasured(first) else f"{said}; the limit is {limit_of(first)}."


def _alone(findings: Findings) -> str:
    """How many stand alone by what they may be known by; where that is not measured, the first attack."""
    shares: dict[tuple[str, ...] | str, tuple[str, float]] = {}
    for group in (RELEASED, KEYS, STRATA):
        for line in findings.select("uniques_sample", group=group, attack=None):
            if line.value is not None:
                shares.setdefault(findings.classes.get(group, group), (group, line.value))
    if shares:
        said = [(percent(share), _columns(by, group)) for by, (group, share) in shares.items()]
        more = [f"{share} by {columns}" for share, columns in said[1:]]
        return f"{', '.join([f'{said[0][0]} of the people stand alone by {said[0][1]}', *more])}."
    return _NOTHING if not _clauses(findings) else _found(findings)


def _found(findings: Findings) -> str:
    """What the first attack finds; where none was measured, how many stand alone."""
    attacks = _clauses(findings)
    if not attacks:
        return _alone(findings)
    before = "" if attacks[0].baseline is None else f", {percent(attacks[0].baseline)} without protection"
    return f"{capital(clause(attacks[0], findings))}{before if word_of(attacks[0]).form == 'share' else ''}."


def _clauses(findings: Findings) -> list[Finding]:
    """What the table shows of attacks that there are words for."""
    return [line for line in to_show(findings) if line.value is not None and word_of(line).clause]


def _columns(by: tuple[str, ...] | str, group: str) -> str:
    """Columns as a sentence has them: three by name, more by number."""
    what = "columns" if group == RELEASED else group
    if isinstance(by, str):
        return f"all {what}"
    return f"all {len(by)} {what}" if len(by) > _MOST_NAMED else listed([cut(name, _NAME) for name in by])


def _guess(findings: Findings, first: Finding | None, *, alone: bool) -> str:
    """What can be guessed: of a person who is found, else of all in a group."""
    if said := guessed(findings, first):
        return said
    told = learnt(findings)
    return _BESIDE_OTHERS if not alone and told in ("", _NOT_GUESSED) else told


def learnt(findings: Findings) -> str:
    """Say what groups tell of everybody in them, or that nobody looked; nothing where there are no groups.

    Parameters
    ----------
    findings
        Of a table.

    Examples
    --------
    >>> learnt(Findings((Finding("l_distinct", "ill", "keys", value=3.0),)))
    'Every group has at least 3 different values of ill.'
    """
    few = [f for f in findings.select("l_distinct") if f.value is not None and f.variable is not None]
    if not few:
        return _NOT_GUESSED if findings.classes else ""
    least = min(value_of(f) for f in few)
    of = _named([f.variable for f in few if f.variable is not None and value_of(f) == least])
    if least <= 1:
        return f"Everyone in at least one group has the same {of}: it is learnt without finding the record."
    return f"Every group has at least {least:.0f} different values of {of}."


def _named(names: Sequence[str]) -> str:
    once = list(dict.fromkeys(names))
    more = [f"{len(once) - _MOST_NAMED} more"] if once[_MOST_NAMED:] else []
    return listed([*(cut(name, _NAME) for name in once[:_MOST_NAMED]), *more])


def screen_of_loss(findings: Findings, following: Following) -> list[str]:
    """Give the screen of `compare`: at most 24 lines of 80 columns; a command that is longer is not cut.

    Parameters
    ----------
    findings
        All that was measured.
    following
        What to do next.

    Examples
    --------
    >>> kept = Finding("columns_kept", at=12.0, value=0.75)
    >>> mean = Finding("mean", variable="Age", value=30.5, baseline=29.5)
    >>> print(*screen_of_loss(Findings((kept, mean)), Following((("sfumato risk", "a.csv"),))), sep="\\n")
    LOST  3 of 12 columns are gone.
    <BLANKLINE>
     What moved most  Of   Before  After
     Mean             Age    29.5   30.5
    <BLANKLINE>
    Next:
      sfumato risk a.csv
    """
    losses = sorted((each for each in _losses(findings) if each.share > 0), key=lambda each: -each.share)
    most = losses[0].said if losses else "nothing of what was measured"
    head = paragraph(f"{_LOST}{most}.", " " * len(_LOST))
    for line in [f for f in findings if f.ok is False][:_FEW_LINES]:
        head += paragraph(f"{' ' * len(_LOST)}Exceeded: {_judged(line, findings)}", " " * len(_LOST))
    others = [f"{capital(each.said)}." for each in losses[1:] if each.own]
    rest = replace(findings, lines=tuple(f for f in findings if not losses or f is not losses[0].line))
    lost, tail = lost_lines(rest, more=others), next_lines(following)
    rows = _moves(findings, min(ROWS, HEIGHT - len(head) - len(lost) - len(tail) - 3))
    return [*head, *(["", *rows] if rows else []), "", *lost, *tail]


class _Loss(NamedTuple):
    """A loss from 0 to 1, in words; of which finding, and whether no sentence of a measure says it."""

    share: float
    said: str
    line: Finding | None = None
    own: bool = False


def _losses(findings: Findings) -> Iterator[_Loss]:
    for line in findings:
        value = line.value
        if value is None or line.variable is not None:
            continue
        if line.measure == "columns_kept":
            many = round(line.at or 0)
            gone = many - round(value * many)
            yield _Loss(1 - value, f"{gone} of {many} columns {'is' if gone == 1 else 'are'} gone", line)
        elif line.measure == "records_kept":
            yield _Loss(1 - value, f"{percent(1 - value)} of the records are gone", line)
        elif line.measure == "cells_deleted":
            yield _Loss(value, f"{percent(value)} of the cells are deleted", line)
        elif line.measure == "relations_shift":
            yield _Loss(min(value / _SHIFT, 1.0), f"correlations move by {_short(value)} on average", line)
    apart = [value_of(f) for name in ("u_main", "u_interactions", "u_trees") for f in findings.select(name)]
    if apart:
        told = f"a model tells released from original records: {_short(max(apart))} (0 never, .25 always)"
        yield _Loss(min(max(apart) / _APART, 1.0), told, own=True)
    moved = [value_of(f) for f in findings.select("standardised_difference")]
    if moved:
        far = sum(value > 1 for value in moved)
        said = f"{far} of {len(moved)} coefficients of the model move by over 1 SE"
        yield _Loss(far / len(moved), said, own=True)


def _short(value: float) -> str:
    return "less than .01" if 0 < value < 0.005 else f"{value:.2f}".removeprefix("0")


def _moves(findings: Findings, most: int) -> list[str]:
    """The table of what moved most, before and after."""
    from rich.cells import cell_len

    moved = sorted(((size, f) for f in findings if (size := _size(f, findings)) > 0), key=lambda each: -each[0])
    once: dict[tuple[str, str | None], Finding] = {}
    for _, line in moved:  # of a column's quantiles the one that moved most
        once.setdefault((line.measure, line.variable), line)
    lines = list(once.values())[:most]
    if not lines or most < 1:
        return []
    rows = [("What moved most", "Of", "Before", "After"), *map(_move, lines)]
    what, of, before, after = (max(cell_len(row[i]) for row in rows) for i in range(4))
    return [f" {padded(r[0], what)}  {padded(r[1], of)}  {r[2]:>{before}}  {r[3]:>{after}}" for r in rows]


def _move(line: Finding) -> tuple[str, str, str, str]:
    both = (value_of(replace(line, value=value)) for value in (line.baseline, line.value))
    before, after = (plain_number(round(v, 2) if line.measure == "correlation" else v, 4) for v in both)
    return cut(word_of(line).title, _WHAT), cut(of_what(line), _OF), before, after


def _size(line: Finding, findings: Findings) -> float:
    """How far a figure moved: in standard deviations where it is in units of its column, else as a share."""
    if line.value is None or line.baseline is None:
        return 0.0
    change, spread = abs(line.value - line.baseline), line.baseline
    if line.measure in ("mean", "quantile"):
        spread = next((f.baseline or 0.0 for f in findings.select("sd", variable=line.variable)), spread)
    elif line.measure == "correlation":
        return change
    elif line.measure != "sd":
        return 0.0
    return change / abs(spread) if spread else float(change > 0)
