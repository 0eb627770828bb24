import pytest

from sfumato.errors import DataError, FormulaError
from sfumato.gate.analyses.request import Request, read_analysis
from sfumato.gate.margin import Node
from tests.gate.analyses.people import records

DATA = records()


def asked(kind="logistic", formula="died ~ age + sex", **more):
    return read_analysis(DATA, kind, formula, **more)


@pytest.mark.parametrize(
    "other",
    ["died ~ sex + age", "died ~ C(sex) + age", "`died` ~ age + sex + sex", "died ~ (sex) + age"],
)
def test_other_spellings_are_one_request(other):
    assert asked(formula=other).text == asked().text


@pytest.mark.parametrize(
    "other",
    ["died ~ age*sex", "died ~ C(age) + sex", "died ~ 0 + age + sex", "died ~ `age@band` + sex", "smoker ~ age + sex"],
)
def test_other_models_are_other_requests(other):
    assert asked(formula=other).text != asked().text


def test_what_it_is_about_is_part_of_it():
    one = asked(where={Node("ward"): ["b", "a"]})
    assert one.text == asked(where={Node("ward"): ["a", "b"]}).text
    assert one.text != asked(where={Node("ward"): ["a"]}).text
    assert one.scope_text != asked().scope_text
    assert asked(options={"complete_cases": "project"}).scope_text != asked().scope_text


def test_what_is_remembered_gives_the_request_back():
    one = asked("cox", "days ~ age*sex", where={Node("age", "band"): ["30-"]}, event="gone")
    assert Request.from_fit(one.protected_by("4")) == one


def test_models_of_a_project_have_one_scope():
    one = asked(options={"complete_cases": "project"})
    other = asked(formula="died ~ ward", options={"complete_cases": "project"})
    assert one.scope_text == other.scope_text
    assert asked(formula="died ~ sex", options={"complete_cases": ["age"]}).scope_text == asked().scope_text


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"kind": "nosuch"}, "no analysis of that kind"),
        ({"formula": "died ~ nosuch"}, "no variable 'nosuch'"),
        ({"formula": "died ~ `age@nosuch`"}, "no level 'nosuch'"),
        ({"formula": "died ~ age", "where": {Node("ward"): ["z"]}}, "group of 'ward'"),
        ({"formula": "died ~ age", "where": {Node("nosuch"): ["z"]}}, "no variable 'nosuch'"),
        ({"formula": "died ~ age + C(age)"}, "number and as categories"),
        ({"formula": "ward ~ age"}, "two values"),
        ({"formula": "stay ~ age"}, "two values"),
        ({"formula": "died ~ age", "where": {Node("died"): ["yes"]}}, "leaves one value"),
        ({"formula": "died ~ age", "options": {"positive": "maybe"}}, "`positive`"),
        ({"formula": "died ~ age", "options": {"nosuch": 1}}, "no option"),
        ({"formula": "died ~ age", "options": {"complete_cases": "some"}}, "`complete_cases`"),
        ({"formula": "died ~ age", "version": "v9"}, "no version"),
        ({"formula": "died ~ age", "event": "gone"}, "takes no `event`"),
        ({"kind": "cox", "formula": "days ~ age"}, "needs `event`"),
        ({"kind": "mixed", "formula": "cost ~ gp", "cluster": "gp"}, "clusters"),
        ({"kind": "mean", "formula": "sex ~ 1"}, "needs numbers"),
        ({"kind": "mean", "formula": "cost ~ age"}, "one factor or 1"),
        ({"kind": "t", "formula": "cost ~ ward"}, "two groups"),
        ({"kind": "correlation", "formula": "cost ~ sex"}, "two numbers"),
        ({"kind": "quantile", "formula": "cost ~ 1", "options": {"probability": 0.001}}, "`probability`"),
        ({"kind": "quantile", "formula": "cost ~ 1", "options": {"probability": "1e-1"}}, "`probability`"),
        ({"kind": "quantile", "formula": "cost ~ sex"}, "takes `~ 1`"),
        ({"kind": "crosstab", "formula": "sex ~ ward:died"}, "no products"),
        ({"kind": "chi2", "formula": "sex ~ 1"}, "of two variables"),
        ({"formula": "`died@` ~ age"}, "names no level"),
        ({"kind": "cox", "formula": "days ~ age", "event": "gone@"}, "names no level"),
        ({"kind": "linear", "formula": "cost ~ age", "options": {"positive": "zzz"}}, "takes no `positive`"),
        ({"kind": "probit", "formula": "died ~ 0 + age", "where": {Node("died"): ["no"]}}, "leaves one value"),
        ({"kind": "cox", "formula": "days ~ 0 + age", "event": "gone"}, "leave `0 \\+` out"),
    ],
)
def test_what_is_none_is_refused_by_the_codebook_alone(more, says):
    with pytest.raises(DataError, match=says):
        asked(**more)


@pytest.mark.parametrize(
    "text", ["died", "died ~ log(age)", "died ~ age; import os", "died ~ __import__('os')", "~ age"]
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(FormulaError):
        asked(formula=text)
