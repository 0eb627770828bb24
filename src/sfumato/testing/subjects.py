"""Small subjects on which measures are tried, with planted values; between them they have what measures need.

Averaged numbers with strata; noisy numbers and exchanged categories whose law is disclosed; one table alone; a survey;
a release that comes after another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Dataset, rows
from sfumato.data.disclosure import Disclosure, Sampled
from sfumato.data.hidden import DONORS, GAP, ROW
from sfumato.data.pair import Pair, numbers
from sfumato.data.suppression import Emptied, Suppression
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.attacking import Attacking
from sfumato.measures.earlier import Earlier
from sfumato.measures.intruding import SCENARIOS, Intruding, Knowledge
from sfumato.measures.known import Known
from sfumato.measures.leaving import Leaving
from sfumato.measures.measure import Measure, Need
from sfumato.measures.measuring import Measuring
from sfumato.measures.subject import KEYS, RELEASED, STRATA, Classes, Outsider, Subject
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.noise.method import Noise
from sfumato.methods.pram.method import Pram
from sfumato.methods.suppress_cells import SuppressCells
from sfumato.methods.swap.method import Swap
from sfumato.release.run import run_steps

__all__ = ["PLANTED", "PROVIDES", "SUBJECTS", "HasSubject", "people", "subjects_for"]

Engine = Callable[[pl.DataFrame, Codebook], Dataset]
Ints = NDArray[np.int64]


class HasSubject(Protocol):
    """From what subjects are made on any engine and in any order of rows."""

    def subject(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Subject:
        """The subject; with a seed its rows are shuffled."""


CATEGORY, OUTCOME, RECORD, VALUE = "Zyxomma", "Grouse", "RID-90210", 4815.1623
PLANTED = (CATEGORY, OUTCOME, RECORD, "4815", "4,815")
"""What is planted: a category of a key, one of an outcome, a record's id, a number."""

BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "x": Variable(role="key", kind="continuous", range=(0, 100)),
        "y": Variable(role="other", kind="continuous", missing=[-9]),
        "g": Variable(role="key", kind="categorical"),
        "h": Variable(role="key", kind="categorical"),
        "ill": Variable(role="sensitive", kind="categorical"),
    }
)
HOW = Measuring(
    w1=0.05,
    w2=0.2,
    model="y ~ x + C(h)",
    attacking=Attacking(cap=10),
    fraction=0.4,
    intruding=Intruding(SCENARIOS, knows={"claim": Knowledge(error={"x": 2.0, "h": 0.1})}),
)


def people(n: int = 240) -> pl.DataFrame:
    """A table with missing values, a value out of range, ties, and what is planted."""
    rng = np.random.default_rng(3)
    x, y = rng.normal(50, 15, n).clip(1, 99), rng.lognormal(1, 0.6, n).round(1)
    y[:4] = -9
    x[7] = VALUE
    return pl.DataFrame(
        {
            "id": [RECORD, *(f"R{i:03}" for i in range(1, n))],
            "x": x,
            "y": y,
            "g": rng.choice(["a", "b"], n),
            "h": [CATEGORY, CATEGORY, CATEGORY, *rng.choice([CATEGORY, "Plover", "Wren"], n - 3)],
            "ill": _drawn(rng, [OUTCOME, "none", None], n, [0.3, 0.6, 0.1]),
        }
    )


def _drawn(
    rng: np.random.Generator, values: Sequence[str | None], n: int, shares: Sequence[float] | None = None
) -> list[str | None]:
    """Values, drawn with replacement."""
    return [values[i] for i in rng.choice(len(values), n, p=shares)]


