"""The page Data in a real browser: a file is opened, roles are changed by keyboard alone, nothing is lost or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.test_gate_browser import clean, heading, wide
from tests.e2e.visiting import until, visiting

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    lines = ["pupil,town,age,score"]
    lines += [f"P{i:04},{('Leeds', 'York', 'Bath')[i % 3]},{8 + i % 9},{40 + i % 50}.5" for i in range(300)]
    (folder / "pupils.csv").write_text("\n".join(lines) + "\n")
    (folder / "broken.csv").write_text("a,b\n1,2\n3,4,5\n6,7\n")
    return folder


@pytest.fixture
def page(browser, folder) -> Iterator[Any]:
    """A page of a studio without a file."""
    with visiting(browser, folder) as opened:
        yield opened


def filled(page):
    """Wait for every line, its picture, and the plan."""
    page.get_by_role("row", name="score").locator("svg").wait_for()
    page.locator("#plan-text").wait_for()


def by_keyboard(page, label):
    """Tab until a field has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == label:
            return
    raise AssertionError(f"{label} cannot be reached by Tab")


def test_from_no_file_to_changed_roles_by_keyboard_alone(page):
    heading(page, "Data")
    assert clean(page) == []
    by_keyboard(page, "Files that can be read")
    page.keyboard.type("pupils")
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.textContent") != "Open":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/data?file=pupils.csv")
    filled(page)
    assert clean(page) == []
    before = page.locator("#plan-text").input_value()
    by_keyboard(page, "Role of town")
    page.keyboard.type("sens")
    page.get_by_text("as the plan says").wait_for()
    assert page.evaluate("document.activeElement.id") == "role-v1"
    after = page.locator("#plan-text").input_value()
    changed = [(a, b) for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if a != b]
    assert len(changed) == 1
    assert "role: sensitive" in changed[0][1]
    page.get_by_role("button", name="Undo").focus()
    page.keyboard.press("Enter")
    until(page, "document.querySelector('#role-v1')?.value !== 'sensitive'")
    assert page.locator("#plan-text").input_value() == before


def test_many_at_once_and_what_is_searched_for(page):
    page.get_by_label("Files that can be read").select_option("pupils.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/data?file=pupils.csv")
    filled(page)
    page.get_by_label("Search").fill("o")
    until(page, "document.querySelectorAll('#variables tbody tr').length === 2")
    assert "q=o" in page.url
    page.get_by_label("Tick all that are shown").check()
    page.get_by_label("Role of many").select_option("other")
    page.get_by_role("button", name="Set for those ticked").click()
    page.get_by_text("2 variables changed").first.wait_for()
    until(page, "document.querySelector('[aria-label=\"Role of town\"]').value === 'other'")
    page.reload()
    page.get_by_label("Role of score").wait_for()
    assert page.get_by_label("Search").input_value() == "o"
    assert page.get_by_label("Role of town").input_value() == "other"
    page.get_by_label("Change label, codes, range and unit of score").click()
    page.get_by_label("Unit of score", exact=True).fill("points")
    page.get_by_label("Unit of score", exact=True).press("Enter")
    until(page, "document.querySelector('#plan-text').value.includes('unit: points')")


def test_what_is_typed_is_not_lost_and_problems_lead_to_their_line(page):
    page.get_by_role("button", name="Open the demo cohort").click()
    page.wait_for_url("**/data?file=cohort.csv")
    text = page.locator("#plan-text")
    text.wait_for()
    page.get_by_label("Role of sex").wait_for()
    before = text.input_value()
    text.fill(before + "steps: [\n")
    page.locator("[data-line]").first.click()
    assert page.evaluate("document.activeElement.id") == "plan-text"
    page.get_by_label("Role of sex").select_option("other")
    page.get_by_text("You typed into the plan").wait_for()
    assert text.input_value() == before + "steps: [\n"
    page.get_by_role("button", name="Put back what was there").click()
    assert text.input_value() == before
    text.fill(before + "# mine\n")
    text.press("Control+Enter")
    until(page, "!document.querySelector('#undo').disabled")
    page.locator("#plan-text").press("Tab")
    assert page.evaluate("document.activeElement.id") != "plan-text"


@pytest.mark.parametrize(("scheme", "width"), [("light", 360), ("dark", 1300)])
def test_a_broken_file_and_a_good_one_in_every_theme_and_width(page, scheme, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    page.get_by_label("Files that can be read").select_option("broken.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.locator("#alarm", has_text="broken.csv").wait_for()
    assert clean(page) == []
    page.get_by_label("Files that can be read").select_option("pupils.csv")
    page.get_by_role("button", name="Open", exact=True).click()
    page.wait_for_url("**/data?file=pupils.csv")
    page.get_by_label("Role of score").wait_for()
    for summary, button in (("How the file is read", "Read it so"), ("Open another file", "Open the demo cohort")):
        page.get_by_text(summary, exact=True).click()
        page.get_by_role("button", name=button).wait_for()  # what comes moves all below it
    page.get_by_text("What the roles mean", exact=True).click()
    page.get_by_label("Change label, codes, range and unit of age").click()
    page.get_by_label("Unit of age", exact=True).wait_for()
    assert clean(page) == []
    whole, window = wide(page)
    assert whole <= window
