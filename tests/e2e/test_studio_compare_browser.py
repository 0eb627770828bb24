"""The page Compare in a real browser: pictures that come into view, a model beside its release; axe finds nothing."""

from __future__ import annotations

import re
from importlib import import_module

import pytest

from tests.e2e.test_studio_protect_browser import faults, page
from tests.e2e.visiting import picture

__all__ = ["page"]

pytestmark = pytest.mark.browser
MODEL = "income ~ sex"


def ran(page, model=""):
    """Run the plan on the page, by keys alone."""
    page.goto(f"{page.studio}/compare")
    page.get_by_role("textbox", name="Intended model").fill(model)
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    page.get_by_role("heading", name="All figures").wait_for()


def expect(locator):
    return import_module("playwright.sync_api").expect(locator)


def test_pictures_come_into_view_and_a_model_stands_side_by_side(page):
    page.goto(f"{page.studio}/compare")
    page.get_by_text("no run of the plan on this file").wait_for()
    assert faults(page) == []
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    page.get_by_role("heading", name="All figures").wait_for()
    assert page.evaluate("document.activeElement.id") == "verdict"

    last = page.locator("figure.picture").last
    assert last.locator("svg[role=img]").count() == 0
    last.scroll_into_view_if_needed()
    last.locator("svg[role=img]").wait_for()
    last.locator("summary").press("Enter")
    last.get_by_role("table").wait_for()
    assert last.get_by_role("columnheader").all_inner_texts()[1].lower().startswith("original")
    family = page.locator("details", has_text="Loss: how far values moved")
    family.locator("summary").press("Enter")
    family.get_by_role("table").first.wait_for()
    assert faults(page) == []

    page.get_by_role("combobox", name="Outcome").select_option("income")
    box = page.get_by_role("checkbox", name="sex")
    box.press("Space")
    formula = page.get_by_role("textbox", name="Intended model")
    expect(formula).to_have_value(MODEL)
    formula.fill("income ~ sex*ill")
    formula.press("Tab")
    expect(box).not_to_be_checked()
    formula.fill(MODEL)
    formula.press("Tab")
    expect(box).to_be_checked()
    page.get_by_role("button", name="Fit to both").press("Enter")
    table = page.get_by_role("region", name="Coefficients side by side")
    table.wait_for()
    assert table.get_by_role("rowheader").all_inner_texts() == ["Intercept", "sex[T.m]"]
    assert "model=income" in page.url
    picture(page, "compare", table)
    assert faults(page) == []
    page.reload()  # a link gives the same
    table.wait_for()
    expect(formula).to_have_value(MODEL)

    page.get_by_label("The plan as YAML").fill(page.get_by_label("The plan as YAML").input_value() + "# more\n")
    page.get_by_role("button", name="Take what was typed").press("Enter")
    page.get_by_role("button", name="Undo").and_(page.locator(":enabled")).wait_for()
    page.reload()
    page.get_by_text("as they were before the last change").first.wait_for()
    assert page.get_by_role("button", name="Fit to both").count() == 0


def test_a_run_is_found_again_cancelled_and_may_fail(page):
    page.goto(f"{page.studio}/compare?model=ill+~+nothing&family=logistic")
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    page.locator("#result").get_by_role("alert").get_by_text(re.compile("nothing")).wait_for()
    assert faults(page) == []
    page.get_by_role("textbox", name="Intended model").fill("")
    page.get_by_role("button", name="Run", exact=True).press("Enter")
    page.get_by_role("button", name="Cancel").wait_for()
    page.reload()
    assert faults(page) == []
    cancel = page.get_by_role("button", name="Cancel")
    cancel.or_(page.get_by_role("heading", name="All figures")).first.wait_for()
    if cancel.count():  # it may have been done meanwhile
        cancel.press("Enter")
        page.get_by_text("The work was cancelled").or_(page.get_by_role("heading", name="All figures")).first.wait_for()
    assert faults(page) == []


def test_narrow_and_dark_pages_lose_nothing(page):
    ran(page, MODEL)
    page.get_by_role("region", name="Coefficients side by side").wait_for()
    for width, scheme in ((360, "light"), (1200, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        for figure in page.locator("figure.picture").all():
            figure.scroll_into_view_if_needed()
            figure.locator("svg[role=img]").wait_for()
        assert faults(page) == [], scheme
        assert page.evaluate("document.documentElement.scrollWidth") <= width
