"""What is true of people, beside what was released of them and people of the same kind who are not in the release."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.roles import Role
from sfumato.draws import units_of
from sfumato.errors import DataError
from sfumato.measures.intruding import PAIRS

__all__ = ["Known", "whole_units"]

Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Known:
    """The truth that intruders draw on, in the terms of the release.

    Parameters
    ----------
    people
        True values of the people who are in the release.
    released
        The released records.
    codebook
        What is known of the variables of both.
    keys
        The columns that an intruder may know.
    aligned
        Whether row i of both tables is the same person. Else records are nobody's.
    control
        True values of people of the same kind who are not in the release.
    record
        The column with the record's id.
    pairs
        Most pairs of people and records that are compared; with more, fewer people are attacked.
    units
        What stands for the household, else the person, of each row of `people` and of `control`: who belongs together
        is never parted. None where the codebook tells of them, or each row is a person.

    Raises
    ------
    DataError
        Where aligned tables have unequal heights.

    Examples
    --------
    >>> table = pl.DataFrame({"sex": ["f", "m"]})
    >>> Known(table, table, Codebook(), ("sex",)).aligned
    True
    """

    people: pl.DataFrame = field(repr=False)
    released: pl.DataFrame = field(repr=False)
    codebook: Codebook = field(repr=False)
    keys: tuple[str, ...]
    aligned: bool = True
    control: pl.DataFrame | None = field(default=None, repr=False)
    record: str | None = None
    pairs: int = PAIRS
    units: tuple[Words, Words] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.aligned and self.people.height != self.released.height:
            raise DataError("Two aligned tables must have equal numbers of rows. Join them on the record id first.")


def whole_units(people: pl.DataFrame, control: pl.DataFrame, codebook: Codebook) -> tuple[Words, Words] | None:
    """What stands for the household, else the person, of each row of two tables; None where not both tell of them.

    Parameters
    ----------
    people, control
        The tables.
    codebook
        Tells which columns hold their ids; one with a gap is passed over.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> table = pl.DataFrame({"home": [1, 1, 2]})
    >>> one, two = whole_units(table, table.head(1), Codebook({"home": Variable(role="household")}))
    >>> bool(one[0] == one[1] == two[0] != one[2])
    True
    """
    for role in (Role.HOUSEHOLD, Role.PERSON):
        column = codebook.the(role)
        if column is not None and all(_has(table, column) for table in (people, control)):
            return units_of(people[column]), units_of(control[column])
    return None


def _has(table: pl.DataFrame, column: str) -> bool:
    if column not in table.columns:
        return False
    ids = table[column]
    return not (ids.null_count() or (ids.dtype.is_float() and ids.is_nan().any()))
