"""Tokens, sessions and attempts to log in; by what the secret is known again."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

HASH, NAME, AT, ID = sa.String(64), sa.String(200), sa.String(27), sa.String(40)


def text(name: str, kind: sa.types.TypeEngine[Any], unique: bool = False) -> sa.Column[Any]:
    """A column of texts."""
    return sa.Column(name, kind, nullable=False, unique=unique)


def who() -> sa.Column[Any]:
    """The column that names a user."""
    return sa.Column("who", NAME, sa.ForeignKey("principals.name"), nullable=False)


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "tokens",
        sa.Column("id", ID, primary_key=True),
        who(),
        text("hash", HASH, unique=True),
        text("scopes", NAME),
        text("at", AT),
        text("until", AT),
        sa.Column("revoked", sa.Boolean, nullable=False),
    )
    op.create_index("tokens_who", "tokens", ["who"])
    op.create_table(
        "sessions",
        sa.Column("hash", HASH, primary_key=True),
        who(),
        text("seen", AT),
        text("until", AT),
    )
    op.create_index("sessions_who", "sessions", ["who"])
    op.create_table(
        "attempts",
        sa.Column("id", ID, primary_key=True),
        text("account", HASH),
        text("at", AT),
    )
    op.create_index("attempts_account", "attempts", ["account", "at"])
    op.create_table(
        "secret",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        text("fingerprint", ID),
    )
