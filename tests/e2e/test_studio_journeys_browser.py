"""Whole ways through the studio in a real browser, each to a release that the command line makes again byte for byte.

They make the pictures of docs/studio.md where they are told to, of invented people alone (`visiting.picture`).
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pyreadstat
import pytest

from tests.e2e.test_gate_browser import clean, heading
from tests.e2e.visiting import files, picture, plan, released, repeated, saved, until, visiting
from tests.web.studio.entered import PLAN, people

pytestmark = pytest.mark.browser
LABELS = {
    "person": "Number of the person",
    "sex": "Sex at birth",
    "age": "Age in years",
    "region": "Region of residence",
    "income": "Monthly income",
    "smoker": "Smokes now",
    "asthma": "Ever had asthma",
}
CODES = {
    "sex": {1: "female", 2: "male"},
    "region": {1: "North", 2: "South"},
    "income": {-9: "not answered"},
    "smoker": {0: "no", 1: "yes", -8: "refused"},
    "asthma": {0: "no", 1: "yes"},
}


def survey(path: Path, n: int = 600) -> None:
    """Invented people in a file of SPSS, with labels and missing codes."""
    rng = np.random.default_rng(11)
    columns = {
        "person": np.arange(1, n + 1),
        "sex": rng.choice([1, 2], n),
        "age": rng.integers(18, 90, n),
        "region": rng.choice([1, 2], n, p=[0.6, 0.4]),
        "income": np.where(rng.random(n) < 0.05, -9, rng.normal(2100, 400, n).round()),
        "smoker": rng.choice([0, 1, -8], n, p=[0.6, 0.35, 0.05]),
        "asthma": rng.choice([0, 1], n, p=[0.8, 0.2]),
    }
    pyreadstat.write_sav(
        pl.DataFrame(columns), path, column_labels=LABELS, variable_value_labels=CODES,
        missing_ranges={"income": [-9], "smoker": [-8]},
    )  # fmt: skip


def loaded(page, key):
    """The secret of a file."""
    page.get_by_label("A secret file").set_input_files(str(key))
    page.get_by_role("button", name="Load it", exact=True).click()
    page.get_by_text("keyed with a secret from a file").first.wait_for()


def unpacked(path):
    with zipfile.ZipFile(path) as file:
        begin = "release/"
        return {n.removeprefix(begin): file.read(n) for n in file.namelist() if n.startswith(begin) and n != begin}


def test_from_a_labelled_spss_file_to_k_anonymity(browser, tmp_path):
    survey(tmp_path / "survey.sav")
    (tmp_path / "start").mkdir()
    with visiting(browser, tmp_path / "start") as page:
        page.get_by_label("File", exact=True).set_input_files(str(tmp_path / "survey.sav"))
        page.get_by_role("button", name="Copy and open").click()
        page.wait_for_url("**/data?file=survey.sav")
        row = page.get_by_role("row").filter(has=page.get_by_label("Role of income", exact=True))
        row.get_by_text("Monthly income").wait_for()
        row.get_by_text("not answered").wait_for()
        page.get_by_label("Role of smoker", exact=True).select_option("key")
        until(page, "document.querySelector('#plan-text')?.value.includes('smoker: {role: key')")
        page.get_by_role("row", name="asthma").locator("svg").wait_for()
        picture(page, "data")
        assert clean(page) == []

        page.get_by_role("link", name="Risk", exact=True).click()
        page.locator(".verdict", has_text="are alone").wait_for()
        picture(page, "risk", page.get_by_role("heading", name="Who stands out"))

        page.get_by_role("link", name="Protect", exact=True).click()
        page.get_by_role("heading", name="1. swap").wait_for()
        page.get_by_role("button", name="Remove step 2").click()
        page.get_by_role("heading", name="2. pseudonymise").wait_for(state="detached")
        page.get_by_role("button", name="Remove step 1").click()
        page.get_by_text("There is no step yet").wait_for()
        for left in (2, 1, 0):  # nothing is masked any more, so that there is nothing to link
            page.get_by_role("button", name="Remove the limit on").last.click()
            until(page, f"document.querySelectorAll('[aria-label^=\"Remove the limit on\"]').length === {left}")
        page.get_by_role("button", name="Add a step").click()
        page.get_by_role("link", name="recode", exact=True).click()
        page.get_by_role("group", name="Columns (needed)").get_by_label("age").check()
        page.get_by_text("more settings, each with its default").first.click()
        page.get_by_label("Band", exact=True).fill("[30, 45, 60, 75]")
        page.get_by_role("button", name="Add it to the plan").click()
        page.get_by_role("heading", name="1. recode").wait_for()
        page.get_by_role("button", name="Add a step").click()
        page.get_by_role("link", name="anonymise", exact=True).click()
        keys = page.get_by_role("group", name="Keys (needed)")
        for name in ("sex", "age", "region", "smoker"):
            keys.get_by_label(name).check()
        page.get_by_text("Tried on the whole file").wait_for()
        k = page.get_by_role("row", name="Smallest group (k)").get_by_role("cell")
        k.first.wait_for()
        assert int(k.last.inner_text()) >= 5 > int(k.first.inner_text())
        picture(page, "protect", page.get_by_role("heading", name="What it does"))
        page.get_by_role("button", name="Add it to the plan").click()
        page.get_by_role("heading", name="2. anonymise").wait_for()
        assert clean(page) == []

        page.get_by_role("link", name="Release", exact=True).click()
        page.get_by_role("button", name="Make a secret").click()
        key = saved(page, "Download the secret", tmp_path / "sfumato.key")
        page.get_by_text("keyed with a secret from a file").first.wait_for()
        released(page)
        assert clean(page) == []
        picture(page, "release", page.locator("#verdict"))
        page.get_by_role("button", name="Write release").click()
        page.locator("#written", has_text="release").wait_for()
        written = files(tmp_path / "start" / "release")
        archive = unpacked(saved(page, "Download release", tmp_path / "release.zip"))
        downloaded = saved(page, "Download the plan", tmp_path / "mine.yaml")
        assert downloaded.read_text() == plan(page)
    assert not list(tmp_path.rglob("sfumato-studio-*"))
    assert archive == written == repeated(tmp_path, downloaded, "survey.sav", key)
    told = written["datapackage.json"].decode()
    assert all(LABELS[name] in told for name in ("sex", "age", "income", "asthma"))
    assert '"female"' in told


def test_noise_is_tuned_to_a_limit_and_released(browser, tmp_path):
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    with visiting(browser, tmp_path, "people.csv") as page:
        page.locator("#plan-text").wait_for()
        said = 'unknown:\n  - {columns: [id, income, ill], because: "asked for this file alone"}\nlimits:'
        asked = PLAN.replace("limits:", said) + "  - {measure: linkage_nearest, at_most: 0.05}\n"
        page.locator("#plan-text").fill(asked)
        page.keyboard.press("Control+Enter")
        until(page, "!document.querySelector('#undo').disabled")
        begin = plan(page).index("- {do: noise") + len("- {do: ")
        page.locator("#plan-text").focus()
        page.evaluate(f"document.activeElement.setSelectionRange({begin}, {begin})")
        page.keyboard.press("Control+ ")
        page.get_by_role("option", name="centroids").wait_for()
        picture(page, "plan", page.get_by_role("heading", name="The plan"))
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Trade-off", exact=True).click()
        page.get_by_label("Number of the plan").select_option("steps.0.share")
        page.get_by_label("Lowest value").fill("0.05")
        page.get_by_label("Highest value").fill("2")
        page.get_by_role("button", name="Search").click()
        page.get_by_role("button", name="Take it").first.wait_for()
        point = page.get_by_role("link", name="meets the limits").first
        assert clean(page) == []
        picture(page, "trade-off", page.get_by_role("img").or_(page.locator("figure.picture")).first)
        point.focus()
        page.keyboard.press("Enter")  # a point leads to its line
        until(page, "location.hash.startsWith('#value-')")
        line = page.locator(page.evaluate("location.hash"))
        value = line.get_by_role("button", name="Take it").get_attribute("aria-label").partition(": ")[2]
        line.get_by_role("button", name="Take it").click()
        page.get_by_text("is in the plan").first.wait_for()
        until(page, f"document.querySelector('#plan-text').value.includes('share: {value}')")
        page.get_by_role("link", name="Release", exact=True).click()
        loaded(page, tmp_path / "key")
        released(page)
        page.get_by_role("row", name="Right guesses").or_(page.get_by_text("holds")).first.wait_for()
        archive = unpacked(saved(page, "Download release", tmp_path / "release.zip"))
        downloaded = saved(page, "Download the plan", tmp_path / "mine.yaml")
    assert archive == repeated(tmp_path, downloaded, "people.csv", tmp_path / "key")


ODD = """\
sfumato: 1   # of this plan not a byte is lost
title: 'People: odd'\r
variables:
    id: {role: record}
    sex:
        role: key
        kind: categorical

    age: { role: key , kind: integer }  # years
    "income": {role: other, kind: continuous}
    ill: {role: sensitive, kind: categorical}
