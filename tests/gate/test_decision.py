"""Judging: what is known, what several criteria come to, what depends on nothing else."""

from itertools import combinations

import numpy as np
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


def possible(total):
    """All tables of eight cells with so many people, shape (tables, 2, 2, 2)."""
    bars = np.array(list(combinations(range(total + 7), 7))).reshape(-1, 7)
    walls = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), total + 7)])
    return (np.diff(walls) - 1).reshape(-1, 2, 2, 2)


def ends(tables, true, told):
    """The least and the most of each cell in tables with the margins of the true one."""
    agree = np.ones(len(tables), dtype=bool)
    for names in told:
        away = tuple(i for i, name in enumerate("ABC") if name not in names)
        agree &= (
            (tables.sum(axis=tuple(i + 1 for i in away)) == true.sum(axis=away)).reshape(len(tables), -1).all(axis=1)
        )
    return np.stack([tables[agree].min(axis=0), tables[agree].max(axis=0)])


@pytest.mark.slow
def test_beside_an_exception_no_cell_is_known_better_by_enumeration():
    rng, tables, policy, answers = np.random.default_rng(1), possible(9), Policy(interval={"count": 2, "width": 3}), []
    for told in 5 * (["AB", "C"], ["A", "BC"], ["AB"], ["A", "B"]):
        true = rng.multinomial(9, rng.dirichlet(np.ones(8))).reshape(2, 2, 2)
        cells = [dict(zip("ABC", map(str, at), strict=True)) | {"n": int(true[at])} for at in np.ndindex(2, 2, 2)]
        data, held = (
            records_of(pl.DataFrame(cells), count="n", search=False),
            [Margin.of(map(Node, names)) for names in told],
        )
        for asked in ("AC", "BC", "C", "ABC"):
            wanted = Margin.of(map(Node, asked))
            if {*asked, *"".join(told)} != {*"ABC"} or is_known(data, held, wanted):
                continue
            before, after = ends(tables, true, told), ends(tables, true, [*told, asked])
            kept = (np.ptp(after, axis=0) >= 3) | ((np.ptp(before, axis=0) < 3) & (before == after).all(axis=0))
            found = judge(data, held, wanted, policy, broken=True).decision
            assert (found == "granted") == bool(kept[(true >= 1) & (true <= 2)].all())
            answers.append((found, judge(data, held, wanted, policy, broken=True, effort=-1).decision))
    assert {*answers} == {("refused", "refused"), ("granted", "undecided"), ("refused", "undecided")}


def test_rules_on_shares_alone_ask_nothing_of_counts():
    data = records_of(pl.DataFrame({"A": ["x", "x", "y"]}))
    assert judge(data, [], Margin.of([Node("A")]), Policy(dominance=["p(10)"])).granted
