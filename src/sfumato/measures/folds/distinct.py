"""How many different values columns have, told of all records by small sketches that are put together.

Up to `COUNTED` values are counted. Of more the smallest of their scattered words are kept, from whose spread their
number follows within about half a percent, the same wherever the rows are and in whatever order they come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.query import Folded
from sfumato.draws import doubles
from sfumato.kernels.rows import scatter

__all__ = ["COUNTED", "different", "told_different"]

Words = NDArray[np.uint64]

COUNTED = 1 << 16
"""Most values of a column that are counted one by one."""
_MANY, _SPARE = 4, 1.2
_COLUMN, _WORDS = "column", "words"


def different(columns: Sequence[str], codebook: Codebook) -> Folded:
    """The question how many different values some columns have; gaps are none.

    Parameters
    ----------
    columns
        The columns.
    codebook
        Says which codes stand for missing.

    References
    ----------
    Bar-Yossef, Jayram, Kumar, Sivakumar & Trevisan (2002), doi:10.1007/3-540-45726-7_1.
    """

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        return _frame({i: _sketch(batch, name, codebook) for i, name in enumerate(columns)})

    return Folded(tuple(columns), f, _smallest)


def told_different(answer: pl.DataFrame, columns: Sequence[str]) -> dict[str, float]:
    """The number of different values of each column; arguments as of `different`, with its answer.

    Examples
    --------
    >>> table = pl.DataFrame({"age": [30, 40, 40, -9], "name": ["a", None, None, None]})
    >>> asked = different(["age", "name"], Codebook())
    >>> told_different(asked.merge(asked.f(table)), ["age", "name"])
    {'age': 3.0, 'name': 1.0}
    """
    told = {columns[i]: _estimate(_read(words)) for i, words in answer.iter_rows()}
    return {name: told.get(name, 0.0) for name in columns}


def _estimate(words: Words) -> float:
    if len(words) <= COUNTED:
        return float(len(words))
    return float(round((len(words) - 1) / ((int(words[-1]) + 1) / 2**64)))


def _sketch(batch: pl.DataFrame, name: str, codebook: Codebook) -> Words:
    """The smallest words of the values of a column, each once, in order."""
    dtype = batch.schema[name]
    present = pl.col(name).filter(~codebook.missing(name, dtype))
    if _numeric(dtype):
        return _least(_of_numbers(batch.select(present).to_series()))
    values = batch.select(present.unique()).to_series().cast(pl.String)
    return _least(np.fromiter(map(_of_text, values), dtype=np.uint64, count=values.len()))


def _least(words: Words) -> Words:
    if len(words) > _MANY * COUNTED:  # enough of these are small, unless most stand there several times
        small = _once(words[words < int(_SPARE * COUNTED / len(words) * 2**64)])
        if len(small) > COUNTED:
            return small[: COUNTED + 1]
    return _once(words)[: COUNTED + 1]


def _once(words: Words) -> Words:
    ordered = np.sort(words)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def _frame(sketches: Mapping[int, Words]) -> pl.DataFrame:
    """Sketches as rows: of each column its number, and its words one after the other."""
    words = [own.astype("<u8").tobytes() for own in sketches.values()]
    return pl.DataFrame({_COLUMN: [*sketches], _WORDS: words}, schema={_COLUMN: pl.Int64, _WORDS: pl.Binary})


def _read(words: bytes) -> Words:
    return np.frombuffer(words, dtype="<u8").astype(np.uint64)


def _smallest(frames: pl.DataFrame) -> pl.DataFrame:
    """One sketch of each column, of several."""
    each: dict[int, list[bytes]] = {}
    for column, words in frames.iter_rows():
        each.setdefault(column, []).append(words)
    joined = {i: np.concatenate([*map(_read, own)]) for i, own in each.items()}
    return _frame({i: own if len(each[i]) == 1 else _once(own)[: COUNTED + 1] for i, own in joined.items()})


def _numeric(dtype: pl.DataType) -> bool:
    """Whether a machine word holds each value."""
    if dtype in (pl.Int128, pl.UInt128, pl.Decimal):
        return False
    return dtype.is_float() or dtype.is_integer() or dtype.is_temporal() or dtype == pl.Boolean


def _of_numbers(values: pl.Series) -> Words:
    """A scattered word for each value; equal ones have equal words."""
    if values.dtype.is_float():
        return scatter((doubles(values.to_numpy()) + 0.0).view(np.uint64))
    whole = values if values.dtype.is_integer() else values.to_physical().cast(pl.Int64)
    return scatter(whole.to_numpy().astype(np.int64 if whole.dtype.is_signed_integer() else np.uint64).view(np.uint64))


def _of_text(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
