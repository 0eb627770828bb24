"""The linkers that an intruder may use, and what each finds: `nearest`, `fellegi_sunter`, `fellegi_sunter_best`.

`nearest` takes the record with the smallest Gower distance. `fellegi_sunter` weighs what each key tells and has learnt
from the two files alone how often true pairs agree. `fellegi_sunter_best` knows that from the true pairs: no intruder
does, so it is the bound for all who weigh keys one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose
from sfumato.kernels.linkers.fellegi_sunter import learn, learn_from_pairs, weights
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.patterns import count_patterns
from sfumato.kernels.linkers.scan import TIE, Scoring, between, scan
from sfumato.measures.risk.linkers.coding import Coded

__all__ = ["FEWEST", "LINKERS", "WEIGHED", "Linked", "Linker", "Scorings", "chosen", "link", "posterior", "scorings"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Linker = Literal["nearest", "fellegi_sunter", "fellegi_sunter_best"]
LINKERS: tuple[Linker, ...] = get_args(Linker)
WEIGHED: tuple[Linker, ...] = ("fellegi_sunter", "fellegi_sunter_best")
"""The linkers that tell how sure they are."""

FEWEST = 1_000
"""People who are attacked at least."""


@dataclass(frozen=True, eq=False)
class Linked:
    """What one linker found for the people who were looked for.

    Parameters
    ----------
    person : ndarray, shape (r,)
        Rows of the known people.
    right : ndarray, shape (r,)
        Chance that the best record is the person's own, 0 for people of the control; shared among ties.
    certain : ndarray, shape (r,)
        Log₂ of the posterior probability that the best record is the person's own.
    alone : ndarray, shape (r,)
        Whether the best record is best alone.
    """

    person: Ints
    right: Floats
    certain: Floats
    alone: Bools


def chosen(field: Coded, pairs: int) -> Ints:
    """The people who are looked for: all, or so many that no more pairs than `pairs` are compared.

    Parameters
    ----------
    field
        People and records.
    pairs
        Most pairs of people and different records; a thousand people are looked for all the same.

    Returns
    -------
    ndarray
        Rows of the known people, rising. Who they are is a public draw.
    """
    n = field.known.height
    most = max(FEWEST, pairs // max(len(field.released), 1))
    if n <= most or len(field.known) * len(field.released) <= pairs:
        return np.arange(n)
    word = PUBLIC.words(field.unit, Purpose("scenario", "people"))[:, 0]
    return np.sort(np.argsort(word, kind="stable")[:most])


@dataclass(frozen=True, eq=False)
class Scorings:
    """What each linker goes by.

    Parameters
    ----------
    of
        What keys add, by linker.
    fewer
        Whether patterns were counted among fewer people than are looked for.
    """

    of: Mapping[Linker, Scoring]
    fewer: bool


def scorings(field: Coded, rows: Ints) -> Scorings:
    """What keys add for each linker.

    Parameters
    ----------
    field
        People and records.
    rows
        The people who are looked for.
    """
    people = field.known.only(rows)
    found = count_patterns(people, field.released, field.sd, field.wildcard)
    learned = learn(found, field.prior)
    own = np.arange(field.original)
    pairs = field.known.member[own], field.released.member[own]
    best = learn_from_pairs(field.known, field.released, pairs, field.sd, learned.u, field.wildcard)
    form = field.released, field.levels, field.sd, field.wildcard
    told: dict[Linker, Scoring] = {
        "nearest": gower(field.levels, field.spread, field.wildcard),
        "fellegi_sunter": weights(learned, *form),
        "fellegi_sunter_best": weights(best, *form),
    }
    return Scorings(told, found.people < people.height)


def link(field: Coded, rows: Ints, scoring: Scoring, present: float, *, sure: bool) -> Linked:
    """Run one linker.

    Parameters
    ----------
    field
        People and records.
    rows
        The people who are looked for.
    scoring
        What keys add.
    present
        Share of the known people of whom the intruder takes it that they are there.
    sure
        Whether the linker tells how sure it is.
    """
    people = field.known.only(rows)
    found = scan(people, field.released, scoring, sums=sure)
    there = rows < field.original
    right = np.zeros(len(rows))
    mine = people.member[there], field.released.member[rows[there]]
    own = between(people, field.released, mine, scoring)
    right[there] = (own >= found.score[mine[0]] - TIE) / np.maximum(found.ties[mine[0]], 1)
    certain = posterior(field, found.score, found.total, present)[people.member]
    return Linked(rows, right, certain, (found.ties == 1)[people.member])


def posterior(field: Coded, score: Floats, total: Floats, present: float) -> Floats:
    """Log₂ of the probability that a record is a person's: w / (Σw + n (1 − s) / s).

    Parameters
    ----------
    field
        People and the n released records.
    score, total
        Log₂ of the pair's w, and of the sum of w over all records.
    present
        The chance s that the person is there at all.
    """
    nobody = field.released.height * (1 - present) / present
    return score - (np.logaddexp2(total, np.log2(nobody)) if nobody > 0 else total)
