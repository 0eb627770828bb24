"""What a custodian says stands over what is guessed, and what cannot be is refused in words."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.profile import Guess, profile
from sfumato.errors import DataError
from sfumato.plan.unknown import OTHERS
from sfumato.plan.wishes import Wishes

REASON = "given to us alone, and nobody else holds these answers"
FRAME = pl.DataFrame(
    {
        "pid": [f"P{i:04}" for i in range(60)],
        "fullname": [f"Person Number {i}" for i in range(60)],
        "Sex": ["f", "m"] * 30,
        "age": [20 + i % 37 for i in range(60)],
        "race": ["a", "b", "c"] * 20,
        "q1": ["yes", "no"] * 30,
        "q2": ["no", "yes"] * 30,
        "wt": [1.5, 0.5] * 30,
        "died": ["no", "yes"] * 30,
    }
)
GUESSES = profile(FRAME, Codebook())


def over(**wishes):
    told = Wishes(**wishes).named(FRAME.columns)
    return told, {g.name: g.variable for g in told.over(GUESSES)}


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"keys": ("Sexx",)}, "no column 'Sexx'. Did you mean 'Sex'"),
        ({"keys": ("sex",)}, "Did you mean 'Sex'"),
        ({"keep": ("zzz",)}, "no column 'zzz'. Columns: pid,"),
        ({"unknown": ("z*",)}, "No column is called like 'z[*]'"),
        ({"keys": ("q1",), "unknown": ("q1",)}, "'q1': named as keys and as unknown"),
        ({"keys": ("pid",), "record": "pid"}, "'pid': named as keys and as record"),
        ({"record": "pid", "household": "pid"}, "'pid': named as record and as household"),
        ({"keys": ("died",), "outcome": ("died",)}, "'died': named as keys and as outcome"),
        ({"record": "pid", "sensitive": ("pid",)}, "nothing that is learnt of a person"),
        ({"keys": ("Sex",), "because": "too short"}, "--because: .*20 to 300 characters"),
        ({"keys": ("Sex",), "because": "two lines of it are\nnot one line"}, "one line"),
        ({"because": REASON}, "name those that are known"),
    ],
)
def test_what_cannot_be_is_said(wishes, said):
    with pytest.raises(DataError, match=said):
        Wishes(**wishes).named(FRAME.columns)


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(DataError, match=r"'Sexx'.*'agee'.*--because"):
        Wishes(keys=("Sexx", "agee"), because="no").named(FRAME.columns)


def test_a_pattern_stands_for_columns_and_gives_way_to_a_name():
    told, _ = over(unknown=("q*",), because=REASON)
    assert told.unknown == ("q1", "q2")
    told, _ = over(unknown=("q*",), keys=("q1",), because=REASON)
    assert told.unknown == ("q2",)


def test_a_name_is_a_name_although_it_looks_like_a_pattern():
    assert Wishes(unknown=("a[1]",)).named(["a[1]", "a1"]).unknown == ("a[1]",)


def test_keys_alone_are_known():
    told, variables = over(keys=("Sex", "race"), because=REASON)
    assert told.known(told.over(GUESSES)) == ("Sex", "race")
    assert (variables["race"].role, variables["race"].sensitive) == ("key", True)
    assert (variables["Sex"].role, variables["Sex"].sensitive) == ("key", False)
    assert variables["age"].role == "other"
    (stated,) = told.stated(["Sex", "race", "age"], ["Sex", "race"])
    assert (stated.columns, stated.because) == (OTHERS, REASON)
    assert told.stated(["Sex", "race"], ["Sex", "race"]) == ()


def test_all_but_what_is_unknown_is_known():
    told, variables = over(unknown=("q*",))
    assert set(told.known(told.over(GUESSES))) == {"Sex", "age", "race", "died"}
    assert (variables["race"].role, variables["race"].sensitive) == ("key", True)
    assert variables["q1"].role == "other"
    assert variables["died"].role == "outcome"
    (stated,) = told.stated(["Sex", "q1"], ["Sex"])
    assert (stated.columns, stated.because) == (("q1",), "?")


def test_roles_are_those_that_are_named():
    _, variables = over(record="q1", household="race", outcome=("q2",), sensitive=("Sex", "q2"))
    assert variables["pid"].role == "identifier"
    assert variables["q1"].role == "record"
    assert variables["race"].role == "household"
    assert (variables["q2"].role, variables["q2"].sensitive) == ("outcome", True)
    assert (variables["Sex"].role, variables["Sex"].sensitive) == ("key", True)


def test_what_is_named_sensitive_and_nothing_else_gets_that_role():
    _, variables = over(sensitive=("q1", "fullname"))
    assert [str(variables[n].role) for n in ("q1", "fullname")] == ["sensitive", "sensitive"]
    assert variables["fullname"].kind == "categorical"


def test_nothing_said_changes_nothing():
    assert Wishes().over(GUESSES) == GUESSES


def test_an_identifier_is_not_kept():
    with pytest.raises(DataError, match="'fullname'.*identifier"):
        Wishes(keep=("fullname",)).over(GUESSES)


def test_labels_that_name_people_leave_whatever_is_said():
    guess = Guess("a", Variable(kind="categorical"), "", True, leaves=True, found_in_labels={"email": 1.0})
    weight = Guess("b", Variable(), "another weight", True, leaves=True)
    assert [g.leaves for g in Wishes(keys=("a", "b")).over([guess, weight])] == [True, False]
