import pytest

from sfumato.data.finding import Finding, Findings
from sfumato.measures.saying import capital, judged, listed, percent, value_of, with_value, without_protection, worst


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0%"),
        (0.0004, "less than 0.1%"),
        (0.00898, "0.9%"),
        (0.0426, "4.3%"),
        (0.372, "37%"),
        (0.9996, "nearly 100%"),
        (1, "100%"),
    ],
)
def test_shares_in_words(share, words):
    assert percent(share) == words


LINES = [Finding("a", group="x"), Finding("a", group="y", value=0.2), Finding("b", value=0.7), Finding("c")]


def test_the_first_figure_that_has_a_value_is_spoken_of():
    found = Findings(tuple(LINES))
    assert with_value(found, "c", "a", "b") == [LINES[1]]
    assert with_value(found, "c") == with_value(found, "gone") == []


def test_the_worst_line_is_the_largest():
    assert worst(LINES) is LINES[2]
    assert [value_of(line) for line in LINES] == [0.0, 0.2, 0.7, 0.0]


def test_a_risk_stands_beside_its_baseline():
    assert without_protection(Finding("a", value=0.1, baseline=0.85)) == " (without protection: 85%)"
    assert without_protection(Finding("a", value=0.1)) == ""


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (0.21, "This is high"),
        (0.2, "below the 20%"),
        (0.1, "below the 20%"),
        (0.09, "below the 9%"),
        (0, "below the 9%"),
    ],
)
def test_the_usual_bounds_belong_to_what_keeps_them(value, says):
    assert says in judged([Finding("a", value=value), Finding("a")])


def test_lists():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "a", "c"]) == "a, b and c"
    assert capital("") == ""
    assert capital("the k") == "The k"
