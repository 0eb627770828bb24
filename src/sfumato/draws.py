"""Keyed randomness: every draw is a function of (secret, what is drawn, unit, true value).

There is no stream and no position. The same secret gives a unit the same draw whatever the order or partition of the
rows, and an equal release repeats its draws, so there is nothing to average. Another strength, another column or a
corrected value gives an independent draw, so that two releases cannot be subtracted.

Encoding (fixed by a known-answer test): the subkey is HMAC-SHA256 of the secret over the length-prefixed UTF-8 parts
``sfumato/1``, method, column, strength, draw number. A draw is one AES-256 block of (unit, bits of the true value), two
little-endian 64-bit words, under the subkey.

Ids and values that are equal key equal draws, whatever their type: text that writes a whole number of 64 bits as it is
printed ("7", "-3") is that number ("007" and "7.0" stay texts), true and false are 1 and 0, and a 32-bit float is the
number that its shortest decimal writes (0.1 is 0.1). Tables are joined on ids by the same rule, see `written`.

What it protects against: someone who knows the code, the plan and some true values and draws. What it does not: someone
who has the secret.

Examples
--------
>>> draws = Draws(bytes(range(32)))
>>> what = Purpose("noise", "bmi", strength="0.1")
>>> e = draws.normal(units([1, 2, 3]), what)
>>> bool((draws.normal(units([3]), what)[0] == e[2]))
True
"""

from __future__ import annotations

import hashlib
import hmac
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import DataError, SecretError

__all__ = [
    "MAKE_SECRET",
    "MIN_SECRET",
    "PUBLIC",
    "Draws",
    "Purpose",
    "Watched",
    "bits",
    "doubles",
    "plain",
    "public_places",
    "shortest",
    "sortable",
    "units",
    "units_of",
    "written",
]

MIN_SECRET = 16
"""Fewest bytes of a secret."""
MAKE_SECRET = "python -c \"import secrets; open('key', 'wb').write(secrets.token_bytes(32))\""
"""Command that makes a good secret, in the file `key`."""

