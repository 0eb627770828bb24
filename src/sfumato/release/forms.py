"""Measure by the forms that measures have: all of them in one loop, which knows none by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from sfumato.data.finding import Finding, Findings
from sfumato.errors import TooManyGroups
from sfumato.measures.folds.asking import TOO_MANY, Asking, answered
from sfumato.measures.measure import Face, Measure, Way
from sfumato.measures.registry import measures, ours
from sfumato.measures.subject import WIDE, Subject
from sfumato.progress import Progress, split
from sfumato.release.measure import NO_CLASSES, notes_of

__all__ = ["OTHERS_LEFT_OUT", "Formed", "by_forms", "left_out_of_others"]

OTHERS_LEFT_OUT = (
    "The table is large: {figures} (of another package) cannot be measured of it. A limit on one of them counts as not "
    "met."
)

_ASKING = 20.0
"""How long it takes to ask all records, as efforts of measures are counted."""


@dataclass(frozen=True)
class Formed:
    """What measures found by their forms.

    Parameters
    ----------
    findings
        Of all of them; of a line that several forms give, the first one's.
    asked
        Forms in which all records were asked.
    found
        Forms in which anything was found.
    """

    findings: Findings
    asked: frozenset[Way]
    found: frozenset[Way]


def left_out_of_others() -> tuple[str, ...]:
    """A note on the measures of other packages that large tables do without; which of ours they do without is known."""
    brought = [m for m in measures().values() if not m.forms and m.names.isdisjoint(ours())]
    names = [figure.name for each in brought for figure in each.figures]
    return (OTHERS_LEFT_OUT.format(figures=", ".join(names)),) if names else ()


def by_forms(subjects: Mapping[Way, Subject], progress: Progress, face: Face | None = None) -> Formed:
    """The findings of all measures by the forms that they have; of a line that several give, the first form's.

    Parameters
    ----------
    subjects
        What is looked at in each form, in the order in which lines stand.
    progress
        Called with what is being measured, and the share of it that is done.
    face
        Only measures that this command shows.
    """
    ways = [(way, each) for way in subjects for each in measures().values() if way in each.forms]
    shown = [(way, each) for way, each in ways if face is None or face in each.faces]
    chosen = [(way, each) for way, each in shown if each.can(subjects[way]) and each.wanted(subjects[way])]
    *parts, asking = split(progress, [*(each.effort for _, each in chosen), _ASKING])
    looked_at, begun = dict(subjects), []
    for (way, each), part in zip(chosen, parts, strict=True):
        part(f"measuring {each.doing}", 0)
        begun.append(_begun(each, way, looked_at))
    asking("asking all records", 0)
    told = answered(begun)
    lines: dict[tuple[object, ...], Finding] = {}
    for f in (f for one in told for f in one.findings):
        lines.setdefault((f.measure, f.variable, f.group, f.at, f.attack), f)
    found = Findings.together([Findings(tuple(lines.values())), *(Findings(notes=one.findings.notes) for one in told)])
    found = replace(found, classes={c.group: c.by for one in looked_at.values() for c in one.classes})
    by_way = [(way, one) for (way, _), one in zip(chosen, told, strict=True)]
    return Formed(
        found + Findings(notes=tuple(_notes(looked_at, found, face))),
        frozenset(way for way, one in by_way if one.asked),
        frozenset(way for way, one in by_way if one.findings),
    )


def _begun(each: Measure, way: Way, looked_at: dict[Way, Subject]) -> Findings | Asking:
    """What a form finds, or asks for; from too many classes on, classes are looked at no more."""
    subject = looked_at[way]
    if not each.can(subject):
        return Findings()
    try:
        return each.forms[way](subject)
    except TooManyGroups:
        narrow = tuple(c for c in subject.classes if c.group not in WIDE)
        if narrow != subject.classes:  # combinations of all columns are the first to be too many
            looked_at[way] = replace(subject, classes=narrow)
            return _begun(each, way, looked_at)
        looked_at[way] = replace(subject, classes=(), sensitive=())
        return Findings(notes=(TOO_MANY,))


def _notes(looked_at: Mapping[Way, Subject], found: Findings, face: Face | None) -> Iterator[str]:
    """What could not be measured; of classes it is said once, by the form that looks at them."""
    crowded = TOO_MANY in found.notes
    for way, subject in looked_at.items():
        notes = notes_of(subject, Findings() if crowded else found, face)
        yield from (note for note in notes if note != NO_CLASSES or (way == "folded" and not crowded))
