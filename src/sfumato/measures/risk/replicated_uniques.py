"""Replicated uniques: people who are alone with their keys, and one synthetic record that has just these."""

from __future__ import annotations

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.measures.folds.groups import Groups, too_many
from sfumato.measures.known import Known
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.risk.linkers.alike import Alike, alike, common, of_nobody, telling
from sfumato.measures.saying import CONTRACT, capital, percent, value_of, with_value, without_protection, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "findings", "replicated_uniques"]

NAME = "replicated_uniques"
NO_KEYS = "Replicated uniques were not measured: no key stands in both tables."
NOBODY = "Replicated uniques were not measured: one of the tables has no records."


def replicated_uniques(found: Alike) -> float:
    """Share of the people who are alone with their keys, and whose keys exactly one record has.

    Parameters
    ----------
    found
        Classes of people and records, with at least one person.

    References
    ----------
    Raab, Nowok & Dibben (2024), arXiv:2406.16826.

    Examples
    --------
    >>> import numpy as np
    >>> replicated_uniques(Alike(np.array([0, 0, 1, 2]), np.array([1, 2, 2]), 3))
    0.25
    """
    people, records = found.sizes
    return found.share(((people == 1) & (records == 1))[found.people])


def findings(known: Known, missing: str = CATEGORY) -> Findings:
    """Give the line `replicated_uniques`, with the share of people who are alone with their keys as baseline.

    The intruder knows all keys of a person, knows that nobody else has them, and finds one record with them. In a
    synthetic table that record is nobody's, but whoever reads it believes otherwise, and what else it says may be true.
    It does not cover people who are alone and whom a record resembles without being equal (`inference`, `membership`);
    nor does it tell how many of the uniques of the copy are real: a copy has uniques of its own. To delete such records
    would tell that somebody like them is there.

    Parameters
    ----------
    known
        True values of people, beside what was released.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`. Where it is a wildcard, keys in which nobody
        differs take no part; of the others a gap is equal to a gap alone.

    Examples
    --------
    >>> import polars as pl
    >>> from sfumato.data.codebook import Codebook
    >>> people, copy = pl.DataFrame({"job": ["a", "b", "c", "c"]}), pl.DataFrame({"job": ["a", "b", "b", "c"]})
    >>> findings(Known(people, copy, Codebook(), ("job",), aligned=False)).of("replicated_uniques").value
    0.25
    """
    if not known.people.height or not known.released.height:
        return Findings((Finding(NAME),), (NOBODY,))
    keys = telling(known, common(known, known.keys), missing)
    if not keys:
        return Findings((Finding(NAME),), (NO_KEYS,))
    found = alike(known.people, known.released, keys)
    without = replicated_uniques(found.unprotected())
    return Findings((Finding(NAME, value=replicated_uniques(found), baseline=without),))


def _compute(subject: Subject) -> Findings:
    return Findings() if subject.intruder is None else findings(subject.intruder, subject.how.missing)


def _folded(subject: Subject) -> Findings:
    """Of all records, by counts of groups."""
    groups = Groups(subject)
    known = groups.known(groups.keys)
    return too_many(NAME, groups.keys) if known is None else findings(known, subject.how.missing)


def _say(found: Findings, fraction: float) -> str | None:
    lines = with_value(found, NAME)
    if not lines:
        return None
    return (
        f"{capital(percent(value_of(lines[0])))} of the people are alone with their keys and have exactly one released "
        f"record that is like them{without_protection(lines[0])}: whoever knows the keys takes it for theirs."
    )


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = with_value(found, NAME)
    text = "Many people who are alone with their keys are there exactly once in the release"
    high = bool(lines) and value_of(worst(lines)) > CONTRACT
    return (Complaint(text, Aim.FURTHER, urgent=True),) if high else ()


MEASURE = Measure(
    family="linkage",
    place=52,
    doing="uniques that are there again",
    needs=frozenset({"intruder"}),
    figures=(
        Figure(
            NAME,
            title="Uniques that are there again (replicated)",
            what="Share of the people who are alone with their keys in the original, and whose keys exactly one "
            "released record has. It need not be theirs where values are synthetic; but what it says was drawn from "
            "people like them, and whoever finds it will believe it. Numbers are equal only where they are exactly.",
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
            attacker="unique combination",
            clause="{} of the people are unique and have one record like them",
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
    when=of_nobody,
    say=_say,
    complain=_complain,
)
