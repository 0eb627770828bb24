"""Both reports in a real browser: nothing asked of the network, no complaint, nothing off the side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfumato.render import render
from sfumato.report.external import external
from tests.render import reports

pytestmark = pytest.mark.browser

WIDTHS = (1200, 360)


@pytest.fixture(scope="module", params=["internal", "external"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    report = reports.report() if request.param == "internal" else external(reports.report())
    file = tmp_path_factory.mktemp(request.param) / "report.html"
    file.write_bytes(render(report)["report.html"])
    return file


@pytest.fixture(params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Any, path: Path) -> Iterator[Any]:
    """The page as loaded, with what it asked for and complained of."""
    opened = browser.new_page(viewport={"width": request.param, "height": 900})
    opened.asked, opened.complaints = [], []
    opened.on("request", lambda r: opened.asked.append(r.url))
    opened.on("console", lambda m: opened.complaints.append(m.text))
    opened.on("pageerror", lambda e: opened.complaints.append(str(e)))
    opened.goto(path.as_uri(), wait_until="networkidle")
    opened.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    yield opened
    opened.close()


def test_it_asks_for_itself_alone_and_nothing_is_complained_of(page, path):
    assert page.asked == [path.as_uri()]
    assert page.complaints == []


def test_nothing_runs_off_the_side(page, tmp_path):
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide == window
    beyond = page.evaluate(
        """[...document.querySelectorAll('main *')].filter(e => !e.closest('svg, pre, .hidden'))
             .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert beyond == []
    shot = page.screenshot(full_page=True, path=tmp_path / "page.png")
    assert len(shot) > 20_000


def test_drawings_have_ink_and_legible_type(page):
    """Each drawing has its shape, and its smallest type is at least 7.5 pixels high on a phone."""
    sizes = page.evaluate(
        """[...document.querySelectorAll('svg')].map(s => {
             const box = s.getBoundingClientRect(), scale = box.width / s.viewBox.baseVal.width;
             const type = [...s.querySelectorAll('text')].map(t => parseFloat(getComputedStyle(t).fontSize) * scale);
             return [box.width, box.height, Math.min(...type)];
           })"""
    )
    assert len(sizes) >= 7
    for width, height, type_size in sizes:
        assert width > 250
        assert height > 80
        assert type_size >= 7.5


def test_the_custodians_banner_is_seen_on_arrival(page, path):
    banner = page.locator(".confidential")
    assert banner.count() == ("internal" in str(path))
    if banner.count():
        box = banner.bounding_box()
        assert box["y"] == 0
        assert box["height"] > 20


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_the_paper(browser, path, scheme):
    """Contrast of ink, muted ink and links to the paper: at least 4.5, as WCAG 2.1 asks (1.4.3)."""
    page = browser.new_page(color_scheme=scheme)
    page.goto(path.as_uri())
    colours = page.evaluate(
        """(() => {
             const of = (s, p) => getComputedStyle(document.querySelector(s))[p].match(/\\d+/g).map(Number);
             return [of('body', 'backgroundColor'), of('body', 'color'), of('.meta', 'color'), of('nav a', 'color')];
           })()"""
    )
    page.close()
    paper, *inks = map(luminance, colours)
    for ink in inks:
        bright, dark = max(ink, paper), min(ink, paper)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour: list[int]) -> float:
    """Relative luminance of an sRGB colour, by WCAG's formula."""
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (c / 255 for c in colour[:3])]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
