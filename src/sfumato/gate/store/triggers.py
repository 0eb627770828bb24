"""Triggers that refuse to change, or to remove, an entry of the ledger."""

from __future__ import annotations

__all__ = ["statements"]

_SQLITE = (
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'entries of the ledger stay as they are'); END",
    "CREATE TRIGGER ledger_no_delete BEFORE DELETE ON ledger "
    "BEGIN SELECT RAISE(ABORT, 'entries of the ledger stay as they are'); END",
)
_POSTGRESQL = (
    "CREATE FUNCTION ledger_stays() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN RAISE EXCEPTION 'entries of the ledger stay as they are'; END $$",
    "CREATE TRIGGER ledger_no_update BEFORE UPDATE OR DELETE ON ledger FOR EACH ROW EXECUTE FUNCTION ledger_stays()",
    "CREATE TRIGGER ledger_no_truncate BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION ledger_stays()",
)


def statements(dialect: str) -> tuple[str, ...]:
    """What makes them.

    Parameters
    ----------
    dialect
        `sqlite` or `postgresql`.
    """
    return _SQLITE if dialect == "sqlite" else _POSTGRESQL
