"""The configuration of a gate: `gate.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, PrivateAttr, ValidationError, field_validator, model_validator

from sfumato.data.codebook import Variable
from sfumato.data.described import Described
from sfumato.data.problems import problems_of
from sfumato.errors import DataError
from sfumato.gate.plain_files import read_plain
from sfumato.gate.policy import Policy

__all__ = ["Chance", "Config", "DatasetConfig", "OidcConfig", "ServerConfig", "TableSource", "read_config"]

_FROZEN = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*")
_STORES = ("sqlite:///", "postgresql://")


class TableSource(Described):
    """A table of a database, which is copied when the data set is added.

    Parameters
    ----------
    url
        `postgresql://...` or `sqlite:///...`.
    table
        Its name.
    """

    model_config = _FROZEN

    url: str = Field(min_length=1, repr=False)
    table: str = Field(min_length=1, max_length=200)

    @field_validator("url")
    @classmethod
    def _known(cls, url: str) -> str:
        if not url.startswith(_STORES):
            raise ValueError("a database is postgresql://... or sqlite:///...")
        return url


class Chance(Described):
    """Columns that hang on one another in these data by chance alone.

    Parameters
    ----------
    columns
        Which.
    because
        Why a steward thinks so.
    """

    model_config = _FROZEN

    columns: tuple[str, ...] = Field(min_length=2, max_length=3)
    because: str = Field(min_length=1, max_length=2000)


class DatasetConfig(Described):
    """A data set: its versions, and what is known about it.

    Parameters
    ----------
    versions
        By name a file, or a table of a database; oldest first.
    record
        The column of record ids, by which versions are paired.
    count
        The column that says how many people a row stands for, where rows are no records.
    variables
        Roles and ranges, as in a plan. What is not listed is told from the data.
    levels
        By variable and level a file with the columns `code` and `group`, or the groups themselves.
    never
        Combinations of codes that cannot be.
    cohorts
        Derived variables, by formulas over variables.
    missing_told
        Numbers of which it is no secret whether somebody's value is there.
    chance
        What was found to hang together, and does so by chance; counts once a second steward confirmed it.
    """

    model_config = _FROZEN

    versions: dict[str, str | TableSource] = Field(min_length=1)
    record: str | None = None
    count: str | None = None
    variables: dict[str, Variable] = Field(default_factory=dict)
    levels: dict[str, dict[str, str | dict[str, str]]] = Field(default_factory=dict)
    never: tuple[dict[str, str], ...] = ()
    cohorts: dict[str, str] = Field(default_factory=dict)
    missing_told: tuple[str, ...] = ()
    chance: tuple[Chance, ...] = ()

    @field_validator("never", mode="before")
    @classmethod
    def _texts(cls, given: Any) -> Any:
        if not isinstance(given, list | tuple) or not all(isinstance(one, Mapping) for one in given):
            return given
        return tuple(
            {str(k): str(v).lower() if isinstance(v, bool) else str(v) for k, v in one.items()} for one in given
        )

    @model_validator(mode="after")
    def _paired(self) -> DatasetConfig:
        if len(self.versions) > 1 and self.record is None and self.count is None:
            raise ValueError("several versions are paired by record id: name its column under `record`")
        return self


class OidcConfig(Described):
    """An identity provider, whose users come in without a password of the gate's.

    Parameters
    ----------
    issuer
        Its address: `https://login.example.org`.
    client_id
        By which it knows this gate.
    client_secret_file
        The file with what the gate proves that by; not needed where the provider asks for none.
    claim
        Of the provider's statement about somebody, what is their name here.
    """

    model_config = _FROZEN

    issuer: str = Field(min_length=8, max_length=500)
    client_id: str = Field(min_length=1, max_length=200)
    client_secret_file: str | None = None
    claim: str = Field(default="preferred_username", min_length=1, max_length=100)

    @field_validator("issuer")
    @classmethod
    def _safe(cls, issuer: str) -> str:
        parts = urlsplit(issuer)
        loopback = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
        if not (parts.scheme == "https" or loopback) or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("an issuer is https://..., as its own configuration names it")
        return issuer.rstrip("/")


class ServerConfig(Described):
    """How a gate is served.

    Parameters
    ----------
    hosts
        Names by which it is called from other machines; without any it is served to this one alone.
    secure_cookies
        Whether browsers send cookies over https alone; true where there are hosts.
    oidc
        An identity provider.
    verify
        The hour, `"03:00"`, at which all that was given is proved every day (UTC).
    """

    model_config = _FROZEN

    hosts: tuple[str, ...] = Field(default=(), max_length=50)
    secure_cookies: bool | None = None
    oidc: OidcConfig | None = None
    verify: str | None = Field(default=None, pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$")

    @field_validator("hosts")
    @classmethod
    def _names(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise ValueError("a host is a name such as gate.example.org: no scheme, no port, no star")
        return tuple(host.lower() for host in hosts)

    @property
    def secure(self) -> bool:
        """Whether browsers send cookies over https alone."""
        return bool(self.hosts) if self.secure_cookies is None else self.secure_cookies


class Config(Described):
    """What a gate is run with.

    Parameters
    ----------
    gate
        Version of the form: 1.
    store
        Where the ledger and the releases are kept: `sqlite:///gate.db` or `postgresql://...`.
    secret_file
        The file with the secret that all draws are keyed on.
    datasets
        By name.
    policies
        By name; one is named `public`.
    log
        The file that every entry is written to before its answer leaves; beside the secret where none is named.
    server
        How it is served.
    """

    model_config = _FROZEN

    gate: Literal[1]
    store: str = Field(repr=False)
    secret_file: str = Field(min_length=1)
    datasets: dict[str, DatasetConfig] = Field(default_factory=dict)
    policies: dict[str, Policy] = Field(min_length=1)
    log: str | None = Field(default=None, min_length=1)
    server: ServerConfig = ServerConfig()

    _base: Path = PrivateAttr(default_factory=Path)
    _text: str = PrivateAttr(default="")

    @field_validator("store")
    @classmethod
    def _known(cls, store: str) -> str:
        if not store.startswith(_STORES):
            raise ValueError("a store is sqlite:///gate.db or postgresql://user@host/name")
        return store

    @model_validator(mode="after")
    def _named(self) -> Config:
        for kind, names in (("data set", self.datasets), ("policy", self.policies)):
            for name in names:
                if not _NAME.fullmatch(name):
                    raise ValueError(f"the name of a {kind} has letters, digits, dots and dashes, a letter first")
        return self

    @property
    def text(self) -> str:
        """As it is written in its file."""
        return self._text

    @property
    def folder(self) -> Path:
        """The folder that files are seen from."""
        return self._base

    def path(self, name: str) -> Path:
        """A file that it names."""
        return self._base / name

    @property
    def log_path(self) -> Path:
        """The file of the log."""
        return self.path(f"{self.secret_file}.ledger" if self.log is None else self.log)

    @property
    def store_url(self) -> str:
        """The store, its file seen from the configuration's folder."""
        if self.store.startswith("sqlite:///") and not self.store.startswith("sqlite:////"):
            return f"sqlite:///{(self._base / self.store[len('sqlite:///') :]).resolve()}"
        return self.store


def read_config(path: Path) -> Config:
    """Read a configuration; its files are seen from where it lies.

    Raises
    ------
    FileError, DataError
        What cannot be read; with every problem and its line.
    """
    given, lines = read_plain(path, "configuration")
    if not isinstance(given, Mapping):
        raise DataError(f"{path.name}: a configuration is a mapping that begins with `gate: 1`.")
    try:
        config = Config.model_validate(given)
    except ValidationError as error:
        raise DataError(f"{path.name}: {'; '.join(map(str, problems_of(error, given, lines)))}") from None
    config._base = path.resolve().parent
    config._text = path.read_text(encoding="utf-8")
    return config
