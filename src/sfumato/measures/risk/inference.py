"""Inference: what a release tells of its people beyond what it tells of anybody, held against a control."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.kernels.linkers.nearest import gower, right_guesses
from sfumato.measures.confidence import wilson
from sfumato.measures.guessing import Guessed
from sfumato.measures.known import Known
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import wildcard
from sfumato.measures.risk.inference_people import guessed_among_all
from sfumato.measures.risk.inference_released import ATTACK_RELEASED, released_guesses
from sfumato.measures.risk.linkers.coding import Coded, categories, coded
from sfumato.measures.risk.linkers.linkers import chosen
from sfumato.measures.saying import CONTRACT, percent, value_of, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "guessed"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RISK, ATTACK, CONTROL = "risk", "attack", "control"
SAMPLED = "Guesses and distances: fewer people were attacked than are known, chosen by a public draw."
LEFT_OUT = "Inference of {columns} was not measured: not all tables hold it, or it is the only key."
NO_KEYS = "Inference was not measured: none of the keys stands in all tables. Name what an intruder knows (--keys)."


def guessed(field: Coded, rows: Ints, truth: Ints, told: Ints) -> Guessed:
    """Guess a value of people from the records nearest to what is known of them: the one that most of these tell.

    Parameters
    ----------
    field
        What is known of people, and the records.
    rows
        The people who are guessed, rows of the known ones.
    truth : ndarray, shape (known rows,)
        Number of each person's value.
    told : ndarray, shape (n,)
        Number of the value that each record tells.
    """
    people = field.known.only(rows)
    scoring = gower(field.levels, field.spread, field.wildcard)
    right = right_guesses(people, field.released, scoring, told, truth[rows])
    there = rows < field.original
    counted = int(there.sum()), int((~there).sum())
    return Guessed(float(right[there].sum()), float(right[~there].sum()), *counted)


def findings(known: Known, sensitive: Sequence[str], missing: str = "category") -> Findings:
    """Give the lines `inference` of each sensitive variable: the risk, and the shares of right guesses it comes from.

    The intruder knows all keys of a person (but for the variable itself, where it is one), takes the released records
    that are nearest (Gower's distance, all that tie), and guesses the value that most of them tell. Group `attack` is
    the share guessed rightly among people of the release, `control` among others of the same kind: that is what the
    data teach about anybody. Group `risk` is what the release tells above it. It does not cover intruders with better
    models than the nearest record.

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
    >>> table = pl.DataFrame({"job": ["a", "b", "c"], "ill": ["no", "no", "yes"]})
    >>> others = pl.DataFrame({"job": ["a", "b"], "ill": ["yes", "no"]})
    >>> found = findings(Known(table, table, Codebook(), ("job",), control=others), ["ill"])
    >>> found.of("inference", group="attack").value, found.of("inference", group="control").value
    (1.0, 0.5)
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
    rows = chosen(by_all, known.pairs)
    if len(rows) < by_all.known.height:
        notes.append(SAMPLED)
    lines: list[Finding] = []
    for name in there:
        field = coded(known, [n for n in keys if n != name], wildcard=joker) if name in keys else by_all
        codes, _ = categories(tables, [name], wildcard=False)
        own, told = (part[0].astype(np.int64) for part in codes[:2])
        truth = np.concatenate([own, codes[2][0].astype(np.int64)])
        lines += _lines(name, guessed(field, rows, truth, told), guessed(field.unprotected(), rows, truth, own))
    return Findings(tuple(lines), tuple(notes))


def _lines(name: str, found: Guessed, without: Guessed) -> list[Finding]:
    if not found.members or not found.others:
        return []
    a, c = found.attack / found.members, found.control / found.others
    a0, c0 = without.attack / without.members, without.control / without.others
    return [
        Finding("inference", name, RISK, None, None, found.risk, found.interval, without.risk),
        Finding("inference", name, ATTACK, None, None, a, wilson(found.attack, found.members), a0),
        Finding("inference", name, CONTROL, None, None, c, wilson(found.control, found.others), c0),
    ]


def _compute(subject: Subject) -> Findings:
    """By whoever knows the keys, beside a control; by whoever knows all else that leaves, where values were drawn."""
    known = subject.outsiders
    by_keys = known is not None and subject.sensitive
    found = findings(known, subject.sensitive, subject.how.missing) if known is not None and by_keys else Findings()
    return found + (released_guesses(subject) if subject.donors is not None else Findings())


def _say(found: Findings, fraction: float) -> str | None:
    lines = [f for f in found.select("inference", group=RISK) if f.value is not None]
    if not lines:
        return None
    most = worst(lines)
    if most.attack == ATTACK_RELEASED:
        return (
            f"Of what somebody who knows all else that leaves of a person cannot guess of {most.variable} without that "
            f"person's own record, the record tells {percent(max(value_of(most), 0.0))}."
        )
    return (
        f"Guessing {most.variable} from the nearest released records tells "
        f"{percent(max(value_of(most), 0.0))} of what others of the same kind leave to be learnt."
    )


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = [f for f in found.select("inference", group=RISK) if value_of(f) > CONTRACT]
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
            what="Somebody who knows a person's keys guesses a value from the nearest released records. Group attack: "
            "share of right guesses among people of the release; control: among others of the same kind, whom the "
            "release cannot betray; risk: what the release tells above that. Attack released: somebody who knows all "
            "else that leaves of a person; the control is the same guess without what was drawn from the own record.",
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
        ),
    ),
    compute=_compute,
    forms={"people": guessed_among_all},
    say=_say,
    complain=_complain,
    effort=3.0,
)
