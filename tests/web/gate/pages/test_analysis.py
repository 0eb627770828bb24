"""The page that asks for analyses."""

import pytest

from sfumato.errors import DataError
from sfumato.web.gate.pages.analysis import formula_of
from sfumato.web.layout.forms import Given

ASK, KIND = "/pages/analysis/ask", "/pages/analysis/kind"


def test_the_form_lists_all_kinds(come):
    page = come("ann").see("/pages/analysis")
    assert page.heading == "Request an analysis"
    for kind in ("logistic", "linear", "survival", "histogram", "cox"):
        assert f'value="{kind}"' in page.text


def test_a_kind_asks_for_what_it_needs(come):
    ann = come("ann")
    assert 'name="event"' in ann.send(KIND, dataset="ward", kind="survival").text
    assert 'name="cluster"' in ann.send(KIND, dataset="ward", kind="mixed").text
    assert 'name="probability"' in ann.send(KIND, dataset="ward", kind="quantile").text
    assert 'name="event"' not in ann.send(KIND, dataset="ward", kind="linear").text
    assert 'role="alert"' in ann.send(KIND, dataset="ward", kind="nothing").text


def test_a_formula_is_made_of_what_was_chosen(world):
    book = world.gate.codebook("ward")
    chosen = [("response", "cost"), ("term", "sex"), ("term", "region@area"), ("term", "age"), ("term", "cost")]
    assert formula_of(Given(chosen), book) == "`cost` ~ C(`sex`) + C(`region@area`) + `age`"
    assert formula_of(Given([("response", "cost")]), book) == "`cost` ~ 1"
    with pytest.raises(DataError, match="Choose a response"):
        formula_of(Given([]), book)


def test_a_table_is_given_as_a_histogram_with_its_picture(come):
    page = come("ann").send(ASK, dataset="ward", kind="histogram", response="region@area")
    assert "Granted" in page.words
    assert "<svg" in page.text


def test_a_formula_takes_the_place_of_what_was_chosen(come, world):
    come("ann").send(ASK, dataset="ward", kind="crosstab", response="region", formula="sex ~ 1")
    assert world.gate.releases("ann")[0].content["by"] == [["sex", ""]]


def test_an_exact_model_says_so(come):
    page = come("ann").send(ASK, dataset="ward", kind="linear", response="cost", term="sex")
    assert "The fit is exact" in page.words
    assert "multiple of ten" not in page.words


def test_a_model_says_what_protection_cost(come):
    page = come("ann").send(ASK, dataset="ward", kind="linear", response="cost", term="age")
    assert "Granted" in page.words
    assert "times as wide" in page.words
    assert "se_added" in page.words


def test_what_is_wrong_is_told(come):
    ann = come("ann")
    assert "Choose a response" in ann.send(ASK, dataset="ward", kind="linear").words
    assert 'role="alert"' in ann.send(ASK, dataset="ward", kind="linear", formula="cost ~ exec(1)").text
    assert "no variable" in ann.send(ASK, dataset="ward", kind="linear", formula="cost ~ nothing").words
