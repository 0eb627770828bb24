"""Faults and attacks that a studio meets as a process: other users, many tabs, full disks, what breaks off, its end."""

import hashlib
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import httpx2
import pytest

from sfumato.examples import cohort
from sfumato.web.studio.pages import ROUTERS as PAGES
from sfumato.web.studio.routes import ROUTERS
from tests.e2e.command import SFUMATO
from tests.e2e.test_studio import PATIENCE, PLAN, ended, folder, running, waited
from tests.parts import needs

pytestmark = [pytest.mark.slow, needs("vendor")]

__all__ = ["folder"]


@pytest.fixture(scope="module")
def studio(folder):
    with running(folder, "cohort.csv", "--plan", "plan.yaml", "--secret-file", "key") as made:
        yield made


ASKING = """
import http.client, sys
address, port, cookie = sys.argv[1], int(sys.argv[2]), sys.argv[3]
asked = http.client.HTTPConnection(address, port)
asked.request("GET", "/api/plan", headers={"Cookie": cookie, "Host": f"127.0.0.1:{port}"})
print(asked.getresponse().status)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells whose a connection is")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may be another user")
def test_another_user_of_this_machine_gets_nothing_even_with_the_cookie(studio):
    (cookie,) = [f"{name}={value}" for name, value in studio.client.cookies.items()]
    port = str(studio.client.base_url.port)
    told = {}
    for user in (0, 65534):
        command = ["/usr/bin/env", "python3", "-c", ASKING, "127.0.0.1", port, cookie]
        done = subprocess.run(command, user=user, cwd="/", capture_output=True, text=True)
        told[user] = done.stdout.strip()
    assert told == {0: "200", 65534: "403"}


def test_eight_tabs_at_once_lose_nothing(studio):
    """Each adds limits of its own, and looks again where it was refused as stale."""
    first = studio.ask("GET", "/api/plan").text
    seen = []

    def adding(tab):
        with httpx2.Client(base_url=studio.client.base_url, cookies=studio.client.cookies, trust_env=False) as client:
            for i in range(2):
                status = 409
                while status == 409:
                    read = client.get("/api/plan")
                    tag = read.headers["ETag"]
                    seen.append(tag == f'"{hashlib.sha256(read.content).hexdigest()}"')
                    value = {"measure": "below_k", "at": 2 + i, "at_most": (tab + 1) / 10}
                    edit = {"op": "add", "path": ["limits"], "at": 1, "value": value}
                    status = client.post(
                        "/api/edit", json=edit, headers={"X-Sfumato": "1", "If-Match": tag}, timeout=60
                    ).status_code
                assert status == 200
            assert client.get("/pages/plan", timeout=60).status_code == 200

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(adding, range(8)))
    assert all(seen)
    added = re.findall(r"below_k, at: (\d), at_most: (0\.\d)", studio.ask("GET", "/api/plan").text)
    assert sorted(added) == sorted((str(2 + i), str((tab + 1) / 10)) for tab in range(8) for i in range(2))
    for _ in added:
        assert studio.ask("POST", "/api/undo").status_code == 200
    assert studio.ask("GET", "/api/plan").text == first


def uploaded(studio, path, content, more=0):
    """A form with one file, sent by hand: the body may be shorter than it says. What is answered, if anything is."""
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
    body = head + content + (b"" if more else b"\r\n--x--\r\n")
    cookie = "; ".join(f"{name}={value}" for name, value in studio.client.cookies.items())
    port = studio.client.base_url.port
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        f"Cookie: {cookie}",
        "X-Sfumato: 1",
        "Content-Type: multipart/form-data; boundary=x",
        f"Content-Length: {len(body) + more}",
        "Connection: close",
    ]
    with socket.create_connection(("127.0.0.1", port), 60) as sent:
        sent.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        if more:
            return b""
        return b"".join(iter(lambda: sent.recv(1 << 16), b""))


def left(studio):
    (private,) = studio.private
    return list((private / "files").rglob("*"))


@pytest.mark.parametrize("path", ["/pages/data/upload", "/pages/analyse/upload", "/api/fit"])
def test_of_an_upload_that_is_cut_off_nothing_is_left(studio, path):
    before = studio.ask("GET", "/api/data").json()
    uploaded(studio, path, b"a,b\n1,2\n" * 1000, more=10_000)
    waited(lambda: not left(studio))
    assert studio.ask("GET", "/api/data").json() == before


@contextmanager
def small_disk(folder, megabytes):
    """A disk of its own for a folder."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True)
    except OSError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def filled(folder):
    """Fill a disk."""
    with (folder / "filling").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            return folder / "filling"


