"""Gates over stores of both kinds: a file of SQLite, and a database of a PostgreSQL that runs while the tests do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sfumato.gate.config import Config, read_config
from sfumato.gate.margin import Margin, Node

SEED = "A,B,n\n1,1,2\n1,2,3\n2,1,3\n2,2,0\n"
"""The notes' smallest table: one joint cell of 2, two of 3, and one of nobody."""
POLICIES = "{research: {interval: {count: 2, width: 4}}, public: {interval: {count: 2, width: 4}}}"


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request) -> str:
    """Where a new store is to be."""
    if request.param == "sqlite":
        return "sqlite:///gate.db"
    return request.getfixturevalue("server").database()


def made_config(
    folder: Path, store: str, data: str = SEED, said: str = "count: n", policies: str = POLICIES, **more: Any
) -> Config:
    """A configuration with one data set, `ward`, in a file beside it."""
    if not (folder / "ward.csv").exists():
        (folder / "ward.csv").write_text(data)
    datasets = f"ward: {{versions: {more.get('versions', '{v1: ward.csv}')}, {said}}}{more.get('datasets', '')}"
    path = folder / "gate.yaml"
    path.write_text(f"gate: 1\nstore: {store}\nsecret_file: key\ndatasets: {{{datasets}}}\npolicies: {policies}\n")
    return read_config(path)


@pytest.fixture
def real_passwords():
    """New people get passwords that they could come in with."""


@pytest.fixture(autouse=True)
def quick_hashes(request, monkeypatch, cheap_argon2):
    """A test that is not about passwords hashes none."""
    if "real_passwords" not in request.fixturenames:
        monkeypatch.setattr("sfumato.gate.serving.people._password", lambda: ("once", "no hash"))


@pytest.fixture
def configured(tmp_path, store_url) -> Callable[..., Config]:
    return lambda **more: made_config(tmp_path, store_url, **more)


def table(*names: str, **more: str) -> Margin:
    """A margin by names of variables, `region@county` for a level."""
    return Margin.of([Node(*name.split("@")) for name in names], **more)
