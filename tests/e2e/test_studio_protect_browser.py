"""The pages Protect and Risk in a real browser, by labels and keys alone; axe finds nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.chromium import violations
from tests.e2e.visiting import plan, visiting
from tests.web.studio.entered import PLAN, people

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page of a studio on a small file."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "plan.yaml").write_text(PLAN)
    with visiting(browser, tmp_path, "people.csv", "--plan", "plan.yaml") as opened:
        yield opened


def faults(page: Any) -> list[str]:
    return [fault["id"] for fault in violations(page)]


def steps(page: Any) -> list[str]:
    return [line.split("do: ")[1].split(",")[0] for line in plan(page).splitlines() if "- {do:" in line]


def test_steps_are_moved_changed_and_added_by_keys(page):
    page.goto(page.studio + "/protect")
    handle = page.get_by_role("button", name="Move step 1, noise")
    handle.focus()
    page.keyboard.press("ArrowDown")
    page.get_by_role("button", name="Move step 2, noise").wait_for()
    assert page.evaluate("document.activeElement.dataset.move") == "1"
    assert steps(page) == ["recode", "noise"]
    page.get_by_role("button", name="Undo").press("Enter")
    page.get_by_role("button", name="Move step 1, noise").wait_for()  # the cards follow the plan
    assert plan(page) == PLAN
    assert faults(page) == []

    page.get_by_role("link", name="Change step 2, recode").press("Enter")
    page.get_by_text("Tried on the whole file").wait_for()
    assert faults(page) == []
    page.get_by_label("Band", exact=True).fill("[50]")
    page.get_by_text("below 50").first.wait_for(state="attached")
    assert plan(page) == PLAN  # tried, not saved
    page.get_by_role("button", name="Save the step").press("Enter")
    saved = re.compile(r"band: \[50\]")
    import_module("playwright.sync_api").expect(page.get_by_label("The plan as YAML")).to_have_value(saved)

    page.get_by_role("button", name="Add a step").press("Enter")
    page.get_by_role("link", name="merge_rare").press("Enter")
    page.get_by_label("Min count").fill("5")
    page.get_by_role("button", name="Add it to the plan").press("Enter")
    page.locator("#error-columns").wait_for()
    assert faults(page) == []
    assert page.get_by_label("Min count").input_value() == "5"
    page.get_by_role("group", name="Columns (needed)").get_by_label("sex").check()
    page.get_by_role("button", name="Add it to the plan").press("Enter")
    page.get_by_role("heading", name="3. merge_rare").wait_for()
    assert steps(page) == ["noise", "recode", "merge_rare"]
    page.get_by_role("button", name="Switch off step 3").press("Enter")
    page.get_by_role("button", name="Switch on merge_rare").wait_for()
    assert "# off: - {do: merge_rare" in plan(page)


def test_a_card_is_dragged(page):
    page.goto(page.studio + "/protect")
    page.locator("#step-1").get_by_role("heading").drag_to(page.locator("#step-0").get_by_role("heading"))
    page.get_by_role("heading", name="1. recode").wait_for()
    assert steps(page) == ["recode", "noise"]


CASE = "tests/e2e/test_studio_protect_browser.py::test_narrow_and_dark_pages_lose_nothing[360-dark]"
MORE = pytest.mark.nightly(of=CASE)
LOOKS = [(360, "dark"), pytest.param(360, "light", marks=MORE), pytest.param(1200, "dark", marks=MORE)]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_narrow_and_dark_pages_lose_nothing(page, width, scheme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for address in ("/risk", "/protect?step=1", "/protect?add=choose", "/protect?add=noise"):
        page.goto(page.studio + address)
        page.wait_for_load_state("networkidle")
        assert faults(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address


def test_who_stands_out_by_chosen_keys(page):
    page.goto(page.studio + "/risk")
    page.locator(".verdict", has_text="records are alone").wait_for()
    page.get_by_text("Keys: sex, age").press("Enter")
    page.get_by_role("group", name="Keys").get_by_label("age").uncheck()
    page.get_by_label("Sampling fraction").fill("5%")
    page.get_by_role("button", name="Look again").press("Enter")
    page.locator(".verdict", has_text="Nobody stands out by these keys").wait_for()
    assert "keys=sex" in page.url
    page.get_by_role("heading", name="Every measure, and its attacker").scroll_into_view_if_needed()
    page.get_by_text("Smallest group (k-anonymity)").wait_for()
    assert faults(page) == []
    page.reload()
    page.locator(".verdict", has_text="Nobody stands out by these keys").wait_for()
