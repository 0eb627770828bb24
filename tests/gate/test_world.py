"""Who may come to know what; see `test_attacks.py` for ways round it."""

import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.world import PUBLIC, Principal, World

A, B = Margin.of([Node("A")]), Margin.of([Node("B")])


@pytest.fixture
def world():
    table = pl.DataFrame({"A": [1, 1, 2, 2], "B": [1, 2, 1, 2], "n": [2, 3, 3, 0]})
    policy = Policy(interval={"count": 2, "width": 4})
    made = World({"d": records_of(table, count="n")}, {"research": policy, PUBLIC: policy})
    for name in ("ann", "bob", "cat"):
        made.add(Principal(name, "user", "research"))
    made.add(Principal("north", "organisation", "research"))
    return made


def test_deciding_changes_nothing(world):
    before = dict(world.knowledge), world.edges
    for outcome in (world.ask("ann", "d", A), world.join("ann", "north"), world.share("ann", "bob")):
        assert outcome.granted
    assert (world.knowledge, world.edges) == before


def test_reach_follows_edges_and_the_public(world):
    world.carry_out(world.join("ann", "north"))
    world.carry_out(world.share("north", "bob"))
    assert world.reach("ann") == {"ann", "north", "bob"}
    assert world.reach("bob") == {"bob"}
    world.carry_out(world.join("bob", PUBLIC))
    assert world.reach("ann") == set(world.principals)
    assert world.reach("cat") == {"cat"}


def test_a_guest_receives_and_gives_nothing_back(world):
    world.carry_out(world.join("ann", "north", guest=True))
    world.carry_out(world.ask("ann", "d", A))
    assert world.ask("north", "d", B).decision == "refused"  # ann would have both
    world.carry_out(world.withdraw("north", "ann"))
    assert world.ask("north", "d", B).granted
    assert not world.knows("north", "d")


def test_what_is_public_the_next_to_come_knows(world):
    world.carry_out(world.ask(PUBLIC, "d", A))
    world.add(Principal("dan", "user", "research"))
    assert world.ask("dan", "d", A).reasons == ("known",)
    assert not world.ask("dan", "d", B).granted


def test_a_join_brings_what_each_has_to_all(world):
    world.carry_out(world.ask("ann", "d", A))
    world.carry_out(world.share("ann", "bob"))
    world.carry_out(world.share("bob", "cat"))
    assert world.knows("cat", "d") == {A}
    world.carry_out(world.leave("bob", "ann"))
    assert world.knows("cat", "d") == {A}


def test_an_exception_reaches_all_that_it_would_reach(world):
    world.carry_out(world.join("ann", "north"))
    both = Margin.of([Node("A"), Node("B")])
    assert not world.ask("ann", "d", both).granted
    outcome = world.exception("ann", "d", both)
    assert set(outcome.grown) == {("ann", "d"), ("north", "d")}
    world.carry_out(outcome)
    assert world.ask("north", "d", B).reasons == ("known",)


def test_names_are_given_once_and_must_be_there(world):
    for principal in (Principal("ann", "user", "research"), Principal(PUBLIC, "user", "research")):
        with pytest.raises(DataError, match="given once"):
            world.add(principal)
    with pytest.raises(DataError, match="no policy"):
        world.add(Principal("dan", "user", "none"))
    for do in (lambda: world.ask("x", "d", A), lambda: world.join("ann", "x"), lambda: world.leave("x", "ann")):
        with pytest.raises(DataError, match="nobody"):
            do()
    with pytest.raises(DataError, match="public"):
        world.join(PUBLIC, "ann")


def test_several_margins_are_decided_as_one(world):
    """Each of two is safe alone."""
    assert world.ask_all("ann", "d", [A]).granted
    assert world.ask_all("ann", "d", [A, B]).decision == "refused"
    world.carry_out(world.ask_all("ann", "d", [A]))
    assert world.ask_all("ann", "d", [A]).reasons == ("known",)
    assert world.ask_all("ann", "d", [A, B]).decision == "refused"
    assert world.ask_all("bob", "d", [B]).granted


def test_who_breaks_a_policy_gets_no_several_margins(world):
    world.broken.add(("ann", "d"))
    assert world.ask_all("ann", "d", [A, B]).decision == "refused"
    world.knowledge["ann", "d"] = frozenset({A, B})
    assert world.ask_all("ann", "d", [A, B]).reasons == ("known",)
