"""Inference: what a release tells of its people beyond what it tells of anybody, held against a control."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.kernels.linkers.nearest import gower, right_guesses
from sfumato.kernels.linkers.reach import VOTE, voted
from sfumato.measures.confidence import wilson
from sfumato.measures.guessing import Guessed
from sfumato.measures.known import Known
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.attacked import FEW, SAMPLED, Attacked, apart_by, attacked
from sfumato.measures.risk.inference_people import guessed_among_all
from sfumato.measures.risk.inference_released import ATTACK_RELEASED, released_guesses
from sfumato.measures.risk.linkers.coding import Coded, categories, coded
from sfumato.measures.saying import CONTRACT, percent, value_of, worst
from sfumato.measures.subject import Subject

__all__ = ["ATTACKS", "MEASURE", "findings", "guesses", "stated"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Bools = NDArray[np.bool_]
Name = tuple[str, float]
"""An attack, and the width of its kernel; 0 where it has none."""

RISK, ATTACK, CONTROL = "risk", "attack", "control"
NEAREST, KERNEL = "nearest", "kernel"
ATTACKS = (NEAREST, KERNEL)
"""The attacks of which the line without one is the strongest."""
LEFT_OUT = "Inference of {columns} was not measured: not all tables hold it, or it is the only key."
NO_KEYS = "Inference was not measured: none of the keys stands in all tables. Name what an intruder knows (--keys)."


def guesses(field: Coded, who: Attacked, truth: Ints, told: Ints) -> dict[Name, Floats]:
    """Guess a value of people from the records near what is known of them, by attack and width of a kernel.

    Parameters
    ----------
    field
        What is known of people, and the records.
    who
        Who is guessed.
    truth : ndarray, shape (known rows,)
        Number of each person's value.
    told : ndarray, shape (n,)
        Number of the value that each record tells.

    Returns
    -------
    dict
        Share of right guesses of each unit.
    """
    people = field.known.only(who.rows)
    scoring = gower(field.levels, field.spread, field.wildcard)
    near = right_guesses(people, field.released, scoring, told, truth[who.rows])
    apart = apart_by(field, field.known.only(who.reference) if len(who.reference) else field.known)
    weighed = voted(people, field.released, apart, VOTE, told, truth[who.rows])
    of_rows = {(NEAREST, 0.0): near, **{(KERNEL, w): weighed[k] for k, w in enumerate(VOTE.all)}}
    return {name: who.of_units(right) for name, right in of_rows.items()}


def stated(right: Mapping[Name, Floats], who: Attacked, attack: str | None) -> Guessed:
    """The guesses of an attack, of the strongest where none is named: both halves' together, chosen on the other one.

    Parameters
    ----------
    right
        Share of right guesses of each unit, by attack and width.
    who
        The units.
    attack
        The attack.
    """
    halves = [np.ones(len(who.member), dtype=bool)] if who.few else [~who.half, who.half]
    parts = {
        name: [_counted(own, who.member, half) for half in halves]
        for name, own in right.items()
        if attack in (None, name[0])
    }
    risks = {name: [part.risk for part in own] for name, own in parts.items()}
    if who.few:
        return parts[max(risks, key=lambda name: risks[name][0])][0]
    one, two = (parts[name][h] for h, name in enumerate(who.chosen(risks)))
    return Guessed(
        one.attack + two.attack, one.control + two.control, one.members + two.members, one.others + two.others
    )


def _counted(right: Floats, member: Bools, half: Bools) -> Guessed:
    inside, outside = np.sort(right[half & member]), np.sort(right[half & ~member])
    return Guessed(float(inside.sum()), float(outside.sum()), len(inside), len(outside))


def findings(known: Known, sensitive: Sequence[str], missing: str = "category") -> Findings:
    """Give the lines `inference` of each sensitive variable: the risk, and the shares of right guesses it comes from.

    The intruder knows all keys of a person (but for the variable itself, where it is one). By attack `nearest` the
    released records that are nearest (Gower's distance, all that tie) vote, by `kernel` all records, each by
    exp(−d / w), w of .15 or .35; what has most votes is guessed. Group `attack` is the share guessed rightly among
    people of the release, `control` among others of the same kind: that is what the data teach about anybody. Group
    `risk` is what the release tells above it. The line without `attack` is the strongest: what does best on one half of
    the people is stated of the other, and the guesses are counted together. Where persons or households have several
    rows, a person's share of right guesses counts as one. Half of the control is the reference of `membership`, and
    gives the units of distance; nobody of it is guessed. It does not cover intruders with better models.

    Parameters
    ----------
    known
        True values of people of the release and of a control, beside what was released.
    sensitive
        What an intruder guesses.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`.

    Source: Giomi et al. (2023), doi:10.56553/popets-2023-0055.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> table = pl.DataFrame({"job": ["a", "b"] * 30, "ill": ["no", "yes"] * 30})
    >>> others = pl.DataFrame({"job": ["a", "b"] * 60, "ill": ["yes", "no"] * 60})
    >>> found = findings(Known(table, table, Codebook(), ("job",), control=others), ["ill"])
    >>> found.of("inference", group="attack").value, found.of("inference", group="control").value
    (1.0, 0.0)
    """
    tables = [t for t in (known.people, known.released, known.control) if t is not None]
    if known.control is None or not all(table.height for table in tables):
        return Findings()
    keys = [n for n in known.keys if all(n in table.columns for table in tables)]
    there = [n for n in sensitive if keys != [n] and all(n in table.columns for table in tables)]
    notes = (
        [LEFT_OUT.format(columns=", ".join(n for n in sensitive if n not in there))] if there != [*sensitive] else []
    )
    if not keys:
        return Findings(notes=(*notes, NO_KEYS))
    joker = wildcard(missing) is not None
    by_all = coded(known, keys, wildcard=joker)
    who = attacked(by_all, known, beside=False)
    if who.member.all() or not who.member.any():
        return Findings(notes=tuple(notes))
    lines: list[Finding] = []
    for name in there:
        field = coded(known, [n for n in keys if n != name], wildcard=joker) if name in keys else by_all
        codes, _ = categories(tables, [name], wildcard=False)
        own, told = (part[0].astype(np.int64) for part in codes[:2])
        truth = np.concatenate([own, codes[2][0].astype(np.int64)])
        found, without = guesses(field, who, truth, told), guesses(field.unprotected(), who, truth, own)
        for attack in (None, NEAREST, KERNEL):
            lines += _lines(name, attack, stated(found, who, attack), stated(without, who, attack))
    if lines:
        notes += [note for note, said in ((SAMPLED, who.sampled), (FEW, who.few)) if said]
    return Findings(tuple(lines), tuple(notes))


def _lines(name: str, attack: str | None, found: Guessed, without: Guessed) -> list[Finding]:
    a, c = found.attack / found.members, found.control / found.others
    a0, c0 = without.attack / without.members, without.control / without.others
    return [
        Finding("inference", name, RISK, None, attack, found.risk, found.interval, without.risk),
        Finding("inference", name, ATTACK, None, attack, a, wilson(found.attack, found.members), a0),
        Finding("inference", name, CONTROL, None, attack, c, wilson(found.control, found.others), c0),
    ]


def _compute(subject: Subject) -> Findings:
    """By whoever knows the keys, beside a control; by whoever knows all else that leaves, where values were drawn."""
    known = subject.outsiders
    by_keys = known is not None and subject.sensitive
    found = findings(known, subject.sensitive, subject.how.missing) if known is not None and by_keys else Findings()
    return found + (released_guesses(subject) if subject.donors is not None else Findings())


def _told(found: Findings) -> list[Finding]:
    """The risks that are stated, without the attacks of which they are the strongest."""
    return [f for f in found.select("inference", group=RISK) if f.attack not in ATTACKS]


def _say(found: Findings, fraction: float) -> str | None:
    lines = [f for f in _told(found) if f.value is not None]
    if not lines:
        return None
    most = worst(lines)
    if most.attack == ATTACK_RELEASED:
        return (
            f"Of what somebody who knows all else that leaves of a person cannot guess of {most.variable} without that "
            f"person's own record, the record tells {percent(max(value_of(most), 0.0))}."
        )
    return (
        f"Guessing {most.variable} from the released records that are near, by the stronger of two votes, tells "
        f"{percent(max(value_of(most), 0.0))} of what others of the same kind leave to be learnt."
    )


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = [f for f in _told(found) if value_of(f) > CONTRACT]
    text = "The release tells a sensitive value of its people far better than of others of the same kind"
    return (Complaint(text, Aim.FURTHER, worst(lines).variable, urgent=True),) if lines else ()


MEASURE = Measure(
    family="linkage",
    place=60,
    doing="guesses beside a control",
    needs=frozenset({"guesses"}),
    figures=(
        Figure(
            "inference",
            title="Right guesses of a sensitive value (inference)",
            what="Somebody who knows a person's keys guesses a value from released records. Attack nearest: the "
            "nearest of them vote; kernel: all of them, nearer ones more. The line without an attack is the stronger, "
            "chosen on one half of the people and stated of the other. Group attack: share of right guesses among "
            "people of the release; control: among others of the same kind, whom the release cannot betray; risk: what "
            "the release tells above that. Better models may guess more. Attack released: somebody who knows all else "
            "that leaves of a person; the control is the same guess without what was drawn from the own record.",
            form="number",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
            usual=MappingProxyType({"group": RISK}),
            attacker="guess of a value",
            knows=MappingProxyType({"released": "all released columns", RISK: "the keys"}),
            clause="their own records add {} to what can be guessed",
            percent=True,
            strongest_of=ATTACKS,
        ),
    ),
    compute=_compute,
    forms={"people": guessed_among_all},
    say=_say,
    complain=_complain,
    effort=3.0,
)
