import random

import pytest

from sfumato.measures.registry import figures
from sfumato.methods.registry import methods
from sfumato.plan.editing.completing import _OF_COLUMNS, complete, typed
from sfumato.plan.limits import Limit

COLUMNS = {"Age": "years", "Fare paid": "pounds", "Sex": ""}
HEAD = "sfumato: 1\ntitle: x  # a title\nvariables:\n  Age: {role: key}\n"


def _here(text, after=""):
    """What is offered at the end of a text, whatever comes after it."""
    lines = (HEAD + text).split("\n")
    whole = HEAD + text + after
    return [insert for insert, _ in complete(whole, len(lines), len(lines[-1]) + 1, COLUMNS)]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("steps:\n  - {do: ", ["noise", "drop", "recode"]),
        ("steps:\n  - do: ", ["noise", "drop", "recode"]),
        ("steps:\n- do: no", ["noise"]),
        ("steps: [{do: no", ["noise"]),
        ("steps:\n  - {do: drop, columns: [Age]}\n  - {do: no", ["noise"]),
        ("steps:\n  - {do: noise, ", ["columns: ", "sd: ", "by: "]),
        ("steps:\n  - do: noise\n    ", ["columns: ", "sd: ", "by: "]),
        ("steps:\n  - do: noise\n    columns: [Age]\n    s", ["share: ", "sd: "]),
        ("steps:\n  - do: noise\n    columns:\n      - Age\n    s", ["share: ", "sd: "]),
        ("steps:\n  - {do: noise, columns: [", ["Age", '"Fare paid"', "Sex"]),
        ("steps:\n  - {do: noise, columns: [Age, fa", ['"Fare paid"']),
        ('steps:\n  - {do: noise, columns: [Age, "Fa', ['"Fare paid"']),
        ("steps:\n  - {do: noise, columns: ", ["[Age]"]),
        ("steps:\n  - do: noise\n    by:\n    - ", ["Age", "Sex"]),
        ("steps:\n  - do: noise\n    by:\n      ", ["- Age", "- Sex"]),
        ("steps:\n  - {do: centroids, grouping: ", ["knn", "mdav", "variable", "optimal"]),
        ("steps:\n  - {do: centroids, rescale: ", ["true", "false"]),
        ("steps:\n  - {do: centroids, clip: {", ["Age: ", '"Fare paid": ']),
        ("steps:\n  - {", ["do: "]),
        ("steps:\n  ", ["- do: noise"]),
        ("steps:\n  - ", ["do: noise"]),
        ("limits:\n  - {measure: k_an", ["k_anonymity"]),
        ("limits:\n  - {measure: risk1, ", ["at_most: ", "at_least: "]),
        ("limits:\n  - {measure: risk1, variable: ", ["Age"]),
        ("limits:\n  - measure: risk1\n    at", ["at_most: ", "at_least: "]),
        ("  Sex: {role: ", ["key", "identifier", "sensitive"]),
        ("  Sex: {", ["role: ", "kind: "]),
        ("  Sex:\n    ki", ["kind: "]),
        ("  Sex:\n    kind: c", ["continuous", "categorical"]),
        ("  Se", ["Sex: "]),
        ("li", ["limits: ", "links: "]),
        ("order: ", ["input"]),
        ("tables:\n  a:\n    steps:\n      - {do: nois", ["noise"]),
        ("tables:\n  a:\n    variables:\n      Age: {kind: da", ["date"]),
    ],
)
def test_what_is_offered(text, some):
    assert set(some) <= set(_here(text))
    for after in ("\n", "}\n", "\nlimits: [\n", "\n  - {do: ["):
        assert set(some) <= set(_here(text, after)), after


@pytest.mark.parametrize(
    "text",
    [
        "# steps: ",
        "steps:\n  - {do: drop}  # no",
        "steps:\n  - do: derive\n    formula: |\n      no",
        "title: no",
        "steps:\n  - {do: zzz",
        "nothing: {like: ",
        "steps:\n  - {do: noise, sd: ",
    ],
)
def test_where_nothing_is_known_nothing_is_offered(text):
    assert _here(text) == []


def test_keys_and_columns_are_those_of_the_place():
    assert _here("steps:\n  - {do: drop, ") == ["columns: ", "reason: "]
    assert "columns: " in _here("steps:\n  - {", "do: drop}")
    assert "Age: " not in _here("  ")
    assert _here("steps:\n  - {do: drop, columns: [Age]}\n  - {do: drop, columns: [Age], r") == ["reason: "]


def test_every_method_and_measure_is_told_in_words():
    lines = "steps:\n  - {do: "
    assert [insert for insert, what in complete(lines, 2, 10) if what] == list(methods())
    lines = "limits:\n  - {measure: "
    assert [insert for insert, what in complete(lines, 2, 15) if what] == list(figures())


def test_the_word_that_is_replaced():
    assert typed("steps:\n  - {do: nois", 2, 14) == "nois"
    assert typed("steps:\n  - {do: noise, columns: [Fare pa", 2, 35) == "Fare pa"
    assert typed("steps: []  # no", 1, 16) == ""


def test_parameters_that_take_columns_are_parameters():
    known = {name for method in methods().values() for name in method.model_fields} | set(Limit.model_fields)
    assert known >= _OF_COLUMNS


def test_no_text_is_too_broken():
    draw = random.Random(3)
    whole = HEAD + "steps:\n  - {do: noise, columns: [Age], sd: 1}\n  - do: drop\n    columns:\n    - Sex\nlimits: []\n"
    for _ in range(300):
        cut = list(whole)
        for _ in range(draw.randrange(6)):
            cut[draw.randrange(len(cut))] = draw.choice("{}[],:-#'\"\n \\|é\t")
        text = "".join(cut)
        line = draw.randrange(1, text.count("\n") + 2)
        complete(text, line, draw.randrange(1, 40), COLUMNS)
    assert complete("", 1, 1) != []
    assert complete("a" + " " * 500_000, 1, 400_000) == []
    assert complete("a" + " " * 500_000 + "\nli", 2, 3) != []
    assert complete("", 9, 1) == complete("a", 0, 0) == []
