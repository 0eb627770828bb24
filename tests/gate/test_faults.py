"""What a gate keeps when others are as quick as it is, when it is killed, and when its store is full or gone."""

import itertools
import time

import numpy as np
import pytest

from sfumato.errors import FileError
from sfumato.gate.audit import narrow
from sfumato.gate.service import Gate
from tests.gate import workers
from tests.gate.conftest import SEED, made_config, table
from tests.postgresql import Server

POLICY = "{research: {interval: {count: 4, width: 10}}}"
PATIENCE = 120
HERE = "tests/gate/test_faults.py"
MORE = pytest.mark.nightly(of=f"{HERE}::test_of_two_requests_that_are_not_safe_together_one_is_granted[sqlite-6]")


def with_asker(tmp_path, store_url):
    """A gate of 400 people and five users who share nothing."""
    config = made_config(tmp_path, store_url, data=workers.rows(), said="record: null", policies=POLICY)
    Gate.init(config)
    with Gate.open(config) as gate:
        for i in range(workers.USERS):
            gate.add_user(f"u{i}", None, "analyst", "research")
    return config


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [6, pytest.param(100, marks=MORE)])
def test_of_two_requests_that_are_not_safe_together_one_is_granted(tmp_path, store_url, rounds):
    (tmp_path / "ward.csv").write_text(SEED)
    datasets = "".join(f", d{i}: {{versions: {{v1: ward.csv}}, count: n}}" for i in range(rounds))
    config = made_config(tmp_path, store_url, datasets=datasets)
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_organisation("north", "research")
        for i in range(4):
            gate.add_user(f"u{i}", "north", "analyst", "research")
        context = workers.started()
        barrier, out = context.Barrier(4), context.Queue()
        path = str(tmp_path / "gate.yaml")
        racing = [context.Process(target=workers.races, args=(path, i, rounds, barrier, out)) for i in range(4)]
        for process in racing:
            process.start()
        told = dict(out.get(timeout=PATIENCE + rounds) for _ in racing)
        for process in racing:
            process.join()
        for i in range(rounds):
            assert told[0][i] == told[2][i] != told[1][i] == told[3][i], f"round {i}"
            assert {told[0][i], told[1][i]} == {"granted", "refused"}
        assert gate.verify() == []
        interval = gate.policies()["research"].interval
        records = gate._records(gate._state, "d0")
        assert not any(narrow(records, held, interval) for held in gate._state.knowledge.values())


def kill_and_look(tmp_path, store_url, times):
    config = with_asker(tmp_path, store_url)
    context = workers.started()
    rng = np.random.default_rng(16)
    seen = 0
    for i in range(times):
        log = tmp_path / f"log{i}"
        process = context.Process(target=workers.asks, args=(str(tmp_path / "gate.yaml"), i, str(log)))
        process.start()
        wanted, moment = 1 + 2 * int(rng.integers(8)), float(rng.uniform(0, 0.03))
        while process.is_alive() and (not log.exists() or log.read_text().count("\n") < wanted):
            time.sleep(0.005)
        time.sleep(moment)  # whatever it is at then
        process.kill()
        process.join()
        seen += looked(config, log)
    with Gate.open(config) as gate:
        assert gate.verify() == []
        for release in gate.releases(limit=10_000):
            assert gate.entries(release.ledger[0] - 1, release.ledger[0])[0].body["content"] == release.sha256
    return seen


def looked(config, log):
    """Every answer that was had is there, and asking again with its key gives it; so does what was under way."""
    lines = log.read_text().splitlines()[1:]
    wanted = workers.margins()
    with Gate.open(config) as gate:
        for asked, told in pairs(lines)[-3:]:
            _, who, which, key = asked.split()
            answer = gate.ask(who, "ward", wanted[int(which)], key=key)
            if told:
                assert told.split()[1:] == [answer.id, answer.decision, answer.ledger[1]]
            assert gate.ask(who, "ward", wanted[int(which)], key=key) == answer
    return len(lines) // 2


def pairs(lines):
    """Questions with their answers; that which was under way has none."""
    return list(itertools.zip_longest(lines[::2], lines[1::2], fillvalue=""))


@pytest.mark.slow
def test_a_gate_killed_fifteen_times_has_kept_all_that_it_answered(tmp_path, store_url):
    assert kill_and_look(tmp_path, store_url, 15) > 20


@pytest.mark.nightly(of=f"{HERE}::test_a_gate_killed_fifteen_times_has_kept_all_that_it_answered")
def test_a_gate_killed_sixty_times_has_kept_all_that_it_answered(tmp_path, store_url):
    assert kill_and_look(tmp_path, store_url, 60) > 100


@pytest.mark.parametrize("room", [40_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_full_disk(tmp_path, room):
    config = with_asker(tmp_path, "sqlite:///gate.db")
    context = workers.started()
    out = context.Queue()
    process = context.Process(target=workers.asks_on_a_full_disk, args=(str(tmp_path / "gate.yaml"), room, out))
    process.start()
    given, message, after = out.get(timeout=PATIENCE)
    process.join()
    assert "full" in message
    assert after in ("granted", "refused")
    with Gate.open(config) as gate:
        assert gate.verify() == []
        kinds = [entry.kind for entry in gate.entries()]
        assert kinds.count("request") + kinds.count("repeat") == given + 1


def test_connections_that_break_are_made_anew(tmp_path, server):
    config = with_asker(tmp_path, server.database())
    with Gate.open(config) as gate, Gate.open(config) as other:
        first = gate.ask("u0", "ward", table("a"), key="k")
        with other.store.engine.begin() as connection:
            connection.exec_driver_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        assert gate.ask("u0", "ward", table("a"), key="k") == first
        assert gate.ask("u0", "ward", table("b")).decision == "granted"
        assert gate.verify() == []


def test_a_file_that_goes_and_comes_back(tmp_path):
    """SQLite would go on writing into a file that nobody finds any more."""
    config = with_asker(tmp_path, "sqlite:///gate.db")
    (tmp_path / "elsewhere").mkdir()
    files = ("gate.db", "gate.db-wal", "gate.db-shm")
    with Gate.open(config) as gate:
        first = gate.ask("u0", "ward", table("a"), key="k")
        head = gate.head()
        for name in files:
            if (tmp_path / name).exists():
                (tmp_path / name).rename(tmp_path / "elsewhere" / name)
        for key in ("k", "l"):
            with pytest.raises(FileError):
                gate.ask("u0", "ward", table("b"), key=key)
        assert not (tmp_path / "gate.db").exists()
        for path in (tmp_path / "elsewhere").iterdir():
            path.rename(tmp_path / path.name)
        assert gate.head() == head
        assert gate.ask("u0", "ward", table("a"), key="k") == first
        assert gate.ask("u0", "ward", table("b"), key="l").decision == "granted"
        assert gate.verify() == []


@pytest.mark.slow
def test_a_database_that_goes_and_comes_back(tmp_path):
    own = Server()
    config = with_asker(tmp_path, own.database())
    gate = Gate.open(config)
    first = gate.ask("u0", "ward", table("a"), key="k")
    own.stop()
    for _ in range(2):
        with pytest.raises(FileError, match="cannot be reached"):
            gate.ask("u0", "ward", table("b"), key="l")
    own.start()
    assert gate.ask("u0", "ward", table("a"), key="k") == first
    assert gate.ask("u0", "ward", table("b"), key="l").decision == "granted"
    assert gate.verify() == []
    gate.close()
    own.remove()
