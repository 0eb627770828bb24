"""The tables of a store, as they are now; `migrations` makes them."""

from __future__ import annotations

from sfumato.errors import MissingExtra

try:
    from sqlalchemy import (
        BigInteger,
        Boolean,
        Column,
        ForeignKey,
        Index,
        Integer,
        MetaData,
        String,
        Table,
        Text,
        UniqueConstraint,
    )
except ImportError:  # pragma: no cover - tests have the extra
    raise MissingExtra("The gate's store", "server") from None

__all__ = [
    "NEWEST",
    "OLDER",
    "answers",
    "attempts",
    "broken",
    "chain",
    "credentials",
    "datasets",
    "edges",
    "exceptions",
    "knowledge",
    "ledger",
    "metadata",
    "policies",
    "principals",
    "queue",
    "releases",
    "secret",
    "sessions",
    "tokens",
    "versions",
]

NEWEST = "0002"
"""The newest revision: that of these tables."""
OLDER = ("0001",)
"""Those before it, oldest first."""
_HASH = String(64)
_NAME = String(200)
_AT = String(27)
_NUMBER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()
ledger = Table(
    "ledger",
    metadata,
    Column("seq", _NUMBER, primary_key=True, autoincrement=False),
    Column("at", _AT, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("who", _NAME, nullable=False),
    Column("dataset", _NAME, nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", _HASH, nullable=False),
    Column("hash", _HASH, nullable=False),
    Index("ledger_who", "who", "at"),
)
"""The entries; triggers refuse to change or remove one."""
chain = Table(
    "chain",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("seq", _NUMBER, nullable=False),
    Column("hash", _HASH, nullable=False),
)
"""One row, the last entry's; who writes holds it."""
principals = Table(
    "principals",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("role", String(20), nullable=False),
    Column("policy", _NAME, nullable=False),
    Column("active", Boolean, nullable=False),
)
edges = Table(
    "edges",
    metadata,
    Column("giver", _NAME, ForeignKey("principals.name"), primary_key=True),
    Column("taker", _NAME, ForeignKey("principals.name"), primary_key=True),
)
knowledge = Table(
    "knowledge",
    metadata,
    Column("who", _NAME, ForeignKey("principals.name"), primary_key=True),
    Column("dataset", _NAME, primary_key=True),
    Column("digest", _HASH, primary_key=True),
    Column("margin", Text, nullable=False),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
)
broken = Table(
    "broken",
    metadata,
    Column("who", _NAME, ForeignKey("principals.name"), primary_key=True),
    Column("dataset", _NAME, primary_key=True),
)
releases = Table(
    "releases",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False, unique=True),
    Column("who", _NAME, nullable=False),
    Column("dataset", _NAME, nullable=False),
    Column("at", _AT, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("content", Text, nullable=False),
    Column("digest", _HASH, nullable=False),
    Index("releases_who", "who", "at"),
)
answers = Table(
    "answers",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
    Column("who", _NAME, nullable=False),
    Column("key", String(200), nullable=True),
    Column("request", _HASH, nullable=False),
    Column("answer", Text, nullable=False),
    UniqueConstraint("who", "key", name="answers_once"),
)
"""What was answered; a key that comes again gets the same answer."""
queue = Table(
    "queue",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
    Column("who", _NAME, nullable=False),
    Column("dataset", _NAME, nullable=False),
    Column("at", _AT, nullable=False),
    Column("asked", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("closed", _NUMBER, nullable=True),
)
policies = Table(
    "policies",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("body", Text, nullable=False),
    Column("digest", _HASH, nullable=False),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
)
datasets = Table(
    "datasets",
    metadata,
    Column("name", _NAME, primary_key=True),
    Column("codebook", Text, nullable=False),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
)
"""Whoever decides about a data set holds its row."""
versions = Table(
    "versions",
    metadata,
    Column("dataset", _NAME, ForeignKey("datasets.name"), primary_key=True),
    Column("name", _NAME, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("path", Text, nullable=False),
    Column("sha256", _HASH, nullable=False),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
)
exceptions = Table(
    "exceptions",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("seq", _NUMBER, ForeignKey("ledger.seq"), nullable=False),
    Column("who", _NAME, nullable=False),
    Column("dataset", _NAME, nullable=False),
    Column("asked", Text, nullable=False),
    Column("proposed_by", _NAME, nullable=False),
    Column("reason", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("closed", _NUMBER, nullable=True),
)
credentials = Table(
    "credentials",
    metadata,
    Column("who", _NAME, ForeignKey("principals.name"), primary_key=True),
    Column("kind", String(20), primary_key=True),
    Column("hash", Text, nullable=False),
    Column("once", Boolean, nullable=False),
)
"""Hashes of passwords; `once` says that the first use sets another one."""
tokens = Table(
    "tokens",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("who", _NAME, ForeignKey("principals.name"), nullable=False),
    Column("hash", _HASH, nullable=False, unique=True),
    Column("scopes", _NAME, nullable=False),
    Column("at", _AT, nullable=False),
    Column("until", _AT, nullable=False),
    Column("revoked", Boolean, nullable=False),
    Index("tokens_who", "who"),
)
"""What programs come in with: hashes of 256 random bits, what each may be used for, and until when."""
sessions = Table(
    "sessions",
    metadata,
    Column("hash", _HASH, primary_key=True),
    Column("who", _NAME, ForeignKey("principals.name"), nullable=False),
    Column("seen", _AT, nullable=False),
    Column("until", _AT, nullable=False),
    Index("sessions_who", "who"),
)
"""Who is logged in: hashes of the cookies, when each was seen last, and until when it holds at most."""
attempts = Table(
    "attempts",
    metadata,
    Column("id", String(40), primary_key=True),
    Column("account", _HASH, nullable=False),
    Column("at", _AT, nullable=False),
    Index("attempts_account", "account", "at"),
)
"""Who tried to log in of late: hashes of the names, whether or not anybody has them."""
secret = Table(
    "secret",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("fingerprint", String(40), nullable=False),
)
"""One row: by what the secret is known again that all draws are keyed on."""
