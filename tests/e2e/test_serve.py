"""The gate as it is served: processes, signals, tokens from the command line."""

import json
import os
import random
import signal
import socket
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

import httpx2
import psutil
import pytest

from sfumato.gate.audit import narrow
from sfumato.gate.config import read_config
from sfumato.gate.service import Gate
from tests.e2e.command import begun, serving, sfumato
from tests.gate.conftest import store_url
from tests.web.gate.conftest import PASSWORD, made_world

__all__ = ["store_url"]


@contextmanager
def served(*arguments, cwd, begin=serving):
    """A server, once it says where; it is ended at the end."""
    started = begin("serve", "--port", "0", *arguments, "--json", cwd=cwd, heard=True)
    lines = []
    reading = threading.Thread(target=lambda: lines.extend(started.stderr), daemon=True)
    reading.start()
    try:
        told = started.stdout.readline()
        assert told, b"".join(lines)
        yield started, json.loads(told), lines
    finally:
        started.terminate()
        started.wait(20)
        reading.join(5)
        started.stdout.close()
        started.stderr.close()


really = partial(served, begin=begun)
"""A server in a process that is begun as a terminal would, as are its workers: what they share depends on it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = made_world(tmp_path_factory.mktemp("served"))
    made.gate.close()
    return made.folder


@contextmanager
def client(url, token=None):
    """Somebody who comes, with a token or without."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as made:
        yield made


def ended(started):
    """Exit status after SIGTERM."""
    started.send_signal(signal.SIGTERM)
    return started.wait(60)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_it_answers_from_its_first_line_on_and_ends_with_status_0(folder, workers):
    with really("--config", "gate.yaml", "--workers", str(workers), cwd=folder) as (started, told, lines):
        assert set(told) == {"url"}
        token = sfumato("gate", "token", "ann", "--scopes", "tables,releases", "--config", "gate.yaml", cwd=folder)
        opens = token.stdout.strip()
        with client(told["url"], opens) as ann:
            assert ann.get("/health").json() == {"status": "ok", "verified": None, "ok": True}
            assert ann.post("/datasets/ward/tables", json={"by": ["sex"]}).status_code == 201
            assert ann.post("/datasets/ward/analyses", json={"kind": "linear", "formula": "a ~ b"}).status_code == 403
        children = psutil.Process(started.pid).children(recursive=True)
        status = ended(started)
        assert status == 0
        assert not psutil.wait_procs(children, 10)[1]
    told = [json.loads(line) for line in lines]
    assert {one["route"] for one in told} >= {"/health", "/datasets/{dataset}/tables"}


@pytest.mark.slow
def test_if_a_worker_dies_all_end(folder):
    with really("--config", "gate.yaml", "--workers", "2", cwd=folder) as (started, _, _):
        workers = [one for one in psutil.Process(started.pid).children() if "spawn_main" in " ".join(one.cmdline())]
        assert len(workers) == 2
        workers[0].kill()
        assert started.wait(20) == 70
        assert not psutil.wait_procs(workers, 10)[1]


@pytest.mark.slow
def test_if_the_first_process_is_killed_its_workers_end(folder):
    with really("--config", "gate.yaml", "--workers", "2", cwd=folder) as (started, _, _):
        workers = psutil.Process(started.pid).children(recursive=True)
        started.kill()
        assert started.wait(20) == -signal.SIGKILL
        assert not psutil.wait_procs(workers, 15)[1]


@pytest.mark.slow
def test_workers_share_sessions_tokens_and_what_was_given(folder):
    with really("--config", "gate.yaml", "--workers", "2", cwd=folder) as (_, told, _):
        with client(told["url"]) as bob:
            login = bob.post("/login", json={"id": "bob", "password": PASSWORD})
            assert login.status_code == 200
            assert str(httpx2.URL(told["url"]).port) in login.headers["set-cookie"].partition("=")[0]
            cookie = login.headers["set-cookie"].partition(";")[0]
        statuses = Counter()
        for _ in range(20):  # each by a connection of its own, so to either worker
            with client(told["url"]) as bob:
                statuses[bob.get("/me/releases", headers={"Cookie": cookie}).status_code] += 1
        assert statuses == {200: 20}
        with client(told["url"]) as anybody:
            counted = anybody.get("/metrics").text
        line = next(one for one in counted.splitlines() if '"/me/releases"' in one and "requests_total" in one)
        assert float(line.rpartition(" ")[2]) == 20


