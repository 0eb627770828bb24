"""Looking ahead: on the notes' smallest table, and without a trace."""

import pytest

from sfumato.errors import DataError
from sfumato.gate.service import Gate
from tests.gate.conftest import made_config, table

A, B, AB = table("A"), table("B"), table("A", "B")


@pytest.fixture
def gate(tmp_path):
    config = made_config(tmp_path, f"sqlite:///{tmp_path / 'gate.db'}")
    Gate.init(config)
    with Gate.open(config) as opened:
        for place in ("north", "south"):
            opened.add_organisation(place, "research")
        for user, place in (("ann", "north"), ("bob", "north"), ("cat", "south")):
            opened.add_user(user, place, "analyst", "research")
        opened.ask("ann", "ward", A)
        opened.ask("cat", "ward", B)
        yield opened


def test_a_membership_that_would_be_refused_is_foreseen_with_who_would_learn_what(gate):
    before = gate.head()
    seen = gate.foresee_join("cat", "north")
    assert (seen.decision, seen.reasons) == ("refused", ("interval",))
    assert set(seen.edges) == {("cat", "north"), ("north", "cat")}
    assert dict(seen.learn) == {"ann": 1, "bob": 1, "cat": 1, "north": 1, "south": 1}
    assert seen.reach["cat"] == (frozenset({"cat", "south"}), frozenset({"ann", "bob", "cat", "north", "south"}))
    assert gate.head() == before
    assert gate.join("cat", "north").decision == seen.decision


def test_a_guest_learns_and_tells_nothing(gate):
    seen = gate.foresee_join("cat", "north", guest=True)
    assert seen.edges == (("north", "cat"),)
    assert set(seen.learn) == {"cat", "south"}


def test_sharing_with_somebody_who_knows_it_is_foreseen_as_granted(gate):
    gate.add_group("both", "research")
    seen = gate.foresee_share("north", "both")
    assert seen.decision == "granted"
    assert dict(seen.learn) == {"both": 1}
    assert gate.share("north", "both").granted


def test_own_releases_are_found_and_others_are_not(gate):
    assert gate.given_already("ann", "ward", A).who == "ann"
    assert gate.given_already("ann", "ward", table()).content["table"] == "A"  # the total follows from it
    assert gate.given_already("ann", "ward", AB) is None
    assert gate.given_already("bob", "ward", A) is None  # known to him, but given to ann


def test_tables_of_the_smallest_case_stand_as_the_notes_say(gate):
    before = gate.head()
    found = gate.surveyed("ward", "research", ["A", "B"], "ann")
    assert {tuple(sorted(one)): state for one, state in found.states.items()} == {
        ("A",): "granted",
        ("B",): "closed",
        ("A", "B"): "closed",
    }
    assert found.maximal.releases == ((("A",),), (("B",),))
    assert gate.head() == before


def test_unknown_names_are_refused(gate):
    with pytest.raises(DataError, match="nobody named"):
        gate.foresee_join("nobody", "north")
    with pytest.raises(DataError, match="no policy"):
        gate.surveyed("ward", "other", ["A"], "ann")
