"""The page Tables in a real browser: a table by keyboard alone, up to a command line that writes the same file."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.command import sfumato
from tests.e2e.test_gate_browser import clean, heading, wide
from tests.e2e.visiting import picture, visiting

pytestmark = pytest.mark.browser
TREE = "Leeds,North\nYork,North\nBath,South\nHull,North\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    lines = ["pupil,town,sex,ill,score"]
    towns = ["Leeds"] * 9 + ["York"] * 4 + ["Bath"] * 5 + ["Hull"]
    lines += [
        f"P{i:04},{towns[i % 19]},{'fm'[i % 2]},{'yes' if i % 11 == 0 else 'no'},{40 + i * 7 % 50}.5"
        for i in range(190)
    ]
    (folder / "pupils.csv").write_text("\n".join(lines) + "\n")
    return folder


BOTH = pytest.mark.parametrize(
    "page", [(1300, "light"), (360, "dark")], ids=["wide, light", "narrow, dark"], indirect=True
)


@pytest.fixture
def page(browser, folder, request) -> Iterator[Any]:
    """A studio on a file, at the page Tables."""
    width, scheme = getattr(request, "param", (1300, "dark"))
    look = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    with visiting(browser, folder, "pupils.csv", **look) as opened:
        opened.goto(opened.studio + "/tables")
        heading(opened, "Tables")
        opened.get_by_role("button", name="Protect the table").wait_for()
        opened.locator("#plan-text").wait_for()
        yield opened


def good(page):
    """Nothing that axe finds, and nothing that runs off the side."""
    assert clean(page) == []
    held, room = wide(page)
    assert held <= room


def reach(page, label):
    """Tab until a field or button has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        told = "[document.activeElement.getAttribute('aria-label'), document.activeElement.textContent.trim()]"
        if label in page.evaluate(told):
            return
    raise AssertionError(f"{label} cannot be reached by Tab")


def written(page, folder):
    """What the lines of the page write, in a terminal."""
    lines = page.get_by_text("sfumato table").filter(has=page.locator("xpath=self::code")).last.text_content()
    (folder / "table.csv").unlink(missing_ok=True)
    shutil.rmtree(folder / "built", ignore_errors=True)
    for line in lines.splitlines():
        words = shlex.split(line)
        done = sfumato(*words[1:], "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
    return (folder / "table.csv").read_bytes()


def downloaded(page, tmp_path):
    with page.expect_download() as got:
        page.get_by_role("button", name="Download the table").or_(
            page.get_by_role("link", name="Download the table")
        ).first.click()
    got.value.save_as(tmp_path / "got.csv")
    return (tmp_path / "got.csv").read_bytes()


@BOTH
def test_a_table_by_keyboard_alone_that_the_command_line_writes_again(page, folder, tmp_path):
    good(page)  # empty
    before = page.locator("#plan-text").input_value()
    reach(page, "Protect the table")
    page.keyboard.press("Enter")
    page.get_by_text("Choose at least one variable").wait_for()
    assert page.evaluate("document.activeElement.name") == "by1"
    good(page)  # an error
    page.keyboard.type("town")
    reach(page, "Variable 2")
    page.keyboard.type("ill")
    reach(page, "Protect the table")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="The audit was passed").wait_for()
    assert page.get_by_text("Choose at least one variable").count() == 0
    assert page.get_by_text("◆ primary").count() > 1  # in the grid, beside the key
    assert page.get_by_text("◇ secondary").count() > 1
    good(page)  # a table
    if page.evaluate("matchMedia('(prefers-color-scheme: light)').matches"):
        picture(page, "tables", page.get_by_role("heading", name="The audit was passed"))
    assert "by1=town&by2=ill" in page.url.replace("&tree1=", "")
    assert written(page, folder) == downloaded(page, tmp_path)
    page.reload()  # the address gives the same
    page.get_by_role("heading", name="The audit was passed").wait_for()
    page.goto(page.studio + "/tables")  # and the page finds it again
    page.get_by_role("heading", name="The audit was passed").wait_for()
    page.locator("#plan-text").wait_for()
    assert page.locator("#plan-text").input_value() == before


def test_a_pasted_hierarchy_rounding_and_what_each_method_would_lose(page, folder, tmp_path):
    page.get_by_label("Variable 1", exact=True).select_option("town")
    page.get_by_label("Variable 2", exact=True).select_option("ill")
    page.get_by_label("Variable 3", exact=True).select_option("sex")
    page.get_by_text("Send or paste a hierarchy").click()
    page.get_by_label("Or its text").fill("Leeds,\n,North\n")
    page.get_by_role("button", name="Take this hierarchy").click()
    page.get_by_text("has a gap").wait_for()
    good(page)
    page.get_by_label("Or its text").fill(TREE)
    page.get_by_role("button", name="Take this hierarchy").click()
    page.wait_for_url("**tree1=sent**")
    page.get_by_role("rowheader", name=re.compile("North.*a total")).first.wait_for(timeout=8000)
    with page.expect_download() as got:
        page.get_by_role("link", name="town.csv").click()
    got.value.save_as(folder / "town.csv")
    assert written(page, folder) == downloaded(page, tmp_path)
    page.get_by_label("Method", exact=True).select_option("round values")
    page.get_by_role("button", name="Protect the table").click()
    page.get_by_text("Changed", exact=True).wait_for()
    assert written(page, folder) == downloaded(page, tmp_path)
    page.get_by_role("button", name="Try every method").click()
    page.get_by_role("button", name="Cancel").or_(page.get_by_role("button", name="Try them again")).first.wait_for()
    page.get_by_role("rowheader", name="Hide cells: cheapest pattern").wait_for(timeout=120_000)
    good(page)
