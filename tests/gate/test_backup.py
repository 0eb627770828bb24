"""Backups, and stores that are put back from them with all that was told since."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from sfumato.errors import DataError, FileError, SfumatoError
from sfumato.gate.backup import dump_line, read_backup
from sfumato.gate.ledger import to_line
from sfumato.gate.service import Gate
from tests.gate.conftest import POLICIES, made_config, table

SAFE, NOT_BESIDE = table("A"), table("B")


def made(folder, **more):
    folder.mkdir(exist_ok=True)
    config = made_config(folder, "sqlite:///gate.db", **more)
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        gate.add_user("bob", None, "analyst", "research")
    return config


@pytest.fixture
def config(tmp_path):
    return made(tmp_path)


def backed_up(config, name="b"):
    with Gate.open(config) as gate:
        gate.backup(config.folder / name)
    return config.folder / name


def state(config):
    with Gate.open(config) as gate:
        gate.people()
        return gate._state, gate.verify()


def test_a_backup_is_private_and_has_no_secret(tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "north.csv").write_text("code,group\n1,x\n2,y\n")
    config = made(tmp_path, said="count: n, levels: {A: {half: north.csv}}")
    folder = backed_up(config)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o600}
    assert bytes(range(32)) not in b"".join(one.read_bytes() for one in folder.iterdir())
    told = json.loads((folder / "backup.json").read_text())
    assert (folder / told["levels"]["north.csv"]).read_text() == (tmp_path / "north.csv").read_text()
    assert told["data"]["ward"]["v1"]["path"] == "ward.csv"
    assert (folder / "gate.yaml").read_text() == (tmp_path / "gate.yaml").read_text()
    with pytest.raises(FileError, match="there already"):
        backed_up(config)
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".sfumato")] == []


def test_a_backup_that_fails_leaves_nothing(config, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sfumato.gate.backup.to_disk", full)
    with pytest.raises(FileError, match="No space left"):
        backed_up(config)
    assert not (config.folder / "b").exists()
    assert [one.name for one in config.folder.iterdir() if one.name.startswith(".sfumato")] == []


def test_backup_restore_and_repair_in_a_row_change_nothing(config):
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
        gate.set_password("ann", "correct horse battery")
    before, _ = state(config)
    done = Gate.restore(config, backed_up(config))
    assert (done.later, done.made, done.gone, done.logged) == (0, 0, (), True)
    assert Gate.repair(config) == []
    assert state(config) == (before, [])
    with Gate.open(config) as gate:
        assert gate.login("ann", "correct horse battery").who == "ann"


@pytest.mark.parametrize("lost", ["set back", "gone", "damaged", "edited"])
def test_what_was_told_since_the_backup_is_kept(config, lost):
    folder = backed_up(config)
    with Gate.open(config) as gate:
        gate.add_organisation("north", "research")
        gate.join("bob", "north")
        given = gate.ask("ann", "ward", SAFE).release
        part = gate.ask("ann", "ward", table("A"), where={table("A").nodes[0]: ("1",)}).release
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
        gate.ask("bob", "ward", table())
    before, _ = state(config)
    path = config.folder / "gate.db"
    for file in config.folder.glob("gate.db-*"):
        file.unlink()
    if lost == "gone":
        path.unlink()
    elif lost == "damaged":
        path.write_bytes(b"no store" * 1000)
    elif lost == "set back":
        shutil.copy(folder / "gate.db", path)
    else:
        with closing(sqlite3.connect(path)) as plain:
            plain.execute("DELETE FROM knowledge")
            plain.commit()
    with pytest.raises(SfumatoError):
        Gate.open(config)
    done = Gate.restore(config, folder)
    assert (done.made, done.gone) == (3, ())
    assert state(config) == (before, [])
    with Gate.open(config) as gate:
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
        assert [one.content for one in gate.releases("ann")] == [given.content, part.content]


def test_releases_of_data_that_changed_are_gone_and_an_entry_says_so(config):
    folder = backed_up(config)
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
    before, _ = state(config)
    shutil.copy(folder / "gate.db", config.folder / "gate.db")
    whole = (config.folder / "ward.csv").read_text()
    (config.folder / "ward.csv").write_text(whole.replace("1,1,2", "1,1,3"))
    done = Gate.restore(config, folder)
    assert (done.made, done.gone) == (0, (before.head[0],))
    (config.folder / "ward.csv").write_text(whole)
    after, faults = state(config)
    assert (after.knowledge, faults) == (before.knowledge, [])
    with Gate.open(config) as gate:
        assert gate.entries()[-1].body["gone"] == [before.head[0]]
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
        assert config.log_path.read_text().splitlines() == [to_line(one) for one in gate.entries()]


def test_a_server_that_runs_goes_on_with_what_was_put_back(config):
    folder = backed_up(config)
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
        Gate.restore(config, folder)
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"
        assert gate.verify() == []


def test_another_gates_backup_is_refused(config, tmp_path):
    other = backed_up(made(tmp_path / "other"))
    before = (tmp_path / "gate.db").read_bytes()
    with pytest.raises(DataError, match="another gate's"):
        Gate.restore(config, other)
    assert (tmp_path / "gate.db").read_bytes() == before


@pytest.mark.parametrize("file", ["gate.db", "gate.ledger", "gate.yaml", "backup.json"])
def test_a_damaged_backup_is_refused(config, file):
    folder = backed_up(config)
    (folder / file).write_bytes((folder / file).read_bytes()[:-9] + b"x")
    before = (config.folder / "gate.db").read_bytes()
    with pytest.raises(DataError, match="damaged"):
        Gate.restore(config, folder)
    (folder / file).unlink()
    with pytest.raises(SfumatoError):
        Gate.restore(config, folder)
    assert (config.folder / "gate.db").read_bytes() == before


def test_a_store_that_is_ahead_is_not_written_over(config):
    folder = backed_up(config)
    log = config.log_path.read_bytes()
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
    config.log_path.write_bytes(log)
    with pytest.raises(DataError, match="they would be forgotten"):
        Gate.restore(config, folder)
    with Gate.open(config):  # the log catches up
        pass
    Gate.restore(config, folder)
    with Gate.open(config) as gate:
        assert gate.ask("ann", "ward", NOT_BESIDE).decision == "refused"


def test_a_log_that_was_set_back_is_refused(config):
    log = config.log_path.read_bytes()
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
    folder = backed_up(config)
    config.log_path.write_bytes(log)
    with pytest.raises(DataError, match="was set back"):
        Gate.restore(config, folder)


def test_where_the_log_is_lost_too_one_is_begun(config):
    folder = backed_up(config)
    (config.folder / "gate.db").unlink()
    config.log_path.unlink()
    assert not Gate.restore(config, folder).logged
    with pytest.raises(DataError, match="log start"):
        Gate.open(config)
    Gate.start_log(config, "the disk was lost")
    assert state(config)[1] == []


def test_what_waits_waits_again(config):
    with Gate.open(config) as gate:
        for name in ("sue", "dan"):
            gate.add_user(name, None, "steward", "research")
    folder = backed_up(config)
    with Gate.open(config) as gate:
        gate.ask("ann", "ward", SAFE)
        gate.propose_exception("ann", "ward", NOT_BESIDE, "sue", "agreed with the board")
        one = gate.propose_exception("bob", "ward", NOT_BESIDE, "sue", "agreed with the board")
        gate.confirm_exception(one, "dan")
        told = [waiting.to_plain() | {"id": ""} for waiting in gate.exceptions()]
    Gate.restore(config, folder)
    with Gate.open(config) as gate:
        assert [waiting.to_plain() | {"id": ""} for waiting in gate.exceptions()] == told
        assert len(told) == 1
        assert gate.verify() == []


def test_what_was_called_chance_since_the_backup_waits_as_it_was_proposed(tmp_path):
    data = "sex,ill,n\nf,no,300\nf,yes,300\nm,no,600\n"
    config = made(tmp_path, data=data)
    with Gate.open(config) as gate:
        for name in ("sue", "dan"):
            gate.add_user(name, None, "steward", "research")
    folder = backed_up(config)
    with Gate.open(config) as gate:
        gate.propose_chance("ward", ["sex", "ill"], "sue", "nobody was asked")
    Gate.restore(config, folder)
    with Gate.open(config) as gate:
        assert gate.verify() == []  # with the digest of what was found
        [waiting] = gate.exceptions()
        assert gate.confirm_exception(waiting.id, "dan").granted
        assert gate.verify() == []


def test_an_address_is_shown_without_its_password(tmp_path):
    (tmp_path / "key").write_bytes(bytes(range(32)))
    config = made(tmp_path)
    address = "postgresql://gate:word@host/gate"
    assert "word" not in dump_line(config.model_copy(update={"store": address}), tmp_path)
    config._text = config.text + f"# {address}\n"
    with Gate.open(config) as gate:
        gate.backup(tmp_path / "b")
    assert "postgresql://gate@host" in (tmp_path / "b" / "gate.yaml").read_text()
    assert "word" not in (tmp_path / "b" / "gate.yaml").read_text()


def test_a_store_in_a_database_gets_what_the_log_has(tmp_path, server):
    """As after `pg_restore`: the database is as it was when it was copied."""
    from sqlalchemy import text

    config = made_config(tmp_path, server.database(), policies=POLICIES)
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        gate.backup(tmp_path / "b")
        head = gate.head()
        gate.ask("ann", "ward", SAFE)
    before, _ = state(config)
    assert "gate.db" not in read_backup(tmp_path / "b").files
    with Gate.look(config) as gate, gate.store.engine.begin() as plain:
        plain.execute(text("SET LOCAL session_replication_role = replica"))
        for name in ("answers", "releases", "knowledge", "ledger"):
            plain.execute(text(f"DELETE FROM {name} WHERE seq > {head[0]}"))
        plain.execute(text(f"UPDATE chain SET seq = {head[0]}, hash = '{head[1]}'"))
    with pytest.raises(DataError, match="set back"):
        Gate.open(config)
    assert Gate.restore(config, tmp_path / "b").made == 1
    assert state(config) == (before, [])
