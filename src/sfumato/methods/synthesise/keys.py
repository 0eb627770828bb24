"""Keyed draws of a synthesis: of its whole input, so that no draw stays where one record was corrected or removed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from sfumato.draws import Draws, Purpose, bits
from sfumato.methods.synthesise.coding import Coded, Coding

__all__ = ["StepKeys", "blocks_of", "digest_of"]

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

_NONE = "\0"
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def digest_of(
    draws: Draws, method: str, codings: Mapping[str, Coding], columns: Mapping[str, Coded], units: Words
) -> str:
    """A keyed digest of a table as a set of records: sum modulo 2¹²⁸ of a block of each.

    Parameters
    ----------
    draws
        The release's keyed draws.
    method
        Name of the step.
    codings, columns
        The table.
    units : ndarray of uint64, shape (n,)
        The unit of each record.

    Notes
    -----
    A digest of a leaf alone would show which leaf changed between two releases, and none at all would leave two
    releases that differ around one person only.
    """
    block = blocks_of(draws, method, codings, columns, units)
    total = 0
    for word, weight in ((block[:, 0], 1), (block[:, 1], 2**64)):
        low, high = int((word & _LOW).sum()), int((word >> _HALF).sum())
        total += (low + (high << 32)) * weight
    return f"{total % 2**128:032x}"


def blocks_of(
    draws: Draws, method: str, codings: Mapping[str, Coding], columns: Mapping[str, Coded], units: Words
) -> Words:
    """A keyed block of two words for each record, shape (n, 2); parameters as of `digest_of`."""
    own = units
    for name, column in columns.items():
        special = bits(np.array(["", *(_NONE if v is None else v for v in codings[name].special)], dtype=object))
        value = np.where(column.state > 0, special[column.state], bits(column.number))
        own = draws.words(own, Purpose(method, name, "digest"), value)[:, 0]
    return draws.words(own, Purpose(method, "", "digest"))


class StepKeys:
    """The draws of one stratum.

    Parameters
    ----------
    draws
        The release's keyed draws.
    method
        Name of the step.
    strength
        What stands for the parameters and the whole input.
    units : ndarray of uint64, shape (k,)
        Whom each synthetic row is of: the record's unit, or the row's own number.
    records : ndarray of uint64, shape (n,)
        The unit of each row of the original, for a Bayesian bootstrap.
    """

    def __init__(self, draws: Draws, method: str, strength: str, units: Words, records: Words) -> None:
        self._draws, self._method, self._strength = draws, method, strength
        self._units, self._records = units, records

    def uniform(self, column: str, part: str, copy: int) -> Floats:
        """A draw between 0 and 1 for each synthetic row; more copies change none of the earlier ones."""
        return self._draws.uniform(self._units, Purpose(self._method, column, f"{part}|{self._strength}", copy))

    def numbered(self, column: str, part: str, copy: int, many: int) -> Floats:
        """Draws between 0 and 1 that are nobody's, numbered 0, 1, …, shape (many,): for the parameters of a model."""
        purpose = Purpose(self._method, column, f"{part}|{self._strength}", copy)
        return self._draws.uniform(np.arange(many, dtype=np.uint64), purpose)

    def weights(self, copy: int) -> Floats:
        """A weight for each row of the original, of mean 1: exponential draws (Rubin 1981)."""
        u = self._draws.uniform(self._records, Purpose(self._method, "", f"weights|{self._strength}", copy))
        weight = -np.log(u)
        return np.asarray(weight / weight.mean())
