"""The release over REST: of the last run, while data, plan and secret are those that it was made of."""

import io
import os
import zipfile

import pytest

from sfumato.release.secret import Secret
from sfumato.web.studio.jobs import Job
from tests.web.studio.pages.opened import looking


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A studio whose plan was run."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sfumato.render.plots.draw", lambda picture, name: ())
        patched.setattr("sfumato.render.parts.figures_of", lambda picture: ())
        with looking(tmp_path_factory.mktemp("release")) as someone:
            assert refused(someone).endswith("run the plan.")
            someone.client.post("/api/protect", json={})
            yield someone


def refused(someone):
    answer = someone.client.get("/api/release.zip")
    assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
    return answer.json()["detail"]


def test_it_is_an_archive_with_the_plan_beside(run):
    answer = run.client.get("/api/release.zip")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.read("plan.yaml").decode() == run.studio.planned.text
        assert "release/datapackage.json" in archive.namelist()
        assert not [name for name in archive.namelist() if "internal" in name or "told" in name]
    assert run.client.get("/api/release.zip").content == answer.content


def test_another_plan_secret_or_file_has_no_release_yet(run):
    studio = run.studio
    studio.planned.change("*", lambda text: text + "# more\n")
    assert "run the plan again" in refused(run)
    studio.planned.undo()
    before, studio.secret = studio.secret, Secret(bytes(range(32)))
    assert "run the plan again" in refused(run)
    studio.secret = before
    path = studio.opened.source.path
    content, stamp = path.read_bytes(), path.stat()
    path.write_bytes(content + b"99,1,1\n")
    assert "run the plan again" in refused(run)
    path.write_bytes(content)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert run.client.get("/api/release.zip").status_code == 200


@pytest.mark.parametrize("state", ["running", "failed", "cancelled", "done"])
def test_the_last_run_counts_alone(run, state):
    jobs = run.studio.jobs
    job = jobs._jobs["later"] = Job("later", jobs.last("protect").work)
    job.tell(state=state, result={"release": None} if state == "done" else None)
    said = refused(run)
    del jobs._jobs["later"]
    assert ("limit does not hold" in said) is (state == "done")


def test_what_is_not_decided_is_not_called_a_limit(run):
    jobs = run.studio.jobs
    job = jobs._jobs["later"] = Job("later", jobs.last("protect").work)
    job.tell(state="done", result={"release": None, "verdict": "undecided"})
    said = refused(run)
    del jobs._jobs["later"]
    assert "It is not decided who may know what" in said
