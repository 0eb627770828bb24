"""Rules that tell a role; what they say of whole tables stands in `test_profile`."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Variable
from sfumato.data.detectors import looks_identifying, nhs_check_digit
from sfumato.data.kinds import Facts


def reason(name, values, **more):
    return looks_identifying(Facts(pl.Series(name, values), Variable()), **more)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("label", [f"Zorvek {chr(97 + i)}" for i in range(20)]),  # nothing but that each is another text
        ("x", ["07700 900123", "020 7946 0018"]),
        ("surname", ["Zorvek", "Limtas", "Zorvek", "Limtas"]),
        ("x", [9434765919, 4010232137]),
        ("UTILITYID", [*range(100, 140)] * 3),
    ],
)
def test_identifiers(name, values):
    assert reason(name, values)
    assert reason(name, values, record=False)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("town", ["North", "South"] * 10),
        ("bmi", [21.5 + i / 7 for i in range(50)]),
        ("income", [*range(1000, 1050)]),
        ("visits", [*range(50)]),
        ("paid", [*range(0, 5000, 7)]),
        ("flag", [True, False] * 10),
        ("nothing", [None, None]),
        ("date", ["2020-01-01", "2020-01-02"]),
    ],
)
def test_ordinary_columns(name, values):
    assert reason(name, values) is None


def test_a_number_of_its_own_may_be_the_records():
    assert reason("id", [*range(40)])
    assert reason("id", [*range(40)], record=False) is None
    assert reason("id", [f"P{i}" for i in range(40)], record=False)


def test_a_lone_nhs_number_is_one_where_its_name_says_so():
    assert reason("nhs_number", [9434765919] * 9)
    assert reason("batch", [9434765919] * 9) is None


def test_check_digits_of_nhs_numbers():
    assert nhs_check_digit(np.array([943476591, 401023213])).tolist() == [9, 7]


def test_numbers_beyond_all_whole_ones_are_no_numbers_of_people():
    assert looks_identifying(Facts(pl.Series("x", [1e300, 2e300]), Variable())) is None
