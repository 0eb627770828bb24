"""The demo: a gate that is right, with people who may come in and something to see for each of them."""

from __future__ import annotations

import stat

import pytest

from sfumato.gate.config import read_config
from sfumato.gate.demo import set_up
from sfumato.gate.service import Gate


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return set_up(tmp_path_factory.mktemp("demo"), 5_000)


def test_everybody_has_a_password_of_their_own(demo):
    roles = [user.role for user in demo.users]
    assert roles == ["analyst"] * 3 + ["steward"] * 2 + ["auditor"]
    assert len({user.password for user in demo.users}) == len(demo.users)
    assert {user.organisation for user in demo.users if user.role == "analyst"} == {"north", "south"}


def test_the_gate_is_as_it_should_be(demo):
    with Gate.open(read_config(demo.config)) as gate:
        assert gate.verify() == []
        assert demo.dataset in gate.datasets()
        assert {"research", "public"} <= set(gate.policies())
        assert gate.releases("ann")
        assert gate.releases("public")
        assert len(gate.exceptions()) == 1


@pytest.mark.slow
def test_everybody_comes_in(demo):
    with Gate.open(read_config(demo.config)) as gate:
        for user in demo.users:
            assert gate.bearer(user.token).role == user.role
        first = demo.users[0]
        assert gate.login(first.id, first.password).who == first.id


def test_nobody_else_reads_the_secret(demo):
    assert stat.S_IMODE((demo.config.parent / "key").stat().st_mode) == 0o600
