"""A gate to try things on: an invented warehouse, people of two organisations, and a little that was given."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfumato.data.yaml import dump_yaml
from sfumato.examples.warehouse import warehouse, warehouse_codebook, warehouse_levels, warehouse_never
from sfumato.gate.config import read_config
from sfumato.gate.service import Gate
from sfumato.gate.serving.doors import SCOPES

__all__ = ["Demo", "DemoUser", "set_up"]

DATASET = "warehouse"
_PEOPLE = (
    ("ann", "north", "analyst"),
    ("bob", "north", "analyst"),
    ("cat", "south", "analyst"),
    ("sue", None, "steward"),
    ("sol", None, "steward"),
    ("ida", None, "auditor"),
)
_ASKED = (  # the first ones are given; of the others some are not
    ("ann", "sex,age@band10"),
    ("ann", "region@area,outcome"),
    ("bob", "ward@division,admission@planned"),
    ("bob", "cost|ward@division"),
    ("cat", "sex,smoker@ever"),
    ("public", "sex"),
    ("cat", "age,diagnosis"),
)


@dataclass(frozen=True)
class DemoUser:
    """Somebody of the demo, who can log in at once.

    Parameters
    ----------
    id, role, organisation
        Who they are.
    password, token
        How they come in, by browser and by program.
    """

    id: str
    role: str
    organisation: str | None
    password: str
    token: str

    def to_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {"id": self.id, "role": self.role, "password": self.password, "token": self.token}


@dataclass(frozen=True)
class Demo:
    """A gate that was set up.

    Parameters
    ----------
    config
        Its configuration, beside which all else lies.
    dataset
        Name of the data set.
    users
        Analysts first, then stewards and an auditor.
    """

    config: Path
    dataset: str
    users: tuple[DemoUser, ...]


def set_up(folder: Path, n: int = 50_000) -> Demo:
    """Set up a gate over an invented warehouse.

    Two organisations, north and south, share nothing; a group receives what south holds. There are two stewards, since
    an exception takes two, and one exception waits.

    Parameters
    ----------
    folder
        An empty one, which nobody else can read; all is written into it.
    n
        Number of patients.

    Returns
    -------
    Demo
        Where it is, and who may come in.

    Raises
    ------
    MissingExtra
        Without the packages of the extra `server`.

    Examples
    --------
    >>> import tempfile
    >>> demo = set_up(Path(tempfile.mkdtemp()), 2000)
    >>> [user.id for user in demo.users if user.role == "analyst"]
    ['ann', 'bob', 'cat']
    """
    path = folder / "gate.yaml"
    _write(folder, n)
    config = read_config(path)
    Gate.init(config)
    with Gate.open(config) as gate:
        users = _people(gate)
        for who, table in _ASKED:
            margin, _ = gate.read_request(DATASET, table)
            gate.ask(who, DATASET, margin)
        margin, _ = gate.read_request(DATASET, "region,diagnosis@system")
        gate.propose_exception("cat", DATASET, margin, "sue", "Planning of wards, agreed with the ethics board")
    return Demo(path, DATASET, users)


def _write(folder: Path, n: int) -> None:
    """The files: data, levels, secret, configuration."""
    warehouse(n).write_parquet(folder / f"{DATASET}.parquet")
    (folder / "levels").mkdir()
    levels: dict[str, dict[str, str]] = {}
    for variable, own in warehouse_levels().items():
        levels[variable] = {level: f"levels/{variable}-{level}.csv" for level in own}
        for level, group in own.items():
            pl.DataFrame({"code": list(group), "group": list(group.values())}).write_csv(
                folder / levels[variable][level]
            )
    key = folder / "key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_hex(32).encode() + b"\n")
    book = warehouse_codebook()
    dataset = {
        "versions": {"v1": f"{DATASET}.parquet"},
        "record": "id",
        "variables": book.to_plain(),
        "levels": levels,
        "never": warehouse_never(),
    }
    policies = {
        "research": {
            "interval": {"count": 4, "width": 10},
            "attribution": {"variables": ["hiv"], "rule": "positive"},
            "perturbed": {"variance": 9},
        },
        "public": {"interval": {"count": 9, "width": 20}},
    }
    told = {"gate": 1, "store": "sqlite:///gate.db", "secret_file": "key", "datasets": {DATASET: dataset}}
    (folder / "gate.yaml").write_bytes(dump_yaml({**told, "policies": policies}).encode())


def _people(gate: Gate) -> tuple[DemoUser, ...]:
    """Declare everybody; their passwords hold from the start."""
    gate.add_organisation("north", "research")
    gate.add_organisation("south", "research")
    gate.add_group("wards", "research")
    gate.share("south", "wards")
    out = []
    for name, organisation, role in _PEOPLE:
        password = gate.add_user(name, organisation, role, "research")
        _keep(gate, name)
        _, token = gate.issue_token(name, SCOPES[role])
        out.append(DemoUser(name, role, organisation, password, token))
    return tuple(out)


def _keep(gate: Gate, name: str) -> None:
    """Let a one-time password hold on: nobody has to choose another one, and nothing is hashed again."""
    with gate.store.doors() as doors:
        known = doors.password(name)
        assert known is not None
        doors.set_password(name, known[0])
