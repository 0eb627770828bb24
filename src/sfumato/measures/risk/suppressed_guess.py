"""How often values that were taken out of keys are guessed by somebody who knows by which rule they were."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.hierarchy import as_texts
from sfumato.data.publishable import Publishable
from sfumato.data.suppression import Emptied
from sfumato.kernels.classes.minimality import Guessed, guess_suppressed
from sfumato.measures.confidence import wilson
from sfumato.measures.measure import Complaint, Figure, Measure
from sfumato.measures.saying import PUBLISHED, percent, value_of, with_value
from sfumato.measures.subject import Subject

__all__ = ["ATTACK", "MEASURE", "NO_SINGLE_GAP", "findings", "guessed"]

Ints = NDArray[np.int64]

ATTACK = "minimality"
NO_SINGLE_GAP = Publishable(
    "No record lost a single value of its keys, so that none was guessed from the rule by which values went."
)


def findings(emptied: Iterable[Emptied]) -> Findings:
    """Give the line `suppressed_guess`: of the records with one gap that suppression made, how many are guessed.

    The attacker knows the release and the rule, and no true value. Without the rule he would take the most frequent
    value of the records that agree with what is left of the keys: the baseline. Records with several gaps are passed
    over, and so is what else he might know of the people.

    Parameters
    ----------
    emptied
        Keys before and after, of each step that took values out.

    References
    ----------
    Wong, Fu, Wang & Pei (2007), Minimality attack in privacy preserving data publishing, VLDB, 543–554; and (2009),
    Anonymization-based attacks in privacy-preserving data publishing, doi:10.1145/1538909.1538910.
    """
    found = [guessed(each) for each in emptied]
    if not found:
        return Findings()
    chance, plain = (np.concatenate(x) for x in ([f.chance for f in found], [f.plain for f in found]))
    if not len(chance):
        return Findings((Finding("suppressed_guess", attack=ATTACK),), (NO_SINGLE_GAP,))
    interval = wilson(float(chance.sum()), len(chance))
    value, baseline = float(chance.mean()), float(plain.mean())
    return Findings((Finding("suppressed_guess", None, None, None, ATTACK, value, interval, baseline),))


def guessed(emptied: Emptied) -> Guessed:
    """How likely each single gap is guessed, with the rule and without.

    Parameters
    ----------
    emptied
        Keys before and after.

    Examples
    --------
    >>> from sfumato.data.suppression import Emptying
    >>> before = pl.DataFrame({"sex": [*"fffmmmmm"], "ill": [*"nnynnnyy"]})
    >>> after = before.with_columns(ill=pl.Series([*"nn", None, *"nnnyy"]))
    >>> guessed(Emptied(Emptying(("sex", "ill"), 3), before, after)).chance.tolist()
    [1.0]
    """
    rule, before, after = emptied.rule, emptied.before, emptied.after
    columns = [_codes(pl.concat([_texts(after, n), _texts(before, n)])) for n in rule.keys]
    both, n = np.column_stack(columns), after.height
    strata = None
    if rule.by:
        told = pl.DataFrame([_texts(after, name) for name in rule.by])
        strata = _codes(told.select(pl.struct(rule.by)).to_series())
    return guess_suppressed(both[:n], both[n:], rule.k, strata)


def _texts(frame: pl.DataFrame, column: str) -> pl.Series:
    """Values as texts, equal where the rule takes them for equal."""
    return frame.select(as_texts(pl.col(column), frame.schema[column]).alias(column)).to_series()


def _codes(values: pl.Series) -> Ints:
    """Numbers of values from 0 on, −1 of those that are missing."""
    return np.asarray(values.rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1)


def _compute(subject: Subject) -> Findings:
    return findings(subject.emptied)


def _line(findings: Findings) -> Finding | None:
    return next(iter(with_value(findings, "suppressed_guess")), None)


def _say(findings: Findings, fraction: float) -> str | None:
    line = _line(findings)
    if line is None or line.baseline is None:
        return None
    return (
        f"Somebody who knows by which rule values were taken out guesses {percent(value_of(line))} of those right that "
        f"are the only gap of their record; the most frequent value of similar records would be right in "
        f"{percent(line.baseline)}."
    )


def _complain(findings: Findings, fraction: float) -> tuple[Complaint, ...]:
    line = _line(findings)
    if line is None or value_of(line) <= max(PUBLISHED, 2 * (line.baseline or 0.0)):
        return ()
    return (Complaint("Many values that were taken out can be guessed from the rule by which they went", Aim.ALIKE),)


MEASURE = Measure(
    family="closeness",
    place=37,
    doing="guesses of values taken out",
    needs=frozenset({"cells"}),
    figures=(
        Figure(
            "suppressed_guess",
            title="Values taken out that are guessed",
            what="Values of keys were taken out so that enough records match every record, and no more of them than "
            "was needed. Somebody who knows this rules out each value that enough records would have matched anyway, "
            "and takes the most frequent of the others. This share of the values that are the only gap of their record "
            "is guessed right. It does not tell how many follow from what else is known of people.",
            form="share",
            published="rate",
            baseline="Most frequent value of similar records",
            whole="values taken out",
            aim=Aim.ALIKE,
            attacker="values taken out",
            clause="{} of the values taken out are guessed",
        ),
    ),
    compute=_compute,
    say=_say,
    complain=_complain,
)