steps:
# incomes are blurred
- do: noise
  columns:
  - income
  share: 0.1
- {do: recode, columns: [age], band: [40, 60]}\r

unknown:
- columns: [id, income,   ill]
  because: "asked for this file alone, and told to nobody"
limits: [{measure: k_anonymity, at_least: 3}]
# the end"""


BEHIND = "one => !!(one.compareDocumentPosition(document.activeElement) & Node.DOCUMENT_POSITION_FOLLOWING)"
REST = "!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')"
"""Nothing of the page is about to be replaced: a key that comes meanwhile may be lost."""


def reached(page, wanted):
    """Go to something with Tab alone, or back with Shift."""
    wanted.wait_for()
    until(page, REST)
    key = "Shift+Tab" if wanted.evaluate(BEHIND) else "Tab"
    one = wanted.element_handle()
    for _ in range(150):
        there, stays, rests = one.evaluate(f"one => [one === document.activeElement, one.isConnected, {REST}]")
        if there and rests:
            return
        if not rests:
            until(page, REST)
        elif stays:
            page.keyboard.press(key)
        else:  # its part of the page came anew
            one = wanted.element_handle()
    raise AssertionError("it cannot be reached by Tab")


def chosen(page, name):
    """Choose from a list that is open, so that one change is made of it however slowly its name is typed."""
    page.keyboard.press("Space")
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def test_thirty_edits_are_undone_to_the_first_bytes_by_keyboard_alone(browser, tmp_path):
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "odd.yaml").write_bytes(ODD.encode())
    (tmp_path / "key").write_bytes(bytes(range(32)))
    arguments = ("people.csv", "--plan", "odd.yaml", "--secret-file", "key")
    with visiting(browser, tmp_path, *arguments) as page:
        text = page.locator("#plan-text")
        shown = ODD.replace("\r", "")
        texts = [shown]

        def edited(act):
            """An edit by keys: another text stands there, which no earlier one was."""
            act()
            until(page, f"{REST} && document.querySelector('#plan-text').value !== {json.dumps(texts[-1])}")
            texts.append(plan(page))

        text.wait_for()
        for role in ("other", "sensitive", "outcome", "key") * 2 + ("other", "key"):
            reached(page, page.get_by_label("Role of age", exact=True))
            edited(lambda role=role: chosen(page, role))
        reached(page, page.get_by_role("link", name="Protect", exact=True))
        page.keyboard.press("Enter")
        heading(page, "Protect")
        reached(page, page.get_by_role("button", name="Move step 1, noise"))
        for key in ("ArrowDown", "ArrowUp") * 3:
            edited(lambda key=key: page.keyboard.press(key))
            number = 2 if key == "ArrowDown" else 1
            until(page, f"document.activeElement.dataset.move === '{number - 1}'")
        for _ in range(2):
            reached(page, page.get_by_role("button", name="Switch off step 2"))
            edited(lambda: page.keyboard.press("Enter"))
            reached(page, page.get_by_role("button", name="Switch on recode"))
            edited(lambda: page.keyboard.press("Enter"))
        for bound in (4, 6, 8, 2, 3):
            reached(page, page.get_by_label("Bound of"))
            page.keyboard.press("Control+a")
            page.keyboard.type(str(bound))
            edited(lambda: page.keyboard.press("Enter"))
        for i in range(5):
            reached(page, text)
            page.keyboard.press("Control+Home")
            page.keyboard.type(f"# note {i}\n")
            edited(lambda: page.keyboard.press("Control+Enter"))
        assert len(texts) == 31
        undo = page.get_by_role("button", name="Undo")
        for before in reversed(texts[:-1]):
            reached(page, undo)
            page.keyboard.press("Enter")
            until(page, f"{REST} && document.querySelector('#plan-text').value === {json.dumps(before)}")
        assert undo.is_disabled()
        redo = page.get_by_role("button", name="Redo")
        reached(page, redo)
        page.keyboard.press("Enter")
        until(page, f"document.querySelector('#plan-text').value === {json.dumps(texts[1])}")
        reached(page, undo)
        page.keyboard.press("Enter")
        until(page, f"document.querySelector('#plan-text').value === {json.dumps(shown)}")
        downloaded = saved(page, "Download the plan", tmp_path / "mine.yaml", keys=True)
        assert downloaded.read_bytes() == ODD.encode()
        reached(page, page.get_by_role("link", name="Release", exact=True))
        page.keyboard.press("Enter")
        reached(page, page.get_by_role("button", name="Run", exact=True))
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Download release").wait_for()
        archive = unpacked(saved(page, "Download release", tmp_path / "release.zip", keys=True))
    assert archive == repeated(tmp_path, downloaded, "people.csv", tmp_path / "key")
