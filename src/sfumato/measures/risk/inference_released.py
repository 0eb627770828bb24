"""Guessing a value from the nearest released records, by whoever knows all else that leaves of a person.

Where values are exchanged among similar records, nobody knows whose they are; but a group may agree on one. What the
nearest records say teaches about people alike, with the person or without. So the vote is held against the same vote
without the cells that were drawn from the person's own record, which the custodian alone can tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.disclosure import Swapped
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.kernels.neighbours.classmates import MOST_PAIRS, Known, chosen
from sfumato.kernels.neighbours.votes import nearest_of, right_votes
from sfumato.measures.confidence import wilson
from sfumato.measures.guessing import Guessed
from sfumato.measures.risk.linkage_released import known_to
from sfumato.measures.subject import RELEASED, Outsider, Subject

__all__ = ["ATTACK_RELEASED", "Drawn", "asked_of", "drawn_of", "lines_of", "released_guesses"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

ATTACK_RELEASED = "released"
"""The attack by whoever knows all that leaves but the value, and what moved with it."""


@dataclass(frozen=True)
class Drawn:
    """Whose values records bear.

    Parameters
    ----------
    own
        Words by which records are known, shape (n,).
    of
        Words of whose value each record bears, by the first column of each set that moved as one.
    sets
        Columns that moved as one.
    group
        Fewest records in a group.
    """

    own: Words
    of: dict[str, Words]
    sets: tuple[tuple[str, ...], ...]
    group: int

    def set_of(self, column: str) -> tuple[str, ...]:
        """What moved with a column, itself among it.

        Parameters
        ----------
        column
            Its name.
        """
        return next((each for each in self.sets if column in each), (column,))


def released_guesses(subject: Subject) -> Findings:
    """Give the lines `inference`, attack `released`, of each category that nobody must learn.

    Somebody knows all released columns of a person but one (and what moved with it), takes the 2·`group` nearest
    records, and guesses the value that most of them tell. Group `attack` is the share of right guesses, `control` the
    same without the cells that were drawn from the person's own record, `risk` what these add: (a − c) / (1 − c).

    Parameters
    ----------
    subject
        With a pair of tables that are joined record by record, and whose values were drawn (`Subject.donors`).
    """
    drawn = drawn_of(subject)
    outsider = next((each for each in subject.knowing if each.group == RELEASED), None)
    if drawn is None or outsider is None or not subject.two.before.height:
        return Findings()
    lines: list[Finding] = []
    for name in subject.guessed:
        lines += _lines(subject.two, outsider, drawn, name, MOST_PAIRS // (4 * len(subject.guessed)))
    return Findings(tuple(lines))


def drawn_of(subject: Subject) -> Drawn | None:
    """What is known of donors, where values were drawn within groups.

    Parameters
    ----------
    subject
        With donors, and the disclosure.
    """
    parts = [part for part in subject.disclosure if isinstance(part, Swapped) and part.group is not None]
    if not parts or subject.donors is None or not subject.two.aligned:
        return None
    own, *rest = subject.donors.columns
    words = {n: subject.donors[n].to_numpy() for n in rest}
    sets = tuple(tuple(each) for part in parts for each in part.sets)
    return Drawn(subject.donors[own].to_numpy(), words, sets, max(part.group or 0 for part in parts))


def _lines(pair: Pair, outsider: Outsider, drawn: Drawn, name: str, most: int) -> Iterator[Finding]:
    """The lines of one variable; none where nothing else is known, or hardly anybody has a value."""
    by, compared = asked_of(pair, outsider, drawn, name)
    if name not in pair.before.columns or name not in pair.after.columns or not (by or compared):
        return
    order = np.argsort(drawn.own, kind="stable")  # of records as near none is preferred for where it stands
    field = _permuted(known_to(pair, by, compared), order)
    truth, told = _values(pair, name, order)
    own = drawn.own[order]
    donor = drawn.of.get(drawn.set_of(name)[0], drawn.own)[order]
    people = chosen(field, most)
    people = people[truth[people] >= 0]
    if not len(people):
        return
    usual = int(np.bincount(truth[truth >= 0]).argmax())
    k = 2 * drawn.group
    found = _guessed(field, people, truth, told, donor, own, usual, k)
    bare = _guessed(Known(field.x, field.x, field.a, field.a, field.label), people, truth, truth, own, own, usual, k)
    sampled = len(people) < int((truth >= 0).sum())
    yield from lines_of(name, found, bare, sampled=sampled)


def asked_of(pair: Pair, outsider: Outsider, drawn: Drawn, name: str) -> tuple[list[str], list[str]]:
    """Columns that a record must share with a person whose value is guessed, and those by which it is near.

    Parameters
    ----------
    pair
        The tables.
    outsider
        What is known: all but the value, and what moved with it.
    drawn
        What moved with what.
    name
        What is guessed.
    """
    both = {*pair.before.columns} & {*pair.after.columns} - {*drawn.set_of(name)}
    return [n for n in outsider.by if n in both], [n for n in outsider.masked if n in both]


def lines_of(name: str, found: Guessed, bare: Guessed | None, *, sampled: bool) -> Iterator[Finding]:
    """The three lines of a variable.

    Parameters
    ----------
    name
        The variable.
    found, bare
        Right guesses from what is released, and from true values, where that was tried.
    sampled
        Whether only some people were guessed.
    """
    m = found.members
    told = (
        ("risk", found.risk, found.interval, None if bare is None else bare.risk),
        ("attack", found.attack / m, wilson(found.attack, m), None if bare is None else bare.attack / m),
        ("control", found.control / m, wilson(found.control, m), None if bare is None else bare.control / m),
    )
    for group, value, interval, base in told:
        yield Finding("inference", name, group, None, ATTACK_RELEASED, value, interval if sampled else None, base)


def _guessed(
    field: Known, people: Ints, truth: Ints, told: Ints, donor: Words, own: Words, usual: int, k: int
) -> Guessed:
    """Right guesses with and without the cells of the person's own."""
    near = nearest_of(field, people, k)
    there = near.rows >= 0
    values = np.where(there, told[near.rows] + 1, 0)  # 0: a gap
    others = donor[near.rows] != own[people][:, None]
    right = right_votes(near.distance, values, truth[people] + 1, usual + 1)
    without = right_votes(near.distance, values, truth[people] + 1, usual + 1, others & there)
    return Guessed(float(right.sum()), float(without.sum()), len(people), len(people))


def _permuted(known: Known, order: Ints) -> Known:
    return Known(known.x[order], known.z[order], known.a[order], known.b[order], known.label[order])


def _values(pair: Pair, name: str, order: Ints) -> tuple[Ints, Ints]:
    """Numbers of the true and the released values of a category, −1 for a gap."""
    sides = []
    for side in (pair.before, pair.after):
        gap = pair.codebook.missing(name, side.schema[name])
        sides.append(side.select(pl.when(~gap).then(pl.col(name).cast(pl.String)).alias("v")).to_series())
    codes = pl.concat(sides).rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
    n = pair.before.height
    return codes[:n][order], codes[n:][order]
