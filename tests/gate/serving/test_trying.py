"""A dry run decides what the ledger would hold under another policy: as if that had been in force from the start."""

import pytest

from sfumato.gate.policy import Policy
from sfumato.gate.service import Gate
from sfumato.gate.serving import trying
from tests.gate.conftest import made_config, table

A, B = table("A"), table("B")


def populated(folder, name, policies):
    """The notes' people and requests, under some policies."""
    (folder / name).mkdir()
    config = made_config(folder / name, "sqlite:///gate.db", policies=policies)
    Gate.init(config)
    gate = Gate.open(config)
    for place in ("north", "south"):
        gate.add_organisation(place, "research")
    for user, place in (("ann", "north"), ("bob", "north"), ("cat", "south")):
        gate.add_user(user, place, "analyst", "research")
    decisions = {}
    for who, margin in (("ann", A), ("bob", B), ("cat", B), ("ann", A), ("public", A)):
        answer = gate.ask(who, "ward", margin)
        decisions[answer.ledger[0]] = answer.decision
    joined = gate.join("cat", "north")
    decisions[joined.ledger[0]] = joined.decision
    return gate, list(decisions.values()), list(decisions)


LOOSE, TIGHT = "{count: 2, width: 4}", "{count: 4, width: 30}"
POLICIES = "{{research: {{interval: {}}}, public: {{interval: {{count: 2, width: 4}}}}}}"


@pytest.mark.parametrize(("now", "then"), [(LOOSE, TIGHT), (TIGHT, LOOSE), (LOOSE, "{count: 1, width: 2}")])
def test_what_it_tells_is_what_would_have_been(tmp_path, now, then):
    gate, decisions, places = populated(tmp_path, "now", POLICIES.format(now))
    other, wanted, _ = populated(tmp_path, "then", POLICIES.format(then))
    policy = other.policies()["research"]
    head = gate.head()
    tried = gate.try_policy("research", policy)
    found = dict(zip(places, decisions, strict=True)) | {one.seq: one.would for one in tried.changed}
    assert [found[seq] for seq in places] == wanted
    assert all(one.decision != one.would for one in tried.changed)
    assert gate.head() == head
    assert gate.verify() == []
    gate.close()
    other.close()


def test_only_the_newest_are_decided_again(tmp_path, monkeypatch):
    gate, _, _ = populated(tmp_path, "now", POLICIES.format(LOOSE))
    monkeypatch.setattr(trying, "MOST", 2)
    tried = gate.try_policy("research", Policy(interval={"count": 4, "width": 30}))
    assert tried.looked_at == 2
    assert tried.all > 2
    assert gate.try_policy("other", Policy(preset="research")).to_plain()["version"] == 1
    gate.close()
