"""The page of a table of totals in a real browser: nothing off the network or off the side, all by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from tests.e2e.test_report_browser import WIDTHS
from tests.e2e.visiting import until

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame(
        {
            "industry": rng.choice([f"industry {i}" for i in range(12)], 400),
            "region": rng.choice([f"region {i}" for i in range(14)], 400),
            "size": rng.choice(["small", "large"], 400, p=[0.9, 0.1]),
            "turnover": rng.lognormal(3, 1.5, 400).round(1),
        }
    )
    built = sf.tables.build(sf.read(frame), "industry,region,size", "turnover")
    done = sf.tables.protect(built, "n(3)", method="elimination")
    return sf.hand_out(done, tmp_path_factory.mktemp("table") / "release") / "report.html"


@pytest.mark.parametrize("width", WIDTHS)
def test_it_asks_for_itself_alone_and_nothing_runs_off_the_side(browser: Any, path: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(path.as_uri(), wait_until="networkidle")
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert asked == [path.as_uri()]
    assert complaints == []
    wide, window = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide == window
    page.close()


def test_a_wide_table_is_reached_and_scrolled_by_keyboard(browser: Any, path: Path) -> None:
    page = browser.new_page(viewport={"width": 500, "height": 700})
    page.goto(path.as_uri())
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "wide":
            break
    assert page.evaluate("document.activeElement.className") == "wide"
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(page, "document.activeElement.scrollLeft > 0")
    page.close()
