"""What waits: refused, proposed, confirmed by a second steward."""

import pytest

from sfumato.gate.world import Outcome, World
from tests.gate.conftest import table


@pytest.fixture
def waiting(world, monkeypatch):
    """A request that nothing was proved of."""
    with monkeypatch.context() as patched:
        patched.setattr(World, "ask", lambda *_, **__: Outcome("undecided", ("interval",), "exchange"))
        world.gate.ask("ann", "ward", table("age"))
    [one] = world.gate.queue()
    return one


def test_what_waits_is_listed_and_refused_with_a_reason(come, waiting, world):
    eve = come("eve")
    page = eve.see("/pages/queue")
    assert page.heading == "Queue"
    assert waiting.id in page.text
    assert (
        "3 to 2,000 characters" in eve.send("/pages/queue/settle", id=waiting.id, decision="refused", reason="").words
    )
    told = eve.send("/pages/queue/settle", id=waiting.id, decision="refused", reason="Not needed")
    assert "It is refused" in told.words
    assert "No request waits" in told.words
    assert world.gate.queue() == []


def test_an_exception_takes_two(come, waiting, world):
    eve, dan = come("eve"), come("dan")
    told = eve.send("/pages/queue/settle", id=waiting.id, decision="exception", reason="Agreed with the board")
    assert "second steward" in told.words
    assert "Confirm and give" not in told.words
    [one] = world.gate.exceptions()
    assert "second steward" in eve.send("/pages/queue/confirm", id=one.id).words
    assert "Confirm and give" in dan.see("/pages/queue").words
    assert "the table was given" in dan.send("/pages/queue/confirm", id=one.id).words
    assert len(world.gate.releases("ann")) == 1


def test_an_exception_is_proposed_from_a_list_of_names(come, world):
    sent = {"who": "cat", "dataset": "ward", "by": "sex, region@area", "reason": "Agreed with the board"}
    assert "It is proposed" in come("eve").send("/pages/queue/propose", **sent).words
    assert [one.margin.label for one in world.gate.exceptions()] == ["region@area,sex"]
    assert "There is no variable" in come("eve").send("/pages/queue/propose", **(sent | {"by": "nothing"})).words
    assert "Choose for whom" in come("eve").send("/pages/queue/propose", **(sent | {"who": ""})).words
