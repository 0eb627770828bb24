"""The studio as it is started: one process over REST, signals, kills, and what the command line makes of the same plan.

One process serves most tests here; those that end it have one of their own.
"""

import io
import json
import signal
import socket
import subprocess
import threading
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx2
import psutil
import pytest

from sfumato.examples import cohort
from tests.e2e.command import SFUMATO, begun, serving, sfumato
from tests.parts import needs

pytestmark = [pytest.mark.slow, needs("vendor")]

COLUMNS = ("id", "name", "nhs_number", "email", "sex", "region", "smoker", "height", "bmi", "comment")
PLAN = """sfumato: 1
title: A test
variables:
  id: {role: record}
  name: {role: identifier, kind: text}
  nhs_number: {role: identifier, kind: text}
  email: {role: identifier, kind: text}
  comment: {role: identifier, kind: text}
  sex: {role: key, kind: categorical}
  region: {role: other, kind: categorical}
  smoker: {role: other, kind: categorical}
  height: {role: key, kind: continuous}
  bmi: {role: key, kind: continuous}
steps:
  - {do: drop, columns: [name, nhs_number, email, comment]}  # who they are
  - {do: noise, columns: [height, bmi], sd: 2.0}
unknown:
  - {columns: [id], because: "numbers of this file alone, given to nobody"}
  - {columns: others, because: "asked for this test alone and told to nobody else"}
limits:
  - {measure: k_anonymity, at_least: 5}
"""
ENDLESS = {
    "parameter": "steps.1.sd", "low": 0.1, "high": 90, "limits": ["linkage_nearest <= 0.0"], "replications": 1000,
    "grid": 100,
}  # fmt: skip
PATIENCE = 60.0
"""Seconds after which something is taken for stuck; nothing here is expected to take a tenth of it."""


@dataclass(eq=False)
class Running:
    """A studio that runs, somebody who holds its cookie, and all that it said."""

    process: subprocess.Popen
    told: dict
    folder: Path
    client: httpx2.Client
    heard: list = field(default_factory=list)
    stdout: list = field(default_factory=list)
    stderr: list = field(default_factory=list)

    def ask(self, method, path, **more):
        """An answer, which is kept: what should be in none of them is looked for at the end."""
        headers = {"X-Sfumato": "1", **more.pop("headers", {})}
        answer = self.client.request(method, path, headers=headers, **more)
        self.heard.append((path, answer.content + repr(answer.headers).encode()))
        return answer

    def change(self, method, path, **more):
        return self.ask(method, path, headers={"If-Match": self.ask("GET", "/api/plan").headers["ETag"]}, **more)

    def write(self, text):
        assert self.change("PUT", "/api/plan", content=text.encode()).json() == {"problems": []}

    def begin(self, task, body):
        answer = self.ask("POST", f"/api/{task}", json=body)
        assert answer.status_code == 202, answer.text
        return answer.json()["job"]

    def until(self, job, wanted=lambda told: told["state"] != "running"):
        """What is told of a job once it is as wanted."""
        return waited(lambda: (told := self.ask("GET", f"/api/jobs/{job}").json()) and wanted(told) and told)

    @property
    def worker(self):
        return next(iter(workers(self.process.pid)), None)

    @property
    def private(self):
        return sorted(self.folder.glob("tmp/sfumato-studio-*"))


def waited(look):
    """What a look gives, once it gives anything."""
    for _ in range(int(PATIENCE / 0.02)):
        if found := look():
            return found
        time.sleep(0.02)
    raise AssertionError("it never came")


def workers(pid):
    return [one for one in psutil.Process(pid).children(recursive=True) if "spawn_main" in " ".join(one.cmdline())]


