"""Recode by the tree, in a real browser and by keys alone; the archive is run again on the command line."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.e2e.command import sfumato
from tests.e2e.test_studio_protect_browser import faults
from tests.e2e.visiting import picture, plan, released, visiting

pytestmark = pytest.mark.browser

N = 2400
PLAN = """sfumato: 1
title: People
variables:
  id: {role: record}
  town: {role: key, kind: categorical}
  job: {role: key, kind: categorical}  # a code
  age: {role: key, kind: integer}
steps:
  # broad ages
  - {do: recode, columns: [age], band: [50]}  # one number
"""
JOBS = "".join(f"J{i:04};J{i // 100:02};J;*\n" for i in range(1200))


def people() -> pl.DataFrame:
    rng = np.random.default_rng(4)
    towns = ["Leeds", "York", "Bath", "<i>Wells</i>", "\u05d7\u05d9\u05e4\u05d4"]
    return pl.DataFrame(
        {
            "id": np.arange(N),
            "town": [*rng.choice(towns, N - 3), "Ely", "Ely", "Rye"],
            "job": [f"J{i % 1200:04}" for i in range(N)],
            "age": rng.integers(20, 90, N),
        }
    )


@pytest.fixture
def page(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page of a studio with a secret."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    with visiting(browser, tmp_path, "people.csv", "--plan", "plan.yaml", "--secret-file", "key") as opened:
        yield opened


def box(page: Any, name: str) -> Any:
    return page.get_by_role("checkbox", name=name)


def until(page: Any, part: str) -> None:
    """Wait for a part of the plan."""
    at_rest = "!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"  # else a key may be lost
    page.wait_for_function(f"part => document.getElementById('plan-text')?.value.includes(part) && {at_rest}", arg=part)


def effect(page: Any) -> None:
    page.locator(".tried").get_by_text("People who share their keys").wait_for()


def group(page: Any, names: list[str], called: str) -> None:
    for name in names:
        box(page, name).press("Space")
    page.get_by_label("Name", exact=True).fill(called)
    page.keyboard.press("Enter")


def test_recode_by_the_tree_and_run_it_again_on_the_command_line(page, tmp_path):
    page.goto(page.studio + "/protect")
    page.get_by_role("link", name="Edit bands of age").press("Enter")
    page.get_by_label("Another band begins at").fill("35")
    page.keyboard.press("Enter")
    until(page, "band: [35, 50]}  # one number")
    effect(page)
    assert faults(page) == []
    page.get_by_role("button", name="Remove the band that begins at 50").press("Enter")
    until(page, "band: [35]}")
    page.get_by_label("Number of bands").fill("4")
    page.get_by_role("button", name="Equal counts").press("Enter")
    page.get_by_label("Band 4 begins at").wait_for()

    page.goto(page.studio + "/protect?add=recode")
    page.get_by_role("link", name="town", exact=True).press("Enter")
    box(page, "others ").wait_for()
    assert "Ely" not in page.locator(".recode").inner_text()
    assert "<i>Wells</i>" in page.locator(".recode").inner_text()
    assert faults(page) == []
    group(page, ["Leeds ", "York "], "North")
    page.wait_for_url("**/protect?step=1&recode=town*")
    effect(page)
    picture(page, "recode", page.locator(".recode"))
    assert faults(page) == []
    group(page, ["others "], "North")
    until(page, "Rye")
    assert page.evaluate("document.activeElement.name") == "pick"
    page.get_by_role("link", name="Show rare categories").or_(
        page.get_by_role("button", name="Show rare categories")
    ).press("Enter")
    box(page, "Ely 2 records").press("Space")
    page.get_by_role("button", name="Split").press("Enter")
    until(page, "Rye: North}")
    page.get_by_role("button", name="Undo").press("Enter")
    until(page, "Ely: North")
    box(page, "Ely 2 records").wait_for()

    page.goto(page.studio + "/protect?add=recode&recode=job")
    page.get_by_text("From a file, and into one").press("Enter")
    page.get_by_label("A mapping or a tree").set_input_files(str(tmp_path / "jobs.csv"))
    page.get_by_role("button", name="Take it in place of this one").press("Enter")
    page.wait_for_url("**/protect?step=2&recode=job*")
    until(page, "hierarchies: ")
    page.get_by_label("Look for a category").fill("J11")
    page.keyboard.press("Enter")
    page.wait_for_url("**find=J11*")
    box(page, "J11 ").press("Space")
    page.get_by_label("Name", exact=True).fill("J10")
    page.get_by_role("button", name="Rename").press("Enter")
    page.get_by_text("13 categories").or_(page.get_by_text("11 categories")).first.wait_for()
    effect(page)
    assert faults(page) == []
    again(page, tmp_path)


def again(page: Any, folder: Path) -> None:
    """Run the plan, take the archive, and run what is in it with the same secret: the folder is the same."""
    page.goto(page.studio + "/release")
    released(page)
    link = page.get_by_role("link", name="Download release").or_(page.get_by_role("button", name="Download release"))
    with page.expect_download() as got:
        link.press("Enter")
    got.value.save_as(folder / "release.zip")
    taken = folder / "taken"
    with zipfile.ZipFile(folder / "release.zip") as archive:
        archive.extractall(taken)
    assert (taken / "plan.yaml").read_text() == plan(page)
    assert [path.name for path in taken.glob("people.hierarchies-*/*")] == ["job.csv"]
    given = ("plan.yaml", folder / "people.csv", "--secret-file", folder / "key", "--out", "again")
    ran = sfumato("protect", *given, cwd=taken)
    assert ran.returncode == 0, ran.stderr
    first, second = (
        {str(p.relative_to(taken / name)): p.read_bytes() for p in (taken / name).rglob("*") if p.is_file()}
        for name in ("release", "again")
    )
    assert first == second
    assert {path.name for path in folder.iterdir()} == {
        *("people.csv", "jobs.csv", "plan.yaml", "key", "release.zip", "taken")
    }


CASE = "tests/e2e/test_studio_recode_browser.py::test_narrow_and_dark_pages_lose_nothing[360-dark]"
MORE = pytest.mark.nightly(of=CASE)
LOOKS = [(360, "dark"), pytest.param(360, "light", marks=MORE), pytest.param(1200, "dark", marks=MORE)]


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_narrow_and_dark_pages_lose_nothing(page, width, scheme):
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=scheme)
    for address in ("/protect?step=0&recode=age&all=yes", "/protect?add=recode&recode=town", "/protect?add=recode"):
        page.goto(page.studio + address)
        page.get_by_role("link", name="Close").first.wait_for()
        page.wait_for_load_state("networkidle")
        assert faults(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