_CHUNK = 1 << 20
_PRINTED = re.compile(r"0|-?[1-9][0-9]{0,19}")
_WORD = 2**64 - 1
_EXACT = 2**53
"""Above it floats cannot tell whole numbers apart."""
Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a draw is for. Two purposes that differ in any part get independent draws.

    Parameters
    ----------
    method
        Name of the method that draws.
    column
        The column that the draw masks.
    strength
        The strength as it is disclosed, written out.
    draw
        Number of the draw where one cell needs several, 0, 1, …
    """

    method: str
    column: str = ""
    strength: str = ""
    draw: int = 0

    def encode(self) -> bytes:
        """The unambiguous bytes that the subkey is derived from."""
        parts = ("sfumato/1", self.method, self.column, self.strength, str(self.draw))
        raw = [p.encode() for p in parts]
        return b"".join(len(r).to_bytes(4, "little") + r for r in raw)


def _hash64(text: object) -> int:
    return int.from_bytes(hashlib.sha256(str(text).encode()).digest()[:8], "little")


def plain(value: object) -> object:
    """One id or value as the number that it is or writes, else as it is.

    Examples
    --------
    >>> [plain(v) for v in ("7", "-3", "007", "7.0", 7.0, True, np.float32(0.1))]
    [7, -3, '007', '7.0', 7, 1, 0.1]
    """
    if isinstance(value, str):
        whole = int(value) if len(value) <= 20 and _PRINTED.fullmatch(value) else None
        return value if whole is None or not _in_a_word(whole) else whole
    if isinstance(value, bool | np.bool_ | np.integer):
        return int(value)
    if isinstance(value, np.float32):
        value = float(str(value))
    if isinstance(value, float | Decimal) and value == value and _in_a_word(value) and value == int(value):
        return int(value)
    return value


def _in_a_word(value: float | Decimal) -> bool:
    """Whether 64 bits hold a number, with a sign or without one."""
    return -(2**63) <= value < 2**64


def doubles(values: NDArray[Any]) -> NDArray[np.float64]:
    """Numbers as 64-bit floats; a 32-bit float is the number that its shortest decimal writes.

    Parameters
    ----------
    values
        Numbers, shape (n,).

    Examples
    --------
    >>> doubles(np.array([0.1, 2.5], dtype=np.float32)).tolist()
    [0.1, 2.5]
    """
    if values.dtype != np.float32:
        return values.astype(np.float64)
    return np.array(pl.Series(values).cast(pl.String).cast(pl.Float64).to_numpy())


def shortest(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """A column of a table as 64-bit floats, by the rule of `doubles`.

    Examples
    --------
    >>> pl.DataFrame({"x": [0.1]}, schema={"x": pl.Float32}).select(shortest(pl.col("x"), pl.Float32()))["x"].to_list()
    [0.1]
    """
    return column.cast(pl.String).cast(pl.Float64) if dtype == pl.Float32 else column.cast(pl.Float64)


def written(ids: pl.Series) -> pl.Series:
    """Write ids as text that is equal where they are, so that tables are joined whatever types they have.

    Parameters
    ----------
    ids
        Numbers or text; missing ones stay missing.

    Examples
    --------
    >>> [written(pl.Series(ids)).to_list() for ids in ([7, 8], [7.0, 8.0], ["7", "007"])]
    [['7', '8'], ['7', '8'], ['7', '007']]
    """
    dtype = ids.dtype
    if dtype == pl.Boolean:
        return ids.cast(pl.Int8).cast(pl.String)
    if dtype.is_decimal():
        return pl.Series(ids.name, [None if v is None else str(plain(v)) for v in ids], dtype=pl.String)
    if not dtype.is_float():
        return ids.cast(pl.String)
    number = pl.Series(ids.name, doubles(ids.to_numpy()), nan_to_null=True)
    whole = pl.when((number == number.floor()) & (number.abs() <= _EXACT)).then(number.cast(pl.Int64, strict=False))
    return pl.select(pl.coalesce(whole.cast(pl.String), number.cast(pl.String)).alias(ids.name)).to_series()


def units(ids: ArrayLike | Iterable[object] | pl.Series) -> Words:
    """Turn ids of records, households or cells into 64-bit units.

    Whole numbers stand for themselves (two's complement), also where they are written as text; other text becomes the
    first 8 bytes of its SHA-256. The unit of a table's cell is the text of its labels.

    Parameters
    ----------
    ids
        Shape (n,): integers, whole floats, or text. None may be missing.

    Returns
    -------
    ndarray, shape (n,), uint64

    Raises
    ------
    DataError
        Where an id is missing, or a number that is not whole.
    """
    array = np.asarray(_array(ids) if isinstance(ids, pl.Series) else ids)
    if array.dtype.kind == "f":
        array = doubles(array)
        if not np.all(np.isfinite(array) & (array == np.floor(array))):
            raise DataError("Record ids must be whole numbers or text, and none may be missing.")
        if np.any(np.abs(array) > _EXACT):
            raise DataError("Record ids above 2^53 must not be floats, which cannot tell them apart. Make them text.")
        array = array.astype(np.int64)
    if array.dtype.kind == "i":
        return array.astype(np.int64).view(np.uint64)
    if array.dtype.kind in "ub":
        return array.astype(np.uint64)
    if any(v is None for v in array):
        raise DataError("Record ids must be whole numbers or text, and none may be missing.")
    return np.fromiter((_unit(v) for v in array), dtype=np.uint64, count=len(array))


def _array(ids: pl.Series) -> NDArray[Any]:
    """Ids of any column as an array: numbers that arrays have no type for, and categories, as text."""
    as_text = ids.dtype in (pl.Int128, pl.UInt128, pl.Categorical, pl.Enum) or ids.dtype.is_decimal()
    return (written(ids) if as_text else ids).to_numpy()


def _unit(value: object) -> int:
    number = plain(value)
    return number & _WORD if isinstance(number, int) and _in_a_word(number) else _hash64(value)


def bits(values: ArrayLike) -> Words:
    """Give the 64 bits of true values, so that a corrected value gets an independent draw.

    Numbers by their float64 bits (−0 as 0, any NaN as one NaN), whole ones also where they are written as text; other
    text by its hash.

    Parameters
    ----------
    values
        Shape (n,).

    Returns
    -------
    ndarray, shape (n,), uint64
    """
    array: NDArray[Any] = np.asarray(values)
    if array.dtype.kind in "OUS":
        return np.fromiter((_bits(v) for v in array), dtype=np.uint64, count=len(array))
    number = doubles(array) + 0.0
    number[np.isnan(number)] = np.nan
    return number.view(np.uint64)


def _bits(value: object) -> int:
    number = plain(value)
    if not isinstance(number, int | float | Decimal):
        return _hash64(value)
    word: int = struct.unpack("<Q", struct.pack("<d", float(number) + 0.0))[0]
    return word


def sortable(words: Words) -> NDArray[np.int64]:
    """Words as numbers with a sign, in the same order: columns of every engine hold these.

    Parameters
    ----------
    words
        Shape (n,).

    Returns
    -------
    ndarray, shape (n,), int64

    Examples
    --------
    >>> sortable(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)).tolist()
    [-9223372036854775808, 0, 9223372036854775807]
    """
    return (np.ascontiguousarray(words) ^ np.uint64(1 << 63)).view(np.int64)


class Draws:
    """Keyed draws from one secret.

    Parameters
    ----------
    secret
        The secret's bytes as they are, at least 16.

    Raises
    ------
    SecretError
        Where the secret is too short.
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < MIN_SECRET:
            raise SecretError(
                f"The secret is too short: at least {MIN_SECRET} bytes are needed. Make one with: {MAKE_SECRET}"
            )
        self._secret = bytes(secret)

    def __repr__(self) -> str:
        return "Draws(…)"

    def words(self, unit: Words, what: Purpose, value: Words | None = None) -> NDArray[np.uint64]:
        """Two independent uniform 64-bit words for each unit.

        Parameters
        ----------
        unit
            Shape (n,), from `units`.
        what
            What is drawn.
        value
            Shape (n,), from `bits`: the true values that are masked; zero where none is.

        Returns
        -------
        ndarray, shape (n, 2), uint64
        """
        key = hmac.digest(self._secret, what.encode(), "sha256")
        # Distinct blocks under a fresh subkey are never chained: ECB is the bare block cipher, which is what is wanted.
        cipher = Cipher(AES(key), ECB())
        out = np.empty((len(unit), 2), dtype="<u8")
        for start in range(0, len(unit), _CHUNK):
            part = slice(start, start + _CHUNK)
            block = np.zeros((len(unit[part]), 2), dtype="<u8")
            block[:, 0] = unit[part]
            if value is not None:
                block[:, 1] = value[part]
            encryptor = cipher.encryptor()
            out[part] = np.frombuffer(encryptor.update(block.tobytes()), dtype="<u8").reshape(-1, 2)
        return out.astype(np.uint64, copy=False)

    def uniform(self, unit: Words, what: Purpose, value: Words | None = None) -> NDArray[np.float64]:
        """Uniform draws in the open interval (0, 1), 52 bits each, shape (n,)."""
        word = self.words(unit, what, value)[:, 0]
        return ((word >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52

    def normal(self, unit: Words, what: Purpose, value: Words | None = None) -> NDArray[np.float64]:
        """Standard normal draws by the inverse distribution function, shape (n,)."""
        from scipy.special import ndtri

        u = self.uniform(unit, what, value)
        return np.asarray(ndtri(u, out=u))

    def integers(self, unit: Words, what: Purpose, high: int, value: Words | None = None) -> NDArray[np.int64]:
        """Draws from 0, 1, …, high − 1, each exactly as likely, shape (n,).

        Words at or above the largest multiple of `high` are drawn again, so that there is no modulo bias.
        """
        if not 1 <= high <= 2**63:
            raise DataError(f"`high` is {high}; it must lie between 1 and 2**63.")
        if len(unit) == 0:
            return np.zeros(0, dtype=np.int64)
        word = self.words(unit, what, value)[:, 0].copy()
        largest = np.uint64((2**64 // high) * high - 1)
        attempt = 0
        while (again := word > largest).any():
            attempt += 1
            retry = replace(what, strength=f"{what.strength}|again {attempt}")
            word[again] = self.words(unit[again], retry, None if value is None else value[again])[:, 0]
        return (word % np.uint64(high)).astype(np.int64)

    def permutation(self, unit: Words, what: Purpose) -> NDArray[np.intp]:
        """Order that sorts the units at random: the same units get the same order wherever they stand, shape (n,)."""
        word = self.words(unit, what)
        return np.lexsort((unit, word[:, 1], word[:, 0]))


class Watched(Draws):
    """Draws that remember for what they were asked.

    Attributes
    ----------
    drawn
        Names of the methods that drew something which a release holds.
    broke_ties
        Names of the methods that only chose between equals by a draw.

    Examples
    --------
    >>> draws = Watched(bytes(16))
    >>> _ = draws.uniform(units([1, 2]), Purpose("pram", "town"))
    >>> draws.drawn, draws.broke_ties
    ({'pram'}, set())
    """

    def __init__(self, secret: bytes) -> None:
        super().__init__(secret)
        self.drawn: set[str] = set()
        self.broke_ties: set[str] = set()

    def words(self, unit: Words, what: Purpose, value: Words | None = None) -> NDArray[np.uint64]:
        """As in `Draws`."""
        (self.broke_ties if what == Purpose(what.method, "tie") else self.drawn).add(what.method)
        return super().words(unit, what, value)


PUBLIC = Draws(b"sfumato: public draws, for measures only")
"""Draws that anybody can repeat: for choosing samples and folds in measures, never for protection."""
_SAMPLED = Purpose("measured sample")


def units_of(ids: pl.Series) -> Words:
    """Units of a column of ids, the same whichever type holds them, shape (n,).

    Examples
    --------
    >>> bool((units_of(pl.Series([1, 2])) == units_of(pl.Series(["1", "2"]))).all())
    True
    """
    return units(ids if ids.dtype.is_integer() else written(ids))


def public_places(ids: pl.Series) -> NDArray[np.int64]:
    """The public draws by which records are chosen that measures look at, the smallest first, shape (n,).

    They hang on the ids alone: a sample is the same on every engine, in any order of rows.

    Parameters
    ----------
    ids
        Ids of records.

    Examples
    --------
    >>> public_places(pl.Series([1, 2])).tolist() == public_places(pl.Series(["1", "2"])).tolist()
    True
    """
    return sortable(PUBLIC.words(units_of(ids), _SAMPLED)[:, 0])
