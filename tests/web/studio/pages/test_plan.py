"""The plan's panel: what is offered while typing, how texts differ, ends of lines."""

import pytest

from tests.web.studio.pages.opened import PLAN, looking, words


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    with looking(tmp_path_factory.mktemp("plan")) as page:
        yield page


@pytest.fixture(autouse=True)
def _as_it_was(page):
    yield
    page.studio.planned.change("*", lambda _: PLAN)


def offered(page, text, **more):
    answer = page.client.post("/pages/plan/complete", data={"text": text, "caret": str(len(text)), **more})
    assert answer.status_code == 200
    return answer.json()


def inserts(page, text, **more):
    return [option["insert"] for option in offered(page, text, **more)["options"]]


def test_methods_parameters_and_columns_are_offered(page):
    _ = page.studio.opened.table
    assert inserts(page, "steps:\n  - {do: nois") == ["noise"]
    assert "columns: " in inserts(page, "steps:\n  - {do: noise, ")
    found = offered(page, "é: 😀\nsteps:\n  - {do: noise, columns: [ag")
    assert found == {"word": "ag", "options": [{"insert": "age", "what": "a column"}], "more": 0}
    whole = "steps:\r\n  - {do: noise, columns: [d]}\r\n"
    assert inserts(page, whole, caret=whole.replace("\r", "").index("]")) == ["dose", "id"]


def test_names_of_columns_are_offered_and_no_value_of_any(page):
    ids = {str(i) for i in range(60)}
    for text in (
        "variables:\n  id: {missing: [",
        "steps:\n  - {do: recode, columns: [id], map: {",
        "title: ",
        "limits: [",
    ):
        assert not ids & set(inserts(page, text))


@pytest.mark.parametrize("caret", ["", "-1", "x", "9" * 12, "99999999"])
def test_a_caret_that_is_nowhere_is_the_end(page, caret):
    assert inserts(page, "steps:\n  - {do: nois", caret=caret) == ["noise"]


def test_what_was_changed_is_told_place_by_place(page):
    assert "nothing differs" in page.see("/pages/plan/changes")
    page.studio.planned.change("*", lambda text: text.replace("k: 3", "k: 5") + "# <b>\n")
    text = page.see("/pages/plan/changes")
    assert "2 places differ" in text
    assert "k: 3, grouping: mdav}</del>" in text
    assert "k: 5, grouping: mdav}</ins>" in text
    assert "# &lt;b&gt;</ins>" in text


def test_a_plan_is_compared_with_any_file_and_stays(page):
    other = PLAN.replace("title: Small", "title: Large").replace("\n", "\r\n")
    text = words(page.send("/pages/plan/diff", data={"text": other, "name": "<i>.yaml"}))
    assert "to &lt;i&gt;.yaml: one place differs" in text
    assert "Line 2 − title: Small + title: Large" in text
    assert page.studio.planned.text == PLAN


def test_ends_of_lines_stay_and_a_file_brings_its_own(page):
    planned = page.studio.planned
    planned.change("*", lambda _: PLAN.replace("\n", "\r\n", 3))
    typed = PLAN.replace("k: 3", "k: 4").replace("\n", "\r\n")
    page.send("/pages/plan", data={"text": typed, "tag": planned.etag})
    assert planned.text == PLAN.replace("k: 3", "k: 4").replace("\n", "\r\n", 3)
    planned.change("*", lambda _: PLAN)
    page.send("/pages/plan", data={"text": PLAN, "tag": planned.etag, "ends": "crlf"})
    assert planned.text == PLAN.replace("\n", "\r\n")
