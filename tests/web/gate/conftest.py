"""A gate behind its doors, over a store of SQLite, with somebody of every role."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sfumato.gate.config import read_config
from sfumato.gate.service import Gate
from sfumato.gate.serving.doors import SCOPES
from sfumato.web.gate.application import serve
from sfumato.web.gate.watch import Watch
from tests.hashing import cheap_hasher
from tests.made_once import copied, made_once

HERE = "http://localhost"
PASSWORD = "correct horse battery"
YAML = """
gate: 1
store: sqlite:///gate.db
secret_file: key
datasets:
  ward:
    versions: {v1: ward.csv}
    record: id
    variables: {hiv: {role: sensitive}, name: {role: identifier, kind: categorical}, w: {role: weight}}
    levels: {region: {area: {Bath: South, Leeds: North, York: North}}}
policies:
  research: {interval: {count: 2, width: 4}}
  public: {interval: {count: 2, width: 4}}
"""
USERS = {"ann": "analyst", "bob": "analyst", "cat": "analyst", "eve": "steward", "dan": "steward", "aud": "auditor"}


def ward() -> str:
    """300 people: enough of each sex and region, few of each age by region."""
    lines = ["id,sex,age,region,hiv,cost,w,name"]
    for i in range(300):
        region = ("Bath", "Leeds", "York")[i % 3]
        hiv = "yes" if i % 10 == 0 else "no"
        lines.append(f"p{i},{'fm'[i % 2]},{20 + i % 60},{region},{hiv},{i % 97 + 0.5},{1 + i % 2},{'xyz'[i % 3]}")
    return "\n".join(lines) + "\n"


@cache
def quickly(password: str) -> str:
    """The hash of a password, worked out once and with little work."""
    return str(cheap_hasher().hash(password))


@dataclass(eq=False)
class World:
    """A gate, and those who come to its doors."""

    gate: Gate
    folder: Path
    tokens: dict[str, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.app = serve(self.gate, watch=Watch(self))

    def client(self, token: str | None = None, **more) -> TestClient:
        """Somebody who comes, with a token or the name of a user who has one, or without."""
        client = TestClient(self.app, HERE, raise_server_exceptions=False, follow_redirects=False, **more)
        if token is not None:
            client.headers["Authorization"] = f"Bearer {self.tokens.get(token, token)}"
        return client

    def session(self, who: str, password: str = PASSWORD) -> TestClient:
        """Somebody who is logged in."""
        client = self.client()
        client.post("/login", json={"id": who, "password": password}).raise_for_status()
        client.headers["X-Sfumato"] = "1"
        return client

    def write(self, text: str) -> None:
        """Of the log."""
        self.log.append(text)

    def flush(self) -> None:
        """Of the log."""


def made_world(folder: Path, more: str = "", data: str | None = None, store: str = "sqlite:///gate.db") -> World:
    """A gate in a folder, with its people."""
    (folder / "ward.csv").write_text(ward() if data is None else data)
    (folder / "key").write_bytes(bytes(range(32)))
    (folder / "gate.yaml").write_text(YAML.replace("sqlite:///gate.db", store) + more)
    config = read_config(folder / "gate.yaml")
    Gate.init(config)
    gate = Gate.open(config)
    for place in ("north", "south"):
        gate.add_organisation(place, "research")
    for who, role in USERS.items():
        gate.add_user(who, {"ann": "north", "bob": "north", "cat": "south"}.get(who), role, "research")
    with gate.store.doors() as doors:
        for who in USERS:
            doors.set_password(who, quickly(PASSWORD))
    tokens = {who: gate.issue_token(who, SCOPES[role])[1] for who, role in USERS.items()}
    return World(gate, folder, tokens)


@pytest.fixture(autouse=True)
def quick(monkeypatch, cheap_argon2):
    """One-time passwords are hashed once; answers leave at once."""
    monkeypatch.setattr("sfumato.gate.serving.people._password", lambda: ("once only", quickly("once only")))
    monkeypatch.setattr("sfumato.web.gate.door.STEP", 0.001)


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A world that is closed, and its people's tokens: others are copies of it."""

    def make(folder: Path) -> None:
        (folder / "world").mkdir()
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("sfumato.gate.serving.people._password", lambda: ("once only", quickly("once only")))
            world = made_world(folder / "world")
        world.gate.close()
        (folder / "tokens.json").write_text(json.dumps(world.tokens))

    return made_once(tmp_path_factory, "gate", make)


@pytest.fixture
def made(tmp_path) -> Iterator[Callable[..., World]]:
    """Makes a gate, with more lines of the configuration, or other data."""
    gates = []

    def make(*args, **more) -> World:
        gates.append(made_world(tmp_path, *args, **more))
        return gates[-1]

    yield make
    for world in gates:
        world.gate.close()


@pytest.fixture
def opened(tmp_path, template) -> Iterator[Callable[[str], World]]:
    """Opens the usual gate, with more lines of the configuration."""
    with ExitStack() as gates:

        def opens(more: str = "") -> World:
            copied(template / "world", tmp_path)
            with (tmp_path / "gate.yaml").open("a") as config:
                config.write(more)
            gate = gates.enter_context(Gate.open(read_config(tmp_path / "gate.yaml")))
            return World(gate, tmp_path, json.loads((template / "tokens.json").read_text()))

        yield opens


@pytest.fixture
def world(opened) -> World:
    """The usual gate."""
    return opened()
