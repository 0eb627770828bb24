"""Reduce postcodes to their sector, district or area."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Coarsened
from sfumato.data.holding import holding
from sfumato.data.postcodes import PART, part_of
from sfumato.data.roles import Kind
from sfumato.errors import DataError
from sfumato.methods.by_value import ByValue

__all__ = ["CoarsenPostcode"]

_OF = {"area": "areas (EC)", "district": "districts (EC1A)", "sector": "sectors (EC1A 1)"}


class CoarsenPostcode(ByValue):
    """Reduce United Kingdom postcodes to their sector, district or area.

    Protects against an intruder who looks an address up: about 16 addresses share a postcode, 2,900 a sector, 9,600 a
    district and 215,000 an area. It does not protect whoever lives in a thinly settled one, nor a combination with
    other columns: look at `k_anonymity` after it.

    Codes are read from the right, so that the space does not matter. Codes of Jersey, Guernsey and the Isle of Man, of
    forces (BF1) and GIR 0AA are postcodes too. An outward code alone is enough for district or area; for a sector it is
    invalid.

    Parameters
    ----------
    columns
        The columns with postcodes.
    to
        What is left of them: `sector` (EC1A 1), `district` (EC1A) or `area` (EC).
    invalid
        What becomes of values that are no postcodes or already broader: they become `missing`, stay (`keep`), or are
        refused (`error`).

    Examples
    --------
    >>> import polars as pl
    >>> CoarsenPostcode(columns=("home",), to="sector").broader(pl.Series(["ec1a1bb", "W1A 0AX"]), False, 0).to_list()
    ['EC1A 1', 'W1A 0']
    """

    fitting: ClassVar[str] = "postcodes"

    do: Literal["coarsen_postcode"] = "coarsen_postcode"
    to: PART

    def check(self, codebook: Codebook) -> list[str]:
        """Postcodes are texts."""
        wrong = (Kind.CONTINUOUS, Kind.INTEGER, Kind.DATE)
        return super().check(codebook) + [
            f"column {n!r} is {codebook[n].kind}; postcodes are texts. Name the column that holds them"
            for n in self.columns
            if n in codebook and codebook[n].kind in wrong
        ]

    def refuse_type(self, column: str, dtype: pl.DataType) -> None:
        """Numbers, dates and truth values are no postcodes."""
        if dtype not in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            raise DataError(
                f"Column {column!r} holds {holding(dtype)}; postcodes are texts. Name the column that holds them."
            )

    def broader(self, texts: pl.Series, numeric: bool, length: int) -> pl.Series:
        """The part of each postcode."""
        return pl.Series([part_of(text, self.to) for text in texts], dtype=pl.String)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Coarsened, ...]:
        """Which part is left."""
        return (Coarsened(self.columns, f"to postcode {_OF[self.to]}"),)
