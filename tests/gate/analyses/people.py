"""Invented people for tests of analyses, and the same drawn so that truths are known."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.gate.analyses.fitting import protected_fit
from sfumato.gate.analyses.problem import Problem, problem_of
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.reading import records_of
from sfumato.gate.records import Records

SECRET = bytes(range(32))
AGES = {str(age): f"{age // 30 * 30}-" for age in range(18, 90)}


def people(n: int = 2000, seed: int = 1) -> pl.DataFrame:
    """Ids, factors, numbers, a binary response with missing values, a count, times, clusters."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n)
    sex = rng.choice(["F", "M"], n)
    ward = rng.choice(["a", "b", "c"], n)
    stay = np.round(rng.gamma(2.0, 3.0, n), 3)
    died = rng.random(n) < 1 / (1 + np.exp(2.0 - 0.02 * age - 0.5 * (sex == "M")))
    gp = rng.integers(0, 60, n)
    cost = 500 + 4 * age + 60 * (ward == "b") + rng.normal(0, 40, 60)[gp] + rng.normal(0, 100, n)
    time = rng.exponential(np.exp(-0.01 * age) * 100) + 0.01
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "sex": sex,
            "ward": ward,
            "age": age,
            "stay": stay,
            "cost": np.round(cost, 2),
            "visits": rng.poisson(np.exp(0.2 + 0.01 * age)),
            "days": np.minimum(np.round(time, 4), 60.0),
            "weeks": np.minimum(time // 15, 4).astype(int),
            "gone": np.where(time < 60, "yes", "no"),
            "gp": gp,
            "died": pl.Series(np.where(died, "yes", "no")).to_list(),
            "smoker": pl.Series([None if r < 0.03 else "yes" if r < 0.4 else "no" for r in rng.random(n)]),
        }
    )


def records(frame: pl.DataFrame | None = None, **more: object) -> Records:
    """The people as a gate reads them."""
    book = Codebook({"gp": Variable(kind="categorical")})
    given = {"record": "id", "levels": {"age": {"band": AGES}}, "secret": SECRET, **more}
    return records_of(people() if frame is None else frame, book, **given)  # type: ignore[arg-type]


def asked(kind: str, formula: str, data: Records | None = None, **more: object) -> Problem:
    """The problem of a request about the people."""
    own = records() if data is None else data
    return problem_of(own, read_analysis(own, kind, formula, **more))  # type: ignore[arg-type]


def near(kind: str, formula: str, wanted: ArrayLike, data: Records | None = None, **more: object) -> None:
    """Look whether a protected fit is as near to a figure of all people as its standard errors say."""
    told = protected_fit(asked(kind, formula, data, **more), Draws(SECRET), 4).told
    assert (np.abs(told.estimate - np.asarray(wanted)) <= 4 * told.se).all()
    assert (told.se_added < told.se).all()
    assert told.widening >= 1
