"""The plan beside every page, in a real browser: offers while typing, a plan from a file, what differs."""

from __future__ import annotations

import pytest

from tests.e2e.test_gate_browser import clean
from tests.e2e.visiting import plan, until, visiting
from tests.web.studio.entered import PLAN, people

pytestmark = pytest.mark.browser
FOCUS = "document.activeElement.id"


@pytest.fixture(scope="module")
def opened(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    people().write_csv(folder / "people.csv")
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "other.yaml").write_bytes(PLAN.replace("share: 0.1", "share: 0.2").replace("\n", "\r\n").encode())
    (folder / "none.yaml").write_bytes(b"\xff\xfe")
    with visiting(browser, folder, "people.csv", "--plan", "plan.yaml") as page:
        page.folder = folder
        yield page


@pytest.fixture
def page(opened):
    opened.goto(opened.studio + "/risk")
    opened.locator("#plan-text").wait_for()
    return opened


def at(page, mark):
    """Put the caret behind a mark, as arrows would."""
    page.locator("#plan-text").focus()
    begin = plan(page).index(mark) + len(mark)
    page.evaluate(f"document.activeElement.setSelectionRange({begin}, {begin})")


def active(page):
    told = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.dataset.insert"
    return page.evaluate(told)


def test_a_step_is_typed_with_what_is_offered(page):
    offers = page.get_by_role("listbox", name="What may stand here")
    at(page, "band: [40, 60]}\n")
    page.keyboard.type("  - {do: merge")
    offers.wait_for()
    page.get_by_role("button", name="Take what was typed").wait_for()  # it comes in beside the list
    assert active(page) is None  # nothing is chosen before an arrow goes there
    assert clean(page) == []
    page.keyboard.press("ArrowDown")
    assert active(page) == "merge_rare"
    page.keyboard.press("Enter")
    page.keyboard.type(", col")
    offers.get_by_role("option", name="columns:").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUS) == "plan-text"
    page.keyboard.type("[s")
    offers.get_by_role("option", name="sex").click()
    assert page.evaluate(FOCUS) == "plan-text"
    page.keyboard.type("], min_count: 5}\n")
    page.get_by_text("Take what was typed, and it counts").wait_for()
    page.keyboard.press("Control+Enter")
    until(page, "!document.querySelector('#undo').disabled")
    assert plan(page) == PLAN.replace("60]}\n", "60]}\n  - {do: merge_rare, columns: [sex], min_count: 5}\n")
    page.get_by_role("button", name="Undo").click()
    until(page, "document.querySelector('#undo').disabled")


def test_the_list_takes_no_key_that_is_not_meant_for_it(page):
    offers = page.get_by_role("listbox", name="What may stand here")
    ask = page.get_by_role("button", name="What may stand here?")
    at(page, "role: ")
    page.keyboard.press("Control+ ")
    offers.wait_for()
    assert ask.get_attribute("aria-expanded") == "true"
    first = active(page)
    assert clean(page) == []
    page.keyboard.press("ArrowDown")
    assert active(page) != first
    page.keyboard.press("ArrowUp")
    assert active(page) == first
    page.keyboard.press("Escape")
    offers.wait_for(state="hidden")
    assert page.evaluate(FOCUS) == "plan-text"
    assert active(page) is None
    assert plan(page) == PLAN
    page.keyboard.press("Enter")
    assert plan(page) == PLAN.replace("role: ", "role: \n", 1)
    page.get_by_role("button", name="Put back what was there").click()
    at(page, "title: Peo")
    with page.expect_response("**/pages/plan/complete") as answer:
        page.keyboard.type("x")
    assert answer.value.json()["options"] == []  # nothing is known of titles
    page.evaluate("new Promise((done) => setTimeout(done))")  # and what was answered was looked at
    assert offers.is_hidden()
    page.get_by_role("button", name="Put back what was there").click()
    at(page, "steps:\n")
    page.keyboard.type("li")
    offers.wait_for()
    page.keyboard.press("Tab")  # nothing is chosen: it leaves the text
    assert page.evaluate(FOCUS) != "plan-text"
    offers.wait_for(state="hidden")
    page.get_by_role("button", name="Put back what was there").click()
    at(page, "do: ")
    ask.press("Enter")
    offers.get_by_role("option", name="anonymise").wait_for()
    page.locator("h1").click()
    offers.wait_for(state="hidden")
    assert plan(page) == PLAN


def test_a_plan_from_a_file_is_compared_and_put_in_place_byte_for_byte(page, tmp_path):
    page.get_by_text("What was changed", exact=True).click()
    page.get_by_text("nothing differs").wait_for()
    page.get_by_label("Compare with a plan file").set_input_files(str(page.folder / "other.yaml"))
    page.locator("#plan-beside", has_text="to other.yaml: one place differs").wait_for()
    assert "share: 0.2" in page.locator("#plan-beside ins").inner_text()
    assert plan(page) == PLAN
    assert clean(page) == []
    page.get_by_label("Compare with a plan file").set_input_files(str(page.folder / "none.yaml"))
    page.locator("#alarm", has_text="no text in UTF-8").wait_for()
    page.get_by_text("Open a plan from a file", exact=True).click()
    page.get_by_label("Plan file", exact=True).set_input_files(str(page.folder / "other.yaml"))
    page.get_by_text("Take what was typed, and it counts").wait_for()
    page.get_by_role("button", name="Take what was typed").click()
    until(page, "!document.querySelector('#undo').disabled")
    with page.expect_download() as got:
        page.get_by_role("link", name="Download the plan").click()
    got.value.save_as(tmp_path / "got.yaml")
    assert (tmp_path / "got.yaml").read_bytes() == (page.folder / "other.yaml").read_bytes()
    page.get_by_text("What was changed", exact=True).click()
    page.get_by_text("Since it was drafted or opened: one place differs").wait_for()
    page.get_by_role("button", name="Undo").click()
    until(page, "document.querySelector('#undo').disabled")
    assert plan(page) == PLAN
