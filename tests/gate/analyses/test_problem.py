import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate.analyses.problem import problem_of, unmet
from sfumato.gate.analyses.registry import KINDS
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.margin import Node
from sfumato.gate.reading import records_of
from tests.gate.analyses.people import people, records

FRAME = people()
DATA = records(FRAME)


def problem(kind, formula, data=DATA, **more):
    return problem_of(data, read_analysis(data, kind, formula, **more))


def failed(kind, formula, count=4, preset="", data=DATA, **more):
    return unmet(problem(kind, formula, data, **more), KINDS[kind].limits(preset), count)


def test_arrays_are_those_of_the_people():
    own = problem("logistic", "died ~ age*sex", where={Node("ward"): ["a"]})
    frame = FRAME.filter(pl.col("ward") == "a")
    np.testing.assert_array_equal(own.y, (frame["died"] == "yes").to_numpy())
    labels, X = own.design
    assert labels == ("Intercept", "age", "sex[T.M]", "age:sex[T.M]")
    male = (frame["sex"] == "M").to_numpy()
    wanted = np.column_stack([np.ones(len(male)), frame["age"], male, frame["age"] * male])
    np.testing.assert_array_equal(X, wanted)


def test_the_other_side_may_count():
    own = problem("logistic", "died ~ age", options={"positive": "no"})
    np.testing.assert_array_equal(own.y, (FRAME["died"] == "no").to_numpy())


def test_lines_of_counts_stand_as_often_as_they_count():
    data = records_of(pl.DataFrame({"y": ["a", "b"], "x": ["p", "q"], "n": [3, 2]}), count="n")
    own = problem("logistic", "y ~ x", data)
    assert own.y.tolist() == [0, 0, 0, 1, 1]


def test_means_by_group_are_means_and_no_contrasts():
    assert problem("mean", "cost ~ ward").design[0] == ("ward[a]", "ward[b]", "ward[c]")


def test_a_hazard_has_no_intercept():
    labels, X = problem("cox", "days ~ sex + age", event="gone").design
    assert labels == ("age", "sex[T.M]") or labels == ("sex[T.M]", "age")
    assert X.shape[1] == 2


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


def test_too_large_a_model_is_refused_before_it_is_built():
    frame = pl.DataFrame({"id": range(3), "y": [1.0, 2.0, 4.0], "n": [10**8, 10**8, 10**8]}).drop("id")
    data = records_of(frame, count="n")
    with pytest.raises(DataError, match="too many"):
        problem("mean", "y ~ 1", data)
