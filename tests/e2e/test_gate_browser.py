"""The gate's pages in a real browser: an analyst's way and a steward's, by keyboard alone too, in both themes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.chromium import at_rest, violations
from tests.e2e.command import serving
from tests.parts import need

pytestmark = pytest.mark.browser

ANALYST = ("Datasets", "Request a table", "Request an analysis", "My releases")
STEWARD = ("People", "Policies", "Queue", "Maximal releases", "Ledger")


@contextmanager
def demo() -> Iterator[dict[str, Any]]:
    """A demo: where it is, and by whose name and password one comes in."""
    need("vendor")
    started = serving("serve", "--demo", "--records", "5000", "--port", "0", "--json", cwd=".")
    told = json.loads(started.stdout.readline())
    yield told
    started.terminate()
    assert started.wait(20) == 0
    started.stdout.close()


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, Any]]:
    """A demo for all tests here that give nobody more than is proved safe, and add nobody."""
    with demo() as told:
        yield told


@contextmanager
def opening(browser, served):
    """Opens a page for somebody; at the end nothing was asked elsewhere, and nothing was complained of."""
    contexts, asked, complaints = [], [], []

    def open_page(who: str | None = None, width: int = 1200, scheme: str = "light") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(served["url"] + "/login")
        if who is not None:
            password = next(user["password"] for user in served["users"] if user["id"] == who)
            page.get_by_label("Name", exact=True).fill(who)
            page.get_by_label("Password", exact=True).fill(password)
            page.get_by_role("button", name="Log in").click()
            heading(page, "Datasets")
        return page

    yield open_page
    for context in contexts:
        context.close()
    here = urlsplit(served["url"]).netloc
    assert {urlsplit(url).netloc for url in asked} == {here}
    assert complaints == []


@pytest.fixture
def opened(browser, served):
    with opening(browser, served) as open_page:
        yield open_page


def heading(page, name):
    """Wait for a page by its first heading."""
    page.get_by_role("heading", name=name, level=1, exact=True).wait_for()


def visit(page, name):
    """A page by its link."""
    page.get_by_role("link", name=name, exact=True).first.click()
    heading(page, name)


def wide(page):
    return page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")


def clean(page):
    """What axe finds wrong, in words."""
    return [f"{one['id']}: {node['html'][:120]}" for one in violations(page) for node in one["nodes"]]


def ask(page):
    """Press Ask once what the choices bring has come, for it moves the button."""
    at_rest(page)
    page.get_by_role("button", name="Ask", exact=True).click()


def asks(page, **chosen):
    for name, level in chosen.items():
        page.get_by_label(name, exact=True).select_option(f"{name}@{level}" if level else name)
    ask(page)


def test_an_analyst_asks_and_takes_away(opened):
    page = opened("ann")
    visit(page, "Request a table")
    page.get_by_label("sex", exact=True).select_option("sex")
    page.get_by_label("region", exact=True).select_option("region@setting")
    preview = page.locator("#preview")
    preview.get_by_text("6 lines").wait_for()  # two sexes, three settings: the codebook says so
    assert preview.locator("td.figure").all_inner_texts() == ["?"] * 6
    ask(page)
    page.get_by_role("heading", name="Granted").wait_for()
    assert page.locator("#answer tbody tr").count() == 6
    assert page.evaluate("document.activeElement.id") == "told"
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    text = Path(waiting.value.path()).read_text()
    assert text.splitlines()[0].split(",")[:2] == ["region@setting", "sex"]
    total = sum(int(line.split(",")[2]) for line in text.splitlines()[1:])
    assert total == 5000
    visit(page, "My releases")
    page.get_by_role("link", name="region@setting, sex").first.click()
    page.get_by_role("heading", name=re.compile(r"Release \d+"), level=1).wait_for()
    for form in ("XLSX", "Parquet"):
        with page.expect_download():
            page.get_by_role("button", name=f"Download {form}").click()
    with page.expect_download() as waiting:
        page.get_by_role("link", name="All of it with its papers").click()
    papers = json.loads(Path(waiting.value.path()).read_text())
    assert papers["ledger"]["hash"] in page.content()
    assert papers["disclosure"]


def test_a_part_is_shown_and_the_whole_is_decided(opened):
    page = opened("bob")
    visit(page, "Request a table")
    page.get_by_label("region", exact=True).select_option("region@area")
    parts = page.locator("#parts")
    parts.get_by_label("East", exact=True).wait_for()
    for other in ("East", "Midlands", "South"):
        parts.get_by_label(other, exact=True).uncheck()
    page.locator("#preview").get_by_text("1 line.").wait_for()
    ask(page)
    page.get_by_role("heading", name="Granted").wait_for()
    assert page.locator("#answer tbody th").all_inner_texts() == ["North"]


def test_a_refusal_says_why_and_offers_what_could_be_had(opened):
    page = opened("cat")
    visit(page, "Request a table")
    asks(page, age="", diagnosis="")
    page.get_by_role("heading", name="Refused").wait_for()
    answer = page.locator("#answer")
    assert "Small groups would be known too closely" in answer.inner_text()
    offers = answer.locator(".offers button")
    assert 1 <= offers.count() <= 3
    offers.last.click()
    page.get_by_role("heading", name="Granted").wait_for()
    assert page.get_by_role("button", name="Download CSV").is_visible()


def test_a_model_comes_with_its_picture_and_what_protection_cost(opened):
    page = opened("ann")
    visit(page, "Request an analysis")
    page.get_by_label("Response", exact=True).select_option("event")
    page.get_by_label("sex", exact=True).check()
    page.get_by_label("bmi", exact=True).check()
    ask(page)
    page.get_by_role("heading", name="Granted").wait_for()
    answer = page.locator("#answer")
    assert answer.locator("svg[role=img]").count() == 1
    assert answer.locator("thead th").all_inner_texts() == ["term", "estimate", "se", "se_added", "low", "high", "p"]
    assert "times as wide" in answer.inner_text()


def test_a_survival_curve_is_drawn(opened):
    page = opened("bob")
    visit(page, "Request an analysis")
    page.get_by_label("Kind", exact=True).select_option("survival")
    page.get_by_label("Event", exact=True).wait_for()
    page.get_by_label("Response", exact=True).select_option("time@quarter")
    page.get_by_label("Event", exact=True).select_option("event")
    ask(page)
    page.get_by_role("heading", name="Granted").wait_for()
    figure = page.locator("#answer svg path").first
    assert figure.evaluate("e => getComputedStyle(e).stroke") == "rgb(10, 106, 161)"  # --released, not black


def test_wrong_words_are_told_beside_the_form(opened):
    page = opened()
    page.get_by_label("Name", exact=True).fill("ann")
    page.get_by_label("Password", exact=True).fill("not hers at all")
    page.get_by_role("button", name="Log in").click()
    page.locator("#wrong").get_by_role("alert").wait_for()
    assert "not right" in page.locator("#wrong").inner_text()


def test_a_steward_looks_ahead_and_decides(browser):
    with demo() as alone, opening(browser, alone) as opened:
        looks_ahead_and_decides(opened("sol"))


def looks_ahead_and_decides(page):
    for name in STEWARD:
        visit(page, name)
    visit(page, "People")
    page.get_by_label("Who", exact=True).select_option("cat")
    page.get_by_label("With whom", exact=True).select_option("north")
    page.get_by_role("button", name="See what would happen").click()
    seen = page.locator("#foreseen")
    seen.get_by_role("heading", name="What would join whom").wait_for()
    assert "ann" in seen.inner_text()
    assert seen.locator("svg[role=img]").count() == 1
    page.get_by_label("Name", exact=True).first.fill("dee")
    page.get_by_label("with all of south").check()
    page.get_by_role("button", name="Add the user").click()
    page.get_by_text("A password for the first login").wait_for()
    assert "dee" in page.locator("#people").inner_text()

    visit(page, "Policies")
    page.get_by_text("Change research").click()
    form = page.locator("details[open]")
    form.get_by_label("Criteria of research").fill("interval: {count: 3}\n")
    form.get_by_role("button", name="Dry run").click()
    form.get_by_role("alert").wait_for()
    form.get_by_label("Criteria of research").fill("interval: {count: 99, width: 400}\n")
    form.get_by_role("button", name="Dry run").click()
    form.get_by_text("Nothing is in force yet").wait_for()
    assert "would have been" in form.inner_text()

    visit(page, "Queue")
    page.get_by_role("button", name="Confirm and give").click()
    page.get_by_role("heading", name="Granted: the table was given").wait_for()
    page.get_by_text("No exception waits.").wait_for()

    visit(page, "Maximal releases")
    page.get_by_role("button", name="Look", exact=True).click()
    page.locator("#found").wait_for()
    assert page.locator(".found svg[role=img]").count() == 1
    assert page.locator(".found tbody tr").count() == 15  # all tables of four variables

    visit(page, "Ledger")
    page.get_by_label("Who", exact=True).select_option("cat")
    page.get_by_role("button", name="Search").click()
    page.get_by_text("exception").first.wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Export all").click()
    lines = Path(waiting.value.path()).read_text().splitlines()
    assert [json.loads(line)["seq"] for line in lines] == list(range(1, len(lines) + 1))


def test_an_auditor_reads_and_changes_nothing(opened):
    page = opened("ida")
    for name in ("People", "Policies", "Maximal releases", "Ledger"):
        visit(page, name)
    visit(page, "People")
    assert page.get_by_role("button", name="Do it").count() == 0
    assert page.get_by_role("link", name="Queue", exact=True).count() == 0


def test_by_keyboard_alone(opened, served):
    """From the login to a table, without a mouse; where one is can always be seen."""
    page = opened()
    keys = page.keyboard

    def reach(name):
        for _ in range(80):
            keys.press("Tab")
            told = page.evaluate(
                """() => { const e = document.activeElement, s = getComputedStyle(e);
                    return [e.getAttribute('aria-label') || e.innerText || e.value || '', s.outlineStyle] }"""
            )
            assert told[1] != "none", told[0]
            if told[0].strip() == name:
                return
        raise AssertionError(f"{name} is not reached")

    reach("Name")
    keys.type("bob")
    reach("Password")
    keys.type(next(user["password"] for user in served["users"] if user["id"] == "bob"))
    keys.press("Enter")
    heading(page, "Datasets")
    keys.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "To the content"
    reach("Request a table")
    keys.press("Enter")
    heading(page, "Request a table")
    reach("sex")
    keys.press("ArrowDown")
    page.locator("#parts").get_by_label("F", exact=True).wait_for()
    reach("Ask")
    keys.press("Enter")
    page.get_by_role("heading", name="Granted").wait_for()
    reach("Download CSV")
    with page.expect_download():
        keys.press("Enter")


CASE = "tests/e2e/test_gate_browser.py::test_every_page_is_clean_and_nothing_runs_off_the_side"
LOOKS = [
    *((1200, "light"), (360, "dark")),  # each width and each theme
    *(
        pytest.param(*look, marks=pytest.mark.nightly(of=CASE + "[1200-light]"))
        for look in ((360, "light"), (1200, "dark"))
    ),
]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_every_page_is_clean_and_nothing_runs_off_the_side(opened, width, scheme):
    page = opened(None, width, scheme)
    wrong = {"login": clean(page)}
    visit(page, "Public releases")
    wrong["public"] = clean(page)
    page = opened("ann", width, scheme)
    for name in (*ANALYST, "Public releases", "Account"):
        visit(page, name)
        wrong[name] = clean(page)
        assert wide(page)[0] == width, name
    visit(page, "Request a table")
    asks(page, age="", diagnosis="")
    page.locator("#told").wait_for()
    wrong["refused"] = clean(page)
    assert wide(page)[0] == width
    page.locator(".offers button").last.click()
    page.get_by_role("heading", name="Granted").wait_for()
    wrong["granted"] = clean(page)
    assert wide(page)[0] == width
    page = opened("sue", width, scheme)
    for name in STEWARD:
        visit(page, name)
        wrong[name] = clean(page)
        assert wide(page)[0] == width, name
    assert {name: found for name, found in wrong.items() if found} == {}


def test_the_switch_of_themes_is_kept(opened):
    page = opened()
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = page.evaluate(paper)
    page.get_by_role("button", name="Theme: system").click()
    page.get_by_role("button", name="Theme: light").click()
    assert page.evaluate(paper) != light
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(paper) != light


def test_who_is_not_logged_in_is_led_to_the_login(opened, served):
    page = opened()
    page.goto(served["url"] + "/pages/ledger")
    heading(page, "Log in")


def test_what_goes_wrong_on_the_way_is_seen(browser, served):
    page = browser.new_page()
    page.goto(served["url"] + "/login")
    page.route("**/pages/login", lambda route: route.abort())
    page.get_by_label("Name", exact=True).fill("ann")
    page.get_by_label("Password", exact=True).fill("a password of hers")
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("The server cannot be reached").wait_for()
    page.unroute("**/pages/login")
    page.route(
        "**/pages/login",
        lambda route: route.fulfill(status=429, content_type="application/problem+json", body='{"detail": "Wait."}'),
    )
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("Wait.", exact=True).wait_for()
    page.close()


def test_logging_out_ends_it(opened, served):
    page = opened("ann")
    page.get_by_role("button", name="Log out").click()
    heading(page, "Log in")
    page.goto(served["url"] + "/pages/releases")
    heading(page, "Log in")
