"""What is said of a protected table: each state in its words."""

from __future__ import annotations

import pytest

from sfumato.api.protect_table import TableAsked
from sfumato.tables.protect import INSIDER
from sfumato.web.studio.verdicts import NAMES, facts, methods, notes, verdict

HIDDEN = {
    "cells": 20,
    "primary": 3,
    "secondary": 2,
    "secondary_value": 12.5,
    "optimal": True,
    "method": "optimal",
    "audit": {"exact": 0, "below_level": 0, "useless": 0},
    "levels": {"asked": 6, "proved": 6, "short": 0, "unproved": 0},
    "unions": {"judged": 4, "unsafe": 0, "left": 0},
    "insiders": {"exact": 0, "below_level": 0},
    "ok": True,
    "notes": [],
}


@pytest.mark.parametrize(
    ("more", "state", "said"),
    [
        ({}, "ok", "no hidden cell can be worked out"),
        ({"audit": {"exact": 1, "below_level": 0}, "ok": False}, "bad", "1 unsafe cell can be worked out exactly"),
        ({"audit": {"exact": 0, "below_level": 2}, "ok": False}, "bad", "2 unsafe cells can be bounded more closely"),
        ({"levels": {"unproved": 3}, "ok": False}, "bad", "Of 3 unsafe cells it was not proved"),
        ({"unions": {"unsafe": 1}, "ok": False}, "bad", "1 sum of hidden cells"),
        ({"insiders": {"exact": 1, "below_level": 0}, "ok": False}, "bad", "works out 1 unsafe one exactly"),
        (
            {"levels": None, "unions": None, "insiders": {"exact": None, "below_level": None}},
            "ok",
            "no hidden cell can",
        ),
        ({"insiders": {"exact": 2, "below_level": None}}, "warn", "works out 2 unsafe ones exactly"),
        ({"insiders": {"exact": 0, "below_level": 1}}, "warn", "bounds 1 unsafe one more closely"),
        ({"primary": 0, "secondary": 0}, "ok", "nothing had to be hidden"),
        ({"cells": 5}, "warn", "Every cell is hidden"),
    ],
)
def test_hiding(more, state, said):
    found = verdict(TableAsked(("a",)), HIDDEN | more)
    assert found["state"] == state
    assert said in " ".join([found["headline"], *found["sentences"]])


@pytest.mark.parametrize(
    ("audit", "state", "said"),
    [
        (None, "", "No audit"),
        ({"exact": 0, "mean_width": 3.25, "zeros": 1}, "ok", "3.25 wide"),
        ({"exact": 0, "mean_width": None, "zeros": 0}, "ok", "No finest cell"),
        ({"exact": 2, "mean_width": 1.0, "zeros": 0}, "bad", "2 finest cells can be worked out"),
    ],
)
def test_rounding(audit, state, said):
    found = verdict(TableAsked(("a",), method="round"), {"audit": audit})
    assert found["state"] == state
    assert said in " ".join([found["headline"], *found["sentences"]])


@pytest.mark.parametrize(("method", "told"), [("adjust", {"primary": 1}), ("recode", {}), ("perturb", {})])
def test_the_others_say_what_they_do_not_hold_against(method, told):
    assert verdict(TableAsked(("a",), method=method), told)["sentences"]


def test_what_the_verdict_says_is_not_said_again_and_options_are_named_as_on_the_page():
    assert notes({"notes": [INSIDER, "Leave --tell-unsafe (tell_unsafe) out."]}) == [
        "Leave “Publish which hidden cells are unsafe” out."
    ]
    assert notes({}) == []


def test_figures_in_words():
    loss = {"cells": 20, "hidden": 5, "changed": 0, "change": 0}
    told = dict(facts(TableAsked(("a",)), HIDDEN, {"loss": loss}))
    assert told["Unsafe by the rules"] == 3
    assert told["Found by"] == "the cheapest pattern; nothing cheaper exists"
    assert {one["name"] for one in methods([{"method": a, "way": b} for a, b in NAMES])} == set(NAMES.values())
