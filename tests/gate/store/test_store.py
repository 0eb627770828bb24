import json
import sqlite3
import subprocess
import sys
from contextlib import closing, nullcontext, suppress

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError, SQLAlchemyError

from sfumato.errors import DataError, FileError
from sfumato.gate.service import Gate
from sfumato.gate.store.store import Store
from tests.gate.conftest import table


@pytest.fixture
def gate(configured):
    config = configured()
    Gate.init(config)
    with Gate.open(config) as opened:
        opened.add_organisation("north", "research")
        opened.add_user("ann", "north", "analyst", "research")
        opened.ask("ann", "ward", table("A"), key="k")
        opened.ask("ann", "ward", table("A", "B"))
        yield opened


def run(gate, *statements):
    """What somebody does who has the database's password."""
    engine = gate.store.engine
    if engine.dialect.name == "sqlite":
        with closing(sqlite3.connect(engine.url.database)) as plain:  # without its rules between tables
            for statement in ("DROP TRIGGER ledger_no_update", "DROP TRIGGER ledger_no_delete", *statements):
                with suppress(sqlite3.OperationalError) if "TRIGGER" in statement else nullcontext():
                    plain.execute(statement)
            plain.commit()
        return
    with engine.begin() as connection:
        for statement in ("SET LOCAL session_replication_role = replica", *statements):
            connection.exec_driver_sql(statement)


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger SET who = 'eve'", "DELETE FROM ledger", "TRUNCATE ledger CASCADE"]
)
def test_triggers_refuse_to_change_the_ledger(gate, statement):
    if "TRUNCATE" in statement and gate.store.engine.dialect.name == "sqlite":
        return  # which it does not know
    with pytest.raises(DatabaseError, match="entries of the ledger stay as they are"), gate.store.engine.begin() as one:
        one.execute(text(statement))
    assert gate.verify() == []


@pytest.mark.parametrize("store_url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize(
    ("statements", "fault"),
    [
        (["UPDATE ledger SET who = 'eve' WHERE seq = 3"], "Entry 3 was changed"),
        (["UPDATE ledger SET body = 'x' WHERE seq = 3"], "Entry 3 was changed"),
        (["DELETE FROM ledger WHERE seq = 4"], "Entry 4 is missing"),
        (["DELETE FROM ledger WHERE seq >= 5"], "The end is missing"),
        (["UPDATE chain SET hash = '00'"], "it had another hash when it was seen"),
        (["UPDATE releases SET content = replace(content, '5', '6')"], "is not what was given"),
        (["DELETE FROM releases"], "is gone"),
        (["UPDATE answers SET answer = replace(answer, 'granted', 'refused')"], "is not what was answered"),
        (["UPDATE answers SET who = 'north'"], "is not what was answered"),
        (['UPDATE answers SET answer = replace(answer, \'"release":"\', \'"release":"x\')'], "names another release"),
        (["UPDATE releases SET who = 'north'"], "was given to somebody else"),
        (["DELETE FROM knowledge WHERE who = 'north'"], "What 'north' is stored to know"),
        (["UPDATE principals SET policy = 'public' WHERE name = 'ann'"], "What is stored of 'ann'"),
        (["UPDATE principals SET role = 'steward' WHERE name = 'ann'"], "What is stored of 'ann'"),
        (["DELETE FROM edges WHERE giver = 'ann'"], "Who shares with whom"),
        (["INSERT INTO broken VALUES ('ann', 'ward')"], "Whose knowledge breaks"),
        (["UPDATE versions SET sha256 = '00'"], "What is stored of 'ward'"),
        (["UPDATE policies SET body = replace(body, '\"width\":4', '\"width\":3')"], "What is stored of 'research'"),
    ],
)
def test_what_was_changed_is_named(gate, statements, fault):
    run(gate, *statements)
    faults = gate.verify()
    assert any(fault in one for one in faults), faults
    assert not any("6" in one for one in faults if "given" in one)


