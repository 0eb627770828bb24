"""The page Data without a browser: what it shows, what it keeps back, and what its forms do to the plan."""

import html
import re

import pytest
from starlette.testclient import TestClient

from sfumato.release.secret import Secret
from sfumato.web.studio.application import serve
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import SEVERAL, Studio

PORT = 8765
ODD = '<b>"odd"</b>'
PLAN = """sfumato: 1
variables:
  name: {role: identifier}
  town: {role: key, kind: categorical, hierarchy: {Leeds: [North]}}
  age: {role: key, kind: integer, missing: [{code: -9, label: refused}]}
  income: {role: sensitive, kind: continuous}
steps:
  - {do: drop, columns: [name]}
"""


def rows():
    lines = [f'name,town,age,income,"{ODD.replace(chr(34), chr(34) * 2)}"']
    for i in range(60):
        town = "Atlantis" if i < 2 else "Leeds" if i % 2 else "York"
        lines.append(f"Zebedee{i:03},{town},{-9 if i == 7 else 20 + i % 40},{1000 + 17 * i}.5,{'xy'[i % 2]}")
    return "\n".join(lines) + "\n"


class Browser:
    """Somebody who looks at the studio's pages."""

    def __init__(self, studio) -> None:
        self.studio = studio
        base = f"http://127.0.0.1:{PORT}"
        cookie = studio.keys.spend(studio.keys.token())
        cookies = {f"sfumato_studio_{PORT}": cookie}
        self.client = TestClient(serve(studio, PORT), base_url=base, cookies=cookies, headers={"X-Sfumato": "1"})

    def see(self, path, **query):
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.text

    def send(self, path, **fields):
        answer = self.client.post(path, data=fields)
        assert answer.status_code in (200, 204), answer.text
        return answer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("start")
    (folder / "people.csv").write_text(rows())
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "broken.csv").write_text("a,b\n1,2\n3,4,5\n6,7\n")
    (folder / "notes.docx").write_text("no data")
    return folder


@pytest.fixture
def opened(folder):
    """Opens a studio, on the file or on nothing."""
    made = []

    def open_(file="people.csv", plan=None):
        source = None if file is None else Source(folder / file, {})
        studio = Studio(folder, source, None if plan is None else folder / plan, Secret(b"s" * 32, True))
        made.append(studio)
        return Browser(studio)

    yield open_
    for studio in made:
        studio.close()


@pytest.fixture(scope="module")
def page(folder):
    """One that is only looked at."""
    studio = Studio(folder, Source(folder / "people.csv", {}), folder / "plan.yaml", Secret(b"s" * 32, True))
    yield Browser(studio)
    studio.close()


