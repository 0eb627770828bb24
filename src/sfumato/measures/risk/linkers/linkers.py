"""The linkers that an intruder may use, and what each finds: `nearest`, `fellegi_sunter`, `fellegi_sunter_best`.

`nearest` takes the record with the smallest Gower distance. `fellegi_sunter` weighs what each key tells and has learnt
from the two files alone how often true pairs agree. `fellegi_sunter_best` knows that from the true pairs: no intruder
does, so it is the bound for all who weigh keys one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose
from sfumato.kernels.linkers.fellegi_sunter import learn, learn_from_pairs, weights
from sfumato.kernels.linkers.nearest import gower
from sfumato.kernels.linkers.patterns import Ranked, count_patterns, ranked
from sfumato.kernels.linkers.scan import TIE, Best, Scoring, between, scan
from sfumato.kernels.linkers.weigh import weigh
from sfumato.measures.risk.linkers.coding import Coded

__all__ = [
    "FEWEST",
    "LINKERS",
    "WEIGHED",
    "Linked",
    "Linker",
    "Scorings",
    "chosen",
    "link",
    "nearest_right",
    "posterior",
    "scorings",
]

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
        Log₂ of the posterior probability that the best record is the person's own; of `nearest` it says nothing.
    alone : ndarray, shape (r,)
        Whether the best record is best alone.
    """

    person: Ints
    right: Floats
    certain: Floats
    alone: Bools


def chosen(coded: Coded, pairs: int) -> Ints:
    """The people who are looked for: all, or so many that no more pairs than `pairs` are compared.

    Parameters
    ----------
    coded
        People and records.
    pairs
        Most pairs of people and different records; a thousand people are looked for all the same.

    Returns
    -------
    ndarray
        Rows of the known people, rising. Who they are is a public draw.
    """
    n = coded.known.height
    most = max(FEWEST, pairs // max(len(coded.released), 1))
    if n <= most or len(coded.known) * len(coded.released) <= pairs:
        return np.arange(n)
    word = PUBLIC.words(coded.unit, Purpose("scenario", "people"))[:, 0]
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
    ranks
        People and records in whole numbers.
    """

    of: Mapping[Linker, Scoring]
    fewer: bool
    ranks: Ranked = field(repr=False)


def scorings(coded: Coded, rows: Ints) -> Scorings:
    """What keys add for each linker.

    Parameters
    ----------
    coded
        People and records.
    rows
        The people who are looked for.
    """
    people = coded.known.only(rows)
    both = ranked(people, coded.released, coded.sd, coded.wildcard)
    found = count_patterns(people, coded.released, coded.sd, coded.wildcard, both)
    learned = learn(found, coded.prior)
    own = np.arange(coded.original)
    pairs = coded.known.member[own], coded.released.member[own]
    best = learn_from_pairs(coded.known, coded.released, pairs, coded.sd, learned.u, coded.wildcard)
    form = coded.released, coded.levels, coded.sd, coded.wildcard
    told: dict[Linker, Scoring] = {
        "nearest": gower(coded.levels, coded.spread, coded.wildcard),
        "fellegi_sunter": weights(learned, *form),
        "fellegi_sunter_best": weights(best, *form),
    }
    return Scorings(told, found.people < people.height, both)


def link(coded: Coded, rows: Ints, told: Scorings, present: float) -> dict[Linker, Linked]:
    """Run every linker.

    Parameters
    ----------
    coded
        People and records.
    rows
        The people who are looked for.
    told
        What keys add.
    present
        Share of the known people of whom the intruder takes it that they are there.
    """
    people = coded.known.only(rows)
    found: dict[Linker, Best] = {"nearest": scan(people, coded.released, told.of["nearest"], sums=False)}
    scores = [told.of[n] for n in WEIGHED]
    found |= zip(WEIGHED, weigh(people, coded.released, scores, coded.sd, told.ranks), strict=True)
    out: dict[Linker, Linked] = {}
    for name, best in found.items():
        right = _rightly(coded, rows, told.of[name], best)
        certain = posterior(coded, best.score, best.total, present)[people.member]
        out[name] = Linked(rows, right, certain, (best.ties == 1)[people.member])
    return out


def nearest_right(coded: Coded, rows: Ints) -> Floats:
    """Chance that the nearest record is a person's own, for the people who are looked for, shape (r,).

    Parameters
    ----------
    coded
        People and records.
    rows
        The people who are looked for.
    """
    scoring = gower(coded.levels, coded.spread, coded.wildcard)
    return _rightly(coded, rows, scoring, scan(coded.known.only(rows), coded.released, scoring, sums=False))


def _rightly(coded: Coded, rows: Ints, scoring: Scoring, best: Best) -> Floats:
    """Chance that the best record is a person's own: shared among ties, 0 for people of the control."""
    people, there = coded.known.only(rows), rows < coded.original
    mine = people.member[there], coded.released.member[rows[there]]
    right = np.zeros(len(rows))
    own = between(people, coded.released, mine, scoring)
    right[there] = (own >= best.score[mine[0]] - TIE) / np.maximum(best.ties[mine[0]], 1)
    return right


def posterior(coded: Coded, score: Floats, total: Floats, present: float) -> Floats:
    """Log₂ of the probability that a record is a person's: w / (Σw + n (1 − s) / s).

    Parameters
    ----------
    coded
        People and the n released records.
    score, total
        Log₂ of the pair's w, and of the sum of w over all records.
    present
        The chance s that the person is there at all.
    """
    nobody = coded.released.height * (1 - present) / present
    return score - (np.logaddexp2(total, np.log2(nobody)) if nobody > 0 else total)
