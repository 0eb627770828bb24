"""The page Release: from a run to a folder that the command line writes too."""

from __future__ import annotations

import io
import zipfile
from html import unescape

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.web.studio.jobs import Job
from tests.web.studio.pages.opened import PLAN, looking, words

KEY = bytes(range(32))


@pytest.fixture(scope="module", autouse=True)
def _without_pictures():
    """Drawing takes most of the time of a run, and is looked at elsewhere: by `render`, and in the browser."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sfumato.render.plots.draw", lambda picture, name: ())
        patched.setattr("sfumato.render.parts.figures_of", lambda picture: ())
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def run(home):
    """A studio whose plan was run with a secret that was loaded."""
    with looking(home) as someone:
        someone.send("/pages/release/secret", files={"key": ("key", KEY)})
        someone.send("/pages/release/run", data={"model": "age ~ dose", "family": "linear"})
        yield someone


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_while_it_runs_it_is_followed_and_can_be_cancelled(run):
    done = run.studio.jobs.last("protect")
    running = run.studio.jobs._jobs["r"] = Job("r", done.work)
    part = run.see("/pages/release/result")
    del run.studio.jobs._jobs["r"]
    assert running.state == "running"
    assert 'data-job="r"' in part
    assert ">Cancel</button>" in part
    assert 'hx-trigger="work-over"' in part


@pytest.mark.parametrize(("state", "said"), [("failed", "no memory"), ("cancelled", "was cancelled")])
def test_work_that_ended_without_a_result_is_told_in_a_sentence(run, state, said):
    job = run.studio.jobs._jobs["f"] = Job("f", run.studio.jobs.last("protect").work)
    job.tell(state=state, message="There was no memory.")
    part = run.see("/pages/release/result")
    del run.studio.jobs._jobs["f"]
    assert said in words(part)
    assert "Download release" not in part
    assert "only the last run counts" in words(part)  # a good release was there


def test_each_limit_is_told_with_its_figure(run):
    part = run.see("/pages/release/result")
    assert "Right guesses by nearest record at most 90%" in words(part)
    assert "The limit holds" in words(part)
    assert "Download release" in part


def test_the_folder_is_what_the_command_line_writes(run, home):
    said = run.send("/pages/release/write", data={"folder": "taken"})
    assert "was written" in said
    (home / "plan.yaml").write_bytes(run.client.get("/pages/plan/download").content)
    (home / "key").write_bytes(KEY)
    line = ["protect", str(home / "plan.yaml"), str(home / "small.csv"), "--secret-file", str(home / "key")]
    line += ["--model", "age ~ dose", "--family", "linear", "--out", str(home / "again")]
    done = CliRunner().invoke(app, line)
    assert done.exit_code == 0, done.output
    assert files(home / "taken") == files(home / "again")
    archive = zipfile.ZipFile(io.BytesIO(run.client.get("/api/release.zip").content))
    assert {n.removeprefix("release/"): archive.read(n) for n in archive.namelist() if "/" in n} == files(
        home / "again"
    )


def test_a_folder_that_is_there_is_left_unless_it_may_be_replaced(run, home):
    run.send("/pages/release/write", data={"folder": "twice"})
    assert "exists already" in run.send("/pages/release/write", data={"folder": "twice"})
    assert "was written" in run.send("/pages/release/write", data={"folder": "twice", "overwrite": "on"})
    (home / "mine").mkdir()
    (home / "mine" / "letter.txt").write_text("dear")
    assert "not replaced" in run.send("/pages/release/write", data={"folder": "mine", "overwrite": "on"})
    assert files(home / "mine") == {"letter.txt": b"dear"}


@pytest.mark.parametrize("folder", ["", "../out", "a/../../out", "none/such/folder"])
def test_a_folder_that_cannot_be_is_refused(run, folder):
    answer = run.client.post("/pages/release/write", data={"folder": folder})
    assert answer.headers["hx-retarget"] == "#alarm"


def test_reports_come_with_a_policy_of_their_own_and_only_into_our_frames(run):
    for which, word in (("external", "report for publication"), ("internal", "INTERNAL")):
        answer = run.client.get(f"/pages/release/report/{which}")
        assert word in answer.text
        policy = answer.headers["content-security-policy"]
        assert "frame-ancestors 'self'" in policy
        assert "script-src" not in policy
    assert run.client.get("/pages/release/report/told.json").status_code == 404
    assert "frame-src 'self'" in run.client.get("/release").headers["content-security-policy"]
    assert "frame-src" not in run.client.get("/data").headers["content-security-policy"]


def test_the_lines_that_repeat_it_name_model_and_secret_file(run):
    part = unescape(run.see("/pages/release/result"))
    assert "--secret-file sfumato.key --model 'age ~ dose' --family linear" in part
    assert "model='age ~ dose', family='linear')" in part


def test_what_is_chosen_stands_in_the_address(run):
    part = run.see("/release?model=age+~+dose&family=probit&force=on")
    assert 'value="age ~ dose"' in part
    assert '<option value="probit" selected>' in part
    assert 'name="force" checked' in part


def test_no_page_shows_the_secret(run):
    for path in ("/release", "/pages/release/secret", "/pages/release/result", "/pages/release/report/internal"):
        content = run.client.get(path).content
        assert KEY not in content
        assert KEY.hex().encode() not in content


def test_a_limit_that_does_not_hold_comes_with_changes_of_the_plan(tmp_path):
    with looking(tmp_path, PLAN.replace("0.9", "0.001")) as someone:
        assert "cannot be repeated" in words(someone.see("/pages/release/secret"))
        someone.send("/pages/release/run")
        part = someone.see("/pages/release/result")
        assert "A limit does not hold, so that there is no release" in words(part)
        assert "exceeded" in words(part)
        assert "Step 1: k = 5" in part
        assert "Download release" not in part
        before = someone.studio.planned.text
        after = someone.send("/pages/release/try", data={"number": "0", "which": "0"})
        assert "Run the plan again" in after
        assert 'id="plan"' in after
        now = someone.studio.planned.text
        changed = [(a, b) for a, b in zip(before.splitlines(), now.splitlines(), strict=True) if a != b]
        assert len(changed) == 1
        assert "hx-retarget" in someone.client.post("/pages/release/try", data={"number": "9"}).headers


def test_a_secret_is_given_once_and_counts_from_then_on(tmp_path):
    with looking(tmp_path) as someone:
        part = someone.send("/pages/release/secret/make")
        assert "Download the secret" in part
        assert not someone.studio.secret.repeatable
        first = someone.client.get("/pages/release/secret/file")
        assert len(first.content) == 32
        assert "attachment" in first.headers["content-disposition"]
        assert someone.studio.secret.value == first.content
        assert someone.studio.secret.repeatable
        assert someone.client.get("/pages/release/secret/file").status_code == 404
        assert "at least 16" in someone.send("/pages/release/secret", files={"key": ("key", b"short")})
        assert someone.studio.secret.value == first.content


def test_without_a_file_it_says_where_to_open_one(tmp_path):
    with looking(tmp_path, None) as someone:
        assert "No file is open" in words(someone.see("/release"))


@pytest.fixture
def undecided(tmp_path):
    """A studio in which a plan was run that does not say who may know the dose or the id."""
    step = "{do: centroids, columns: [age, dose], k: 3, grouping: mdav}"
    open_plan = PLAN.partition("unknown:")[0].replace(step, "{do: noise, columns: [age], share: 0.5}")
    with looking(tmp_path, open_plan) as someone:
        someone.send("/pages/release/run", data={})
        yield someone


def test_what_is_not_decided_is_asked_and_the_answer_is_in_the_plan(undecided):
    part = words(undecided.see("/pages/release/result"))
    assert "Undecided: holds only if nobody outside knows id and dose" in part
    assert "Nobody outside knows of anybody" in part
    assert "It is not decided who may know what, so that there is no release" in part
    undecided.send("/pages/release/ids")
    reason = "weighed by our own nurses and told to nobody"
    undecided.send("/pages/release/unknown", data={"column": ["dose"], "because": reason})
    plan = undecided.studio.planned.plan
    assert [step.name for step in plan.steps] == ["noise", "pseudonymise"]
    assert [(each.columns, each.because) for each in plan.unknown] == [(("dose",), reason)]
    undecided.send("/pages/release/run", data={})
    assert "Undecided" not in words(undecided.see("/pages/release/result"))
    assert undecided.studio.jobs.last("protect").result["verdict"] == "holds"


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"because": "weighed by our own nurses alone"}, "Tick the columns"),
        ({"column": "age", "because": "weighed by our own nurses alone"}, "of another run"),
        ({"column": "dose", "because": "?"}, "Say why"),
        ({"column": "dose", "because": "secret"}, "20 to 300 characters"),
    ],
)
def test_an_answer_that_is_none_leaves_the_plan_as_it_is(undecided, form, says):
    before = undecided.studio.planned.text
    assert says in undecided.send("/pages/release/unknown", data=form)
    assert undecided.studio.planned.text == before
