"""Where gaps are wildcards, a key in which nobody differs changes no figure of any measure, wherever rows are."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.measures.intruding import Intruding
from sfumato.measures.measuring import Measuring
from sfumato.measures.taking_part import NO_KEY
from sfumato.methods.suppress_cells import SuppressCells
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.forms import by_forms
from sfumato.release.large import sampled_of
from sfumato.release.measure import NO_VALUE
from sfumato.release.run import run_plan
from tests.methods.tables import run
from tests.release.scattered import Scattered

KEYS = ["region", "sex", "edu", "age"]
RULES = ["wildcard", "wildcard:0", "wildcard:0.4", "wildcard:1"]
DULL = ["one", "one with gaps", "seven with gaps", "none"]
"""Keys in which nobody differs: constant or empty, with gaps or without."""


def table(n=90, seed=3):
    """Some people: gaps in every key, some without any, and a class in which nothing is known."""
    rng = np.random.default_rng(seed)

    def some(values, gaps):
        return [None if gone else value for value, gone in zip(values, rng.random(n) < gaps, strict=True)]

    frame = pl.DataFrame(
        {
            "id": np.arange(n),
            "region": some(rng.choice(["N", "S"], n).tolist(), 0.2),
            "sex": some(rng.choice(["f", "m"], n).tolist(), 0.1),
            "edu": some(rng.choice(["low", "mid", "high"], n, p=[0.6, 0.35, 0.05]).tolist(), 0.1),
            "age": some(rng.integers(2, 5, n).tolist(), 0.1),
            "ill": some(rng.choice(["no", "yes", "was"], n).tolist(), 0.1),
            "w": rng.integers(2, 9, n) * 1.0,
            "home": np.arange(n) // 2,
        }
    )
    nobody = pl.col("id") % 30 == 0
    return frame.with_columns(pl.when(~nobody).then(pl.col(key)).alias(key) for key in KEYS)


def widened(frame):
    """The same with keys that tell nothing; their gaps lie across those of the others."""
    return frame.with_columns(
        pl.lit("here").alias("one"),
        pl.when(pl.col("id") % 3 > 0).then(pl.lit("here")).alias("one with gaps"),
        pl.when(pl.col("id") % 4 > 0).then(7).alias("seven with gaps"),
        pl.lit(None, pl.String).alias("none"),
    )


def lines(found):
    """Figures by what they are of, without those that are of the keys in question."""
    return {
        (f.measure, f.variable, f.group, f.at, f.attack): (f.value, f.baseline)
        for f in found
        if f.variable not in DULL and not (f.measure == "msu" and f.value == 0)
    }


def alike(one, two):
    assert lines(one).keys() == lines(two).keys()
    for what, figures in lines(one).items():
        assert lines(two)[what] == pytest.approx(figures, abs=1e-9), what


@pytest.mark.parametrize("rule", RULES)
def test_figures_of_one_table(rule):
    """Of classes, of values in them, of uniques in the file and in the population, through households too."""
    how = {"sensitive": ["ill"], "weight": "w", "household": "home", "missing": rule, "fraction": 0.2}
    how |= {"special_uniques": True, "log_linear": "main"}
    one = sf.risk(table(), keys=KEYS, **how)
    assert {"k_anonymity", "l_distinct", "t_equal", "dis_suda", "k_map", "class_size"} <= {f.measure for f in one}
    two = sf.risk(widened(table()), keys=[*DULL[:2], *KEYS, *DULL[2:]], **how)
    alike(one, two)
    assert {f.value for f in two.select("suda_contribution") if f.variable in DULL} == {0.0}
    assert NO_KEY in one.notes
    assert NO_KEY in two.notes


@pytest.mark.parametrize("rule", RULES)
def test_the_same_without_any_key_that_tells(rule):
    """Everybody agrees with everybody: one class of all records."""
    found = sf.risk(widened(table()), keys=DULL, missing=rule, special_uniques=True)
    assert found.of("k_anonymity", group="keys").value == 90
    assert found.of("uniques_sample", group="keys").value == 0
    assert found.of("special_uniques").value == 0


@pytest.mark.parametrize("rule", ["wildcard", "wildcard:0.4"])
def test_figures_of_intruders(rule):
    """Who know keys, with a control too, by every linker; what a record tells of a sensitive value."""
    frame = table().drop("w", "home")
    released = frame.with_columns(
        age=pl.when(pl.col("id") % 5 > 0).then(pl.col("age").reverse()), edu=pl.col("edu").shift(7)
    )
    control = table(40, 8).drop("w", "home").with_columns(pl.col("id") + 1000)
    how = {"record": "id", "scenario": ["neighbour", "cross_match", "trawl"], "sensitive": ["ill"], "missing": rule}
    one = sf.risk(frame, released, keys=KEYS, control=control, **how)
    two = sf.risk(widened(frame), widened(released), keys=[*DULL, *KEYS], control=widened(control), **how)
    assert {"match_correct", "inference", "membership"} <= {f.measure for f in one}
    of = ("match_correct", "match_claims", "match_precision", "match_on_control", "inference", "membership")
    alike(*(sf.Findings(tuple(f for f in found if f.measure in of)) for found in (one, two)))


def off_memory(frame, keys, rule):
    """What is found of rows that are told batch by batch, by sums over all and by people among all."""
    variables = {"id": {"role": "record"}, "ill": {"role": "sensitive"}, **{n: {"role": "key"} for n in keys}}
    plan = Plan(variables=variables, steps=[{"do": "noise", "columns": ["w"], "sd": 1}])
    data = Scattered.of(frame.select("id", "ill", "w", *keys), plan.codebook(frame, Codebook()))
    ran = run_plan(plan.bound(data.codebook), data, Draws(bytes(32)), quiet)
    subject = sampled_of(plan, ran, ran.sides.sample(90), Measuring(intruding=Intruding(), people=90), Exposed(()))
    subject = replace(subject, how=replace(subject.how, missing=rule))  # a plan goes by its own rule
    return by_forms({"people": subject}, quiet).findings


@pytest.mark.parametrize("rule", ["wildcard", "wildcard:0.4"])
def test_figures_where_rows_are_not_in_memory(rule, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, frame in ((one, table()), (two, widened(table()))):
        folder.mkdir()
        for i in range(3):
            frame[i * 30 : i * 30 + 30].write_parquet(folder / f"part-{i}.parquet")
    plans = [
        Plan(variables={"id": {"role": "record"}, "ill": {"role": "sensitive"}, **{n: {"role": "key"} for n in keys}})
        for keys in (KEYS, [*DULL, *KEYS])
    ]
    found = [sf.risk(str(folder), plan=plan, missing=rule) for folder, plan in zip((one, two), plans, strict=True)]
    assert {"k_anonymity", "l_distinct", "t_equal"} <= {f.measure for f in found[0]}
    alike(*found)


@pytest.mark.parametrize("rule", ["wildcard", "wildcard:0.4"])
def test_who_is_found_among_all_records(rule):
    frame = table().drop("home")
    found = [off_memory(frame, KEYS, rule), off_memory(widened(frame), [*DULL, *KEYS], rule)]
    of = [found_of.of("match_correct", group="nearest", attack="neighbour") for found_of in found]
    assert of[0].value == pytest.approx(of[1].value)
    assert of[0].baseline == pytest.approx(of[1].baseline)
    none = off_memory(widened(frame), DULL, rule).of("match_correct", group="nearest", attack="neighbour")
    assert none.value == pytest.approx(1 / 90)


def test_cells_are_taken_out_of_the_keys_that_tell():
    frame = table().drop("w", "home").filter(pl.any_horizontal(pl.col(KEYS).is_not_null()))
    book = Codebook({"id": Variable(role="record")})
    one = run(SuppressCells(keys=KEYS[:3], k=8), frame, book.only(frame.columns)).after.frame
    wide = widened(frame)
    step = SuppressCells(keys=(*DULL, *KEYS[:3]), k=8)
    two = run(step, wide, book.only(wide.columns)).after.frame
    assert sum(one.select(KEYS).null_count().row(0)) > sum(frame.select(KEYS).null_count().row(0))
    assert two.select(one.columns).equals(one)
    assert two.select(DULL).equals(wide.select(DULL))
    found = sf.risk(two, keys=[*DULL, *KEYS[:3]], missing="wildcard")
    assert found.of("k_anonymity", group="keys").value >= 8


@pytest.mark.parametrize("missing", ["category", "wildcard"])
def test_who_has_no_key_is_in_no_class(missing):
    """Three classes of two each, and one record alone without keys, which nobody finds by them."""
    frame = pl.DataFrame({"a": ["x", "x", "y", "y", "x", "x", None], "b": [1, 1, 1, 1, 2, 2, None]})
    found = sf.risk(frame, keys=["a", "b"], missing=missing)
    assert found.of("k_anonymity", group="keys").value == 2
    assert found.of("class_size", group="keys").value == 2
    assert found.of("uniques_sample", group="keys").value == 0
    assert NO_KEY in found.notes
    assert NO_KEY not in sf.risk(frame.drop_nulls(), keys=["a", "b"], missing=missing).notes


def test_a_class_in_which_nothing_is_known_counts():
    """Of six records that count, two have a gap as their class's only value: 1 - 2/6 from the whole table.

    The gap of class x is left out, as it has known values beside it: "no" and "yes".
    """
    frame = pl.DataFrame(
        {"a": ["x", "x", "x", "y", "y", "z", "z"], "ill": ["no", "yes", None, None, None, "no", "yes"]}
    )
    found = sf.risk(frame, keys=["a"], sensitive=["ill"])
    told = {(f.measure, f.group): f.value for f in found if f.variable == "ill"}
    assert [told["l_distinct", f"a={a}"] for a in "xyz"] == [2, 1, 2]
    assert told["l_distinct", "keys"] == 1
    assert told["t_equal", "a=y"] == pytest.approx(2 / 3)
    assert told["t_equal", "a=x"] == pytest.approx(1 / 3)
    assert NO_VALUE.format(columns="ill") in found.notes
    assert not {NO_VALUE.format(columns="ill")} & {*sf.risk(frame[5:], keys=["a"], sensitive=["ill"]).notes}
