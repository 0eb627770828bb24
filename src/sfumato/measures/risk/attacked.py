"""Who is attacked beside a control: a reference that intruders hold, and two halves, so that choosing flatters nobody.

An intruder may have people of the same kind who are certainly not in the release. Half of the control stands for them,
and nobody of it is attacked. All else falls into two halves of whole persons or households: the attack that does best
on one is stated of the other. So nobody is lost, and what is stated is no larger than what is reached because it was
the largest of many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import PUBLIC, Purpose, units
from sfumato.kernels.linkers.keys import Keys
from sfumato.kernels.linkers.reach import Apart, reaches
from sfumato.kernels.rows import row_hash, scatter, singled
from sfumato.measures.known import Known, whole_units
from sfumato.measures.risk.linkers.coding import Coded, categories, has_ids
from sfumato.measures.risk.linkers.linkers import FEWEST

__all__ = ["FEW", "FEW_UNITS", "SAMPLED", "Attacked", "apart_by", "attacked"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Name = TypeVar("Name")

FEW_UNITS = 50
"""With fewer on either side of the attacked nothing is chosen."""
SAMPLED = "Guesses and distances: fewer people were attacked than are known, chosen by a public draw."
FEW = (
    f"Fewer than {FEW_UNITS} people of the release, or of the control beside the reference, were attacked: too few to "
    "choose an attack on one half and state it of the other. The largest figure of all attacks is stated, which is too "
    "high rather than too low."
)
_REFERENCE, _PEOPLE, _HALF = (Purpose("attacked", part) for part in ("reference", "people", "half"))


@dataclass(frozen=True, eq=False)
class Attacked:
    """Who is attacked, and who is the reference.

    Parameters
    ----------
    rows : ndarray, shape (r,)
        Those who are attacked, rows of the known people, rising.
    reference : ndarray
        Rows of the control that an intruder has beside the release.
    unit : ndarray, shape (r,)
        Number of the person or household of each row, 0, 1, … Where nothing tells of them, each row is one.
    member : ndarray, shape (units,)
        Whether a unit is of the release.
    half : ndarray, shape (units,)
        Which half it is in.
    few
        Whether there are too few to choose.
    sampled
        Whether not all were taken.
    """

    rows: Ints
    reference: Ints
    unit: Ints
    member: Bools
    half: Bools
    few: bool
    sampled: bool

    def of_units(self, of_rows: Floats) -> Floats:
        """The mean over the rows of each unit, whatever their order."""
        order = np.lexsort((of_rows, self.unit))
        if len(order) == len(self.member):
            return of_rows[order]
        first = np.searchsorted(self.unit[order], np.arange(len(self.member)))
        return np.asarray(np.add.reduceat(of_rows[order], first) / np.bincount(self.unit))

    def chosen(self, figures: Mapping[Name, Sequence[float]]) -> tuple[Name, Name]:
        """What is stated of each half: the name whose figure is largest on the other one; of several the first.

        Parameters
        ----------
        figures
            By name the figures of the two halves.
        """
        names = list(figures)
        first, second = (max(names, key=lambda name: figures[name][h]) for h in (1, 0))
        return first, second


def attacked(field: Coded, known: Known, *, beside: bool = True) -> Attacked:
    """Choose who is attacked, and who is the reference, by public draws on persons or households.

    Parameters
    ----------
    field
        People and records.
    known
        Where they come from.
    beside
        Whether distances to the reference are taken, too, so that fewer can be attacked for the same work.
    """
    n, there = field.known.height, field.original
    word, whole = _words(known)
    side = np.arange(n) < there
    others = ~_first_half(word, ~side, _REFERENCE) & ~side
    reference = np.flatnonzero(~side & ~others)
    rows = np.flatnonzero(side | others)
    kept = _sampled(field, known.pairs, word, side, rows, reference if beside else reference[:0])
    word, side = word[kept], side[kept]
    number = _numbered(word, side) if whole else np.arange(len(kept))
    many = int(number.max(initial=-1)) + 1
    member, half = np.zeros(many, dtype=bool), np.zeros(many, dtype=bool)
    member[number] = side
    half[number] = _first_half(word, side, _HALF) | _first_half(word, ~side, _HALF)
    fewest = min(len(np.unique(word[own])) for own in (side, ~side))
    return Attacked(kept, reference, number, member, half, fewest < FEW_UNITS, len(kept) < len(rows))


def _words(known: Known) -> tuple[Words, bool]:
    """What draws on each known row are keyed on, and whether several rows may be of one person.

    Rows that nothing names are told apart by all their values, and of equal ones, which are exchangeable, by a number.
    """
    control = known.control
    assert control is not None, "there is a control"
    if (whole := known.units or whole_units(known.people, control, known.codebook)) is not None:
        return np.concatenate(whole), True
    sides = [known.people, control]
    if known.record is not None and all(has_ids(table, known.record) for table in sides):
        return np.concatenate([units(table[known.record]) for table in sides]), False
    common = [n for n in sides[0].columns if n in sides[1].columns]
    plain = [n for n in common if not any(table.schema[n].is_nested() for table in sides)]
    codes, _ = categories(sides, plain, wildcard=False)
    hashes = [row_hash(np.ascontiguousarray(part.T.astype(np.float64))) for part in codes]
    return np.concatenate([scatter(singled(each)) for each in hashes]), False


def _first_half(word: Words, among: Bools, what: Purpose) -> Bools:
    """Those among some rows whose persons are in the first half, rounded down, of a public order."""
    some = np.unique(word[among])
    first = some[PUBLIC.permutation(some, what)[: len(some) // 2]]
    return np.asarray(among & np.isin(word, first))


def _numbered(word: Words, side: Bools) -> Ints:
    """Number persons, those of either side by themselves."""
    number = np.unique(word, return_inverse=True)[1].reshape(-1)
    both = np.unique(2 * number + side, return_inverse=True)[1]
    return both.reshape(-1).astype(np.int64)


def _sampled(field: Coded, pairs: int, word: Words, side: Bools, rows: Ints, reference: Ints) -> Ints:
    """So many rows of whole persons that no more pairs are compared than is allowed, a thousand all the same."""
    records = len(field.released) + (len(field.known.only(reference)) if len(reference) else 0)
    most = max(FEWEST, pairs // max(records, 1))
    if len(rows) <= most or len(field.known.only(rows)) * records <= pairs:
        return rows
    some, number = np.unique(word[rows], return_inverse=True)
    place = np.empty(len(some), dtype=np.int64)
    place[PUBLIC.permutation(some, _PEOPLE)] = np.arange(len(some))
    turn = place[number.reshape(-1)]
    return np.asarray(rows[turn <= np.sort(turn)[most - 1]])


def apart_by(field: Coded, reference: Keys) -> Apart:
    """How far people and records are from each other, in units that the reference gives: an intruder has it.

    Parameters
    ----------
    field
        People and records.
    reference
        The people of the reference.
    """
    return Apart(reaches(np.repeat(reference.numbers, reference.count, axis=1)), field.wildcard)
