"""An invented table on which steps are tried."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable

__all__ = ["PEOPLE", "people", "with_missing"]

_NUMBER = Variable(kind="continuous")
PEOPLE = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "x": _NUMBER,
        "y": _NUMBER,
        "n": Variable(kind="integer", missing=[-9]),
        "g": Variable(kind="categorical"),
        "h": Variable(kind="categorical"),
        "house": Variable(role="household", kind="integer"),
        "area": Variable(kind="categorical"),
        "town": Variable(kind="categorical"),
        "rent": _NUMBER,
    }
)
"""The codebook of `people`."""


def people(n: int = 120, seed: int = 1) -> pl.DataFrame:
    """People who live in threes.

    Parameters
    ----------
    n
        How many.
    seed
        What values are drawn from.

    Returns
    -------
    pl.DataFrame
        `id`; numbers `x` (normal), `y` (skewed) and `n` (whole, 20 to 59); categories `g` (a, b) and `h` (u, v, and w,
        which is rare); `house`, and what people of one house share: `area`, `town` and `rent`.

    Examples
    --------
    >>> people(3).columns
    ['id', 'x', 'y', 'n', 'g', 'h', 'house', 'area', 'town', 'rent']
    """
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "x": rng.normal(10, 2, n),
            "y": rng.lognormal(size=n),
            "n": rng.integers(20, 60, n),
            "g": rng.choice(["a", "b"], n),
            "h": rng.choice(["u", "v", "w"], n, p=[0.5, 0.4, 0.1]),
            "house": np.arange(n) // 3,
            "area": np.array(["north", "south"])[np.arange(n) // 3 % 2],
            "town": np.array(["P", "Q", "R"])[np.arange(n) // 3 * 5 % 7 % 3],
            "rent": (np.arange(n) // 3 * 37 % 100).astype(float),
        }
    )


def with_missing(n: int = 120, seed: int = 1) -> pl.DataFrame:
    """The same people, some with a missing code in `n`, some with nothing in `h`.

    Examples
    --------
    >>> with_missing()["h"].null_count()
    8
    """
    return people(n, seed).with_columns(
        n=pl.when(pl.col("id") % 13 == 0).then(-9).otherwise("n"), h=pl.when(pl.col("id") % 17 != 0).then("h")
    )
