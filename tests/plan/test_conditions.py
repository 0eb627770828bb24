import pytest

from sfumato.data.finding import Finding, Findings
from sfumato.errors import FormulaError
from sfumato.plan.conditions import Condition, parse_condition, parse_figure
from sfumato.plan.limits import Limit


@pytest.mark.parametrize(
    ("text", "limit", "strict"),
    [
        ("risk1 < 0.05", {"measure": "risk1", "at_most": 0.05}, True),
        (" risk1<=.05 ", {"measure": "risk1", "at_most": 0.05}, False),
        ("k_anonymity >= 5", {"measure": "k_anonymity", "at_least": 5}, False),
        ("ci_overlap[variable=bmi] > -1e-1", {"measure": "ci_overlap", "variable": "bmi", "at_least": -0.1}, True),
        (
            "linkage_nearest[group=stratum]<0.2",
            {"measure": "linkage_nearest", "group": "stratum", "at_most": 0.2},
            True,
        ),
        (
            "h_rank[h<3] < 0.1",
            {"measure": "h_rank", "at": 2, "group": "all", "attack": "worst", "at_most": 0.1},
            True,
        ),
        (
            "h_rank[h<=2, group=decile 10, attack=nearest] <= 0.1",
            {"measure": "h_rank", "at": 2, "group": "decile 10", "attack": "nearest", "at_most": 0.1},
            False,
        ),
        (
            "h_rank[at = 0] < 1",
            {"measure": "h_rank", "at": 0, "group": "all", "attack": "worst", "at_most": 1},
            True,
        ),
        (
            'class_size[group="a=1, b=""x"" [y]"] >= 3',
            {"measure": "class_size", "group": 'a=1, b="x" [y]', "at_least": 3},
            False,
        ),
        (
            "quantile[at=0.25,variable=body mass]<1",
            {"measure": "quantile", "at": 0.25, "variable": "body mass", "at_most": 1},
            True,
        ),
    ],
)
def test_limits_that_are_understood(text, limit, strict):
    assert parse_condition(text) == Condition(Limit(**limit), strict)
    assert parse_condition(str(parse_condition(text))) == parse_condition(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "begins with the name"),
        ("0.1 > risk1", "begins with the name"),
        ("risk9 < 1", "no measure 'risk9'"),
        ("risk1", "a comparison"),
        ("risk1 < ", "a comparison"),
        ("risk1 = 3", "a comparison"),
        ("risk1 < 5%", "a comparison"),
        ("risk1 < nan", "a comparison"),
        ("risk1 < inf", "a comparison"),
        ("risk1 < 1e999", "too large"),
        ("risk1 < 1 < 2", "a comparison"),
        ("risk1 < 1; import os", "a comparison"),
        ("risk1[] < 1", "is needed here"),
        ("risk1[group] < 1", "is needed here"),
        ("risk1[group=] < 1", "is needed here"),
        ("risk1[group= ] < 1", "needs a value"),
        ("risk1[group=a < 1", "is needed here"),
        ("risk1[group=a,] < 1", "is needed here"),
        ("risk1[group=a, group=b] < 1", "given twice"),
        ("risk1[colour=red] < 1", "there is no colour"),
        ("risk1[at=x] < 1", "at needs a number"),
        ("risk1[at=inf] < 1", "at needs a number"),
        ("risk1[h<3] < 1", "h is for h_rank"),
        ("h_rank[h<0] < 1", "never below 0"),
        ("h_rank[h<2.5] < 1", "is needed here"),
        ("h_rank[h>3] < 1", "is needed here"),
        ("h_rank[h<3, at=2] < 1", "given twice"),
        ('risk1[group="a] < 1', "is needed here"),
        ("risk1" * 300 + "< 1", "at most"),
    ],
)
def test_limits_that_are_not(text, complaint):
    with pytest.raises(FormulaError, match=complaint):
        parse_condition(text)


def test_a_figure_has_no_comparison():
    assert str(parse_figure("delta[variable=bmi]")) == "delta[variable=bmi]"
    with pytest.raises(FormulaError, match="nothing more"):
        parse_figure("delta < 1")


FOUND = Findings(
    (
        Finding("delta", variable="a", value=0.1),
        Finding("delta", variable="b", value=0.3),
        Finding("ci_overlap", variable="a", value=0.9),
        Finding("ci_overlap", variable="b", value=0.2),
        Finding("mean", variable="a", value=1.0),
        Finding("mean", variable="b", value=2.0),
        Finding("risk1", value=None),
    )
)


def test_of_several_figures_the_worst_counts():
    assert parse_figure("delta").of(FOUND) == 0.3
    assert parse_figure("ci_overlap").of(FOUND) == 0.2
    assert parse_figure("mean[variable=a]").of(FOUND) == 1
    assert parse_figure("risk1").of(FOUND) is None
    assert parse_figure("risk2").of(FOUND) is None
    with pytest.raises(FormulaError, match="none of them is the worst"):
        parse_figure("mean").of(FOUND)


def test_the_worst_of_what_a_limit_binds():
    assert parse_condition("delta < 0.2").worst(FOUND).variable == "b"
    assert parse_condition("delta > 0.2").worst(FOUND).variable == "a"
    assert parse_condition("risk1 < 0.2").worst(FOUND).value is None
    assert parse_condition("risk2 < 0.2").worst(FOUND) is None


def test_a_strict_limit_is_broken_by_its_bound():
    assert parse_condition("risk1 <= 0.2").holds(0.2)
    assert not parse_condition("risk1 < 0.2").holds(0.2)
    assert parse_condition("k_anonymity >= 5").holds(5)
    assert not parse_condition("k_anonymity > 5").holds(5)
    assert parse_condition("u_main <= 0").holds(0)
    assert parse_condition("u_main <= 0").excess(0.5) == 0.5
