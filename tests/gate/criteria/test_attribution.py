"""What groups leave possible, by hand; soundness is in `tests/gate/test_soundness.py`."""

import polars as pl
import pytest

from sfumato.gate.decision import judge, together
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of

ROWS = [
    ("N", "F", "no", 9),
    ("N", "M", "no", 5),
    ("N", "M", "yes", 2),
    ("S", "F", "no", 4),
    ("S", "F", "yes", 4),
    ("S", "M", "maybe", 3),
]
RECORDS = records_of(
    pl.DataFrame(ROWS, schema=["area", "sex", "ill", "n"], orient="row"),
    count="n",
    levels={"ill": {"any": {"no": "no", "yes": "some", "maybe": "some"}}},
)


def margin(text):
    return Margin.of(Node(*one.split("@")) for one in text.split(","))


@pytest.mark.parametrize(
    ("tables", "rule", "granted"),
    [
        ("area,sex", "positive", True),  # says nothing of who is ill
        ("ill", "positive", True),
        ("area,ill", "positive", True),
        ("area,ill", "any", False),  # nobody in the north is a maybe
        ("area,sex,ill", "positive", False),  # all women of the north are well
        ("area,sex area,ill", "positive", True),
        ("area,sex sex,ill", "positive", True),
        ("area,sex,ill@any", "positive", False),
        ("sex,ill@any", "any", True),
        ("sex,ill", "any", False),
    ],
)
def test_by_hand(tables, rule, granted):
    policy = Policy(attribution={"variables": ["ill"], "rule": rule})
    assert together(RECORDS, [margin(one) for one in tables.split()], policy).granted == granted


def test_each_sensitive_variable_is_looked_at():
    policy = Policy(attribution={"variables": ["sex", "ill"], "rule": "positive"})
    assert not judge(RECORDS, [], margin("sex,ill"), policy).granted  # every maybe is a man
    assert judge(RECORDS, [], margin("sex,ill@any"), policy).granted
