"""The page Trade-off: a number of the plan is searched, and taken."""

from __future__ import annotations

from html import unescape

import pytest

from sfumato.web.studio.pages.trade_off import _pictures
from tests.web.studio.pages.opened import looking, words


@pytest.fixture
def someone(tmp_path):
    with looking(tmp_path) as one:
        yield one


def test_numbers_of_the_plan_and_what_is_chosen_stand_in_the_form(someone):
    assert "/pages/trade-off/form?parameter=steps.0.k&amp;low=2" in someone.see("/trade-off?parameter=steps.0.k&low=2")
    part = someone.see("/pages/trade-off/form?parameter=steps.0.k&low=2&limits=linkage_nearest+%3C+0.5")
    assert '<option value="steps.0.k" selected>' in part
    assert "steps.0.k (now 3)" in part
    assert "linkage_nearest &lt; 0.5" in part


def test_a_range_that_is_no_number_is_told(someone):
    fields = {"parameter": "steps.0.k", "low": "two", "high": "5"}
    assert "lowest value is a number" in someone.send("/pages/trade-off/run", data=fields)


@pytest.mark.parametrize("number", ["0", "x", "-1"])
def test_nothing_can_be_taken_before_a_search(someone, number):
    assert "not there any more" in someone.send("/pages/trade-off/take", data={"number": number})


def test_each_measure_has_a_picture_of_its_own():
    path = [
        {"value": 1.0, "risk": 0.4, "utility": {"u": 0.1}, "met": False, "limit": "h_rank[h<3] < 0.1"},
        {"value": 2.0, "risk": 0.2, "utility": {"u": 0.2}, "met": False, "limit": "h_rank[h<3] < 0.1"},
        {"value": 3.0, "risk": 4.0, "utility": {"u": 0.3}, "met": True, "limit": "k_anonymity >= 3"},
        {"value": 4.0, "risk": None, "utility": {"u": 0.3}, "met": True, "limit": "k_anonymity >= 3"},
    ]
    first, second = _pictures({"path": path})
    assert (first["asked"], [one["number"] for one in first["points"]]) == ("h_rank[h<3]", [0, 1])
    assert (second["asked"], [one["number"] for one in second["points"]]) == ("k_anonymity", [2])
    assert all(value < 1 for _, value in first["across"])
    assert _pictures({"path": path[3:]}) == []


def test_the_frontier_has_a_point_and_a_line_for_each_value_and_one_is_taken(someone, monkeypatch):
    point = {"interval": [0.1, 0.3], "limit": "linkage_nearest <= 0.3", "replications": 3, "kept": 1.0}
    path = [
        {"value": 3.0, "risk": 0.4, "utility": {"u_main": 0.1}, "met": False, **point},
        {"value": 5.0, "risk": 0.2, "utility": {"u_main": 0.3}, "met": True, **point},
    ]
    told = {
        "parameter": "steps.0.k",
        "value": 5.0,
        "met": True,
        "limits": ["a"],
        "kept": None,
        "path": path,
        "notes": [],
    }
    monkeypatch.setattr("tests.web.studio.pages.opened.TASKS", {"tune": lambda work, progress: told})
    fields = {"parameter": "steps.0.k", "low": "2", "high": "6", "limits": "linkage_nearest <= 0.3", "kept": "0.9"}
    part = someone.send("/pages/trade-off/run", data=fields)
    assert "steps.0.k = 5 is the least that meets the limits" in words(part)
    assert part.count('<a href="#value-') == 2
    assert part.count(">Take it</button>") == 2
    assert "--range 2:6 --limit 'linkage_nearest <= 0.3' --kept 0.9" in unescape(part)
    after = someone.send("/pages/trade-off/take", data={"number": "1"})
    assert "is in the plan" in words(after)
    assert "k: 5" in someone.studio.planned.text
    assert "changed since this search" in words(someone.see("/pages/trade-off/result"))
