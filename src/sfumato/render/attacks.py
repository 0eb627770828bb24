"""The table of the terminal: who attacks, what they know, and how many they find before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sfumato.data.finding import Finding, Findings
from sfumato.measures.measure import Figure
from sfumato.measures.registry import figures, measure_of
from sfumato.measures.saying import percent
from sfumato.measures.subject import EVERYTHING
from sfumato.measures.units import of_units
from sfumato.plan.limits import unmeasured
from sfumato.render.words import badness, of_one, of_what, plain_number, word_of

__all__ = ["Attack", "attack", "by_weight", "deciding", "in_short", "once", "to_show"]

_FIRST = ("linkage", "groups", "closeness")
"""Families of measures in the order of the table: to be found comes before what could lead to it."""
GUESSES = ("inference", "risk")
"""The figure, and its group, of what can be guessed: it has a line of its own below the verdict."""


@dataclass(frozen=True)
class Attack:
    """A line of the table.

    Parameters
    ----------
    who, knows
        Who attacks, and what they know.
    before, after, limit
        The figure without protection, with it, and where its limit is.
    mark
        `exceeded`, `not measured`, or nothing.
    """

    who: str
    knows: str
    before: str
    after: str
    limit: str
    mark: str = ""


def attack(line: Finding) -> Attack:
    """Give the line of the table on a finding.

    Examples
    --------
    >>> found = Finding("linkage_nearest", group="released", value=0.33, baseline=0.97, limit=0.2, ok=False)
    >>> attack(found)  # doctest: +NORMALIZE_WHITESPACE
    Attack(who='nearest record', knows='all released columns', before='97%', after='33%', limit='20%',
    mark='exceeded')
    """
    said = word_of(line)
    mark = "" if line.ok is not False else "not measured" if unmeasured(line) else "exceeded"
    return Attack(
        who=_who(line, said),
        knows=said.knows.get(line.attack or "") or said.knows.get(line.group or "") or of_what(line),
        before=in_short(said, line.baseline),
        after=in_short(said, line.value),
        limit="" if line.limit is None else f"{'min ' if _least(line, said) else ''}{in_short(said, line.limit)}",
        mark=mark,
    )


def _who(line: Finding, said: Figure) -> str:
    """The attacker, with the variable that is learnt; of a figure that is no attack its title."""
    if not said.attacker:
        hidden = line.variable and line.group in said.knows  # else it is said what the line is of
        return f"{said.title}: {line.variable}" if hidden else said.title
    return f"{said.attacker}: {line.variable}" if line.variable else said.attacker


def _least(line: Finding, said: Figure) -> bool:
    """Whether the limit is one from below."""
    if line.value is None or line.value == line.limit or line.limit is None:
        return said.better == "high"
    return (line.value > line.limit) == bool(line.ok)


def in_short(said: Figure, value: float | None) -> str:
    """A value in at most six characters: shares in percent, to two digits.

    Examples
    --------
    >>> from sfumato.render.words import word
    >>> share = word("linkage_nearest")
    >>> in_short(share, 0.0426), in_short(share, 0.00002), in_short(share, 0.9999), in_short(share, None)
    ('4.3%', '<0.1%', '>99.9%', '')
    >>> in_short(word("k_anonymity"), 314.0)
    '314'
    """
    if value is None:
        return ""
    if said.form != "share" and not said.percent:
        return plain_number(value, 5 if said.form == "count" else 3)
    words = {"less than 0.1%": "<0.1%", "nearly 100%": ">99.9%"}
    return words.get(percent(value), percent(value)).replace("-", "−")


def by_weight(lines: Sequence[Finding]) -> list[Finding]:
    """Findings in the order of the table: limits that are exceeded, other limits, the rest; the worst of each first.

    Examples
    --------
    >>> kept = Finding("linkage_nearest", value=0.1, limit=0.2, ok=True)
    >>> broken = Finding("k_anonymity", value=1.0, limit=5.0, ok=False)
    >>> [line.measure for line in by_weight([kept, broken])]
    ['k_anonymity', 'linkage_nearest']
    """
    order = list(figures())

    def weight(line: Finding) -> tuple[object, ...]:
        measure = measure_of(line.measure)
        family = "" if measure is None else measure.family
        limit = {False: 0, True: 1, None: 2}[line.ok]
        place = _FIRST.index(family) if family in _FIRST else len(_FIRST)
        figure = order.index(line.measure) if line.measure in order else len(order)
        return limit, unmeasured(line), place, figure, -badness(line)

    return sorted(lines, key=weight)


def deciding(findings: Findings) -> Finding | None:
    """The finding that decides: the worst of those with a limit that say the same; None where no limit is set.

    Examples
    --------
    >>> found = [Finding("linkage_nearest", value=0.1, ok=True), Finding("linkage_one_to_one", value=0.2, ok=True)]
    >>> deciding(Findings(tuple(found))).measure
    'linkage_one_to_one'
    >>> deciding(Findings((Finding("risk1", value=0.1),))) is None
    True
    """
    bound = [line for line in by_weight(once(findings)) if line.ok is not None]
    if not bound:
        return None
    said = word_of(bound[0]).clause
    alike = [line for line in bound if line.ok == bound[0].ok and said and word_of(line).clause == said]
    return max((line for line in alike if line.value is not None), key=badness, default=bound[0])


def to_show(findings: Findings) -> list[Finding]:
    """The findings that the table shows, in its order: those with limits, and of every other attack the worst.

    Examples
    --------
    >>> found = [Finding("linkage_nearest", group=g, value=v) for g, v in (("overall", 0.1), ("stratum", 0.4))]
    >>> [line.value for line in to_show(Findings(tuple(found)))]
    [0.4]
    """
    bound = [line for line in once(findings) if line.ok is not None and not (_guess(line) and line.ok)]
    return by_weight([*bound, *_others(findings)])


def once(findings: Findings) -> list[Finding]:
    """Findings without attacks whose strongest stands there for them with the same verdict, or a worse one.

    Examples
    --------
    >>> found = [Finding("membership", group="auc", attack=a, value=v) for a, v in (("nearest", 0.6), (None, 0.61))]
    >>> [line.attack for line in once(Findings(tuple(found)))]
    [None]
    """
    stated = {_place(line): line.ok for line in findings if line.attack is None}

    def repeats(line: Finding) -> bool:
        if line.attack not in word_of(line).strongest_of or _place(line) not in stated:
            return False
        return line.ok is not False or stated[_place(line)] is False

    return [line for line in findings if not repeats(line)]


def _place(line: Finding) -> tuple[object, ...]:
    return line.measure, line.variable, line.group, line.at


def _guess(line: Finding) -> bool:
    return (line.measure, line.group) == GUESSES


def _others(findings: Findings) -> Iterator[Finding]:
    """Of every attack without a limit the worst line, and of limits what comes of it if the unknown is known."""
    for name, said in figures().items():
        lines = [line for line in once(findings.select(name)) if line.value is not None]
        free = [line for line in lines if line.ok is None]
        if any(line.ok is not None for line in lines):
            yield from (line for line in free if line.group == EVERYTHING)
        elif said.attacker and not said.detail and name != GUESSES[0]:
            least = min((line.at for line in free if line.at is not None), default=None)
            usual = [
                line
                for line in free
                if line.at == least and line.group != EVERYTHING and not of_one(line) and _usual(line, said)
            ]
            for own in ([f for f in usual if not of_units(f)], [f for f in usual if of_units(f)]):
                if own:
                    yield max(own, key=badness)


def _usual(line: Finding, said: Figure) -> bool:
    return all(getattr(line, name) == value for name, value in said.usual.items())
