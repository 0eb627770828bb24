"""Judging: what is known, what several criteria come to, what depends on nothing else."""

import polars as pl
import pytest

from sfumato.gate.decision import is_known, judge, together
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of

ROWS = pl.DataFrame({"A": ["x", "x", "y", "y"], "B": ["p", "q", "p", "q"], "n": [20, 3, 0, 25], "pay": [1, 2, 3, 4]})
RECORDS = records_of(ROWS, count="n")
POLICY = Policy(interval={"count": 4, "width": 10})
A, B, BOTH = Margin.of([Node("A")]), Margin.of([Node("B")]), Margin.of([Node("A"), Node("B")])


def test_what_follows_from_one_known_table_is_granted_at_once_even_where_that_is_unsafe():
    strict = Policy(interval={"count": 40, "width": 80})
    for one in (A, B, BOTH, Margin()):
        answer = judge(RECORDS, [BOTH], one, strict)
        assert (answer.decision, answer.reasons, answer.stage, answer.work) == ("granted", ("known",), "known", 0)
    assert not judge(RECORDS, [A, B], BOTH, strict).granted


def test_own_codes_give_sums_of_them():
    assert is_known(RECORDS, [Margin.of([Node("A"), Node("pay")])], Margin.of([Node("A")], value="pay"))
    assert not is_known(RECORDS, [Margin.of([Node("A")])], Margin.of([Node("A")], value="pay"))
    assert not is_known(RECORDS, [Margin.of([Node("pay")])], Margin.of([Node("A")], value="pay"))
    assert not is_known(RECORDS, [Margin.of([Node("A"), Node("pay")], version="v2")], Margin.of([], value="pay"))


def test_a_simulatable_policy_gives_what_is_known_alone():
    policy = Policy(interval={"count": 1, "width": 2}, simulatable=True)
    assert judge(RECORDS, [A], B, policy).reasons == ("simulatable",)
    assert judge(RECORDS, [A], Margin(), policy).granted
    empty = records_of(ROWS.with_columns(n=0), count="n")  # whatever the data are
    assert judge(empty, [A], B, policy).reasons == ("simulatable",)


def test_the_first_criterion_that_does_not_hold_is_told():
    policy = Policy(interval={"count": 4, "width": 10}, attribution={"variables": ["B"]})
    assert judge(RECORDS, [], BOTH, policy).reasons == ("interval",)
    assert judge(RECORDS, [], BOTH, Policy(attribution={"variables": ["B"]})).reasons == ("attribution",)
    assert judge(RECORDS, [], A, policy).granted


def test_figures_of_a_decision():
    answer = judge(RECORDS, [], BOTH, POLICY)
    assert (answer.joint_cells, answer.small(4), answer.small(2)) == (4, 1, 0)
    assert answer.to_plain() == {
        "decision": "refused", "reasons": ["interval"], "stage": "released", "work": answer.work, "joint_cells": 4,
    }  # fmt: skip
    assert "case" not in repr(answer)


@pytest.mark.parametrize("broken", [False, True])
def test_who_knows_nothing(broken):
    assert judge(RECORDS, [], A, POLICY, broken=broken).granted
    assert not judge(RECORDS, [], BOTH, POLICY, broken=broken).granted
    assert together(RECORDS, [], POLICY).granted


def test_an_empty_data_set_has_no_small_cells():
    empty = records_of(ROWS.with_columns(n=0), count="n")
    assert judge(empty, [A], BOTH, POLICY).granted


def test_together_is_asked_one_by_one():
    assert together(RECORDS, [A, B], POLICY).decision == judge(RECORDS, [A], B, POLICY).decision
