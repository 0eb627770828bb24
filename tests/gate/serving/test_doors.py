"""Who comes in, over both stores. What the doors of the web add is tested with them."""

from datetime import timedelta

import pytest

from sfumato.errors import DataError, LimitReached, NoEntry, NotThere
from sfumato.gate.service import Gate
from sfumato.gate.serving import doors

PASSWORD = "correct horse battery"
pytestmark = pytest.mark.usefixtures("real_passwords")


@pytest.fixture
def gate(configured):
    config = configured()
    Gate.init(config)
    with Gate.open(config) as opened:
        opened.add_user("ann", None, "analyst", "research")
        opened.add_user("eve", None, "steward", "research")
        opened.add_user("aud", None, "auditor", "research")
        opened.add_organisation("north", "research")
        yield opened


def test_a_password_that_holds_once_is_changed_at_first_use(gate):
    once = gate.add_user("new", None, "analyst", "research")
    with pytest.raises(NoEntry, match="new_password"):
        gate.login("new", once)
    with pytest.raises(DataError, match="old one"):
        gate.login("new", once, once)
    first = gate.login("new", once, PASSWORD)
    assert (first.who, first.role) == ("new", "analyst")
    with pytest.raises(NoEntry):
        gate.login("new", once, "another horse battery")
    second = gate.login("new", PASSWORD, before=first.session)
    assert gate.visit(first.session) is None
    assert gate.visit(second.session).scopes == {"tables", "analyses", "releases"}
    gate.logout(second.session)
    assert gate.visit(second.session) is None


def test_logins_stand_in_no_ledger(gate):
    head = gate.head()
    gate.set_password("ann", PASSWORD)
    gate.login("ann", PASSWORD)
    token, opens = gate.issue_token("ann", ["tables"])
    assert gate.bearer(opens).how == "token"
    gate.revoke_token("ann", token.id)
    assert gate.head() == head
    assert gate.verify() == []


def test_attempts_are_counted_by_all_workers_together(gate, monkeypatch):
    gate.set_password("ann", PASSWORD)
    with Gate.open(gate.config) as other:
        for i in range(5):
            with pytest.raises(NoEntry):
                (gate, other)[i % 2].login("ann", "wrong")
        for one in (gate, other):
            with pytest.raises(LimitReached):
                one.login("ann", PASSWORD)
    later = doors._now() + timedelta(seconds=61)
    monkeypatch.setattr(doors, "_now", lambda: later)
    assert gate.login("ann", PASSWORD).who == "ann"


def test_nobody_comes_in_as_an_organisation_or_the_public(gate):
    for who in ("north", "public", "nobody", ""):
        with pytest.raises(NoEntry):
            gate.enter(who)
        with pytest.raises(DataError):
            gate.issue_token(who, ["tables"])
        with pytest.raises(DataError):
            gate.set_password(who, PASSWORD)


@pytest.mark.parametrize(
    ("who", "scopes", "days"),
    [
        ("ann", ["steward"], 1),
        ("ann", ["audit"], 1),
        ("eve", ["tables"], 1),
        ("aud", ["steward"], 1),
        ("ann", [], 1),
        ("ann", ["tables"], 0),
        ("ann", ["tables"], 366),
    ],
)
def test_no_token_for_more_than_the_role_may(gate, who, scopes, days):
    with pytest.raises(DataError):
        gate.issue_token(who, scopes, days)


def test_who_is_removed_is_out_at_once(gate):
    gate.set_password("ann", PASSWORD)
    session, (token, opens) = gate.login("ann", PASSWORD).session, gate.issue_token("ann", ["tables"])
    gate.remove_user("ann")
    assert gate.visit(session) is None
    assert gate.bearer(opens) is None
    assert gate.tokens("ann") == []
    with pytest.raises(NotThere):
        gate.revoke_token("ann", token.id)
    with pytest.raises(NoEntry):
        gate.login("ann", PASSWORD)
    assert gate.verify() == []


def test_who_forgot_a_password_gets_one_for_one_login(gate):
    gate.set_password("ann", PASSWORD)
    session = gate.login("ann", PASSWORD).session
    gate.issue_token("ann", ["tables"])
    once = gate.reset_password("ann")
    assert gate.visit(session) is None
    assert gate.tokens("ann") == []
    with pytest.raises(NoEntry, match="new_password"):
        gate.login("ann", once)
    assert gate.login("ann", once, "another horse battery").who == "ann"
    with pytest.raises(DataError):
        gate.reset_password("north")


def test_the_store_can_be_read(gate):
    gate.alive()
