"""A store that was set back, or edited, does not open; a log that cannot be written tells nothing."""

import json
import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from sfumato.errors import DataError, FileError, GateStopped, SfumatoError
from sfumato.gate.ledger import from_line, to_line
from sfumato.gate.log import Log, read_log
from sfumato.gate.service import Gate
from tests.gate import workers
from tests.gate.conftest import made_config, table

SAFE, NOT_BESIDE = table("A"), table("B")


@pytest.fixture
def config(tmp_path):
    made = made_config(tmp_path, "sqlite:///gate.db")
    Gate.init(made)
    with Gate.open(made) as gate:
        gate.add_user("ann", None, "analyst", "research")
    return made


def copied_store(config, to):
    """The store as it is now, in a folder."""
    to.mkdir()
    with closing(sqlite3.connect(config.folder / "gate.db")) as one, closing(sqlite3.connect(to / "gate.db")) as other:
        one.backup(other)


def set_back(config, kept):
    for file in config.folder.glob("gate.db*"):
        file.unlink()
    shutil.copy(kept / "gate.db", config.folder / "gate.db")


def edited(config, *statements):
    with closing(sqlite3.connect(config.folder / "gate.db")) as plain:
        for statement in statements:
            plain.execute(statement)
        plain.commit()


def lines(config):
    return config.log_path.read_text().splitlines()


def test_every_entry_is_a_line_before_its_answer_leaves(configured, tmp_path):
    config = configured()
    Gate.init(config)
    assert config.log_path == tmp_path / "key.ledger"
    assert config.log_path.stat().st_mode & 0o777 == 0o600
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        for asked in (SAFE, NOT_BESIDE):
            seq, digest = gate.ask("ann", "ward", asked).ledger
            assert (json.loads(lines(config)[-1])["seq"], json.loads(lines(config)[-1])["hash"]) == (seq, digest)
        assert lines(config) == [to_line(entry) for entry in gate.entries()]
        assert gate.verify() == []


def test_yesterdays_store_does_not_open(config, tmp_path):
    copied_store(config, tmp_path / "kept")
    with Gate.open(config) as gate:
        assert gate.ask("ann", "ward", SAFE).decision == "granted"
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
    set_back(config, tmp_path / "kept")
    for enter in (Gate.open, Gate.init, Gate.repair):
        with pytest.raises(DataError, match="set back"):
            enter(config)
    with Gate.look(config) as gate:
        assert any("set back" in fault for fault in gate.verify())


def test_a_gate_that_runs_stops_when_its_store_is_set_back(config, tmp_path):
    copied_store(config, tmp_path / "kept")
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE, key="k")
        old, live = sqlite3.connect(tmp_path / "kept" / "gate.db"), sqlite3.connect(tmp_path / "gate.db")
        with closing(old), closing(live):
            old.backup(live)  # in the same file
        for key in ("k", "l"):
            with pytest.raises(GateStopped, match="set back"):
                gate.ask("ann", "ward", NOT_BESIDE, key=key)
        with pytest.raises(GateStopped):
            gate.releases("ann")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM knowledge",
        "UPDATE principals SET policy = 'public' WHERE name = 'ann'",
        "UPDATE policies SET body = replace(body, '\"width\":4', '\"width\":3')",
        "INSERT INTO edges VALUES ('ann', 'public')",
        "INSERT INTO broken VALUES ('ann', 'ward')",
        "UPDATE versions SET sha256 = '00'",
        "UPDATE versions SET path = 'other.csv'",
        "UPDATE principals SET active = 0",
        "INSERT INTO principals VALUES ('eve', 'user', 'steward', 'research', 1)",
        "UPDATE chain SET hash = '00'",
        "UPDATE chain SET seq = seq + 1",
        "UPDATE knowledge SET margin = 'x'",
    ],
)
def test_an_edited_store_does_not_open_and_is_repaired(config, statement):
    with Gate.open(config) as gate:
        gate.set_password("ann", "correct horse battery")
        gate.ask("ann", "ward", SAFE)
    edited(config, statement)
    with pytest.raises(DataError, match="does not open: its store was edited.*sfumato gate repair"):
        Gate.open(config)
    assert Gate.repair(config)
    assert Gate.repair(config) == []
    with Gate.open(config) as gate:
        assert gate.verify() == []
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
        assert gate.login("ann", "correct horse battery").who == "ann"


