"""Every page of the studio for everybody: light and dark, 360 px, 400% zoom (320 px), with a file and without one.

The file is a workbook, so that these are read in the studio too. Pages come from the studio's own list: later ones are
looked at without a word here.
"""

from __future__ import annotations

import pytest

from sfumato.web.studio.pages.frame import LINKS
from tests.e2e.test_gate_browser import clean, heading, wide
from tests.e2e.visiting import plan, until, visiting
from tests.web.studio.entered import PLAN, people

pytestmark = pytest.mark.browser
LOST = """() => {
  const reached = (one) => {
    for (let at = one.parentElement; at; at = at.parentElement) {
      if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return true;
    }
    return false;
  };
  const lost = [];
  const parts = "a, button, input, select, textarea, summary, h1, h2, h3, p, li, td, th";
  for (const one of document.querySelectorAll(parts)) {
    const box = one.getBoundingClientRect();
    const shown = one.checkVisibility({ visibilityProperty: true }) && !one.closest(".hidden, .skip, svg");
    if (!shown || box.width === 0 || reached(one)) continue;
    const cut = getComputedStyle(one).overflowX === "hidden" && one.scrollWidth > one.clientWidth + 1;
    if (box.left < -1 || box.right > window.innerWidth + 1) lost.push(one.outerHTML.slice(0, 120));
    else if (cut && one.tagName !== "SELECT") lost.push("cut: " + one.outerHTML.slice(0, 120));
  }
  return lost;
}"""
"""Whatever stands off the side or is cut off, where nothing scrolls to it."""


@pytest.fixture(scope="module")
def filled(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    people().write_excel(folder / "people.xlsx", worksheet="people")
    (folder / "plan.yaml").write_text(PLAN)
    with visiting(browser, folder, "people.xlsx", "--sheet", "people", "--plan", "plan.yaml") as page:
        yield page


@pytest.fixture(scope="module")
def empty(browser, tmp_path_factory):
    with visiting(browser, tmp_path_factory.mktemp("nothing")) as page:
        yield page


def whole(page, address, name):
    """A page with all that comes into it late, and everything that folds laid open."""
    page.goto(page.studio + address)
    heading(page, name)
    settled(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    settled(page)


def settled(page):
    page.wait_for_load_state("networkidle")
    until(page, "!document.querySelector('.htmx-request, [aria-busy=true]')")


def looked_at(page, address, name, looks):
    """What is wrong in these widths and themes."""
    wrong = []
    for width, scheme in looks:
        page.set_viewport_size({"width": width, "height": 800 if width > 320 else 256})
        page.emulate_media(color_scheme=scheme)
        whole(page, address, name)
        wrong += [f"{width} {scheme}: {one}" for one in clean(page)]
        for narrow in (width, 360) if width < 360 else (width,):
            page.set_viewport_size({"width": narrow, "height": 800 if narrow > 320 else 256})
            if narrow < 1000:
                wrong += [f"{narrow} lost: {one}" for one in page.evaluate(LOST)]
            scrolled, window = wide(page)
            if scrolled > window:
                wrong.append(f"{narrow}: the page scrolls sideways, {scrolled} px")
        assert page.get_by_role("navigation", name="Pages").get_by_role("link").count() == len(LINKS)
    return wrong


def everywhere(test):
    """Each page in each width and in each theme; by night also the other pairs of these."""
    case = f"tests/e2e/test_studio_everybody_browser.py::{test.__name__}"
    day = [pytest.param(name, path, ((1300, "light"), (320, "dark")), id=f"{name}-{path}") for name, path in LINKS]
    night = [
        pytest.param(
            *(name, path, ((1300, "dark"), (320, "light"), (360, "light"), (360, "dark"))),
            marks=pytest.mark.nightly(of=f"{case}[{name}-{path}]"),
            id=f"{name}-{path}-others",
        )
        for name, path in LINKS
    ]
    return pytest.mark.parametrize(("name", "address", "looks"), day + night)(test)


@everywhere
def test_a_page_with_a_file(filled, name, address, looks):
    assert looked_at(filled, address, name, looks) == []
    assert plan(filled) == PLAN


@everywhere
def test_a_page_without_a_file(empty, name, address, looks):
    assert looked_at(empty, address, name, looks) == []


def test_the_sheet_is_read_as_any_other_file(filled):
    filled.set_viewport_size({"width": 1300, "height": 800})
    whole(filled, "/data", "Data")
    assert filled.get_by_role("rowheader").all_inner_texts()
    for column in people().columns:
        filled.get_by_label(f"Role of {column}", exact=True).wait_for()
    assert filled.locator("code", has_text="--sheet people").count()
