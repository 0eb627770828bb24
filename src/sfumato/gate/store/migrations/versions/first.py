"""The first tables: ledger, principals, knowledge, releases, queue, policies, data sets."""

from typing import Any

import sqlalchemy as sa
from alembic import op

from sfumato.gate.store.triggers import statements

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

HASH, NAME, AT, SHORT = sa.String(64), sa.String(200), sa.String(27), sa.String(20)
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def entry(nullable: bool = False, unique: bool = False) -> sa.Column[Any]:
    """The column that names an entry."""
    return sa.Column("seq", NUMBER, sa.ForeignKey("ledger.seq"), nullable=nullable, unique=unique)


def text(name: str, kind: sa.types.TypeEngine[Any] = NAME, nullable: bool = False) -> sa.Column[Any]:
    """A column of texts."""
    return sa.Column(name, kind, nullable=nullable)


def upgrade() -> None:
    """Make the tables and the triggers."""
    op.create_table(
        "ledger",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=False),
        text("at", AT),
        text("kind", SHORT),
        text("who"),
        text("dataset"),
        text("body", sa.Text()),
        text("previous", HASH),
        text("hash", HASH),
    )
    op.create_index("ledger_who", "ledger", ["who", "at"])
    op.create_table(
        "chain",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("seq", NUMBER, nullable=False),
        text("hash", HASH),
    )
    _people()
    _given()
    _described()
    for statement in statements(op.get_bind().dialect.name):
        op.execute(statement)
    op.execute(f"INSERT INTO chain (id, seq, hash) VALUES (1, 0, '{'0' * 64}')")


def _people() -> None:
    op.create_table(
        "principals",
        sa.Column("name", NAME, primary_key=True),
        text("kind", SHORT),
        text("role", SHORT),
        text("policy"),
        sa.Column("active", sa.Boolean, nullable=False),
    )
    op.create_table(
        "edges",
        sa.Column("giver", NAME, sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("taker", NAME, sa.ForeignKey("principals.name"), primary_key=True),
    )
    op.create_table(
        "knowledge",
        sa.Column("who", NAME, sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("dataset", NAME, primary_key=True),
        sa.Column("digest", HASH, primary_key=True),
        text("margin", sa.Text()),
        entry(),
    )
    op.create_table(
        "broken",
        sa.Column("who", NAME, sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("dataset", NAME, primary_key=True),
    )
    op.create_table(
        "credentials",
        sa.Column("who", NAME, sa.ForeignKey("principals.name"), primary_key=True),
        sa.Column("kind", SHORT, primary_key=True),
        text("hash", sa.Text()),
        sa.Column("once", sa.Boolean, nullable=False),
    )


def _given() -> None:
    op.create_table(
        "releases",
        sa.Column("id", sa.String(40), primary_key=True),
        entry(unique=True),
        text("who"),
        text("dataset"),
        text("at", AT),
        text("kind", SHORT),
        text("content", sa.Text()),
        text("digest", HASH),
    )
    op.create_index("releases_who", "releases", ["who", "at"])
    op.create_table(
        "answers",
        sa.Column("id", sa.String(40), primary_key=True),
        entry(),
        text("who"),
        text("key", NAME, nullable=True),
        text("request", HASH),
        text("answer", sa.Text()),
        sa.UniqueConstraint("who", "key", name="answers_once"),
    )
    op.create_table(
        "queue",
        sa.Column("id", sa.String(40), primary_key=True),
        entry(),
        text("who"),
        text("dataset"),
        text("at", AT),
        text("asked", sa.Text()),
        text("state", SHORT),
        sa.Column("closed", NUMBER, nullable=True),
    )
    op.create_table(
        "exceptions",
        sa.Column("id", sa.String(40), primary_key=True),
        entry(),
        text("who"),
        text("dataset"),
        text("asked", sa.Text()),
        text("proposed_by"),
        text("reason", sa.Text()),
        text("state", SHORT),
        sa.Column("closed", NUMBER, nullable=True),
    )


def _described() -> None:
    op.create_table(
        "policies",
        sa.Column("name", NAME, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        text("body", sa.Text()),
        text("digest", HASH),
        entry(),
    )
    op.create_table(
        "datasets",
        sa.Column("name", NAME, primary_key=True),
        text("codebook", sa.Text()),
        entry(),
    )
    op.create_table(
        "versions",
        sa.Column("dataset", NAME, sa.ForeignKey("datasets.name"), primary_key=True),
        sa.Column("name", NAME, primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        text("path", sa.Text()),
        text("sha256", HASH),
        entry(),
    )