def test_a_repair_on_either_database(configured):
    config = configured()
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_organisation("north", "research")
        gate.add_user("ann", "north", "analyst", "research")
        gate.add_user("bob", "north", "analyst", "research")
        gate.remove_user("bob")
        gate.ask("ann", "ward", SAFE)
        with gate.store.engine.begin() as connection:
            for statement in ("DELETE FROM knowledge", "UPDATE principals SET policy = 'public'", "DELETE FROM edges"):
                connection.exec_driver_sql(statement)
    with pytest.raises(DataError, match="was edited"):
        Gate.open(config)
    assert len(Gate.repair(config)) > 2
    with Gate.open(config) as gate:
        assert gate.verify() == []
        assert gate.edges() == {("ann", "north"), ("north", "ann")}


def test_changed_entries_do_not_open(config):
    edited(config, "DROP TRIGGER ledger_no_update", "UPDATE ledger SET body = '{}' WHERE seq = 2")
    for enter in (Gate.open, Gate.init, Gate.repair):
        with pytest.raises(DataError, match="its ledger was changed. Entry 2 was changed"):
            enter(config)


def test_without_a_log_nothing_opens_until_one_is_begun(config):
    config.log_path.unlink()
    for enter in (Gate.open, Gate.init, Gate.repair):
        with pytest.raises(DataError, match="sfumato gate log start"):
            enter(config)
    assert not config.log_path.exists()
    seq, digest = Gate.start_log(config, "the disk was lost")
    assert from_line(lines(config)[-1]).head == (seq, digest)
    assert config.log_path.stat().st_mode & 0o777 == 0o600
    with pytest.raises(DataError, match="There is a log"):
        Gate.start_log(config, "again")
    with Gate.open(config) as gate:
        assert gate.verify() == []
        assert gate.entries()[-1].body["reason"] == "the disk was lost"
        assert gate._state.log_since == gate.entries()[-1].at
    assert sorted(one.name for one in config.folder.iterdir() if "ledger" in one.name) in (
        ["key.ledger"],
        ["key.ledger", "key.ledger.lock"],
    )


def test_a_log_is_begun_of_no_broken_chain_and_for_a_reason(config):
    config.log_path.unlink()
    with pytest.raises(DataError, match="reason"):
        Gate.start_log(config, " ")
    edited(config, "DROP TRIGGER ledger_no_update", "UPDATE ledger SET body = '{}' WHERE seq = 2")
    with pytest.raises(DataError, match="Entry 2 was changed"):
        Gate.start_log(config, "the disk was lost")


def test_the_log_of_another_gate_is_refused(config, tmp_path):
    (tmp_path / "other").mkdir()
    other = made_config(tmp_path / "other", "sqlite:///gate.db")
    Gate.init(other)
    shutil.copy(other.log_path, config.log_path)
    with pytest.raises(DataError, match="another gate's"):
        Gate.open(config)
    edited(config, "SELECT 1")


def test_an_emptied_log_is_refused(tmp_path):
    config = made_config(tmp_path, "sqlite:///gate.db")
    Gate.init(config)
    with Gate.open(config) as gate:
        for i in range(70):
            gate.add_organisation(f"o{i}", "research")
    config.log_path.write_bytes(b"")
    with pytest.raises(DataError, match="its log is empty"):
        Gate.open(config)


def test_a_store_that_is_ahead_is_right(config):
    """Killed after the transaction and before the line."""
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
    whole = config.log_path.read_bytes()
    cut = whole[: whole[:-1].rfind(b"\n") + 1]
    for kept in (cut, whole[:-1], whole[:-30], cut + whole[len(cut) :][:10] + b"\0" * 9):  # its line torn
        config.log_path.write_bytes(kept)
        with Gate.open(config) as gate:
            assert gate.verify() == []
        assert config.log_path.read_bytes() == whole


