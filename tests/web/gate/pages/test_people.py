"""People: what a change would do, and doing it."""

from tests.gate.conftest import table

FORESEE, CHANGE, ADD = "/pages/people/foresee", "/pages/people/change", "/pages/people/add"


def test_everybody_is_listed_and_drawn(come):
    page = come("eve").see("/pages/people")
    assert page.heading == "People"
    for name in ("north", "south", "ann", "cat", "eve"):
        assert name in page.words
    assert "<svg" in page.text
    assert "Would they try" in page.words
    assert "With whom would they share" in page.words


def test_an_auditor_sees_no_form(come):
    page = come("aud").see("/pages/people")
    assert 'hx-post="/pages/people' not in page.text


def test_looking_ahead_changes_nothing_and_says_who_would_learn(come, world):
    world.gate.ask("ann", "ward", table("sex"))
    before = world.gate.head()
    page = come("eve").send(FORESEE, step="join", who="cat", where="north")
    assert "It would be granted" in page.words
    assert "cat: 1 table" in page.words
    assert world.gate.head() == before


def test_a_change_is_done_and_stands_in_the_ledger_with_who_did_it(come, world):
    page = come("eve").send(CHANGE, step="guest", who="cat", where="north")
    assert "is a guest of north now" in page.words
    assert world.gate.entries()[-1].body["by"] == "eve"
    assert ("north", "cat") in world.gate.edges()
    assert "no member of north any more" in come("eve").send(CHANGE, step="leave", who="cat", where="north").words


def test_a_user_is_added_with_a_password_that_is_shown_once(come, world):
    page = come("eve").send(ADD, kind="user", name="new", role="analyst", policy="research", organisation="north")
    assert "once only" in page.words
    assert world.gate.people()["new"].role == "analyst"
    assert ("new", "north") in world.gate.edges()


def test_places_are_added_and_accounts_are_taken(come, world):
    eve = come("eve")
    assert "trial is there now" in eve.send(ADD, kind="group", name="trial", policy="research").words
    assert "has no account any more" in eve.send(CHANGE, step="remove", who="bob", where="").words
    assert not world.gate.people()["bob"].active


def test_what_is_wrong_is_told(come):
    eve = come("eve")
    assert "Choose who" in eve.send(CHANGE, step="join", who="", where="north").words
    assert "nobody named" in eve.send(FORESEE, step="join", who="nobody", where="north").words
    assert "names are given once" in eve.send(ADD, kind="user", name="ann", role="analyst", policy="research").words
