"""What a studio holds together: the file, the plan, the work, and a private folder."""

import os
import tempfile
from pathlib import Path

import pytest

from sfumato.errors import FileError, PlanError
from sfumato.release.secret import Secret
from sfumato.web.problems import Problem
from sfumato.web.studio.jobs import Job, Jobs
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio, told
from tests.web.studio.entered import PLAN, people

SEVERAL = """sfumato: 1
tables:
  people:
    file: people.csv
    variables:
      id: {role: record}
      age: {role: key, kind: integer}
"""
NEWER = "sfumato: 99\ntitle: Of tomorrow\n"


class Waiting(Jobs):
    """Work that goes on."""

    def warm(self):
        pass

    def start(self, work):
        job = self._jobs[work.task] = Job(work.task, work)
        return job


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Studios in a folder; their private folders lie in another."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    people(40).write_csv(tmp_path / "people.csv")
    made = []

    def studio(plan=PLAN, file="people.csv"):
        if plan is not None:
            (tmp_path / "plan.yaml").write_text(plan)
        source = None if file is None else Source(tmp_path / file)
        one = Studio(tmp_path, source, None if plan is None else tmp_path / "plan.yaml", Secret(bytes(32)))
        one.jobs = Waiting()
        made.append(one)
        return one

    yield studio
    for one in made:
        one.close()


def refused(status, act, *given, **more):
    with pytest.raises(Problem) as raised:
        act(*given, **more)
    assert raised.value.status == status
    return raised.value


def test_without_a_file_it_says_where_to_choose_one(make):
    studio = make(None, None)
    assert studio.closed
    for act in (lambda: studio.opened, lambda: studio.planned, lambda: studio.begin("protect", {})):
        assert "choose one on the page Data" in refused(409, act).detail


def test_a_plan_that_was_given_is_where_it_begins(make):
    studio = make()
    assert (studio.planned.text, studio.touched) == (PLAN, True)
    assert studio.problems(PLAN) == ()
    assert studio.beside.name == "people.plan.yaml"


def test_without_one_it_is_drafted(make):
    studio = make(None)
    assert not studio.touched
    assert studio.planned.plan.steps


@pytest.mark.parametrize("plan", [NEWER, "sfumato: 1\nsteps: [\n"])
def test_a_plan_that_is_none_or_of_a_newer_version_is_refused_and_nothing_is_left(make, tmp_path, plan):
    with pytest.raises(PlanError) as raised:
        make(plan)
    assert plan is not NEWER or "newer sfumato" in str(raised.value)
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_newer_plan_is_not_taken_later_either(make):
    studio = make()
    with pytest.raises(PlanError, match="newer sfumato"):
        studio.planned.change("*", lambda _: NEWER)
    assert "newer sfumato" in told(studio.problems(NEWER))[0]["message"]
    studio.beside.write_text(NEWER)
    with pytest.raises(PlanError, match="newer sfumato"):
        studio.planned.take(studio.beside)
    assert studio.planned.text == PLAN
    assert studio.beside.read_text() == NEWER


def test_another_file_ends_the_work_and_one_that_cannot_be_read_changes_nothing(make, tmp_path):
    studio = make()
    job = studio.begin("protect", {})
    with pytest.raises(FileError):
        studio.open(Source(tmp_path / "none.csv"), wait=True)
    assert (job.state, studio.opened.source.path.name) == ("running", "people.csv")
    people(30).write_csv(tmp_path / "more.csv")
    studio.open(Source(tmp_path / "more.csv"), keep=True, wait=True)
    assert (job.state, studio.planned.text) == ("cancelled", PLAN)
    assert studio.opened.table.frame.height == 30


def test_long_work_begins_with_what_is_there_alone(make, monkeypatch):
    studio = make(PLAN.replace("columns: [income]", "columns: [nobody]"))
    problem = refused(422, studio.begin, "protect", {})
    assert any("nobody" in one["message"] and one["line"] for one in problem.more["problems"])
    assert studio.begin("risk", {}, runs_plan=False).state == "running"  # what runs no plan needs none
    assert refused(409, studio.begin, "risk", {}, runs_plan=False).more == {"job": "risk"}
    studio.jobs.cancel("risk")
    assert list(studio.temporary.glob("risk-*")) == []

    def full(**_):
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr("sfumato.web.studio.studio.tempfile.mkdtemp", full)
        refused(507, studio.begin, "risk", {}, runs_plan=False)
    studio.opened.source.path.write_text("id\n1\n")
    assert "Read it again" in refused(422, studio.begin, "risk", {}, runs_plan=False).detail


def test_a_plan_of_several_tables_is_looked_at_and_not_run(make):
    studio = make(SEVERAL)
    assert studio.problems(SEVERAL) == ()
    assert "nobody" in told(studio.problems(SEVERAL.replace("age:", "nobody:")))[0]["message"]
    assert "from the command line" in refused(422, studio.begin, "protect", {}).detail


def test_the_release_is_that_of_the_last_run(make):
    studio = make()
    assert "no release yet" in refused(409, studio.released).detail
    job = studio.begin("protect", {})
    assert "no release yet" in refused(409, studio.released).detail
    job.tell(state="done", result={"release": "release"})
    assert studio.released() is job
    studio.secret = Secret(bytes(range(32)))
    assert "run the plan again" in refused(409, studio.released).detail


def test_its_private_folder_goes_with_it_and_others_are_swept_unless_they_are_in_use(make, tmp_path):
    first, second = make(), make()
    assert first.temporary.stat().st_mode & 0o077 == 0
    dead = tmp_path / "tmp" / "sfumato-studio-dead"
    dead.mkdir()
    (dead / "lock").touch()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lock").touch()
    os.symlink(tmp_path / "mine", tmp_path / "tmp" / "sfumato-studio-link")
    third = make()
    assert not dead.exists()
    assert first.temporary.exists()
    assert second.temporary.exists()
    assert third.temporary.exists()
    assert (tmp_path / "mine").exists()  # a link leads elsewhere
    first.close()
    first.close()
    assert not first.temporary.exists()


def test_files_that_were_sent_lie_in_the_private_folder_and_go(make, tmp_path):
    studio = make()
    sent = studio.uploads / "one" / "sent.csv"
    sent.parent.mkdir(parents=True)
    people(20).write_csv(sent)
    studio.open(Source(sent), wait=True)
    assert studio.private
    assert studio.beside == tmp_path / "sent.plan.yaml"
    studio.open(Source(tmp_path / "people.csv"), wait=True)
    assert not sent.exists()
    assert Path(tmp_path / "people.csv").exists()