@pytest.mark.slow
def test_a_port_that_is_taken_and_hosts_that_are_not_named(folder):
    with served("--config", "gate.yaml", cwd=folder) as (_, told, _):
        port = told["url"].rpartition(":")[2]
        taken = sfumato("serve", "--config", "gate.yaml", "--port", port, cwd=folder)
        assert (taken.returncode, "Cannot listen" in taken.stderr) == (2, True)
    open_ = sfumato("serve", "--config", "gate.yaml", "--port", "0", "--host", "0.0.0.0", cwd=folder)
    assert (open_.returncode, "hosts" in open_.stderr) == (2, True)
    for arguments in ([], ["--config", "gate.yaml", "--demo"]):
        assert sfumato("serve", *arguments, cwd=folder).returncode == 2


@pytest.mark.slow
def test_the_demo(tmp_path):
    with served("--demo", "--records", "3000", cwd=tmp_path) as (started, told, _):
        assert set(told) == {"url", "dataset", "users"}
        for user in told["users"]:
            assert set(user) == {"id", "role", "password", "token"}
        assert {user["role"] for user in told["users"]} == {"analyst", "steward", "auditor"}
        analyst = next(user for user in told["users"] if user["role"] == "analyst")
        with client(told["url"], analyst["token"]) as ann:
            answer = ann.post(f"/datasets/{told['dataset']}/tables", json={"by": ["sex"]})
        assert answer.json()["decision"] == "granted"
        assert ended(started) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_it_ends_though_a_body_never_comes(folder):
    """Not because it had waited as long as it waits for bodies: then it would say so."""
    with served("--config", "gate.yaml", cwd=folder) as (started, told, _):
        host = told["url"].partition("//")[2]
        name, _, port = host.partition(":")
        with socket.create_connection((name, int(port))) as one:
            head = f"POST /login HTTP/1.1\r\nHost: {host}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n"
            one.sendall(head.encode())
            with one.makefile("rb") as answer:
                assert b"100" in answer.readline()  # it waits for the body
                one.sendall(b"{")
                assert ended(started) == 0
                with suppress(ConnectionError):
                    assert b"408" not in answer.read()


NODES = {"sex": "fm", "region": ("Bath", "Leeds", "York"), "region@area": ("North", "South"), "hiv": ("no", "yes")}


def asked(rng):
    """A request as somebody may make it."""
    body = {"by": rng.sample(sorted(NODES), rng.randint(0, 3))}
    if rng.random() < 0.3:
        node = rng.choice(sorted(NODES))
        body["where"] = {node: [rng.choice(NODES[node])]}
    if rng.random() < 0.2:
        body["value"] = {"mean": "cost"}
    return body


def served_to_many(tmp_path, store_url, workers, clients, each):
    """Whatever came in whatever order: nobody knows a small cell, one key has one answer, and all of it verifies."""
    made = made_world(tmp_path, store=store_url)
    tokens = [made.tokens[who] for who in ("ann", "bob", "cat")]
    made.gate.close()
    with served("--config", "gate.yaml", "--workers", str(workers), cwd=tmp_path) as (_, told, _):

        def asks(number):
            rng, out = random.Random(number), Counter()
            with client(told["url"], tokens[number % 3]) as one:
                for i in range(each):
                    body, headers = asked(rng), {"Idempotency-Key": f"{number}-{i}"} if i % 10 == 0 else {}
                    answers = [one.post("/datasets/ward/tables", json=body, headers=headers)]
                    answers += [one.post("/datasets/ward/tables", json=body, headers=headers)] if headers else []
                    assert not headers or answers[0].json() == answers[1].json()
                    out.update(answer.status_code for answer in answers)
            return out

        with ThreadPoolExecutor(clients) as pool:
            statuses = sum(pool.map(asks, range(clients)), Counter())
    assert set(statuses) == {201}
    with Gate.open(read_config(tmp_path / "gate.yaml")) as gate:
        assert gate.verify() == []
        records = gate.sources.records("ward", gate.datasets()["ward"])
        with gate.store.reading() as view:
            knowledge = view.state().knowledge
        interval = gate.policies()["research"].interval
        for held in set(knowledge.values()):
            assert narrow(records, held, interval) == 0


@pytest.mark.slow
def test_many_clients_of_several_workers(tmp_path, store_url):
    served_to_many(tmp_path, store_url, 2, 16, 12)


@pytest.mark.nightly(of="tests/e2e/test_serve.py::test_many_clients_of_several_workers")
def test_ten_thousand_requests_of_fifty_clients(tmp_path, store_url):
    served_to_many(tmp_path, store_url, 4, 50, 200)


def test_the_help_has_examples(tmp_path):
    for command in (["serve"], ["gate", "token"]):
        told = sfumato(*command, "--help", cwd=tmp_path).stdout
        assert "Example: sfumato" in told
        assert os.environ.get("HOME", "x") not in told