@pytest.mark.parametrize("tail", [b'{"at":"2026', b"\0\0\0", b"x", b"x\n", b"{}\n"])
def test_what_is_no_piece_of_the_next_entry_is_refused(config, tail):
    config.log_path.write_bytes(config.log_path.read_bytes() + tail)
    with pytest.raises(GateStopped, match="damaged|lacks entry"):
        Gate.open(config)


def test_a_log_that_cannot_be_written_tells_nothing_until_it_can(config, monkeypatch):
    with Gate.open(config) as gate:
        before = config.log_path.read_bytes()

        def full(descriptor):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr("sfumato.gate.log.os.fsync", full)
            for _ in range(2):
                with pytest.raises(FileError, match="Nothing is told until"):
                    gate.ask("ann", "ward", SAFE, key="k")
            for look in (gate.people, gate.releases, gate.datasets):
                with pytest.raises(FileError, match="Nothing is told until"):
                    look()
            assert config.log_path.read_bytes() == before
        answer = gate.ask("ann", "ward", SAFE, key="k")
        assert answer.decision == "granted"
        assert lines(config) == [to_line(entry) for entry in gate.entries()]
        assert [entry.kind for entry in gate.entries()].count("request") == 1


def test_nothing_is_decided_while_the_log_is_gone(config, tmp_path):
    with Gate.open(config) as gate:
        head = gate.head()
        config.log_path.rename(tmp_path / "away")
        with pytest.raises(FileError, match="cannot be written"):
            gate.ask("ann", "ward", SAFE)
        assert gate.head() == head
        assert not config.log_path.exists()
        (tmp_path / "away").rename(config.log_path)
        assert gate.ask("ann", "ward", SAFE).decision == "granted"


def test_a_log_exchanged_while_it_runs(config):
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
        whole = config.log_path.read_bytes()
        config.log_path.unlink()
        config.log_path.write_bytes(whole)  # the same, brought back
        gate.ask("ann", "ward", table())
        config.log_path.write_bytes(whole[: whole[:-1].rfind(b"\n") + 1])
        with pytest.raises(GateStopped, match="set back"):
            gate.ask("ann", "ward", SAFE)


def test_a_read_only_gate_that_looks_writes_nothing(config):
    with Gate.look(config) as gate, pytest.raises(SfumatoError):
        gate.ask("ann", "ward", SAFE)


def test_two_processes_append_in_order(tmp_path, store_url):
    config = made_config(tmp_path, store_url, data=workers.rows(), said="record: null")
    Gate.init(config)
    with Gate.open(config) as gate:
        for i in range(workers.USERS):
            gate.add_user(f"u{i}", None, "analyst", "research")
    context = workers.started()
    asking = [context.Process(target=workers.asks_some, args=(str(tmp_path / "gate.yaml"), i, 12)) for i in range(2)]
    for process in asking:
        process.start()
    for process in asking:
        process.join()
        assert process.exitcode == 0
    with Gate.open(config) as gate:
        assert lines(config) == [to_line(entry) for entry in gate.entries()]
        assert len(lines(config)) > 24
        assert gate.verify() == []


def test_the_log_lies_where_it_is_said(tmp_path):
    (tmp_path / "disk").mkdir()
    config = made_config(tmp_path, "sqlite:///gate.db").model_copy(update={"log": str(tmp_path / "disk" / "log")})
    Gate.init(config)
    assert len(list(read_log(tmp_path / "disk" / "log"))) == 3
    assert not (tmp_path / "key.ledger").exists()
    os.rename(tmp_path / "disk", tmp_path / "away")
    with pytest.raises(DataError, match="missing"):
        Gate.open(config)


def test_a_long_last_line_is_found(tmp_path, config):
    whole = config.log_path.read_bytes()
    first = from_line(whole.splitlines()[0].decode())
    from sfumato.gate.ledger import chained

    long = chained(first, "user", "ann", "", {"x": "y" * 300_000})
    path = tmp_path / "long"
    path.write_text(to_line(first) + "\n" + to_line(long) + "\n" + to_line(long)[:100_000])
    assert Log.open(path).head == long.head
