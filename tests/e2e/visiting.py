"""A studio in a real browser, as somebody who came in by its address; shared by the journeys."""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.e2e.command import serving, sfumato
from tests.parts import need
from tests.reasons import REASON

__all__ = ["files", "picture", "plan", "released", "repeated", "saved", "until", "visiting"]

PATIENCE = 90
"""Seconds after which something is taken for stuck; nothing here is expected to take a tenth of it."""
PICTURES = os.environ.get("SFUMATO_PICTURES")


@contextmanager
def visiting(browser: Any, folder: Path, *arguments: object, **look: Any) -> Iterator[Any]:
    """A page of a studio that was started in a folder; at the end nothing was asked elsewhere or complained of."""
    need("vendor")
    started = serving("studio", *arguments, "--no-browser", "--json", cwd=folder)
    url = json.loads(started.stdout.readline())["url"]
    asked: list[str] = []
    complaints: list[str] = []
    context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, "accept_downloads": True, **look})
    context.set_default_timeout(PATIENCE * 1000)
    try:
        page = context.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        page.wait_for_url("**/data")
        page.studio = url.partition("/?")[0]
        yield page
    finally:
        context.close()
        started.terminate()
        status = started.wait(20)
        started.stdout.close()
    assert status == 0
    elsewhere = {urlsplit(one).netloc for one in asked if not one.startswith(("data:", "blob:"))}
    assert elsewhere == {urlsplit(url).netloc}, elsewhere
    assert complaints == [], complaints


def plan(page: Any) -> str:
    """The plan's text as it stands beside the page."""
    return str(page.get_by_label("The plan as YAML").input_value())


def until(page: Any, told: str) -> None:
    """Wait for what a page tells of itself, as a function, for its policy forbids texts that are code."""
    page.wait_for_function(f"() => {told}", polling=50)


def released(page: Any) -> None:
    """Run the plan by the page Release, and answer what it asks: nobody outside knows any of it."""
    run = page.get_by_role("button", name="Run", exact=True)
    away = page.get_by_role("button", name="Download release")
    answer = page.get_by_role("button", name="Write it into the plan")
    run.click()
    away.or_(answer).wait_for()
    if answer.is_visible():
        for column in page.get_by_role("group", name="Nobody outside knows of anybody").get_by_role("checkbox").all():
            column.check()
        page.get_by_label("Why nobody outside knows them").fill(REASON)
        answer.click()
        page.get_by_text("before the last change").first.wait_for()
        assert REASON in plan(page)
        run.click()
    away.wait_for()


def saved(page: Any, name: str, to: Path, *, keys: bool = False) -> Path:
    """Download what a link leads to, by the mouse or by its key."""
    link = page.get_by_role("link", name=name).or_(page.get_by_role("button", name=name)).first
    with page.expect_download() as got:
        if keys:
            link.focus()
            page.keyboard.press("Enter")
        else:
            link.click()
    got.value.save_as(to)
    return to


def picture(page: Any, name: str, part: Any = None) -> None:
    """A picture of the page for docs/studio.md, where they are asked for by the folder that they go to.

    SFUMATO_PICTURES=docs/studio pytest -m browser tests/e2e/test_studio_*_browser.py
    """
    if PICTURES is None:
        return
    image = import_module("PIL.Image")
    if part is None:
        page.evaluate("window.scrollTo(0, 0)")
    else:
        part.evaluate("one => window.scrollTo(0, one.getBoundingClientRect().top + window.scrollY - 24)")
    page.wait_for_timeout(300)
    shown = page.context.new_cdp_session(page).send("Page.captureScreenshot")  # the other way puts a style in the page
    shot = image.open(io.BytesIO(base64.b64decode(shown["data"])))
    shot.convert("RGB").quantize(96).save(Path(PICTURES) / f"{name}.png", optimize=True)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def repeated(folder: Path, plan: Path, data: str, key: Path, *more: str) -> dict[str, bytes]:
    """What the command line makes of a downloaded plan with the same secret file."""
    done = sfumato("protect", plan, data, "--out", "again", "--secret-file", key, *more, cwd=folder)
    assert done.returncode == 0, done.stderr
    return files(folder / "again")
