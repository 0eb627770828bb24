"""Stores of earlier revisions are brought up by `init`, and by nothing else."""

from pathlib import Path

import pytest

from sfumato.errors import DataError
from sfumato.gate.service import Gate
from sfumato.gate.store import engine as engines
from sfumato.gate.store import schema
from tests.gate.conftest import table

PASSWORD = "correct horse battery"


def brought_to(url: str, revision: str) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(engines.__file__).parent / "migrations"))
    engine = engines.opened(url, make=True)
    with engines.writing(engine) as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


@pytest.mark.parametrize("revision", schema.OLDER)
def test_an_older_store_is_brought_up(configured, revision):
    config = configured()
    brought_to(config.store_url, revision)
    with pytest.raises(DataError, match="older version"):
        Gate.open(config)
    Gate.init(config)
    with Gate.open(config) as gate:
        gate.add_user("ann", None, "analyst", "research")
        assert gate.ask("ann", "ward", table("A")).decision == "granted"
        gate.set_password("ann", PASSWORD)
        assert gate.bearer(gate.issue_token("ann", ["tables"])[1]).who == "ann"
        assert gate.verify() == []


def test_the_tables_are_those_that_migrations_make(configured):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    config = configured()
    Gate.init(config)
    engine = engines.opened(config.store_url)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), schema.metadata) == []
    engine.dispose()
