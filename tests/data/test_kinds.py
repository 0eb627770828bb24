"""The rules by which the kind of a variable is told from its values."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.kinds import FEW_NUMBERS, FEW_TEXTS, facts_of, sniff_kinds


def kind(values, dtype=None, **known):
    frame = pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    return sniff_kinds(frame, Codebook({"x": Variable.model_validate(known)}))["x"].kind


def numbered(n):
    return [f"value {i}" for i in range(n)]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.5, 2.5, 1.5, 2.5], "continuous"),
        ([1.0, 2.0, 1.0, 2.0], "continuous"),  # a decimal type, even if whole
        ([1, 2, 1, 2, None], "categorical"),
        ([1, 2, 3, 4], "integer"),  # nothing is repeated
        (list(range(FEW_NUMBERS)) * 2, "categorical"),
        (list(range(FEW_NUMBERS + 1)) * 2, "integer"),
        (["f", "m", "f", "m"], "categorical"),
        (["Ann", "Bob", "Cid"], "text"),
        (numbered(FEW_TEXTS) * 2, "categorical"),
        (numbered(FEW_TEXTS + 1) * 2, "text"),
        ([True, None], "categorical"),
        ([dt.date(2020, 1, 1)], "date"),
        ([dt.datetime(2020, 1, 1)], "date"),
        (["2020-01-01", "2021-01-01"], "text"),
        ([[1], [1]], "text"),
        ([dt.time(1), dt.time(1)], "text"),
        ([None, None], "text"),
        ([], "text"),
    ],
)
def test_rules(values, expected):
    assert kind(values) == expected


def test_types_decide_where_there_are_no_values():
    assert kind([None], pl.Int64) == "integer"
    assert kind([None], pl.Float64) == "continuous"
    assert kind([None], pl.Boolean) == "categorical"
    assert kind([None], pl.Date) == "date"


def test_category_types_are_categorical():
    assert kind(numbered(100), pl.Categorical) == "categorical"
    assert kind(["a"], pl.Enum(["a", "b"])) == "categorical"


def test_missing_values_take_no_part():
    codes = [*list(range(FEW_NUMBERS)) * 2, -9, -8, 97, 98]
    assert kind(codes) == "integer"
    assert kind(codes, missing=[-9, -8, {"low": 97, "high": 99}]) == "categorical"


def test_what_the_file_says_comes_first():
    assert kind([1.0, 2.0, 1.0], labels={1: "no", 2: "yes"}) == "categorical"
    assert kind([1.0, 2.0, 1.0, 2.0], measure="nominal") == "categorical"
    assert kind([1, 2, 1, 2], measure="scale") == "integer"
    assert kind([1, 2, 3], measure="ordinal") == "ordinal"
    assert kind(["a", "b"], order=("b", "a")) == "ordinal"
    assert kind([1, 2, 1, 2], kind="continuous") == "continuous"


def test_labels_of_a_few_values_do_not_make_categories():
    ages = list(range(18, 90))
    assert kind(ages, labels={89: "89 or more"}) == "integer"
    assert kind([1.5, 2.5, -9.0], labels={-9: "refused"}, missing=[-9]) == "continuous"


def test_gives_the_columns_in_order_and_keeps_the_rest():
    frame = pl.DataFrame({"b": [1.5], "a": ["x"]})
    book = Codebook({"gone": Variable(role="key"), "a": Variable(role="identifier", label="who")})
    found = sniff_kinds(frame, book)
    assert list(found) == ["b", "a", "gone"]
    assert found["a"] == Variable(role="identifier", label="who", kind="text")
    assert found["gone"] == Variable(role="key")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("motherAge_2", "mother age 2"),
        ("DOB", "dob"),
        ("NHSNumber", "nhs number"),
        ("date.of-birth", "date of birth"),
        ("Größe", "größe"),
    ],
)
def test_words_of_a_name(name, words):
    assert facts_of(pl.DataFrame({name: [1]}), name, Codebook()).words == words


LIKERT = [0, 1, 2, 3, 4] * 4


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(60), -9, -9, -8], [-9, -8]),
        ([*LIKERT, 9, 9], [9]),
        ([*LIKERT, 8, 9, 9], [8, 9]),
        ([*range(40), 99, 99], [99]),
        ([1.5, 2.25, 3.75, 999.0, 999.0], [999]),
        ([*range(40), 99, 99, -9, -9], [-9, 99]),
        ([*range(100), 99], []),  # an age among others
        ([*range(60), 99, 99], []),  # nearer than the rest is spread
        ([*range(40), 99], []),  # once: perhaps a true value
        ([0, 1, 2, 3, 4, 5, 8, 8], []),  # relatives aboard
        ([-7, -6, -5, -4, -3, -2, -1, 0, 1, 2, -7], []),  # degrees
        ([-1, -1, 0, 1, 2, 3], []),
        ([-9.5, -9.5, 1.5, 2.5], []),
        ([-9, -9, -9], []),
        (["-9", "-9", "1"], []),
        ([None, None], []),
    ],
)
def test_missing_codes_that_stand_apart(values, codes):
    facts = facts_of(pl.DataFrame({"x": values}), "x", Codebook())
    assert [m.code for m in facts.variable.missing] == codes
    assert facts.proposed == bool(codes)
    assert not set(facts.values) & set(codes)


def test_known_codes_are_not_proposed_again():
    book = Codebook({"x": Variable(missing=[-9])})
    facts = facts_of(pl.DataFrame({"x": [*range(40), -9, 99, 99]}), "x", book)
    assert facts.variable == book["x"]
    assert not facts.proposed


def test_row_order_changes_nothing():
    many = pl.DataFrame({"x": [f"{i:05}" for i in range(10_000)]})
    assert sorted(facts_of(many, "x", Codebook()).sample) == sorted(facts_of(many.reverse(), "x", Codebook()).sample)
