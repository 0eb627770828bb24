import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.errors import DataError, PlanError

BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "age": Variable(
            role="key", kind="integer", unit="years", range=(0, 110), missing=[-9, {"low": -5, "high": -4}]
        ),
        "town": Variable(kind="categorical", labels={1: "Leeds", 2: "York"}, hierarchy={1: ["North"], 2: ["North"]}),
        "size": Variable(kind="ordinal", order=["small", "large"], label="Size: of the farm"),
        "code": Variable(missing=[{"code": "X", "label": "refused"}]),
    }
)


def test_yaml_and_back_is_the_identity():
    assert Codebook.from_yaml(BOOK.to_yaml()) == BOOK


@pytest.mark.parametrize("role", ["identifier", "record", "household", "weight"])
def test_what_says_who_somebody_is_is_not_sensitive(role):
    with pytest.raises(ValidationError, match="key, outcome and other"):
        Variable(role=role, sensitive=True)
    assert not Variable(role=role).private


def test_a_variable_may_be_known_and_yet_not_be_learnt():
    book = Codebook.from_yaml(
        "variables: {race: {role: key, sensitive: true}, ill: {role: sensitive}, sex: {role: key}}"
    )
    assert book.private == ("race", "ill")
    assert book.with_role("key") == ("race", "sex")
    assert Codebook.from_yaml(book.to_yaml()) == book


def test_it_is_a_value():
    changed = BOOK.replace(age=Variable()).without("town")
    assert "town" in BOOK
    assert BOOK["age"].unit == "years"
    assert list(changed) == ["id", "age", "size", "code"]
    assert BOOK.with_role("key", "record") == ("id", "age")
    assert BOOK.the(BOOK["id"].role) == "id"
    assert list(BOOK.only(["new", "age"])) == ["new", "age"]


def test_an_unknown_variable_is_named_with_those_that_there_are():
    with pytest.raises(DataError, match="'nope'. Variables: id, age"):
        BOOK["nope"]


def test_missing_is_null_nan_codes_and_ranges():
    frame = pl.DataFrame(
        {"age": [-9.0, -5, -4.5, -3, None, float("nan"), 40], "code": ["X", "Y", None, "x", "", "X ", "XX"]}
    )
    missing = frame.select(BOOK.missing(n, frame.schema[n]).alias(n) for n in frame.columns)
    assert missing["age"].to_list() == [True, True, True, False, True, True, False]
    assert missing["code"].to_list() == [True, False, True, False, False, False, False]
    whole = pl.DataFrame({"age": [-9, -5, 3]})
    assert whole.select(BOOK.missing("age", whole.schema["age"])).to_series().to_list() == [True, True, False]


def test_a_code_of_another_type_matches_nothing():
    frame = pl.DataFrame({"code": [1, 2]})
    assert not frame.select(BOOK.missing("code", frame.schema["code"])).to_series().any()


@pytest.mark.parametrize(
    "wrong", [{"low": 1}, {"code": 1, "low": 1, "high": 2}, {}, {"low": 2, "high": 1}, {"low": float("nan"), "high": 1}]
)
def test_a_missing_code_is_a_code_or_a_range(wrong):
    with pytest.raises(ValidationError):
        Missing(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"range": [2, 1]}, {"range": [0, float("inf")]}, {"kind": "number"}, {"rolle": "key"}]
)
def test_a_variable_that_makes_no_sense(wrong):
    with pytest.raises(ValidationError):
        Variable(**wrong)


def test_a_codebook_file_that_makes_no_sense():
    for text in ("[]", "a: 1", "variables: [a]", "variables: {a: {role: boss}}"):
        with pytest.raises(PlanError):
            Codebook.from_yaml(text)