def shown(text):
    """The variables of an answer."""
    return [html.unescape(name) for name in re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', text)]


def test_every_variable_has_its_line_and_names_are_no_html(page):
    assert "<h1>Data</h1>" in page.see("/data")
    text = page.see("/pages/data/variables", wait=True)
    assert shown(text) == ["name", "town", "age", "income", ODD]
    assert ODD not in text
    assert " style=" not in text
    assert "-9</code> refused" in text


def test_what_is_searched_for_stands_in_the_address(page):
    assert shown(page.see("/pages/data/variables", q="AG", wait=True)) == ["age"]
    assert shown(page.see("/pages/data/variables", role="key", wait=True)) == ["town", "age"]
    assert shown(page.see("/pages/data/variables", role="key", kind="integer", wait=True)) == ["age"]
    assert "No variable is so" in page.see("/pages/data/variables", q="zzz", wait=True)
    assert 'value="AG"' in page.see("/data", q="AG")


def test_identifiers_and_rare_categories_are_shown_when_asked_for_alone(page):
    lines = page.see("/data") + page.see("/pages/data/variables", wait=True) + page.see("/pages/data/reading")
    masked = page.see("/pages/data/picture", name="name")
    towns = page.see("/pages/data/picture", name="town")
    assert "Z•••• (60 different)" in masked
    assert "others (1)" in towns
    for text in (lines, masked, towns):
        assert "Zebedee" not in text
        assert "Atlantis" not in text
    assert "Zebedee000" in page.see("/pages/data/picture", name="name", everything=True)
    assert "Atlantis" in page.see("/pages/data/picture", name="town", everything=True)


def test_a_picture_has_its_figures_as_a_table(page):
    text = page.see("/pages/data/picture", name="age")
    assert text.count("<rect") >= 5
    assert text.count('<th scope="row">') >= 5
    assert "missing: 1" in text
    assert page.client.get("/pages/data/picture", params={"name": "nobody"}).status_code == 404


def test_a_hierarchy_says_what_it_does_not_list(page):
    text = page.see("/pages/data/variables", wait=True)
    assert re.search(r"incomplete</strong>: it does not list <code>York</code> and 1 rare value<", text)


def test_a_change_is_one_line_of_the_plan(opened):
    page = opened(plan="plan.yaml")
    answer = page.send("/pages/data/variable", name="age", key="role", value="outcome").text
    assert page.studio.planned.text == PLAN.replace("age: {role: key", "age: {role: outcome")
    assert '<tr id="v2" hx-swap-oob="outerHTML">' in answer
    assert 'id="plan" hx-swap-oob="outerHTML"' in answer
    page.send("/pages/plan/undo")
    assert page.studio.planned.text == PLAN
    told = page.send("/pages/data/variable", name="age", key="role", value="nothing")
    assert told.headers["HX-Retarget"] == "#alarm"
    assert page.studio.planned.text == PLAN


def test_label_codes_range_and_unit_are_changed_alone(opened):
    page = opened(plan="plan.yaml")
    form = {"name": "age", "label": "Age: last birthday", "missing": "-9, 97 to 99", "low": "0", "high": "", "unit": ""}
    page.send("/pages/data/more", **form)
    found = page.studio.planned.plan.variables["age"]
    assert found.label == "Age: last birthday"
    assert found.range == (0, None)
    assert [(m.code, m.low, m.high, m.label) for m in found.missing] == [
        (-9, None, None, "refused"),
        (None, 97, 99, None),
    ]
    before = page.studio.planned.text
    page.send("/pages/data/more", **form)
    assert page.studio.planned.text == before
    for wrong in ({"missing": "many"}, {"low": "x"}, {"low": "5", "high": "2"}):
        assert page.send("/pages/data/more", **{**form, **wrong}).headers["HX-Retarget"] == "#alarm"


def test_many_at_once_are_one_edit(opened):
    page = opened(plan="plan.yaml")
    answer = page.client.post(
        "/pages/data/many", data={"name": ["town", "income"], "set_role": "other", "set_kind": ""}
    )
    assert "2 variables changed" in answer.text
    roles = {name: str(v.role) for name, v in page.studio.planned.plan.variables.items()}
    assert roles == {"name": "identifier", "town": "other", "age": "key", "income": "other"}
    page.send("/pages/plan/undo")
    assert page.studio.planned.text == PLAN
    page.send("/pages/data/many", role="key", set_role="sensitive", all="yes")
    assert page.studio.planned.plan.variables["age"].role == "sensitive"
    assert page.studio.planned.plan.variables["name"].role == "identifier"
    assert page.send("/pages/data/many", set_role="key").headers["HX-Retarget"] == "#alarm"


def test_reading_anew_keeps_a_plan_that_was_changed(opened):
    page = opened()
    answer = page.send("/pages/data/reread", header="no", skip_rows="1")
    assert "plan=drafted" in answer.headers["HX-Redirect"]
    assert list(page.studio.planned.plan.variables) == ["c1", "c2", "c3", "c4", "c5"]
    page.send("/pages/data/variable", name="c2", key="role", value="key")
    written = page.studio.planned.text
    assert "plan=kept" in page.send("/pages/data/reread").headers["HX-Redirect"]
    assert page.studio.planned.text == written
    assert page.studio.opened.table.columns[0] == "name"
    wrong = page.send("/pages/data/reread", encoding="klingon")
    assert wrong.headers["HX-Retarget"] == "#alarm"
    assert page.studio.opened.table.columns[0] == "name"


def test_a_file_that_was_changed_is_told_and_read_again(opened, folder):
    (folder / "moving.csv").write_text(rows())
    page = opened("moving.csv")
    assert page.client.get("/pages/data/changed").json() == {"changed": False}
    assert page.studio.opened.table.frame.height == 60
    (folder / "moving.csv").write_text(rows() + "Zebedee999,York,30,2000.5,x\n")
    assert page.client.get("/pages/data/changed").json() == {"changed": True}
    assert re.search(r'<form id="changed"[^>]*hx-swap="none">', page.see("/data"))
    page.send("/pages/data/reread", **{"as": "before"})
    assert page.studio.opened.table.frame.height == 61


def test_a_plan_of_several_tables_is_shown_and_its_variables_changed(opened, folder):
    text = (
        "sfumato: 1\ntables:\n  people:\n    file: people.csv\n    variables:\n      age: {role: key, kind: integer}\n"
        "  homes:\n    file: homes.csv\nlinks:\n  - {from: people, to: homes, on: [town]}\n"
    )
    (folder / "several.yaml").write_text(text)
    (folder / "homes.csv").write_text("town,size\n" + "Leeds,1\nYork,2\n" * 9)
    page = opened(plan="several.yaml")
    told = page.see("/pages/data/tables")
    assert "people belongs to homes, by town" in told
    assert SEVERAL in told
    assert "The plan" in page.see("/pages/plan")
    page.send("/pages/data/variable", name="age", key="role", value="outcome")
    assert page.studio.planned.text == text.replace("role: key", "role: outcome")
    refused = page.client.post("/api/protect", json={"force": False})
    assert (refused.status_code, refused.json()["detail"]) == (422, SEVERAL)
    page.send("/pages/data/table", table="homes")
    assert page.studio.opened.source.path.name == "homes.csv"
    assert "outcome" in page.studio.planned.text
    assert shown(page.see("/pages/data/variables", wait=True)) == ["town", "size"]


def test_the_plan_is_kept_over_nothing_that_others_wrote(opened, folder):
    mine = folder / "people.plan.yaml"
    page = opened()
    mine.write_text("sfumato: 1\n# somebody else's\n")
    try:
        answer = page.send("/pages/plan/keep", keep="yes")
        assert answer.headers["HX-Retarget"] == "#alarm"
        assert "neither read nor wrote" in answer.text
        assert mine.read_text() == "sfumato: 1\n# somebody else's\n"
        assert "Go on with that one" in page.see("/pages/plan")
        page.send("/pages/plan/keep", keep="there")
        assert page.studio.planned.text == "sfumato: 1\n# somebody else's\n"
        page.send("/pages/data/variable", name="age", key="role", value="key")
        assert "age: {role: key}" in mine.read_text()
    finally:
        mine.unlink()


@pytest.mark.slow
def test_a_wide_table_comes_in_pieces(opened, folder):
    names = [f"v{i}" for i in range(120)]
    (folder / "wide.csv").write_text(
        "\n".join([",".join(names), *(",".join("12"[j % 2] for j in range(i, i + 120)) for i in range(9))])
    )
    page = opened("wide.csv")
    first = page.see("/pages/data/variables", wait=True)
    assert shown(first) == names[:50]
    assert "begin=50" in first
    last = page.see("/pages/data/variables", begin=100, wait=True)
    assert shown(last) == names[100:]
    assert "begin=" not in last
    assert last.lstrip().startswith("<tr")


def test_a_file_that_cannot_be_released_as_it_is_drafted_says_so_until_somebody_takes_over(opened, folder):
    few = (folder / "people.csv").read_text().splitlines()[:13]
    (folder / "few.csv").write_text("\n".join([*few, ""]))
    browser = opened("few.csv")
    notice = "This file cannot be released as it is drafted, because it has fewer than 15 records"
    assert notice in browser.see("/pages/data/variables", wait=True)
    changed = browser.send("/pages/data/many", name=["town"], set_role="sensitive", q="", role="", kind="").text
    assert "town" in changed
    assert notice not in changed
    assert "cannot be released" not in opened().see("/pages/data/variables", wait=True)
