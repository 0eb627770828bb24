"""The laws that every measure keeps, run over the whole registry.

Three small subjects satisfy between them what measures need: averaged numbers with strata, noisy numbers and exchanged
categories of which the law is disclosed, and one table alone. Confidential values are planted in all of them.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import get_args

import numpy as np
import polars as pl
import pytest

from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Disclosure, Sampled
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.suppression import Suppression
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.attacking import Attacking
from sfumato.measures.earlier import Earlier
from sfumato.measures.intruding import SCENARIOS, Intruding, Knowledge
from sfumato.measures.known import Known
from sfumato.measures.measure import FAMILIES, Better, Face, Form, Need, Published
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import figures, measures
from sfumato.measures.risk.linkers.linkers import LINKERS
from sfumato.measures.subject import KEYS, KEYS_AND_OTHERS, STRATA, Classes, Subject
from sfumato.methods.centroids.method import Centroids
from sfumato.methods.noise.method import Noise
from sfumato.methods.pram.method import Pram
from sfumato.plan.conditions import parse_condition, parse_figure
from sfumato.plan.limits import Limit, apply_limits
from sfumato.plan.plan import Plan
from sfumato.release.measure import measure
from sfumato.release.run import run_steps
from sfumato.render.words import bound, figure, of_what
from sfumato.report.external import at_least, external
from sfumato.report.report import Report

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
            "ill": rng.choice([OUTCOME, "none", None], n, p=[0.3, 0.6, 0.1]),
        }
    )


@dataclass(frozen=True)
class Made:
    """A table before and after, from which subjects are made on any engine and in any order of rows."""

    before: pl.DataFrame
    after: pl.DataFrame
    disclosure: Disclosure
    codebook: Codebook
    columns: tuple[str, ...]
    by: tuple[str, ...]

    def subject(self, engine=PolarsDataset, seed: int | None = None) -> Subject:
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
            classes=(Classes(KEYS, ("h", "g")), Classes(STRATA, self.by)),
            sensitive=("ill",),
            disclosure=self.disclosure,
            how=HOW,
            unscaled=numbers(after, self.columns, self.codebook) * 1.5,
            suppression=Suppression(records=3, cells={"h": 2}, of=n + 3, unswapped=1),
            intruder=self.known(before, after, seed),
        )

    def known(self, before: pl.DataFrame, after: pl.DataFrame, seed: int | None) -> Known:
        """What intruders know, with a control of others of the same kind."""
        others = people(90).with_columns(id=pl.format("C{}", pl.int_range(90)), g=pl.col("g").reverse())
        others = others if seed is None else others.sample(fraction=1, shuffle=True, seed=seed)
        return Known(before, after, self.codebook, ("x", "g", "h"), control=others, record="id")


@cache
def averaged() -> Made:
    ran = run_steps([Centroids(columns=["x", "y"], by=["g"], k=6)], PolarsDataset(people(), BOOK), Draws(bytes(16)))
    return Made(people(), ran.after.frame, ran.disclosure, ran.after.codebook, ("x", "y"), ("g",))


@cache
def noisy() -> Made:
    """Noise, an exchanged category, and the word that the file is a sample."""
    steps = [Noise(columns=["x", "y"], share=0.3), Pram(columns=["h"], retention=0.8)]
    ran = run_steps(steps, PolarsDataset(people(), BOOK), Draws(bytes(16)))
    told = Disclosure([*ran.disclosure, Sampled(fraction=0.5)])
    return Made(people(), ran.after.frame, told, ran.after.codebook, ("x", "y"), ("g",))


@dataclass(frozen=True)
class Alone:
    """One table."""

    def subject(self, engine=PolarsDataset, seed: int | None = None) -> Subject:
        frame = people() if seed is None else people().sample(fraction=1, shuffle=True, seed=seed)
        return Subject(engine(frame, BOOK), classes=(Classes(KEYS, ("g", "h", "x")),), sensitive=("ill",), how=HOW)


@dataclass(frozen=True)
class Surveyed:
    """One table with weights, households, missing keys and two sensitive variables, one of which has a hierarchy."""

    missing: str = "category"

    def subject(self, engine=PolarsDataset, seed: int | None = None) -> Subject:
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
            home=pl.Series(rng.choice(["a", "b", "unknown", None], n).tolist()),
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
    return Earlier(ran.after.frame, truth, ran.disclosure, ran.after.codebook)


@dataclass(frozen=True)
class Again:
    """A release that comes after another one."""

    def subject(self, engine=PolarsDataset, seed: int | None = None) -> Subject:
        made, before = noisy(), then()
        gone = made.after.filter(pl.col("id") != "R040")
        truth, old, old_truth = people(), before.table, before.truth
        if seed is not None:
            shuffled = (f.sample(fraction=1, shuffle=True, seed=seed) for f in (gone, truth, old, old_truth))
            gone, truth, old, old_truth = shuffled
        past = replace(before, table=old, truth=old_truth)
        return Subject(engine(gone, made.codebook), disclosure=made.disclosure, how=HOW, earlier=(past,), truth=truth)


SUBJECTS = {
    "surveyed": Surveyed,
    "noisy": noisy,
    "averaged": averaged,
    "alone": Alone,
    "wildcards": lambda: Surveyed("wildcard:0.5"),
    "again": Again,
}
"""Those that tell most of a measure come first."""

ANY: frozenset[Need] = frozenset({"table", "disclosure", "model"})
ONE: frozenset[Need] = ANY | {"keys", "sensitive"}
TWO: frozenset[Need] = ONE | {"strata", "pair", "columns", "suppression", "intruder", "control"}
PROVIDES: dict[str, frozenset[Need]] = {
    "surveyed": ONE,
    "noisy": TWO,
    "averaged": TWO,
    "alone": ONE,
    "wildcards": ONE,
    "again": ANY | {"earlier"},
}
"""What each has, in words, so that no subject is made while tests are collected."""

TELLING = {"reconstruction": "averaged"}
"""The subject that a measure is tried on at each change, where that is not the first that it can be computed on."""


def of_measure(name: str) -> list[str]:
    """The subjects that a measure can be computed on."""
    return [case for case in SUBJECTS if measures()[name].can(SimpleNamespace(provides=PROVIDES[case]))]


def telling(name: str) -> str | None:
    """The subject that a measure is tried on at each change."""
    return TELLING.get(name, next(iter(of_measure(name)), None))


CASES = [
    pytest.param(name, case, id=f"{name}-{case}", marks=() if case == telling(name) else pytest.mark.slow)
    for name in measures()
    for case in of_measure(name)
]
each_measure = pytest.mark.parametrize(("name", "case"), CASES)
each_figure = pytest.mark.parametrize("figure_name", figures())
on = pytest.mark.parametrize("on", ["one", pytest.param("all", marks=pytest.mark.slow)])
"""The subject that tells most, or every one."""


@cache
def found(name: str, case: str, engine=PolarsDataset, seed: int | None = None) -> Findings:
    """What a measure gives for a subject, whether or not it is worth its time."""
    subject = replace(SUBJECTS[case]().subject(engine, seed), asked=measures()[name].names)
    return measures()[name].compute(subject)


@cache
def lines_of(figure_name: str, on: str) -> tuple[Finding, ...]:
    """The lines of a figure, for the subject of its measure that tells most or for all."""
    cases = [p.values for p in CASES if figure_name in measures()[p.values[0]].names and (on == "all" or not p.marks)]
    return tuple(f for name, case in cases for f in found(name, case) if f.measure == figure_name)


def messages(name: str, case: str) -> list[str]:
    """Everything that a measure says of its findings, and the notes."""
    each, lines = measures()[name], found(name, case)
    said = [each.say(lines, fraction) for fraction in (1.0, 0.5)]
    complaints = [c.text for fraction in (1.0, 0.5) for c in each.complain(lines, fraction)]
    return [each.doing, *lines.notes, *complaints, *(s for s in said if s is not None)]


def test_every_measure_is_held_to_the_laws():
    """One that is brought tomorrow too, on one subject at each change; the others are slow."""
    assert [p.values[0] for p in CASES if not p.marks] == list(measures())
    assert TELLING.keys() <= measures().keys()
    assert {need for m in measures().values() for need in m.needs} <= set(get_args(Need))


@pytest.mark.parametrize("case", SUBJECTS)
def test_a_subject_has_what_is_said_of_it(case):
    """So no measure that could be computed on it goes without."""
    subject = SUBJECTS[case]().subject()
    assert subject.provides == PROVIDES[case]
    assert all(each.can(subject) == (case in of_measure(name)) for name, each in measures().items())


@each_figure
@on
def test_every_figure_has_lines(figure_name, on):
    assert lines_of(figure_name, on)


@each_measure
def test_law_1_every_line_is_one_of_its_figures_and_told_once(name, case):
    lines = found(name, case)
    assert {f.measure for f in lines} <= measures()[name].names
    told = [(f.measure, f.variable, f.group, f.at, f.attack) for f in lines]
    assert len(set(told)) == len(told)


@each_measure
def test_law_2_a_figure_is_a_number_or_none(name, case):
    keys = ["measure", "variable", "group", "at", "attack", "value", "interval", "baseline", "limit", "ok"]
    for f in found(name, case):
        assert list(f.to_plain()) == keys
        assert f.limit is f.ok is None
        assert all(v is None or math.isfinite(v) for v in (f.value, f.baseline, f.at, *(f.interval or ())))
        assert f.interval is None or f.interval[0] <= f.value <= f.interval[1]
        said = figures()[f.measure]
        if said.form == "share":
            assert all(v is None or 0 <= v <= 1 for v in (f.value, f.baseline))
        if said.form == "count":
            assert all(v is None or v >= 0 for v in (f.value, f.baseline))


@each_measure
def test_law_3_no_value_is_in_a_message(name, case):
    assert not [text for text in messages(name, case) for planted in PLANTED if planted in text]


@each_measure
def test_law_3_categories_stand_in_names_of_single_classes_and_coefficients_only(name, case):
    released = set(SUBJECTS[case]().subject().after.codebook)
    for f in found(name, case):
        said = figures()[f.measure]
        single = measures()[name].needs >= {KEYS, STRATA} and f.group not in (KEYS, STRATA, KEYS_AND_OTHERS)
        assert single or not [p for p in PLANTED if p in str(f.group)]
        assert said.of != "column" or f.variable is None or f.variable in released
        assert said.of == "coefficient" or not [p for p in PLANTED if p in f"{f.variable}"]
        assert not [p for p in PLANTED if p in f"{f.attack} {f.at}"]


def published(lines: Findings) -> Findings:
    day = datetime.date(2024, 1, 1)
    return external(Report("t", day, "1", (), Disclosure(), lines, "", "ab", True)).findings


@each_measure
def test_law_4_what_is_published_hides_what_was_planted(name, case):
    made = SUBJECTS[case]().subject()
    shown = published(found(name, case))
    assert not [p for p in PLANTED if p in repr(shown)]
    everywhere = {"all", "overall", "stratum", "unscaled", "wrong record", "sd", "relative", "relative unscaled"}
    everywhere |= {*LINKERS, "risk", "attack", "control", "auc", "advantage"}
    everywhere |= {"one-way", "two-way", "main", "interactions", "trees"}
    assert {f.group for f in shown} <= {None, KEYS, STRATA, KEYS_AND_OTHERS, *everywhere}
    assert {f.variable for f in shown if figures()[f.measure].of == "column"} <= {None, *made.after.codebook}


@each_measure
def test_law_4_each_figure_is_published_as_its_file_says(name, case):
    sds = Findings(tuple(Finding("sd", variable=n, value=1.0, baseline=2.0) for n in ("x", "y")))
    for f in published(sds + found(name, case)):
        shown = [v for v in (f.value, f.baseline, *(f.interval or ())) if v is not None]
        match figures()[f.measure].published:
            case "rate":
                assert all(v == float(f"{v:.3g}") for v in shown)
            case "mean":
                assert f.variable is None or not shown
                assert all(v == float(f"{v:.3g}") for v in shown)
            case "ladder":
                assert all(v == at_least(v) for v in shown)
            case "change":
                assert f.baseline is f.interval is f.limit is None
                assert f.value == round(f.value, 2)
            case "no":
                assert not shown
            case other:
                raise AssertionError(other)


@each_measure
def test_law_4_a_figure_that_no_file_speaks_of_is_kept_back(name, case):
    unknown = (replace(f, measure="brought_by_a_plugin", limit=1.0, ok=True) for f in found(name, case))
    assert not [f for f in published(Findings(tuple(unknown))) if f.value is not None or f.baseline is not None]


@each_figure
def test_law_5_words_are_complete(figure_name):
    said = figures()[figure_name]
    assert said.title[:1].isupper()
    assert said.title[-1:].isalnum() or said.title.endswith(")")
    assert said.what[:1].isupper()
    assert said.what.endswith(".")
    assert said.form in get_args(Form)
    assert said.better in get_args(Better)
    assert said.published in get_args(Published)
    assert isinstance(said.aim, Aim)
    assert said.baseline is None or said.baseline[:1].isupper()
    assert said.whole
    assert set(said.usual) <= {"group", "attack"}


@each_figure
@on
def test_law_5_lines_are_told_in_words(figure_name, on):
    said, lines = figures()[figure_name], lines_of(figure_name, on)
    assert all(f.baseline is None for f in lines) or said.baseline
    for f in lines[:200]:
        assert "{" not in of_what(f)
        assert figure(f, f.value, internal=True)
        assert bound(replace(f, limit=1.0, ok=True))


@pytest.mark.parametrize("name", measures())
def test_law_5_a_measure_has_its_place(name):
    each = measures()[name]
    assert each.family in FAMILIES
    assert each.family != "other"
    assert set(each.faces) <= set(get_args(Face))
    assert each.doing[:1].islower() or each.doing[1:2] == "-"
    assert each.figures


@each_figure
@on
def test_law_6_limits_can_name_it(figure_name, on):
    said, lines = figures()[figure_name], lines_of(figure_name, on)
    limit = Limit(measure=said.name, at_least=0.0)
    plan = Plan.from_yaml(f"sfumato: 1\nlimits:\n- {{measure: {said.name}, at_least: 0}}\n")
    plan.check(Codebook())
    assert plan.limits == (limit,)
    assert parse_condition(f"{said.name} < 1").limit == Limit(measure=said.name, at_most=1.0, **said.usual)
    line = lines[0]
    where = {k: v for k in ("variable", "group", "at", "attack") if (v := getattr(line, k)) is not None}
    told = ", ".join(f'{k}="{v}"' if isinstance(v, str) else f"{k}={v!r}" for k, v in where.items())
    asked = parse_figure(f"{said.name}[{told}]" if told else said.name)
    assert asked.of(Findings((line,))) == line.value
    judged = apply_limits(Findings(lines), [limit])
    assert all(f.ok is not None for f in judged)
    assert not judged.notes


def same(one: Findings, other: Findings) -> None:
    """Equal to the digits that are told, whatever the order of lines."""

    def key(f: Finding) -> tuple[str, ...]:
        return tuple(map(str, (f.measure, f.variable, f.group, f.at, f.attack)))

    assert set(one.notes) == set(other.notes)
    assert sorted(map(key, one)) == sorted(map(key, other))
    for a, b in zip(sorted(one, key=key), sorted(other, key=key), strict=True):
        for p, q in zip(
            (a.value, a.baseline, *(a.interval or ())), (b.value, b.baseline, *(b.interval or ())), strict=True
        ):
            assert (p is None) == (q is None)
            assert p is None or p == pytest.approx(q, rel=1e-9, abs=1e-9)


@each_measure
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_law_7_order_changes_nothing(name, case, seed):
    same(found(name, case), found(name, case, seed=seed))


@each_measure
def test_law_8_every_engine_gives_the_same_figures(name, case):
    same(found(name, case), found(name, case, engine=DuckDBDataset.of))


@pytest.mark.parametrize(
    "case", [c if c in ("noisy", "surveyed") else pytest.param(c, marks=pytest.mark.slow) for c in SUBJECTS]
)
def test_law_9_what_is_measured_together_is_what_each_gives(case):
    """A measure leaves nothing behind that another one would see, and progress names no value."""
    told = []
    whole = measure(
        replace(SUBJECTS[case]().subject(), asked=frozenset(figures())), lambda what, share: told.append(what)
    )
    parts = [f for name, each in (p.values for p in CASES) if each == case for f in found(name, case)]
    same(Findings(whole.lines), Findings(tuple(parts)))
    assert not [text for text in told for planted in PLANTED if planted in text]


@pytest.mark.parametrize("name", measures())
def test_law_10_without_what_it_needs_it_is_passed_over(name):
    """No measure that says that a subject will do fails on it, however little that is."""
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    pair = Pair(frame, frame, Codebook(), aligned=True)
    for subject in (Subject(PolarsDataset(frame, Codebook())), Subject(PolarsDataset(frame, Codebook()), pair=pair)):
        if measures()[name].can(subject):
            assert {f.measure for f in measures()[name].compute(subject)} <= measures()[name].names
