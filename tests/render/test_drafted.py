"""The screen of `init`: what happens to each column, what was tried, what to do next, on 24 lines of 80 columns."""

from __future__ import annotations

from sfumato.data.codebook import Variable
from sfumato.data.profile import Guess
from sfumato.plan.drafted import DraftedPlan, LeftOut, Tried
from sfumato.render.drafted import screen_of_draft

NEXT = [("sfumato protect", "plan.yaml", "a.csv", "--out release")]


def guess(name, role="other", **more):
    return Guess(name, Variable(role=role, kind="categorical", **more), f"the reason of {name}", certain=True)


def drafted(guesses, left_out=(), **more):
    kept = tuple(g.name for g in guesses if g.name not in {one.column for one in left_out})
    known = tuple(n for n in kept if n != "id")
    told = {"known": known, "unknown": (), "kept": kept, "left_out": left_out, "group": 5} | more
    return DraftedPlan(
        text="", purpose=told.pop("purpose", "scientific-use"), method=told.pop("method", "swap"), **told
    )


def test_a_wide_file_fits_a_small_terminal():
    guesses = [guess("id", "record"), *(guess(f"a very long name of a column {i}") for i in range(300))]
    gone = tuple(LeftOut(g.name, g.reason) for g in guesses[1:60])
    tried = Tried(0.13, 0.004, None, 2000, 0.03)
    lines = screen_of_draft(drafted(guesses, gone, tried=tried), guesses, "plan.yaml", NEXT, NEXT)
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    assert lines[0].startswith("DRAFTED  plan.yaml: every column that leaves counts as known")
    assert "54 more" in text
    assert "241 more" in text
    assert "13% found by nearest record (limit 20%)" in text
    assert "What can be guessed was not measured" in text
    assert "Lost:  241 of 300 columns left; correlations move by .03 on average." in text


def test_what_must_not_be_learned_and_outcomes_are_named():
    guesses = [guess("ill", "outcome"), guess("race", "key", sensitive=True), guess("sex", "key"), guess("town", "key")]
    lines = screen_of_draft(drafted(guesses), guesses, "plan.yaml", [], NEXT)
    assert [line.split()[0] for line in lines[3:6]] == ["ill", "race", "2"]
    assert lines[-2:] == ["Next:", "  sfumato protect plan.yaml a.csv --out release"]


def test_where_keys_are_named_the_rest_stays():
    guesses = [guess("sex", "key"), guess("q1"), guess("q2")]
    told = drafted(guesses, method="keys", known=("sex",), unknown=("q1", "q2"), open=True)
    text = "\n".join(screen_of_draft(told, guesses, "plan.yaml", [], NEXT))
    assert "sex counts as known, once it is said why nobody knows the rest" in " ".join(text.split())
    assert "nobody knows them: write why" in text


def test_what_cannot_be_released_is_said_alone():
    guesses = [guess("sex", "key")]
    told = drafted(guesses, because="it has fewer than 15 records")
    assert screen_of_draft(told, guesses, "plan.yaml", NEXT, NEXT) == [
        "This file cannot be released in this way because it has fewer than 15 records."
    ]
