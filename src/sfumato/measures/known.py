"""What is true of people, beside what was released of them and people of the same kind who are not in the release."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.errors import DataError
from sfumato.measures.intruding import PAIRS

__all__ = ["Known"]


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

    def __post_init__(self) -> None:
        if self.aligned and self.people.height != self.released.height:
            raise DataError("Two aligned tables must have equal numbers of rows. Join them on the record id first.")
