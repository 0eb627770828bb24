"""What a measure is: what it needs, who shows it, and when it is worth its time."""

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair
from sfumato.measures.measure import FAMILIES, Figure, Measure
from sfumato.measures.measuring import Measuring
from sfumato.measures.subject import Classes, Subject

TABLE = pl.DataFrame({"x": [1.0, 2.0], "sex": ["f", "m"]})


def measure(*needs, family="groups", **more):
    figures = (Figure("one", "One", "The first."), Figure("two", "Two", "The second."))
    return Measure(family, 10, "counting", frozenset(needs), figures, lambda subject: Findings(), **more)


def subject(**more):
    return Subject(sf.read(TABLE), **more)


PAIR = Pair(TABLE, TABLE, Codebook(), ("x",), aligned=True)
BARE = Pair(TABLE, TABLE, Codebook(), aligned=True)
CLASSES = {group: (Classes(group, ("sex",)),) for group in ("keys", "strata")}


@pytest.mark.parametrize(
    ("needs", "has", "can"),
    [
        (["table"], {}, True),
        (["pair"], {}, False),
        (["pair"], {"pair": BARE}, True),
        (["pair", "columns"], {"pair": BARE}, False),
        (["pair", "columns"], {"pair": PAIR}, True),
        (["pair", "disclosure"], {"pair": BARE}, True),
        (["pair", "model"], {"pair": PAIR}, False),
        (["pair", "model"], {"pair": PAIR, "how": Measuring(model="x ~ sex")}, True),
        (["table", "sensitive"], {}, False),
        (["table", "sensitive"], {"sensitive": ("sex",)}, True),
        (["table", "keys"], {"classes": CLASSES["strata"]}, False),
        (["table", "keys"], {"classes": CLASSES["keys"]}, True),
        (["table", "strata"], {"classes": CLASSES["keys"]}, False),
        (["table", "keys", "strata"], {}, False),
        (["table", "keys", "strata"], {"classes": CLASSES["keys"]}, True),
        (["table", "keys", "strata"], {"classes": CLASSES["strata"]}, True),
    ],
)
def test_needs(needs, has, can):
    """Of classes of keys and of strata one will do, where a measure names both."""
    assert measure(*needs).can(subject(**has)) == can


@pytest.mark.parametrize("family", FAMILIES)
def test_risk_is_shown_by_risk_and_loss_by_compare(family):
    of_risk = FAMILIES[family].startswith("Risk")
    made = measure("table", family=family)
    assert made.of_risk == of_risk
    assert made.faces == (("risk",) if of_risk else ("compare",))
    assert measure("table", family=family, faces=("risk", "compare")).faces == ("risk", "compare")


def test_what_is_not_always_worth_its_time_is_measured_when_somebody_asks():
    seldom = measure("table", when=lambda subject: False)
    assert measure("table").wanted(subject())
    assert not seldom.wanted(subject())
    assert not seldom.wanted(subject(asked=frozenset({"three"})))
    assert seldom.wanted(subject(asked=frozenset({"two"})))


def test_names_are_those_of_the_figures():
    assert measure().names == {"one", "two"}


def test_a_measure_says_nothing_unless_its_file_does():
    found = Findings((Finding("one", value=1.0),))
    assert measure().say(found, 1.0) is None
    assert measure().complain(found, 1.0) == ()


def test_a_figure_is_not_published_unless_its_file_says_how():
    assert Figure("one", "One", "The first.").published == "no"


@pytest.mark.parametrize(("better", "comparable"), [("low", True), ("high", True), ("change", True), ("near", False)])
def test_of_figures_that_should_stay_none_is_the_worst(better, comparable):
    assert Figure("one", "One", "The first.", better=better).comparable == comparable
