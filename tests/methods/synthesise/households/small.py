"""A table of households that the tests share."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws, units
from sfumato.methods.synthesise.households.original import Original
from tests.methods.synthesise.small import synthesis

BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "home": Variable(role="household", kind="integer"),
        "tenure": Variable(kind="categorical"),
        "rent": Variable(kind="continuous"),
        "relation": Variable(kind="ordinal", order=["head", "partner", "child"]),
        "sex": Variable(kind="categorical"),
        "age": Variable(role="key", kind="integer"),
        "score": Variable(role="sensitive", kind="continuous"),
    }
)
SHARED, OWN = ("tenure", "rent"), ("relation", "sex", "age", "score")
NAMES = (*SHARED, *OWN)


def homes(m=150, seed=1):
    """Owners have more children; partners are of like age and of the other sex; scores are alike within households."""
    rng = np.random.default_rng(seed)
    own = rng.random(m) < 0.4
    partner = rng.random(m) < 0.7
    children = rng.poisson(np.where(own, 1.8, 0.8)) * partner
    size = 1 + partner + np.minimum(children, 4)
    whose = np.repeat(np.arange(m), size)
    place = np.arange(len(whose)) - np.repeat(np.cumsum(size) - size, size)
    head = rng.integers(25, 70, m)
    woman = rng.random(m) < 0.5
    age = np.select(
        [place == 0, place == 1],
        [head[whose], head[whose] + np.round(rng.normal(-1, 2, len(whose)))],
        np.maximum(head[whose] - 24 - np.round(rng.exponential(6, len(whose))), 0),
    )
    sex = np.select([place == 0, place == 1], [woman[whose], ~woman[whose]], rng.random(len(whose)) < 0.5)
    score = 4 * rng.normal(size=m)[whose] + 4 * rng.normal(size=len(whose)) + 50
    return pl.DataFrame(
        {
            "id": rng.permutation(len(whose)),
            "home": 1000 + whose * 7 % (m * 7 + 1),
            "tenure": np.where(own, "own", "rent")[whose],
            "rent": np.round(rng.gamma(4, 200, m))[whose],
            "relation": np.array(["head", "partner", "child"])[np.minimum(place, 2)],
            "sex": np.where(sex, "f", "m"),
            "age": age.astype(np.int64),
            "score": np.round(score, 1),
        }
    )


def original(frame=None, given=(), head="relation", secret=bytes(16), **more):
    """Households that are drawn from."""
    frame = homes() if frame is None else frame
    step = synthesis([n for n in NAMES if n not in given], given, **more)
    ids = frame["id"].to_numpy().astype(np.uint64)
    return Original(step, frame, BOOK, Draws(secret), units(frame["home"]), ids, head, stays=bool(given))


NUMBERS = np.arange(1, 201, dtype=np.uint64)


def alike(table, column):
    """Correlation of a column between two members of one household: pairs within over the variance."""
    own = table.with_columns(away=pl.col(column) - pl.col(column).mean()).filter(pl.len().over("home") > 1)
    sums = own.group_by("home").agg(s=pl.col("away").sum(), q=(pl.col("away") ** 2).sum(), n=pl.len())
    pairs = (sums["s"] ** 2 - sums["q"]).sum() / (sums["n"] * (sums["n"] - 1)).sum()
    return pairs / own["away"].pow(2).mean()


def head_and_partner(table):
    """Correlation of the ages of heads and their partners."""
    ages = [
        table.filter(pl.col("relation") == who).group_by("home").agg(pl.col("age").first())
        for who in ("head", "partner")
    ]
    both = ages[0].join(ages[1], on="home", suffix=" of partner")
    return both.select(pl.corr("age", "age of partner")).item()
