"""Values that synthetic records tell with certainty and rightly: disclosive in the copy, correct in the original.

Known as DiSCO.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.measures.folds.groups import Groups, too_many
from sfumato.measures.known import Known
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.risk.linkers.alike import Alike, alike, common, of_nobody, telling
from sfumato.measures.risk.linkers.coding import categories
from sfumato.measures.saying import CONTRACT, percent, value_of, with_value, without_protection, worst
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "disclosive_correct", "findings"]

Ints = NDArray[np.int64]

NAME = "disclosive_correct"
NOT_THERE = "Certain values of {columns} were not measured: not both tables hold it, or it is the only key."
NO_KEYS = "Certain values were not measured: no key stands in both tables."
NOBODY = "Certain values were not measured: one of the tables has no records."
MISSING = -1


def disclosive_correct(found: Alike, truth: Ints, told: Ints) -> float:
    """Share of the people whose records alike all tell one value, and it is theirs.

    Parameters
    ----------
    found
        Classes of people and records, with at least one person.
    truth : ndarray, shape (n,)
        Number of each person's value; −1 where it is missing: there is nothing to be told.
    told : ndarray, shape (m,)
        Number of each record's value; −1 where it is missing: such a record tells none.

    References
    ----------
    Raab, Nowok & Dibben (2024), arXiv:2406.16826.

    Examples
    --------
    >>> found = Alike(np.array([0, 0, 1]), np.array([0, 0, 1, 1]), 2)
    >>> round(disclosive_correct(found, np.array([5, 6, 5]), np.array([5, 5, 5, 6])), 4)
    0.3333
    """
    telling = told != MISSING
    classes, values = found.records[telling], told[telling]
    one = np.full(found.classes, MISSING, dtype=np.int64)
    one[classes] = values
    one[classes[values != one[classes]]] = MISSING  # a class with two values tells none
    right = (one[found.people] == truth) & (truth != MISSING)
    return found.share(right)


def findings(known: Known, sensitive: Sequence[str], missing: str = CATEGORY) -> Findings:
    """Give a line `disclosive_correct` for each sensitive variable.

    The intruder knows all keys of a person (but for the variable itself, where it is one), looks at the records with
    just these, and is certain where all of them tell one value. The baseline is the same of the original: people in a
    class with one value. It does not cover a majority that is nearly certain, nor values told by records that are
    near (`inference`, which holds them against a control; this figure counts, too, what the data teach about
    anybody).

    Parameters
    ----------
    known
        True values of people, beside what was released.
    sensitive
        What an intruder wants to know.
    missing
        What a missing key is, see `sfumato.measures.measuring.Measuring`. Where it is a wildcard, keys in which nobody
        differs take no part; of the others a gap is equal to a gap alone.

    Examples
    --------
    >>> people = pl.DataFrame({"job": ["a", "b", "b"], "ill": ["no", "no", "yes"]})
    >>> copy = pl.DataFrame({"job": ["a", "a", "b"], "ill": ["no", "no", "yes"]})
    >>> line = findings(Known(people, copy, Codebook(), ("job",), aligned=False), ["ill"])[0]
    >>> round(line.value, 4), round(line.baseline, 4)
    (0.6667, 0.3333)
    """
    keys = telling(known, common(known, known.keys), missing)
    targets = [n for n in common(known, sensitive) if keys != (n,)]
    if not known.people.height or not known.released.height or not keys:
        why = NO_KEYS if known.people.height and known.released.height else NOBODY
        return Findings(tuple(Finding(NAME, name) for name in targets), (why,))
    away = [n for n in sensitive if n not in targets]
    notes = (NOT_THERE.format(columns=", ".join(away)),) if away else ()
    by_all = alike(known.people, known.released, keys) if not set(targets) <= set(keys) else None
    lines = []
    for name in targets:
        others = [n for n in keys if n != name]
        found = by_all if by_all is not None and name not in keys else alike(known.people, known.released, others)
        truth, told = _values(known, name)
        value = disclosive_correct(found, truth, told)
        baseline = disclosive_correct(found.unprotected(), truth, truth)
        lines.append(Finding(NAME, name, value=value, baseline=baseline))
    return Findings(tuple(lines), notes)


def _values(known: Known, name: str) -> tuple[Ints, Ints]:
    """Numbers of a column's values in both tables, −1 where missing, also by a code."""
    tables = [t.select(_known(name, t.schema[name], known.codebook)) for t in (known.people, known.released)]
    (truth, told), _ = categories(tables, [name], wildcard=True)
    return truth[0].astype(np.int64), told[0].astype(np.int64)


def _known(name: str, dtype: pl.DataType, codebook: Codebook) -> pl.Expr:
    return pl.when(~codebook.missing(name, dtype)).then(pl.col(name)).alias(name)


def _compute(subject: Subject) -> Findings:
    if subject.intruder is None:
        return Findings()
    return findings(subject.intruder, subject.sensitive, subject.how.missing)


def _folded(subject: Subject) -> Findings:
    """Of all records, by counts of groups."""
    groups = Groups(subject)
    which = list(dict.fromkeys([*groups.keys, *groups.targets]))
    known = groups.known(which)
    return too_many(NAME, which) if known is None else findings(known, subject.sensitive, subject.how.missing)


def _say(found: Findings, fraction: float) -> str | None:
    lines = with_value(found, NAME)
    if not lines:
        return None
    most = worst(lines)
    return (
        f"For {percent(value_of(most))} of the people all released records with their keys have one value of "
        f"{most.variable}, and it is theirs{without_protection(most)}."
    )


def _complain(found: Findings, fraction: float) -> tuple[Complaint, ...]:
    lines = [f for f in with_value(found, NAME) if value_of(f) > CONTRACT]
    text = "Records with a person's keys tell a sensitive value with certainty, and rightly, for many people"
    return (Complaint(text, Aim.FURTHER, worst(lines).variable, urgent=True),) if lines else ()


MEASURE = Measure(
    family="linkage",
    place=54,
    doing="values that are told with certainty",
    needs=frozenset({"intruder", "sensitive"}),
    figures=(
        Figure(
            NAME,
            title="Values told with certainty, and rightly (DiSCO)",
            what="Share of the people for whom all released records with their keys have one and the same value of a "
            "sensitive variable, and it is theirs. Part of it is what the data teach about anybody with these keys: "
            "see inference, which holds guesses against people who are not in the data.",
            form="share",
            published="rate",
            baseline="Without protection",
            whole="all people",
            aim=Aim.FURTHER,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
    when=of_nobody,
    say=_say,
    complain=_complain,
)
