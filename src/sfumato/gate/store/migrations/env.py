"""Brings a store to the newest revision, over the connection that `sfumato.gate.store.engine` gives."""

from alembic import context

from sfumato.gate.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