def test_a_full_disk_is_told_and_nothing_is_half_written(tmp_path, folder):
    (tmp_path / "plan.yaml").write_text(PLAN)
    with small_disk(tmp_path / "tmp", 24), small_disk(tmp_path / "data", 4) as data:
        (data / "cohort.csv").write_bytes((folder / "cohort.csv").read_bytes())
        with running(tmp_path, "data/cohort.csv", "--plan", "plan.yaml") as studio:
            assert "Kept in" in studio.ask("POST", "/pages/plan/keep", data={"keep": "yes"}).text
            studio.write(PLAN + "# one\n")
            assert (data / "cohort.plan.yaml").read_text() == PLAN + "# one\n"
            # an upload that is larger than the disk: told over the wire, while it is still being sent
            answer = uploaded(studio, "/api/fit", bytes(8 << 20))
            assert answer.startswith(b"HTTP/1.1 507")
            assert b"not enough room" in answer
            assert b"not enough room" in uploaded(studio, "/pages/data/upload", bytes(8 << 20))
            assert left(studio) == []
            # the plan's file, and a release beside it
            assert studio.until(studio.begin("protect", {"force": True}))["state"] == "done"
            filling = filled(data)
            told = studio.change("PUT", "/api/plan", content=(PLAN + "# two\n" * 20_000).encode()).json()
            assert told["problems"] == []
            assert "cannot be written" in told["not_kept"]
            assert "cannot be written" in studio.ask("GET", "/pages/plan").text
            assert (data / "cohort.plan.yaml").read_text() == PLAN + "# one\n"
            assert studio.ask("POST", "/api/undo").status_code == 200
            there = sorted(path.name for path in data.iterdir())
            told = studio.ask("POST", "/pages/release/write", data={"folder": "data/release"}).text
            assert "No space left on device" in told
            assert sorted(path.name for path in data.iterdir()) == there
            filling.unlink()
            assert "was written" in studio.ask("POST", "/pages/release/write", data={"folder": "data/release"}).text
            assert "Kept in" in studio.ask("POST", "/pages/plan/keep", data={"keep": "yes"}).text
            # the folder of temporary files
            filling = filled(tmp_path / "tmp")
            told = studio.until(studio.begin("protect", {"force": True}))
            assert (told["state"], "disk" in told["message"].lower()) == ("failed", True)
            filling.unlink()
            assert studio.until(studio.begin("protect", {"force": True}))["state"] == "done"
            assert ended(studio) == 0
            assert studio.stderr == []


SLOW = """
import sys, time
from pathlib import Path
import sfumato.api.risk

def risk(*given, **more):
    Path("begun").touch()
    time.sleep(3600)

sfumato.api.risk.risk = risk
sys.argv = ["sfumato", "studio", "cohort.csv", "--no-browser", "--json"]
from sfumato.cli import main
main()
"""


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals here")
def test_enter_in_the_terminal_prints_a_new_address_and_ctrl_c_ends_it(folder, tmp_path):
    ours, theirs = os.openpty()
    command = [SFUMATO, "studio", "cohort.csv", "--no-browser"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, cwd=folder, env=environment, stdin=theirs, stdout=-1, stderr=subprocess.STDOUT)
    os.close(theirs)

    def address():
        for line in process.stdout:
            if found := re.search(rb"http://\S+", line):
                return found[0].decode()

    first = address()
    os.write(ours, b"\n")
    second = address()
    assert first != second
    assert httpx2.get(first, trust_env=False).status_code == 403  # the newest is good alone
    assert httpx2.get(second, trust_env=False).status_code == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 0
    os.close(ours)
    process.stdout.close()
    assert list(tmp_path.glob("sfumato-studio-*")) == []


def test_it_ends_although_something_is_being_worked_out(folder, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    command = [SFUMATO.parent / "python", "-c", SLOW]
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=-1, stderr=-1, stdin=subprocess.DEVNULL)
    url = json.loads(process.stdout.readline())["url"]
    with httpx2.Client(base_url=url.partition("/?")[0], trust_env=False, timeout=60) as client:
        client.get(url)
        client.get("/api/data")

        def asking():
            with suppress(httpx2.HTTPError):
                client.get("/api/risk", params={"keys": "sex"})

        asked = threading.Thread(target=asking)
        asked.start()
        waited((folder / "begun").exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0  # it would wait for an hour
        asked.join(30)
    assert process.stderr.read() == b""
    assert list(tmp_path.glob("sfumato-studio-*")) == []
    process.stdout.close()
    process.stderr.close()


def asked_for(route, run):
    """Addresses of a route that is read: of a run, the first of its parts; and naming identifiers where it can."""
    for number in ("0", "1", "2") if "{" in route.path else ("",):
        path = re.sub(r"\{(\w+)\}", lambda found, n=number: run if found[1] in ("run_", "id_") else n, route.path)
        for name in ("", "nhs_number", "sex"):
            yield path, {"name": name, "keys": name, "q": name, "response": name, "step": "1", "add": "noise"}
            if not name:
                yield path, {}


def test_no_identifier_is_in_any_page_part_answer_or_log(studio):
    """All that can be read, with a plan that was run, searched and measured; and what the process said."""
    tuning = {"parameter": "steps.1.sd", "low": 1, "high": 2, "limits": ["linkage_nearest <= 0.9"], "grid": 0}
    jobs = {}
    for task, asked in (("protect", {"force": True}), ("tune", tuning)):
        jobs[task] = studio.begin(task, asked)
        told = studio.until(jobs[task])
        assert told["state"] == "done", told["message"]
        studio.ask("GET", f"/api/jobs/{jobs[task]}/events")
    studio.ask("POST", "/pages/risk/larger?keys=sex&keys=nhs_number&asked=1", data={"act": "begin"})
    for which in ("external", "internal"):
        assert studio.ask("GET", f"/pages/release/report/{which}").status_code == 200
    for router in (*ROUTERS, *PAGES):
        for route in router.routes:
            if "GET" in route.methods:
                for path, query in asked_for(route, jobs["protect"]):
                    studio.ask("GET", path, params=query)
    with zipfile.ZipFile(io.BytesIO(studio.client.get("/api/release.zip").content)) as release:
        studio.heard += [(name, release.read(name)) for name in release.namelist()]
    data = cohort(250)
    planted = {value for name in ("nhs_number", "email", "name", "comment") for value in data[name].drop_nulls()}
    planted |= {value.replace(" ", "") for value in data["nhs_number"].drop_nulls()}
    everything = [*studio.heard, ("stdout", b"".join(studio.stdout)), ("stderr", b"".join(studio.stderr))]
    assert len(everything) > 100
    found = {place for place, said in everything for value in planted if value.encode() in said}
    assert found == set()
    assert not [place for place, said in everything if b"A fault of its own" in said]
    assert studio.stderr == []
