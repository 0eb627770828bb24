import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import FormulaError
from sfumato.tables.rules import Both, Either, Rule, leaves, read_rules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("n(3)", Rule("n", (3.0,))),
        (" n( 3 , 30 ) ", Rule("n", (3.0, 30.0))),
        ("p(10)", Rule("p", (10.0,))),
        ("pq(10,50)", Rule("pq", (10.0, 50.0))),
        ("nk(2,85)", Rule("nk", (2.0, 85.0))),
        ("zero(20)", Rule("zero", (20.0,))),
        ("attribute", Rule("attribute")),
        ("attribute(sex, age)", Rule("attribute", (), ("sex", "age"))),
        ("coalition(2)", Rule("coalition", (2.0,))),
    ],
)
def test_rules(text, rule):
    assert read_rules(text) == rule
    assert read_rules(rule.text) == rule


def test_and_binds_more_than_or():
    rule = read_rules("n(3) or p(10) and nk(1,50)")
    assert isinstance(rule, Either)
    assert isinstance(rule.parts[1], Both)
    assert [one.name for one in leaves(rule)] == ["n", "p", "nk"]
    assert read_rules(rule.text) == rule


@pytest.mark.parametrize(
    "text",
    [
        "", "  ", "n", "n()", "n(0)", "n(2.5)", "n(3,101)", "n(3", "n(3))", "n 3", "q(3)", "p(0)", "p(173)", "p(10,11)",
        "pq(50,10)", "pq(10)", "nk(0,85)", "nk(2,173)", "nk(1.5,85)", "n(3) n(4)", "n(3) or", "and n(3)", "p(-173)",
        "coalition(0)", "attribute(3)", "p(sex)", "zero(0)", "(" * 30 + "n(3)" + ")" * 30, "n(3) or " * 200 + "n(3)",
        "p(10);import os", "n(3),p(10)",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_without_its_numbers(text):
    with pytest.raises(FormulaError) as error:
        read_rules(text)
    assert "173" not in str(error.value)


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_refused(text):
    with contextlib.suppress(FormulaError):
        assert read_rules(text).text


def test_no_rules_and_too_many():
    with pytest.raises(FormulaError, match="No rule"):
        read_rules([])
    with pytest.raises(FormulaError, match="more than 50"):
        read_rules([f"n({i})" for i in range(1, 52)])


def test_parameters_of_shares_are_not_shown():
    rule = read_rules(["n(3)", "p(17)", "pq(17,55)", "(nk(2,85) and n(4))"])
    shown = f"{rule} {rule!r} {rule.public}"
    assert "n(3)" in shown
    assert not any(number in shown for number in ("17", "55", "85"))