@contextmanager
def running(folder, *arguments, begin=serving):
    """A studio that was started in a folder, once it said where it is; it is ended at the end."""
    (folder / "tmp").mkdir(exist_ok=True)
    command = ("studio", *arguments, "--port", "0", "--no-browser", "--json")
    process = begin(*command, cwd=folder, env={"TMPDIR": str(folder / "tmp")}, heard=True)
    stdout, stderr = [], []
    threads = [
        threading.Thread(target=lambda pipe=pipe, to=to: to.extend(pipe), daemon=True)
        for pipe, to in ((process.stdout, stdout), (process.stderr, stderr))
    ]
    for thread in threads:
        thread.start()
    try:
        waited(lambda: stdout or process.poll() is not None)
        assert stdout, b"".join(stderr)
        told = json.loads(stdout[0])
        url = httpx2.URL(told["url"])
        with httpx2.Client(base_url=f"http://127.0.0.1:{url.port}", timeout=PATIENCE, trust_env=False) as client:
            assert client.get(told["url"]).status_code == 200
            yield Running(process, told, folder, client, [], stdout, stderr)
    finally:
        process.terminate()
        process.wait(20)
        for thread in threads:
            thread.join(5)
        process.stdout.close()
        process.stderr.close()


started = partial(running, begin=begun)
"""A studio in a process that is begun as a terminal would, as are its own."""


def ended(studio):
    """Exit status after SIGTERM; what it would wait for in vain never ends, and so needs no clock."""
    studio.process.send_signal(signal.SIGTERM)
    return studio.process.wait(PATIENCE)


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("studio")
    cohort(250).select(COLUMNS).write_csv(made / "cohort.csv")
    (made / "key").write_bytes(bytes(range(32)))
    (made / "plan.yaml").write_text(PLAN)
    return made


@pytest.fixture(scope="module")
def studio(folder):
    with started(folder, "cohort.csv", "--secret-file", "key") as made:
        yield made


@pytest.fixture
def own(tmp_path, folder):
    """A studio that may be ended."""
    (tmp_path / "cohort.csv").write_bytes((folder / "cohort.csv").read_bytes())
    (tmp_path / "plan.yaml").write_text(PLAN)
    with started(tmp_path, "cohort.csv", "--plan", "plan.yaml") as made:
        yield made


def test_one_line_says_where_it_is_and_its_token_is_spent(studio):
    assert studio.told.keys() == {"url", "pid"}
    assert studio.told["pid"] == studio.process.pid
    assert studio.told["url"].startswith("http://127.0.0.1:")
    assert studio.client.get(studio.told["url"]).status_code == 403
    assert httpx2.get(f"{studio.client.base_url}/data", trust_env=False).status_code == 403
    assert studio.ask("GET", "/api/data").json()["records"] == 250
    assert "sfumato: 1" in studio.ask("GET", "/api/plan").text
    (private,) = studio.private
    assert private.stat().st_mode & 0o077 == 0


def test_the_release_is_what_the_command_writes(studio, tmp_path):
    """A plan written, edited, run, followed, had as an archive; the same plan and secret give the same bytes."""
    studio.write(PLAN)
    edit = {"op": "set", "path": ["steps", 1, "sd"], "value": 3}
    assert studio.change("POST", "/api/edit", json=edit).status_code == 200
    assert studio.ask("GET", "/api/risk", params={"keys": "sex,region"}).json()["findings"]
    assert studio.ask("GET", "/api/release.zip").status_code == 409
    job, states = studio.begin("protect", {"force": False}), []
    assert studio.ask("POST", "/api/protect", json={"force": False}).json()["job"] == job
    with studio.client.stream("GET", f"/api/jobs/{job}/events") as events:
        assert events.headers["content-type"].startswith("text/event-stream")
        for line in events.iter_lines():
            studio.heard.append(("events", line.encode()))
            if line.startswith("data:"):
                states.append(json.loads(line.removeprefix("data:")))
    assert states[-1]["state"] == "done", states[-1]["message"]
    assert states[-1] == studio.ask("GET", f"/api/jobs/{job}").json()
    packed = studio.client.get("/api/release.zip")
    assert packed.status_code == 200
    zipfile.ZipFile(io.BytesIO(packed.content)).extractall(tmp_path / "had")
    plan = studio.ask("GET", "/api/plan").content
    assert b"sd: 3}" in plan
    assert b"# who they are" in plan
    assert (tmp_path / "had" / "plan.yaml").read_bytes() == plan
    shared = (str(tmp_path / "had" / "plan.yaml"), "cohort.csv", "--secret-file", "key", "--json")
    done = sfumato("protect", *shared, "--out", tmp_path / "r", cwd=studio.folder)
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "had" / "release") == files(tmp_path / "r")
    printed = json.loads(done.stdout)
    told = states[-1]["result"]
    of_folders = {"release": None, "next": None}  # where the command wrote, and what it would go on with
    assert {name: told.get(name) for name in printed} | of_folders == printed | of_folders


