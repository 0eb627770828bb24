"""What follows from the entries, against the world that decides: the two go their ways apart."""

import numpy as np
import pytest

from sfumato.gate.derived import State
from sfumato.gate.ledger import chained
from sfumato.gate.margin import Margin, Node
from sfumato.gate.policy import Policy
from sfumato.gate.world import PUBLIC

NAMES = ["north", "south", "ann", "bob", "cat", "dan"]


def entry(state, kind_, who_, dataset="", /, **body):
    return chained(state.head, kind_, who_, dataset, body)


def peopled():
    state = State()
    for i, name in enumerate(NAMES):
        kind = "organisation" if i < 2 else "user"
        state.apply(entry(state, "user", name, step="added", kind=kind, policy="research", role=""))
    return state


@pytest.mark.parametrize("seed", range(5))
def test_all_know_what_anybody_knows_who_reaches_them(seed):
    """By brute force: after each step, along every edge what the one knows the other knows, and nothing is lost."""
    rng = np.random.default_rng(seed)
    state = peopled()
    tables = [Margin.of([Node(name)]) for name in "abcdef"]
    held = {}
    for _ in range(60):
        who, other = rng.choice([*NAMES, PUBLIC], 2, replace=False)
        step = rng.choice(["ask", "join", "share", "leave", "withdraw", "refused"])
        margin = tables[rng.integers(len(tables))].to_plain()
        if step == "ask":
            change = state.apply(entry(state, "request", who, "ward", decision="granted", margin=margin))
            assert all(one in state.reach(who) for one, _ in change.grown)
        elif step == "refused":
            assert not state.apply(entry(state, "request", who, "ward", decision="refused", margin=margin)).grown
        else:
            state.apply(entry(state, "edge", who, step=step, to=other, guest=False, decision="granted"))
        for giver, taker in state.edges:
            assert state.knows(giver, "ward") <= state.knows(taker, "ward")
        for one in NAMES:
            assert state.knows(PUBLIC, "ward") <= state.knows(one, "ward")
            assert held.get(one, frozenset()) <= state.knows(one, "ward")
            held[one] = state.knows(one, "ward")


def test_who_comes_later_knows_what_is_public():
    state = peopled()
    state.apply(entry(state, "request", PUBLIC, "ward", decision="granted", margin=Margin().to_plain()))
    change = state.apply(entry(state, "user", "new", step="added", kind="user", policy="research", role="analyst"))
    assert change.grown == {("new", "ward"): frozenset({Margin()})}


def test_a_guest_receives_and_gives_nothing():
    state = peopled()
    state.apply(entry(state, "edge", "ann", step="join", to="north", guest=True, decision="granted"))
    state.apply(entry(state, "request", "ann", "ward", decision="granted", margin=Margin().to_plain()))
    assert state.knows("north", "ward") == frozenset()
    table = Margin.of([Node("a")])
    state.apply(entry(state, "request", "north", "ward", decision="granted", margin=table.to_plain()))
    assert state.knows("ann", "ward") == {Margin(), table}


def test_a_copy_goes_its_own_way():
    state = peopled()
    other = state.copy()
    assert other == state
    other.apply(entry(other, "request", "ann", "ward", decision="granted", margin=Margin().to_plain()))
    assert other != state
    assert not state.knowledge


def test_policies_and_what_breaks_them():
    state = peopled()
    policy = Policy(preset="acro", noise={"mu_at_most": 0.1})
    named = {"name": "research", "policy": policy.to_plain()}
    state.apply(entry(state, "policy", "sue", **named, version=1, broken=[["ann", "ward", True]]))
    assert state.policies == {"research": (1, policy)}
    assert state.broken == {("ann", "ward")}
    state.apply(entry(state, "policy", "sue", **named, version=2, broken=[["ann", "ward", False]]))
    assert state.broken == set()


def test_an_exception_is_known_once_it_is_confirmed():
    state = peopled()
    plain = Margin().to_plain()
    state.apply(entry(state, "exception", "ann", "ward", step="proposed", margin=plain))
    assert not state.knowledge
    state.apply(entry(state, "exception", "ann", "ward", step="confirmed", margin=plain, decision="granted"))
    assert state.knows("ann", "ward") == {Margin()}


def test_who_was_removed_keeps_what_they_know_and_gets_no_more():
    state = peopled()
    state.apply(entry(state, "edge", "ann", step="join", to="north", guest=False, decision="granted"))
    state.apply(entry(state, "request", "ann", "ward", decision="granted", margin=Margin().to_plain()))
    state.apply(entry(state, "user", "ann", step="removed"))
    assert not state.edges
    assert not state.people["ann"].active
    assert state.knows("ann", "ward") == {Margin()}
