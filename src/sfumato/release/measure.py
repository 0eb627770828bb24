"""Measure a subject by every measure that there is: one way for all faces, so that all show the same."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.pair import Pair
from sfumato.data.publishable import Publishable
from sfumato.data.roles import Role
from sfumato.measures.measure import Face, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.patterns import without_value
from sfumato.measures.registry import measures
from sfumato.measures.subject import KEYS, STRATA, Subject
from sfumato.measures.taking_part import NO_KEY, keyless, taking_part
from sfumato.progress import Progress, split, within

__all__ = ["EFFORT", "NO_CLASSES", "NO_VALUE", "measure", "notes_of", "sensitive_categories"]

EFFORT = 100.0
"""How long measuring takes beside the steps, for the share of progress: about as long as its longest measures."""

NO_CLASSES = "No classes were measured: no key is released as it was, and no masking step stratifies."
NO_GUESS = Publishable(
    "What can be guessed was not measured: no column is sensitive or an outcome. Say under `variables` what nobody "
    "must learn."
)
NO_NUMBERS = "No attack on numbers was measured: no numeric column was masked."
NO_VALUE = (
    "{columns}: some groups have no known value at all. A gap is the one value of such a group (l = 1), and a value "
    "like others in its distance from the whole table (t); in all other groups gaps are left out."
)
MISSING_KEYS = "Sizes of groups: {told} (missing: {rule})."
_OF_CLASSES = ("k_anonymity", "class_size", "risk_average", "below_k", "uniques_sample", "expected_reidentifications")
NOISY_STRATA = (
    "{columns}: released strata do not follow from true ones, so that attackers are not taken to know in which of them "
    "a record is."
)


def measure(subject: Subject, progress: Progress, face: Face | None = None, only: Set[str] | None = None) -> Findings:
    """Give the findings of every measure that the subject has what it needs for.

    Parameters
    ----------
    subject
        What is measured.
    progress
        Called before each measure, with the share of the measuring that is done.
    face
        Only measures that this command shows.
    only
        Only measures that give one of these figures.
    """
    chosen = [m for m in measures().values() if _asked(m, face, only) and m.can(subject) and m.wanted(subject)]
    found = []
    for each, part in zip(chosen, split(progress, [each.effort for each in chosen]), strict=True):
        doing = f"measuring {each.doing}"
        part(doing, 0)
        found.append(each.compute(replace(subject, progress=within(part, doing))))
    together = replace(Findings.together(found), classes={c.group: c.by for c in subject.classes})
    return Findings(notes=tuple(notes_of(subject, together, face))) + together


def _asked(each: Measure, face: Face | None, only: Set[str] | None) -> bool:
    return (face is None or face in each.faces) and (only is None or not each.names.isdisjoint(only))


def notes_of(subject: Subject, found: Findings, face: Face | None = None) -> Iterator[str]:
    """What could not be measured, and why.

    Parameters
    ----------
    subject
        What was measured.
    found
        What was found.
    face
        The command that shows it.
    """
    if face != "compare" and not subject.provides & {KEYS, STRATA}:
        yield Publishable(NO_CLASSES)
    if any(f.measure in _OF_CLASSES for f in found):
        yield Publishable(MISSING_KEYS.format(rule=subject.how.missing, told=_told(subject.how.missing)))
        yield from map(Publishable, _gaps(subject))
    if subject.donors is not None and not subject.guessed:
        yield NO_GUESS
    pair = subject.pair
    if pair is None:
        return
    yield from pair.notes
    if face == "compare":
        return
    if unknown := _random_strata(pair):
        yield Publishable(NOISY_STRATA.format(columns=", ".join(unknown)))
    if not pair.columns and not found.select("h_rank"):
        yield Publishable(NO_NUMBERS)


def _gaps(subject: Subject) -> Iterator[str]:
    """Who is in no class, and which classes have no known sensitive value; nothing where classes are not counted."""
    missing, data = subject.how.missing, subject.after
    if any(keyless(data, classes.by, missing) for classes in subject.classes):
        yield NO_KEY
    without = dict.fromkeys(
        name
        for classes, name in subject.of_sensitive()
        if without_value(data, taking_part(data, classes.by, missing), name)
    )
    if without:
        yield NO_VALUE.format(columns=", ".join(without))


def _told(missing: str) -> str:
    alpha = wildcard(missing)
    if alpha is None:
        return "a missing value is a value of its own"
    return "a missing value agrees with every other" + ("" if alpha == 1 else f", in part ({alpha:g})")


def _random_strata(pair: Pair) -> list[str]:
    return [n for n in pair.by if n not in pair.known_by] if pair.aligned else []


def sensitive_categories(codebook: Codebook) -> tuple[str, ...]:
    """Categories of a released table that nobody must learn: sensitive ones, whatever their role, and outcomes."""
    return tuple(n for n, v in codebook.items() if (v.private or v.role == Role.OUTCOME) and not v.numeric)
