"""From a plan to a release, a better number, and a model on what was released, in a real browser; axe finds nothing."""

import zipfile

import pytest

from tests.e2e.test_studio_protect_browser import faults, page
from tests.e2e.visiting import plan, released

__all__ = ["page"]

pytestmark = pytest.mark.browser


def ran(page):
    page.goto(page.studio + "/release")
    released(page)
    return page.get_by_text("Download release").first


def test_a_release_is_run_taken_away_and_analysed(page, tmp_path):
    download = ran(page)
    assert faults(page) == []
    page.reload()  # a closed page finds what was done
    page.get_by_text("Download release").first.wait_for()
    with page.expect_download() as got:
        download.click()
    archive = tmp_path / "release.zip"
    got.value.save_as(archive)
    with zipfile.ZipFile(archive) as file:
        assert {"plan.yaml", "release/datapackage.json", "release/report.html"} <= set(file.namelist())
        assert file.read("plan.yaml").decode() == plan(page)

    page.goto(page.studio + "/analyse")
    page.locator("input[type=file]").first.set_input_files(str(archive))
    page.get_by_role("button", name="Open the archive").click()
    page.get_by_role("heading", name="A model").wait_for()
    assert faults(page) == []
    page.get_by_label("Or a formula as you would type it").fill("age ~ sex")
    page.get_by_role("button", name="Fit", exact=True).click()
    page.get_by_role("cell", name="Intercept").or_(page.get_by_role("rowheader", name="Intercept")).first.wait_for()
    assert faults(page) == []


def test_the_least_number_that_meets_a_limit_is_taken(page):
    page.goto(page.studio + "/trade-off")
    page.get_by_label("Lowest value").fill("0.05")
    page.get_by_label("Highest value").fill("0.5")
    page.get_by_label("Limits, one a line").fill("linkage_nearest <= 0.9")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="Take it").first.wait_for()
    assert faults(page) == []
    before = plan(page)
    page.get_by_role("button", name="Take it").last.click()
    page.get_by_role("button", name="Undo").and_(page.locator(":enabled")).wait_for()
    assert plan(page) != before
