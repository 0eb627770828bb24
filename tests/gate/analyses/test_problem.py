import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate.analyses.problem import problem_of
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.margin import Node
from sfumato.gate.reading import records_of
from tests.gate.analyses.people import people, records

FRAME = people()
DATA = records(FRAME)


def problem(kind, formula, data=DATA, **more):
    return problem_of(data, read_analysis(data, kind, formula, **more))


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


def test_too_large_a_model_is_refused_before_it_is_built():
    frame = pl.DataFrame({"id": range(3), "y": [1.0, 2.0, 4.0], "n": [10**8, 10**8, 10**8]}).drop("id")
    data = records_of(frame, count="n")
    with pytest.raises(DataError, match="too many"):
        problem("mean", "y ~ 1", data)
