"""People and released records side by side in classes of equal keys, where no record is anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.query import COUNT
from sfumato.kernels.rows import distinct
from sfumato.measures.folds.reading import synthetic_throughout
from sfumato.measures.known import Known
from sfumato.measures.measuring import CATEGORY
from sfumato.measures.risk.linkers.coding import categories, telling_keys
from sfumato.measures.subject import Subject

__all__ = ["Alike", "alike", "common", "of_nobody", "telling"]

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Alike:
    """Classes of equal keys over people and records together.

    Parameters
    ----------
    people : ndarray, shape (n,)
        Number of each person's class.
    records : ndarray, shape (m,)
        Number of each record's class.
    classes
        How many classes there are.
    of_people, of_records : ndarray of int64, shapes (n,) and (m,), optional
        How many people, or records, each entry stands for where equal ones were counted; 1 without.
    """

    people: Ints
    records: Ints
    classes: int
    of_people: Ints | None = None
    of_records: Ints | None = None

    def unprotected(self) -> Alike:
        """The same with the people themselves as records."""
        return Alike(self.people, self.people, self.classes, self.of_people, self.of_people)

    @property
    def sizes(self) -> tuple[Ints, Ints]:
        """People and records of each class, two arrays of shape (classes,)."""
        people = np.bincount(self.people, self.of_people, minlength=self.classes)
        records = np.bincount(self.records, self.of_records, minlength=self.classes)
        return people.astype(np.int64), records.astype(np.int64)

    def share(self, which: NDArray[np.bool_]) -> float:
        """The share of all people that some entries stand for.

        Parameters
        ----------
        which : ndarray of bool, shape (n,)
            The entries.
        """
        if self.of_people is None:
            return float(which.sum() / len(self.people))
        return float(self.of_people[which].sum() / self.of_people.sum())


def alike(people: pl.DataFrame, records: pl.DataFrame, keys: Sequence[str]) -> Alike:
    """Put people and records with equal keys into one class.

    Numbers are equal where they are exactly; a missing key is a value of its own.

    Parameters
    ----------
    people, records
        Tables that have the keys, of whatever types. One with a column `COUNT`, as an answer to `Counts`, holds
        combinations, and how many have each.
    keys
        The columns, at least one.

    Examples
    --------
    >>> found = alike(pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2.0]}), ["a"])
    >>> bool(found.people[1] == found.records[0]), bool(found.people[0] == found.records[0])
    (True, False)
    """
    codes, _ = categories([people, records], keys, wildcard=False)
    found = distinct(np.concatenate(codes, axis=1).T.astype(np.float64))
    n = people.height
    return Alike(found.inverse[:n], found.inverse[n:], len(found.points), _times(people), _times(records))


def _times(table: pl.DataFrame) -> Ints | None:
    return table[COUNT].to_numpy().astype(np.int64) if COUNT in table.columns else None


def common(known: Known, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that people and records have."""
    return tuple(n for n in names if n in known.people.columns and n in known.released.columns)


def telling(known: Known, keys: Sequence[str], missing: str) -> tuple[str, ...]:
    """Those of some keys that take part: where a missing key is a wildcard, those in which somebody differs.

    Parameters
    ----------
    known
        People and records, both with these keys.
    keys, missing
        The keys, and what a missing one is.
    """
    if missing == CATEGORY:
        return tuple(keys)
    return telling_keys([known.people, known.released], keys) or tuple(keys[:1])


def of_nobody(subject: Subject) -> bool:
    """Whether the subject's records are nobody's, as those of a table that is synthetic throughout."""
    if subject.sides is not None and subject.intruder is None:
        return synthetic_throughout(subject)
    return subject.intruder is not None and not subject.intruder.aligned