def test_a_fit_of_the_release_is_what_the_command_prints(studio, tmp_path):
    with zipfile.ZipFile(tmp_path / "r.zip", "w") as packed:
        for name, content in files(_released(studio, tmp_path)).items():
            packed.writestr(f"release/{name}", content)
    asked = {"formula": "bmi ~ height", "family": "linear"}
    sent = {"release": ("r.zip", (tmp_path / "r.zip").read_bytes(), "application/zip")}
    told = studio.ask("POST", "/api/fit", data=asked, files=sent)
    assert told.status_code == 200, told.text
    done = sfumato("fit", tmp_path / "r", "--formula", asked["formula"], "--json", cwd=tmp_path)
    assert told.json() == json.loads(done.stdout)


def _released(studio, tmp_path):
    made = sfumato(
        "protect", "plan.yaml", "cohort.csv", "--secret-file", "key", "--out", tmp_path / "r", cwd=studio.folder
    )
    assert made.returncode == 0, made.stderr
    return tmp_path / "r"


def test_a_limit_that_does_not_hold_gives_no_release_unless_it_is_forced(studio, tmp_path):
    (tmp_path / "plan.yaml").write_text(text := PLAN.replace("at_least: 5", "at_least: 200"))
    studio.write(text)
    told = studio.until(studio.begin("protect", {"force": False}))["result"]
    assert (told["release"], told["ok"]) == (None, False)
    shared = (tmp_path / "plan.yaml", studio.folder / "cohort.csv", "--secret-file", studio.folder / "key")
    printed = sfumato("protect", *shared, "--out", tmp_path / "r", "--json", cwd=tmp_path)
    assert printed.returncode == 1
    command = {name: value for name, value in json.loads(printed.stdout).items() if name != "next"}
    assert {name: told[name] for name in command} == command
    assert studio.ask("GET", "/api/release.zip").status_code == 409
    studio.until(studio.begin("protect", {"force": True}))
    assert studio.client.get("/api/release.zip").status_code == 200
    studio.write(PLAN)
    assert studio.ask("GET", "/api/release.zip").status_code == 409


def test_a_job_is_cancelled_at_once_and_the_next_one_works(studio):
    studio.write(PLAN)
    job = studio.begin("tune", ENDLESS)
    studio.until(job, lambda told: told["progress"] is not None)
    old = studio.worker
    assert studio.ask("DELETE", f"/api/jobs/{job}").status_code == 204
    assert studio.ask("GET", f"/api/jobs/{job}").json()["state"] == "cancelled"
    assert not psutil.wait_procs([old], PATIENCE)[1]  # the job itself would never end
    assert studio.until(studio.begin("protect", {}))["state"] == "done"
    assert studio.ask("GET", f"/api/jobs/{job}").json()["state"] == "cancelled"


def test_a_worker_that_is_killed_is_told_and_the_next_one_works(studio):
    studio.write(PLAN)
    for _ in range(2):
        job = studio.begin("tune", ENDLESS)
        waited(lambda: studio.worker).kill()
        told = studio.until(job)
        assert told["state"] == "failed"
        assert "memory" in told["message"]
        assert told["result"] is None
    waited(lambda: studio.ask("POST", "/api/undo").status_code == 200)
    studio.write(PLAN)
    assert studio.until(studio.begin("protect", {}))["state"] == "done"


def test_folders_of_jobs_do_not_pile_up(studio):
    studio.write(PLAN)
    for _ in range(2):
        assert studio.until(studio.begin("protect", {}))["state"] == "done"
    (private,) = studio.private
    assert len(list(private.glob("protect-*"))) == 1
    assert list(private.glob("tune-*")) == []