def test_a_swapped_release_is_named(gate):
    gate.ask("ann", "ward", table())
    run(
        gate,
        "CREATE TABLE other AS SELECT seq, content, digest FROM releases",
        "UPDATE releases SET content = (SELECT content FROM other WHERE other.seq <> releases.seq), "
        "digest = (SELECT digest FROM other WHERE other.seq <> releases.seq)",
    )
    assert sum("is not what was given" in one for one in gate.verify()) == 2


def test_a_cut_end_shows_by_the_head_of_a_release(gate):
    papers = gate.ask("ann", "ward", table()).ledger
    seq, digest = gate.entries(papers[0] - 2)[0].head
    run(
        gate,
        *(f"DELETE FROM {name} WHERE seq = {papers[0]}" for name in ("answers", "releases", "knowledge", "ledger")),
    )
    run(gate, f"UPDATE chain SET seq = {seq}, hash = '{digest}'")
    assert any("The end is missing" in fault for fault in gate.verify(papers))


def test_a_gate_that_runs_stops_when_its_ledger_is_cut(gate):
    seq, digest = gate.entries(2)[0].head
    for name in ("answers", "releases", "knowledge", "versions", "policies", "ledger"):
        run(gate, f"DELETE FROM {name} WHERE seq > {seq}")
    run(gate, f"UPDATE chain SET seq = {seq}, hash = '{digest}'")
    with pytest.raises(DataError, match="The store was set back"):
        gate.ask("ann", "ward", table("B"))


def test_the_store_is_made_by_command_only(configured):
    config = configured()
    with pytest.raises(DataError, match="sfumato gate init"):
        Gate.open(config)


def test_a_newer_store_is_refused(gate):
    run(gate, "UPDATE alembic_version SET version_num = '9999'")
    for call in (Gate.open, Gate.init):
        with pytest.raises(DataError, match="newer version"):
            call(gate.config)


def test_the_migrations_make_the_tables_of_the_schema(gate):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext
    from alembic.script import ScriptDirectory

    from sfumato.gate.store import engine, schema

    with gate.store.reading() as view:
        assert compare_metadata(MigrationContext.configure(view.connection), schema.metadata) == []
    folder = engine.__file__.replace("engine.py", "migrations")
    assert ScriptDirectory(folder).get_heads() == [schema.NEWEST]


def test_a_file_that_is_no_store_is_told(tmp_path):
    (tmp_path / "x.db").write_bytes(b"no store" * 1000)
    with pytest.raises(FileError, match="no store"):
        Store.open(f"sqlite:///{tmp_path / 'x.db'}")
    with pytest.raises(FileError, match="folder"):
        Store.make(f"sqlite:///{tmp_path / 'none' / 'x.db'}")


def test_a_server_that_is_not_there_is_told():
    with pytest.raises(FileError, match="cannot be reached") as told:
        Store.open("postgresql://somebody:secretword@127.0.0.1:1/none")
    assert "secretword" not in str(told.value)


def test_messages_quote_nothing_that_is_stored(gate):
    """Where a statement of the database fails, its words, which hold values, are not passed on."""
    run(gate, "DROP TABLE answers")
    with pytest.raises(FileError) as told:
        gate.ask("ann", "ward", table(), key="planted")
    assert "planted" not in str(told.value)
    assert told.value.__suppress_context__
    assert not isinstance(told.value, SQLAlchemyError)


@pytest.mark.slow
def test_without_the_packages_the_install_line_is_told(tmp_path):
    code = (
        "import sys\n"
        "sys.modules['sqlalchemy'] = None\n"
        "from sfumato.gate.config import Config\n"
        "from sfumato.gate.service import Gate\n"
        "from sfumato.errors import MissingExtra\n"
        "config = Config.model_validate({'gate': 1, 'store': 'sqlite:///x.db', 'secret_file': 'k', "
        "'policies': {'r': {'preset': 'research'}}})\n"
        "try:\n    Gate.init(config)\nexcept MissingExtra as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert "pip install 'sfumato[server]'" in done.stdout, done.stderr


def test_entries_are_stored_as_canonical_json(gate):
    with gate.store.engine.connect() as connection:
        for (body,) in connection.execute(text("SELECT body FROM ledger")):
            assert body == json.dumps(json.loads(body), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