@dataclass(frozen=True)
class Made:
    """A table before and after, from which subjects are made on any engine and in any order of rows."""

    before: pl.DataFrame
    after: pl.DataFrame
    disclosure: Disclosure
    codebook: Codebook
    columns: tuple[str, ...]
    by: tuple[str, ...]
    donors: pl.DataFrame | None = None

    def subject(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Subject:
        """The subject; with a seed its rows are shuffled, of either table on their own where nothing joins them."""
        n = self.before.height
        orders = (
            [np.arange(n)] * 4 if seed is None else [np.random.default_rng(seed + i).permutation(n) for i in range(4)]
        )
        before, after = self.before[orders[0]], self.after[orders[0]]
        pair = Pair(before, after, self.codebook, self.columns, self.by, aligned=True, record="id")
        return Subject(
            engine(self.after[orders[1]], self.codebook),
            given=engine(self.before[orders[2]], self.codebook),
            before=engine(self.before[orders[3]], self.codebook),
            pair=pair,
            entering=engine(self.before[orders[3]], self.codebook),
            result=engine(noted(self.before, self.after, self.codebook)[orders[1]], self.codebook),
            noted=True,
            classes=(Classes(KEYS, ("h", "g")), *([Classes(STRATA, self.by)] if self.by else [])),
            sensitive=("ill",),
            disclosure=self.disclosure,
            how=HOW,
            unscaled=numbers(after, self.columns, self.codebook) * 1.5,
            suppression=Suppression(records=3, cells={"h": 2}, of=n + 3, unswapped=1),
            emptied=(emptied(orders[0]),),
            intruder=self.known(before, after, seed),
            knowing=() if self.donors is None else (Outsider(RELEASED, ("g",), ("x", "y", "h", "ill")),),
            guessed=("ill",),
            donors=None if self.donors is None else self.donors[orders[0]],
        )

    def known(self, before: pl.DataFrame, after: pl.DataFrame, seed: int | None) -> Known:
        """What intruders know, with a control of others of the same kind."""
        others = people(90).with_columns(id=pl.format("C{}", pl.int_range(90)), g=pl.col("g").reverse())
        others = others if seed is None else others.sample(fraction=1, shuffle=True, seed=seed)
        return Known(before, after, self.codebook, ("x", "g", "h"), control=others, record="id")


def noted(before: pl.DataFrame, after: pl.DataFrame, codebook: Codebook) -> pl.DataFrame:
    """The table after, with where the same rows had gaps before."""
    names = [n for n in before.columns if n in after.columns]
    gaps = before.select(codebook.missing(n, before.schema[n]).alias(f"{GAP}{n}") for n in names)
    return after.hstack(gaps)


@cache
def _without_cells() -> tuple[SuppressCells, pl.DataFrame]:
    """A step that takes values out, and what it leaves."""
    step = SuppressCells(keys=["g", "h"], k=42)
    return step, rows(run_steps([step], PolarsDataset(people(), BOOK), Draws(bytes(16))).after)


def emptied(order: Ints) -> Emptied:
    """Keys that lost values, before and after."""
    step, after = _without_cells()
    return Emptied(step.empties, people().select(step.keys)[order], after.select(step.keys)[order])


@cache
def averaged() -> Made:
    ran = run_steps([Centroids(columns=["x", "y"], by=["g"], k=6)], PolarsDataset(people(), BOOK), Draws(bytes(16)))
    return Made(people(), rows(ran.after), ran.disclosure, ran.after.codebook, ("x", "y"), ("g",))


@cache
def noisy() -> Made:
    """Noise, an exchanged category, and the word that the file is a sample."""
    steps = [Noise(columns=["x", "y"], share=0.3), Pram(columns=["h"], retention=0.8)]
    ran = run_steps(steps, PolarsDataset(people(), BOOK), Draws(bytes(16)))
    told = Disclosure([*ran.disclosure, Sampled(fraction=0.5)])
    return Made(people(), rows(ran.after), told, ran.after.codebook, ("x", "y"), ("g",))


@cache
def exchanged() -> Made:
    """Values drawn within groups of similar records, with whose they are."""
    step = Swap(columns=["x", "y", "h", "ill"], group=5, perturb=0.02)
    book = Codebook({**BOOK, ROW: Variable(kind="integer")})
    ran = run_steps([step], PolarsDataset(people().with_row_index(ROW), book), Draws(bytes(16)))
    donors = ran.reconstructions[DONORS].drop(ROW)
    after = rows(ran.after).drop(ROW)
    return Made(people(), after, ran.disclosure, ran.after.codebook.without(ROW), ("x", "y"), (), donors)


@dataclass(frozen=True)
class Alone:
    """One table."""

    def subject(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Subject:
        frame = people() if seed is None else people().sample(fraction=1, shuffle=True, seed=seed)
        return Subject(engine(frame, BOOK), classes=(Classes(KEYS, ("g", "h", "x")),), sensitive=("ill",), how=HOW)


@dataclass(frozen=True)
class Surveyed:
    """One table with weights, households, missing keys and two sensitive variables, one of which has a hierarchy."""

    missing: str = "category"

    def subject(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Subject:
        book = BOOK.replace(
            ill=Variable(role="sensitive", kind="categorical", hierarchy={OUTCOME: ("fowl",), "none": ("no",)}),
            pay=Variable(role="sensitive", kind="integer", missing=[-9]),
            w=Variable(role="weight", kind="continuous", missing=[-9]),
            home=Variable(role="household", missing=["unknown"]),
        )
        n = people().height
        rng = np.random.default_rng(5)
        frame = people().with_columns(
            g=pl.when(pl.int_range(n) % 11 > 0).then("g"),
            h=pl.when(pl.int_range(n) % 7 > 0).then("h"),
            pay=pl.Series(rng.choice([1, 2, 3, -9], n)),
            w=pl.Series(rng.choice([1.5, 2.0, 12.25, -9.0], n)),
            home=pl.Series(_drawn(rng, ["a", "b", "unknown", None], n)),
        )
        if seed is not None:
            frame = frame.sample(fraction=1, shuffle=True, seed=seed)
        how = replace(HOW, missing=self.missing, together=True)
        classes = (Classes(KEYS, ("g", "h")),)
        return Subject(engine(frame, book), classes=classes, sensitive=("ill", "pay"), how=how)


@cache
def then() -> Earlier:
    """An earlier release, with other values, and without some people and with others."""
    truth = (
        people().filter(pl.col("id") != "R020").with_columns(y=pl.when(pl.col("id") == "R030").then(2.5).otherwise("y"))
    )
    steps = [Noise(columns=["x", "y"], share=0.2), Pram(columns=["h"], retention=0.7)]
    ran = run_steps(steps, PolarsDataset(truth, BOOK), Draws(bytes(16)))
    return Earlier(rows(ran.after), truth, ran.disclosure, ran.after.codebook)


@dataclass(frozen=True)
class Again:
    """A release that comes after another one."""

    def subject(self, engine: Engine = PolarsDataset, seed: int | None = None) -> Subject:
        made, before = noisy(), then()
        gone = made.after.filter(pl.col("id") != "R040")
        truth, old, old_truth = people(), before.table, before.truth
        if seed is not None:
            shuffled = (f.sample(fraction=1, shuffle=True, seed=seed) for f in (gone, truth, old, old_truth))
            gone, truth, old, old_truth = shuffled
        past = replace(before, table=old, truth=old_truth)
        return Subject(
            engine(gone, made.codebook),
            disclosure=made.disclosure,
            how=HOW,
            earlier=(past,),
            truth=truth,
            leaving=(self._leaving(seed),),
        )

    @staticmethod
    def _leaving(seed: int | None) -> Leaving:
        """The release beside the earlier one's values, without a person whose value is none of those looked for."""
        made, names = noisy(), ["x", "y"]
        both = made.after.select("id", *names).join(people().select("id", *names), on="id", suffix=" true")
        if seed is not None:
            both = both.sample(fraction=1, shuffle=True, seed=seed)
        true = both.select(pl.col(f"{n} true").alias(n) for n in names)
        gone = (both["id"] == "R040").rename("gone")
        now = both.select(pl.when(~gone).then(pl.col(n) + 1.0).alias(n) for n in names)
        told = (made.disclosure, made.disclosure)
        return Leaving("random", true, both.select(names), now, gone, made.codebook, told)


SUBJECTS: Mapping[str, Callable[[], HasSubject]] = {
    "surveyed": Surveyed,
    "noisy": noisy,
    "averaged": averaged,
    "exchanged": exchanged,
    "alone": Alone,
    "wildcards": lambda: Surveyed("wildcard:0.5"),
    "again": Again,
}
"""Those that tell most of a measure come first."""

ANY: frozenset[Need] = frozenset({"table", "disclosure", "model"})
ONE: frozenset[Need] = ANY | {"keys", "sensitive"}
TWO: frozenset[Need] = ONE | {
    *("strata", "pair", "input", "columns", "suppression", "cells", "intruder", "control", "guesses")
}
PROVIDES: Mapping[str, frozenset[Need]] = {
    "surveyed": ONE,
    "noisy": TWO,
    "averaged": TWO,
    "exchanged": TWO - {"strata"} | {"outsider"},
    "alone": ONE,
    "wildcards": ONE,
    "again": ANY | {"earlier", "leaving"},
}
"""What each has, in words, so that no subject is made while tests are collected."""


def subjects_for(measure: Measure) -> list[str]:
    """The subjects that a measure can be computed on, those that tell most first."""
    return [case for case in SUBJECTS if measure.content_with(PROVIDES[case])]
