"""People and released records side by side in classes of equal keys, where no record is anybody's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.kernels.rows import distinct
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers.coding import categories
from sfumato.measures.subject import Subject

__all__ = ["Alike", "alike", "common", "of_nobody"]

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
    """

    people: Ints
    records: Ints
    classes: int

    def unprotected(self) -> Alike:
        """The same with the people themselves as records."""
        return Alike(self.people, self.people, self.classes)


def alike(people: pl.DataFrame, records: pl.DataFrame, keys: Sequence[str]) -> Alike:
    """Put people and records with equal keys into one class.

    Numbers are equal where they are exactly; a missing key is a value of its own.

    Parameters
    ----------
    people, records
        Tables that have the keys, of whatever types.
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
    return Alike(found.inverse[: people.height], found.inverse[people.height :], len(found.points))


def common(known: Known, names: Sequence[str]) -> tuple[str, ...]:
    """Those of some columns that people and records have."""
    return tuple(n for n in names if n in known.people.columns and n in known.released.columns)


def of_nobody(subject: Subject) -> bool:
    """Whether the subject's records are nobody's, as those of a table that is synthetic throughout."""
    return subject.intruder is not None and not subject.intruder.aligned
