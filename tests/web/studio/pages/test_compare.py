"""The page Compare: the report's pictures and figures by themselves, and a model beside its release."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import urlencode

import pytest

import sfumato as sf
from sfumato.web.studio.jobs import Job
from sfumato.web.studio.tasks import KEPT_BACK
from tests.web.studio.pages.opened import PLAN, looking, words

MODEL = {"model": "age ~ dose", "family": "linear"}
QUERY = urlencode(MODEL)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    with looking(tmp_path_factory.mktemp("home")) as someone:
        someone.send("/pages/compare/run", data=MODEL)
        someone.send("/pages/compare/fit", data=MODEL)
        yield someone


@pytest.fixture
def run(begun):
    """A studio whose plan was run, and a model fitted; what a test fits besides goes with it."""
    jobs = begun.studio.jobs._jobs
    kept = dict(jobs)
    yield begun
    jobs.clear()
    jobs.update(kept)


def awaited(part):
    """What is fetched once it comes into view."""
    return re.findall(r'hx-get="([^"]+)" hx-trigger="intersect once"', part)


def test_pictures_and_figures_are_fetched_as_they_come_into_view(run):
    part = run.see(f"/pages/compare/result?{QUERY}")
    assert "The limit holds" in words(part)
    assert "<path" not in part
    addresses = awaited(part)
    pictures = [one for one in addresses if "/picture/" in one]
    assert len(pictures) == len([one for one in addresses if "/figures/" in one]) >= 5
    assert [one for one in addresses if "/family/" in one]
    for address in addresses:
        came = run.see(address)
        assert " style=" not in came
        assert ("<svg" in came) == ("/picture/" in address)
        assert ("<table" in came) == ("/picture/" not in address)


def test_the_room_of_a_picture_is_kept_until_it_comes(run):
    part = run.see("/pages/compare/result")
    sizes = re.findall(r'<svg viewBox="0 0 ([\d. ]+)" aria-hidden', part)
    came = [run.see(one) for one in awaited(part) if "/picture/" in one]
    assert sizes == [re.search(r'viewBox="0 0 ([\d. ]+)"', one)[1] for one in came]


def test_every_figure_of_the_report_is_there_before_beside_after(run):
    addresses = [one for one in awaited(run.see("/pages/compare/result")) if "/family/" in one]
    told = "".join(run.see(one) for one in addresses)
    job = run.studio.jobs.last("protect")
    assert {finding["measure"] for finding in job.result["findings"]} <= set(re.findall(r"<code>(\w+)</code>", told))
    heads = re.findall(r"<thead>(.*?)</thead>", told)
    both = [words(head) for head in heads if "Original" in head]
    assert both
    assert all(head.index("Original") < head.index("Released") for head in both)


def test_coefficients_stand_side_by_side(run):
    part = run.see(f"/pages/compare/model?{QUERY}")
    found = run.studio.jobs.last("model").result
    for one in found["terms"]:
        for side in ("original", "released", "corrected"):
            assert f"{one[side]['estimate']:.4g}".replace("-", "−") in part
    said = words(part)
    assert said.index("Original") < said.index("Released") < said.index("Noise taken out Moved")
    assert "the coefficient that moved most" in said
    assert "Coefficients side by side" in part
    assert " style=" not in part


def test_the_commands_say_the_same(run, tmp_path):
    part = unescape(run.see(f"/pages/compare/model?{QUERY}"))
    assert "release/data.csv --plan small.plan.yaml --model 'age ~ dose' --family linear" in part
    assert "sfumato fit release --formula 'age ~ dose' --family linear" in part
    whole = unescape(run.see(f"/pages/compare/result?{QUERY}"))
    assert "--model 'age ~ dose' --family linear --internal-report internal.html" in whole
    job = run.studio.jobs.last("protect")
    data = job.work.out / "release" / "data.csv"
    measured = sf.compare(job.work.source.path, data, plan=sf.Plan.from_yaml(PLAN), model="age ~ dose", family="linear")
    told = [finding.value for finding in measured.select("standardised_difference")]
    found = run.studio.jobs.last("model").result
    assert [one["moved"] for one in found["terms"]] == pytest.approx(told)


def test_the_address_holds_the_model_and_the_editor_shows_it(run):
    page = unescape(run.see(f"/compare?{QUERY}"))
    assert f"/pages/compare/result?{QUERY}" in page
    assert "For you alone" in page
    part = run.see(f"/pages/compare/result?{QUERY}")
    assert 'value="age ~ dose"' in part
    assert '<option value="age" selected>' in part
    assert 'value="dose" checked' in part
    assert '<option value="linear" selected>' in part
    assert '<option value="id"' not in part


def test_another_model_in_the_address_is_fitted_when_the_page_is_opened(run):
    part = run.see("/pages/compare/model?model=dose+~+age&family=probit")
    assert 'hx-post="/pages/compare/fit"' in part
    assert 'hx-trigger="load"' in part
    assert "No model is fitted" in words(run.see("/pages/compare/model"))


def test_who_asked_is_led_to_the_model_and_others_are_left_where_they_are(run):
    assert "data-focus" in run.send("/pages/compare/fit", data=MODEL)
    part = run.send("/pages/compare/fit", data=MODEL | {"by": "page"})
    assert "data-focus" not in part
    assert 'data-say="The model was fitted."' in part


def test_models_that_were_fitted_before_are_found_again(run):
    run.send("/pages/compare/fit", data={"model": "age ~ 1", "family": "linear"})
    assert "Coefficients side by side" in run.see(f"/pages/compare/model?{QUERY}")
    assert "age ~ 1" in run.see("/pages/compare/model?model=age+~+1&family=linear")


def test_while_it_runs_it_is_followed_and_can_be_cancelled(run):
    for task, path in (("protect", "result"), ("model", "model")):
        running = run.studio.jobs._jobs["r"] = Job("r", run.studio.jobs.last(task).work)
        part = run.see(f"/pages/compare/{path}?{QUERY}")
        del run.studio.jobs._jobs["r"]
        assert running.state == "running"
        assert 'data-job="r"' in part
        assert ">Cancel</button>" in part
        assert re.search(rf"/pages/compare/{path}\?ended=\w+&amp;model=age", part)


@pytest.mark.parametrize(("state", "said"), [("failed", "no memory"), ("cancelled", "was cancelled")])
def test_a_fit_that_ended_without_a_result_is_told_and_not_begun_anew(run, state, said):
    fitted = next(one for one in run.studio.jobs.all("model") if one.work.options["model"] == MODEL["model"])
    job = run.studio.jobs._jobs["f"] = Job("f", fitted.work)
    job.tell(state=state, message="There was no memory.")
    part = run.see(f"/pages/compare/model?{QUERY}")
    del run.studio.jobs._jobs["f"]
    assert said in words(part)
    assert 'hx-trigger="load"' not in part


def test_the_family_that_suits_is_taken_where_none_is_chosen(run):
    run.send("/pages/compare/fit", data={"model": "dose ~ age"})
    assert run.studio.jobs.last("model").work.options["family"] == "linear"
    run.send("/pages/compare/fit", data={"model": "no formula"})
    assert run.studio.jobs.last("model").state == "failed"
    assert 'role="alert"' in run.see("/pages/compare/model?model=no+formula")
    run.send("/pages/compare/fit", data=MODEL)


@pytest.mark.parametrize(
    "path", ["picture/none/0/0", "figures/none/0/0", "groups/none/0/0", "family/none/0", "picture/{run}/99/0"]
)
def test_parts_of_a_run_that_is_gone_say_so(run, path):
    path = path.format(run=run.studio.jobs.last("protect").id)
    assert "load the page again" in run.see(f"/pages/compare/{path}")


def test_after_a_change_of_the_plan_it_is_said_and_can_be_run_again(run):
    studio = run.studio
    studio.planned.change("*", lambda text: text.replace("k: 3", "k: 4"))
    part = run.see("/pages/compare/result")
    assert "as they were before the last change" in words(part)
    assert 'hx-post="/pages/compare/run"' in part
    assert "Fit to both" not in part
    answer = run.client.post("/pages/compare/fit", data=MODEL)
    assert answer.headers["hx-retarget"] == "#alarm"
    assert "run it again" in answer.text
    studio.planned.undo()
    assert "Fit to both" in run.see("/pages/compare/result")


def test_a_run_on_another_file_is_none_of_this_one(run):
    job = run.studio.jobs.last("protect")
    work, other = job.work, replace(job.work.source, path=job.work.source.path.with_name("other.csv"))
    job.work = replace(work, source=other)
    part = run.see("/pages/compare/result")
    job.work = work
    assert "no run of the plan on this file" in words(part)
    assert awaited(part) == []


@pytest.mark.slow
def test_data_that_a_limit_holds_back_are_looked_at_here_alone(tmp_path):
    with looking(tmp_path, PLAN.replace("0.9", "0.001")) as someone:
        assert "no run of the plan" in words(someone.see("/pages/compare/result"))
        assert "<b>" not in someone.see("/compare?model=<b>&family=<b>")
        someone.send("/pages/compare/run")
        job = someone.studio.jobs.last("protect")
        assert job.result["release"] is None
        assert not (job.work.out / KEPT_BACK / "report.html").exists()
        part = someone.send("/pages/compare/fit", data=MODEL)
        assert "held back" in words(part)
        assert someone.studio.jobs.last("model").result["terms"]
        assert someone.client.get("/api/release.zip").status_code == 409


def test_without_a_file_it_says_where_to_open_one(tmp_path):
    with looking(tmp_path, None) as someone:
        assert "No file is open" in words(someone.see("/compare"))
