"""One browser for all tests of a process; each opens pages in a context of its own, and what is looked at in a page."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from tests.parts import CHROMIUM, need

__all__ = ["at_rest", "browser", "violations"]

QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

STILL = """() => !document.querySelector(".htmx-swapping, .htmx-settling") && !document.getAnimations().some(
  (one) => one instanceof CSSTransition && one.effect.target.checkVisibility())"""
"""What is folded away may be on its way for ever."""


@cache
def _started() -> tuple[Any, Any]:
    playwright = import_module("playwright.sync_api").sync_playwright().start()
    return playwright, playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium; whoever asks for it first starts it, and it runs until all tests have."""
    need("browser")
    yield _started()[1]
    if _started.cache_info().currsize:
        playwright, running = _started()
        _started.cache_clear()
        running.close()
        playwright.stop()


@cache
def _axe() -> str:
    return str(import_module("axe_playwright_python.sync_playwright").Axe().axe_script)


def at_rest(page: Any) -> None:
    """Wait until a page has had its answers, and nothing moves there."""
    page.wait_for_function("() => !document.querySelector('.htmx-request')", polling=50)
    page.wait_for_function(STILL, polling=50)


def violations(page: Any, *rules: str) -> list[dict[str, Any]]:
    """What axe finds wrong on a page at rest, by these rules or by all; looked at again where anything is found.

    An answer that comes while axe looks sets things moving, and a button half way to its colour is too pale.
    """
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(_axe())
    return _look(page, rules) and _look(page, rules)


def _look(page: Any, rules: tuple[str, ...]) -> list[dict[str, Any]]:
    page.wait_for_function(STILL, polling=50)
    asked = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
    found: list[dict[str, Any]] = page.evaluate("async (asked) => (await axe.run(asked)).violations", asked)
    return found
