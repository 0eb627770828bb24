"""The editor of a model: formulas of what is chosen, what is chosen of a formula, the family that suits."""

from __future__ import annotations

import pytest

from sfumato.data.formula import parse_formula
from sfumato.web.studio.modelling import built, chosen, intended, modelled
from tests.web.studio.entered import entered


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    with entered(tmp_path_factory.mktemp("people")) as (one, _):
        yield one


@pytest.mark.parametrize("names", [["age"], ["body mass", "age"], []])
def test_what_is_built_is_read_again(names):
    formula = built("was ill", names)
    assert parse_formula(formula).response == "was ill"
    assert chosen(formula) == ("was ill", names)


def test_nothing_is_built_without_an_outcome_and_nothing_chosen_of_what_is_no_formula():
    assert built("", ["age"]) == ""
    assert chosen("age ~~ sex") == ("", [])
    assert chosen("ill ~ I(age^2) + age:sex") == ("ill", [])


def test_ids_explain_nobody(studio):
    assert modelled(studio) == ["sex", "age", "income", "ill"]


@pytest.mark.parametrize(
    ("typed", "family", "taken"),
    [
        ("income ~ age", "", ("income ~ age", "linear")),
        (" ill ~ age ", "", ("ill ~ age", "logistic")),
        ("ill ~ age", "probit", ("ill ~ age", "probit")),
        ("ill ~ age", "odd", ("ill ~ age", "logistic")),
        ("no formula", "", ("no formula", None)),
        ("", "", (None, None)),
    ],
)
def test_the_family_suits_the_outcome_unless_one_is_chosen(studio, typed, family, taken):
    assert tuple(intended(studio, typed, family).values()) == taken
