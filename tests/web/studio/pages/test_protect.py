"""The page Protect: cards in their order, one edit for each change, what is wrong beside it, what a step would do."""

from __future__ import annotations

import pytest

from tests.web.studio.entered import PLAN, entered


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    with entered(tmp_path_factory.mktemp("protect")) as both:
        yield both


@pytest.fixture
def open_(shared):
    """A studio and a client of it; the plan begins anew."""
    shared[0].planned.change("*", lambda _: PLAN)
    return shared


@pytest.fixture
def ask(open_):
    """Posts to the page with the tag of the plan as it is."""
    studio, client = open_

    def post(what: str, **form):
        sent = {"tag": studio.planned.etag, **{key.replace("__", "."): said for key, said in form.items()}}
        return client.post(f"/pages/protect/{what}", data=sent)

    return post


def lines(open_) -> list[str]:
    return open_[0].planned.text.splitlines()


def test_the_page_names_what_is_opened(open_):
    _, client = open_
    page = client.get("/protect?step=1")
    assert "<h1>Protect</h1>" in page.text
    assert 'hx-get="/pages/protect/steps?step=1&amp;add="' in page.text
    assert "style=" not in page.text
    part = client.get("/pages/protect/steps?step=1").text
    assert part.index("1. noise") < part.index("2. recode")
    assert 'name="p.band"' in part
    assert 'name="p.share"' not in part
    assert "Add a step" in part


def test_the_catalogue_leads_to_a_form(open_):
    _, client = open_
    assert "/protect?add=top_code" in client.get("/pages/protect/steps?add=choose").text
    assert 'name="p.quantile"' in client.get("/pages/protect/steps?add=top_code").text
    assert "Add a step" in client.get("/pages/protect/steps?add=nothing").text


def test_one_key_is_changed_and_its_comment_stays(open_, ask):
    answer = ask("save", step=0, p__columns="income", p__share="0.25", p__distribution="gaussian")
    assert "  - {do: noise, columns: [income], share: 0.25}  # a little" in lines(open_)
    assert 'id="plan" hx-swap-oob' in answer.text
    assert open_[0].planned.can_undo


def test_a_step_is_moved_switched_off_and_on_and_removed(open_, ask):
    before = lines(open_)
    ask("move", step=1, to=0)
    assert next(line for line in lines(open_) if "do:" in line) == "  - {do: recode, columns: [age], band: [40, 60]}"
    ask("move", step=0, to=1)
    assert lines(open_) == before
    assert "Switch on noise" in ask("off", step=0).text
    assert "  # off: - {do: noise, columns: [income], share: 0.1}  # a little" in lines(open_)
    ask("on", step=0)
    assert lines(open_) == before
    ask("remove", step=1)
    assert [line for line in lines(open_) if "do:" in line] == [before[before.index("steps:") + 2]]


def test_a_step_is_added_where_it_is_wanted(open_, ask):
    ask("add", do="merge_rare", p__columns="sex", p__min_count="5", at="1")
    assert [line for line in lines(open_) if "do:" in line][1] == "  - {do: merge_rare, columns: [sex], min_count: 5}"


def test_what_is_no_step_changes_nothing_and_keeps_what_was_typed(open_, ask):
    answer = ask("add", do="merge_rare", p__columns="sex", p__min_count="many")
    assert 'id="error-min_count"' in answer.text
    assert 'value="many"' in answer.text
    assert open_[0].planned.text == PLAN


def test_a_stale_edit_is_refused_and_says_what_changed(open_, ask):
    seen = open_[0].planned.etag
    ask("save", step=0, p__columns="income", p__share="0.25")
    answer = ask("remove", step=0, tag=seen)
    assert answer.headers["HX-Retarget"] == "#alarm"
    assert "0.25" in answer.text
    assert len([line for line in lines(open_) if "do:" in line]) == 2


def test_problems_of_a_step_stand_at_its_card(open_, ask):
    part = ask("save", step=1, p__columns="income", p__band="[40, 60]").text
    card = part[part.index('id="step-1"') :]
    assert "Problems of this step" in card[: card.index("</ul>")]


@pytest.mark.parametrize(
    ("bound", "value", "line"), [("at_least", "5", "at_least: 5"), ("at_most", "0.5", "at_most: 0.5")]
)
def test_a_limit_gets_another_bound(open_, ask, bound, value, line):
    ask("limit", limit=0, bound=bound, value=value, act="change")
    assert lines(open_)[-1] == f"  - {{measure: k_anonymity, {line}}}"


def test_a_limit_is_added_with_the_words_of_its_measure_and_removed(open_, ask):
    answer = ask("limit", measure="risk_highest", bound="at_most", value="0.2", group="keys")
    assert lines(open_)[-1] == "  - {measure: risk_highest, at_most: 0.2, group: keys}"
    assert "1 over its size" in answer.text
    ask("limit", limit=1, act="remove")
    assert open_[0].planned.text == PLAN
    assert "needs a number" in ask("limit", measure="risk_highest", bound="at_most", value="little").text


def test_the_preview_is_of_what_is_typed_and_saves_nothing(open_, ask):
    answer = ask("preview", step=1, p__columns="age", p__band="[50]").text
    assert "whole file, 120 records" in answer
    assert "below 50" in answer
    assert "<svg" in answer
    assert "style=" not in answer
    assert open_[0].planned.text == PLAN
    unfit = ask("preview", step=1, p__columns="age", p__band="[50").text
    assert "cannot be tried yet" in unfit
    assert "band" in unfit


def test_a_preview_names_no_category_of_few_and_no_id(open_, ask):
    answer = ask("preview", do="drop", p__columns=["id", "sex"]).text
    assert "different values" in answer
    assert "cannot" not in answer
