"""A table of persons with several rows that the tests share."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.methods.synthesise.method import Synthesise
from sfumato.release.run import run_steps

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "pid": Variable(role="person", kind="integer"),
        "sex": Variable(role="key", kind="categorical"),
        "born": Variable(role="key", kind="integer"),
        "day": Variable(kind="integer", missing=[-1]),
        "stage": Variable(kind="categorical"),
        "bili": Variable(role="sensitive", kind="continuous"),
    }
)
SHARED, OWN = ("sex", "born"), ("day", "stage", "bili")
NAMES = (*SHARED, *OWN)
EFFECT, NOISE, LAG = 0.9, 0.55, 0.6
"""Of the logarithm of bilirubin: sd between persons, sd within, and how far the latter hangs on the row before."""


def visits(m=156, seed=1, mean=6.0):
    """Persons who come about once a year; bilirubin has an effect of each and follows itself; stage goes with it."""
    rng = np.random.default_rng(seed)
    size = 1 + rng.poisson(mean - 1, m)
    whose = np.repeat(np.arange(m), size)
    first = np.cumsum(size) - size
    n = len(whose)
    fresh = rng.normal(size=n)
    within = fresh.copy()
    gap = np.maximum(1, np.rint(rng.normal(365, 60, n))).astype(np.int64)
    gap[first] = 0
    later = np.setdiff1d(np.arange(n), first)
    for i in later:
        within[i] = LAG * within[i - 1] + np.sqrt(1 - LAG**2) * fresh[i]
    day = np.cumsum(gap)
    effect = EFFECT * rng.normal(size=m)
    return pl.DataFrame(
        {
            "id": rng.permutation(n) + 7,
            "pid": 1000 + whose * 7,
            "sex": np.where(rng.random(m) < 0.5, "f", "m")[whose],
            "born": rng.integers(9000, 25000, m)[whose],
            "day": day - day[first][whose],
            "stage": np.clip(np.rint(1.5 + effect[whose] + NOISE * within), 0, 3).astype(np.int64).astype(str),
            "bili": np.round(0.5 + effect[whose] + NOISE * within, 3),
        }
    )


def made(frame, secret=bytes(16), book=BOOK, data=None, **given):
    step = Synthesise(persons=True, **{"time": "day", "copies": 2} | given)
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book) if data is None else data, Draws(secret))


def between(table, column="bili"):
    """Share of the variance that is between persons."""
    own = table.group_by("pid").agg(pl.len().alias("n"), pl.col(column).var().alias("v")).filter(pl.col("n") > 1)
    return 1 - ((own["n"] - 1) * own["v"]).sum() / (own["n"] - 1).sum() / table[column].var()


def with_the_row_before(table, column="bili"):
    """Correlation of a column with itself in the row before, in the order of rows."""
    both = table.with_columns(before=pl.col(column).shift().over("pid")).drop_nulls("before")
    return both.select(pl.corr(column, "before")).item()
