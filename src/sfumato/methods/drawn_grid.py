"""The grid of numbers that are drawn with no disclosed standard deviation: the column's own, or a thousandth of its sd.

A number computed from a draw tells by its last digits what it was computed from. The column's own decimals hide that
where they are coarse enough; else its standard deviation says what is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.kernels.grid import drawn_step, own_step

__all__ = ["column_steps", "time_unit", "with_multiples"]

_SECOND = {"ms": 1e3, "us": 1e6, "ns": 1e9}


def column_steps(moments: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The multiple for each column, from an answer to `Moments`; without columns that do not vary.

    Parameters
    ----------
    moments
        The rows of the answer.

    Examples
    --------
    >>> column_steps([{"variable": "pay", "n": 9, "variance": 144.0, "decimals": 15}])
    {'pay': 0.01}
    >>> column_steps([{"variable": "age", "n": 9, "variance": 144.0, "decimals": 0}])
    {'age': 1.0}
    """
    found = {}
    for row in moments:
        sd = float(np.sqrt(row["variance"] or 0.0))
        if sd > 0:
            found[str(row["variable"])] = own_step(row["decimals"], sd) or drawn_step(sd)
    return found


def time_unit(dtype: pl.DataType) -> float:
    """What drawn dates and times are multiples of in the numbers that hold them: whole days, or whole seconds.

    Examples
    --------
    >>> time_unit(pl.Date()), time_unit(pl.Datetime("ms"))
    (1.0, 1000.0)
    """
    if isinstance(dtype, pl.Datetime | pl.Duration):
        return _SECOND[dtype.time_unit or "us"]
    return _SECOND["ns"] if dtype == pl.Time else 1.0


def with_multiples(codebook: Codebook, steps: Mapping[str, float]) -> Codebook:
    """The codebook with what drawn columns are multiples of; whole numbers stay whole.

    Examples
    --------
    >>> from sfumato.data.codebook import Variable
    >>> with_multiples(Codebook({"pay": Variable(kind="continuous")}), {"pay": 0.01})["pay"].multiple
    0.01
    """
    new = {n: codebook[n].model_copy(update={"multiple": step}) for n, step in steps.items() if n in codebook}
    return Codebook({**codebook, **new})