def test_no_identifier_is_in_any_answer_or_word(studio):
    """Of all that the shared process has answered so far, of pages, errors and events."""
    studio.write(PLAN)
    for path in ("/data", "/pages/data/variables", "/pages/plan", "/api/data", "/api/plan", "/none", "/api/jobs/none"):
        studio.ask("GET", path)
    for keys in ("sex", "sex,region,bmi", "nobody"):  # who names an identifier as a key has asked for its values
        studio.ask("GET", "/api/risk", params={"keys": keys})
    studio.ask("POST", "/api/check", content=PLAN.replace("kind: text", "kind: integer").encode())
    studio.ask("POST", "/api/check", content=PLAN.replace("email}", "email, missing: [x]}").encode())
    data = cohort(250)
    planted = [value for name in ("nhs_number", "email", "name", "comment") for value in data[name].drop_nulls()]
    planted += [value.replace(" ", "") for value in data["nhs_number"].drop_nulls()]
    everything = [
        *studio.heard,
        *(("stdout", one) for one in studio.stdout),
        *(("stderr", one) for one in studio.stderr),
    ]
    assert len(everything) > 11  # what was asked here, and the first line
    found = {place for place, said in everything for value in set(planted) if value.encode() in said}
    assert found == set()
    assert studio.stderr == []
    assert len(studio.stdout) == 1


def test_it_ends_with_status_0_under_an_open_stream_and_leaves_nothing(own):
    job = own.begin("tune", ENDLESS)
    held = [own.worker, *psutil.Process(own.process.pid).children(recursive=True)]
    with own.client.stream("GET", f"/api/jobs/{job}/events") as events:
        next(events.iter_lines())
        status = ended(own)
    assert status == 0
    assert not psutil.wait_procs([one for one in held if one], PATIENCE)[1]
    assert own.private == []
    assert own.stderr == []


def test_if_it_is_killed_its_worker_ends_and_the_next_start_sweeps(own):
    job = own.begin("tune", ENDLESS)
    own.until(job, lambda told: told["message"])
    held = workers(own.process.pid)
    assert len(held) == 1
    own.process.kill()
    assert own.process.wait(20) == -signal.SIGKILL
    assert not psutil.wait_procs(held, 15)[1]
    (left,) = own.private
    with running(own.folder, "cohort.csv") as next_:
        assert not left.exists()
        assert len(next_.private) == 1
        with running(own.folder, "cohort.csv") as another:
            assert len(another.private) == 2  # a studio that runs keeps its own


def test_a_port_that_is_taken(folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = sfumato("studio", "cohort.csv", "--port", taken.getsockname()[1], "--no-browser", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Cannot listen" in done.stderr


@pytest.mark.parametrize("wrong", ["file", "plan", "newer plan", "no plan", "secret", "no secret"])
def test_it_begins_with_nothing_that_is_wrong_in_the_command_lines_words(folder, tmp_path, wrong):
    (tmp_path / "data.csv").write_bytes((folder / "cohort.csv").read_bytes())
    plan = {"plan": "sfumato: 1\nsteps: [\n", "newer plan": "sfumato: 99\n", "no plan": None}.get(wrong, PLAN)
    if plan is not None:
        (tmp_path / "plan.yaml").write_text(plan)
    (tmp_path / "key").write_bytes(bytes(15 if wrong == "secret" else 16))
    data = "none.csv" if wrong == "file" else "data.csv"
    shared = ("--secret-file", "none" if wrong == "no secret" else "key")
    environment = {"TMPDIR": str(tmp_path)}
    done = sfumato("studio", data, "--plan", "plan.yaml", *shared, "--no-browser", cwd=tmp_path, env=environment)
    other = sfumato("protect", "plan.yaml", data, "--out", "r", *shared, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == other.stderr
    assert list(tmp_path.glob("sfumato-studio-*")) == []


def test_without_the_files_of_others_it_says_what_to_run(folder, tmp_path):
    code = (
        "import pathlib, sys; from sfumato.web.studio import application as a; "
        "a.STATIC = pathlib.Path('nowhere'); sys.argv = ['sfumato', 'studio', 'cohort.csv', '--no-browser']; "
        "from sfumato.cli import main; main()"
    )
    python = SFUMATO.parent / "python"
    done = subprocess.run([python, "-c", code], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert "make vendor" in done.stderr
