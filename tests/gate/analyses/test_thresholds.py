import numpy as np
import polars as pl
import pytest

from sfumato.gate.analyses.registry import KINDS
from sfumato.gate.analyses.thresholds import unmet
from sfumato.gate.margin import Node
from sfumato.gate.policy import Attribution
from sfumato.gate.reading import records_of
from tests.gate.analyses.people import asked, people, records

DATA = records(people())


def failed(kind, formula, count=4, preset="", data=DATA, attributions=(), **more):
    return unmet(asked(kind, formula, data, **more), KINDS[kind].limits(preset), count, attributions)


@pytest.mark.parametrize(("n", "count", "fails"), [(12, 4, ()), (12, 9, ("levels",)), (4, 4, ("levels",))])
def test_too_few_people(n, count, fails):
    frame = pl.DataFrame({"id": range(n), "y": np.arange(n) * 1.5 % 7})
    data = records_of(frame, record="id", secret=bytes(16))
    assert failed("mean", "y ~ 1", count, "datashield", data) == (fails if n > count else ("levels",)) or n == 12


def test_every_level_and_every_side_of_it_holds_enough():
    n = 400
    for ones, fails in ((4, ("levels",)), (5, ())):
        rare = ["r"] * (2 * ones) + ["s"] * (n - 2 * ones)
        died = ["yes", "no"] * (n // 2)
        frame = pl.DataFrame({"id": range(n), "died": died, "rare": rare})
        data = records_of(frame, record="id", secret=bytes(16))
        assert failed("logistic", "died ~ rare", 4, data=data) == fails


def test_a_constant_response_says_no_more_than_few():
    frame = pl.DataFrame({"id": range(60), "died": ["no"] * 60, "sex": ["F", "M"] * 30, "part": ["a", "b"] * 30})
    both = frame.with_columns(
        died=pl.when(pl.col("id") < 30).then(pl.lit("yes")).otherwise("died"), part=pl.col("part")
    )
    both = both.with_columns(part=pl.when(pl.col("id") < 30).then(pl.lit("a")).otherwise(pl.lit("b")))
    data = records_of(both, record="id", secret=bytes(16))
    assert failed("logistic", "died ~ sex", data=data, where={Node("part"): ["b"]}) == ("levels",)


def test_too_many_coefficients():
    """49 people and 20 levels of two or more: ACRO asks for ten degrees of freedom, DataSHIELD for a third."""
    frame = pl.DataFrame({"id": range(60), "g": [str(i % 20) for i in range(60)], "y": np.arange(60) ** 1.5})
    data = records_of(frame, record="id", secret=bytes(16))
    own = {"count": 2, "data": data}
    assert failed("linear", "y ~ g", preset="datashield", **own) == ("parameters",)
    assert failed("linear", "y ~ g", preset="acro", **own) == ()
    assert failed("linear", "y ~ g", **own) == ("parameters",)
    few = {"count": 1, "data": records_of(frame.head(40), record="id", secret=bytes(16))}
    assert failed("linear", "y ~ g", preset="acro", **few) == ()
    fewer = {
        "count": 1,
        "data": records_of(frame.filter(pl.col("id") % 20 < 9).head(18), record="id", secret=bytes(16)),
    }
    assert failed("linear", "y ~ g", preset="acro", **fewer) == ("residual_df",)


def told(ill, ward="a", other=300, **more):
    """Whether a mean of the ill of a ward, and of the well, may be had: both by the same answer."""
    flags = ["ill"] * ill + ["well"] * other
    frame = people(len(flags)).with_columns(ill=pl.Series(flags))
    data = records(frame)
    return [failed("mean", "cost ~ 1", data=data, where={Node("ill"): [one]}, **more) for one in ("ill", "well")]


@pytest.mark.parametrize(("ill", "answer"), [(3, ("levels",)), (4, ("levels",)), (40, ())])
def test_all_slices_of_the_same_variables_have_one_answer(ill, answer):
    """Else a mean of every cell of a table would find the small ones."""
    assert told(ill) == [answer, answer]


def test_a_slice_of_one_side_tells_of_no_other():
    """Two women of a ward died: neither the men nor another ward have a model by sex and ward."""
    frame = people(900).with_columns(sex=pl.Series((["F"] * 5 + ["M"] * 5) * 90), died=pl.Series(["no"] * 900))
    ward = ["b" if i < 450 else "a" for i in range(900)]
    frame = frame.with_columns(ward=pl.Series(ward))
    many = pl.col("sex") == "M"
    frame = frame.with_columns(died=pl.when(many & (pl.col("id") % 3 == 0)).then(pl.lit("yes")).otherwise("died"))
    women = frame.filter(pl.col("sex") == "F", pl.col("ward") == "a")["id"].head(2)
    others = frame.filter(pl.col("sex") == "F", pl.col("ward") == "b")["id"].head(50)
    few = pl.col("id").is_in(pl.concat([women, others]).implode())
    data = records(frame.with_columns(died=pl.when(few).then(pl.lit("yes")).otherwise("died")))
    assert failed("logistic", "died ~ sex", data=data) == ()
    for group in "ab":
        assert failed("logistic", "died ~ sex", data=data, where={Node("ward"): [group]}) == ("levels",)


def test_that_nobody_has_it_counts_as_few_where_it_must_not_be_learned():
    """Nobody of ward a died: a model in ward b is had, but not where it must not be learned who died."""
    frame = people(900).with_columns(died=pl.when(pl.col("ward") == "a").then(pl.lit("no")).otherwise("died"))
    more = {"data": records(frame), "where": {Node("ward"): ["b", "c"]}}
    assert failed("logistic", "died ~ sex", **more) == ()
    hidden = [Attribution(variables=("died",))]
    assert failed("logistic", "died ~ sex", attributions=hidden, **more) == ("attribution",)


def test_too_many_slices_are_refused():
    where = {Node(name): ["1"] for name in ("v0", "v1", "v2")}
    frame = pl.DataFrame({"id": range(400), "y": np.arange(400.0)}).with_columns(
        **{f"v{i}": pl.Series([str(j % 200) for j in range(400)]) for i in range(3)}
    )
    data = records_of(frame, record="id", secret=bytes(16))
    assert failed("mean", "y ~ 1", count=1, data=data, where=where) == ("levels",)
