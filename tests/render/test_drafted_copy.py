"""The screen of a drafted copy fits a terminal, and tells what the plan does not say."""

from __future__ import annotations

from sfumato.plan.drafted import DraftedPlan, LeftOut
from sfumato.plan.relations import Relation
from sfumato.plan.synthetic import SETTINGS
from sfumato.render.drafted_copy import screen_of_copy
from sfumato.tuning.synthetic import DraftedCopy, Trial

NEXT = [("sfumato protect", "plan.yaml", "a.csv"), ("sfumato init", "a.csv", "--synthetic")]


def screen(relations=(), trials=(), left_out=(), because=None):
    gone = tuple(LeftOut(n, "its name is that of an id, which several records share") for n in left_out)
    plan = DraftedPlan("", "scientific-use", "synthesise", ("age", "sex"), (), ("age", "sex"), gone, because=because)
    return screen_of_copy(DraftedCopy(plan, tuple(relations), tuple(trials), SETTINGS[0]), "plan.yaml", NEXT)


def test_the_fullest_screen_fits_a_terminal():
    relations = [Relation("order", ("a", "b"), f"a{i} <= {'b' * 60}") for i in range(20)]
    relations += [
        Relation("function", ("r", "d"), f"r{i} of d", written=False, because="few people have some of its values")
        for i in range(20)
    ]
    trials = [Trial(s, 0.93, 2.31, 1.2, 0.621, 0.313) for s in SETTINGS]
    lines = screen(relations, trials, ["a" * 40, "b" * 40, "c" * 40, "d"])
    assert len(lines) <= 28
    assert all(len(line) <= 80 for line in lines)
    assert any("exceeds" in line for line in lines)
    assert any("None meets the limits" in line for line in lines)


def test_what_is_not_written_says_why_and_exceptions_show():
    lines = screen(
        [
            Relation("sum", ("t", "a", "b"), "t = a + b", 0.996),
            Relation("function", ("r", "d"), "r of d", written=False, because="few people have some of its values"),
        ]
    )
    assert " t = a + b  99.6%  yes" in lines
    assert any("no: few people" in line for line in lines)
    assert any(line.startswith("Not written: add it if it is public knowledge") for line in lines)


def test_no_relation_and_nothing_to_release():
    assert "No sum, order, function, impossible cell or repeated row was found." in screen()
    assert screen(because="no column could stay")[0].startswith("This file cannot be released in this way because")
