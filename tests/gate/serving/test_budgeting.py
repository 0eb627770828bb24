"""What is left, seen before asking: it is what can be had, it tells nothing of the data, and nothing is written."""

import math

import pytest

from sfumato.errors import DataError, LimitReached
from tests.gate.analyses.people import people
from tests.gate.conftest import table
from tests.gate.serving.test_analysing import opened as opened_

opened = opened_
LIMITED = (
    "{research: {interval: {count: 2, width: 4}, perturbed: {variance: 4}, requests_per_day: 3, grants_per_day: 2}}"
)
NOISY = "{{research: {{interval: {{count: 2, width: 4}}, perturbed: {{variance: 4}}}}, {}: {{{}}}}}"


def test_as_many_tables_are_given_as_were_said_to_be_left(opened):
    gate = opened(policies=NOISY.format("public", "interval: {count: 2, width: 4}"))
    before = gate.head()
    left = gate.budget("ann", "ward")
    assert left.to_plain() == {
        "mu": 0.0, "mu_at_most": 1.0, "perturbed": {"variance": 4.0, "cost": 0.5, "left": 4}, "requests_left": None,
        "grants_left": None,
    }  # fmt: skip
    assert gate.head() == before
    tables = [table(), table("sex"), table("ward"), table("died"), table("sex", "ward")]
    for i, one in enumerate(tables):
        left = gate.budget("ann", "ward")
        answer = gate.ask("ann", "ward", one, perturbed=True)
        assert (answer.decision == "granted") == (i < 4) == (left.perturbed.left > 0)
        after = gate.budget("ann", "ward")
        if i < 4:
            assert after.mu == pytest.approx(left.mu + left.perturbed.cost)
        assert after.mu == pytest.approx(math.sqrt(min(i + 1, 4) / 4))
    assert gate.ask("ann", "ward", tables[0], perturbed=True).reasons == ("known",)  # again, for nothing


def test_what_others_may_pass_on_counts_and_what_they_keep_does_not(opened):
    gate = opened(policies=NOISY.format("public", "interval: {count: 2, width: 4}"))
    gate.ask("bob", "ward", table("sex"), perturbed=True)  # of the same organisation
    assert gate.budget("ann", "ward") == gate.budget("bob", "ward")
    assert gate.budget("ann", "ward").mu == 0.5
    assert gate.budget("cat", "ward").mu == 0
    gate.share("south", "north")  # what cat knows reaches ann, and nothing comes back
    gate.ask("cat", "ward", table("ward"), perturbed=True)
    assert gate.budget("ann", "ward").mu == pytest.approx(math.sqrt(0.5))
    assert gate.budget("cat", "ward").mu == 0.5


def test_models_count_once_they_are_given(opened):
    gate = opened()
    before = gate.budget("ann", "ward")
    assert before.perturbed is None  # this policy has none
    answer = gate.analyse("ann", "ward", "linear", "cost ~ age", options={"protected": True})
    tau = answer.release.to_plain()["disclosure"]["tau"]
    assert gate.budget("ann", "ward").mu == pytest.approx(1 / tau)


def test_none_is_left_where_whoever_it_reaches_may_have_none(opened):
    gate = opened(policies=NOISY.format("strict", "interval: {count: 2, width: 4}"))
    assert gate.budget("ann", "ward").perturbed.left == 4
    gate.add_user("eva", "north", "analyst", "strict")
    assert gate.budget("ann", "ward").perturbed is None
    assert gate.ask("ann", "ward", table("sex"), perturbed=True).reasons == ("perturbed",)


def test_less_is_left_where_whoever_it_reaches_may_have_less(opened):
    less = "interval: {count: 2, width: 4}, perturbed: {variance: 4}, noise: {mu_at_most: 0.75}"
    gate = opened(policies=NOISY.format("strict", less))
    gate.add_user("eva", "north", "analyst", "strict")
    assert gate.budget("ann", "ward").perturbed.left == 2
    assert gate.budget("ann", "ward").mu_at_most == 1


def test_a_day_has_limits(opened):
    gate = opened(policies=LIMITED)
    left = gate.budget("ann", "ward")
    assert (left.requests_left, left.grants_left) == (3, 2)
    gate.ask("ann", "ward", table("sex"))
    gate.ask("ann", "ward", table("sex"))  # a repeat is a request, and no grant
    left = gate.budget("ann", "ward")
    assert (left.requests_left, left.grants_left) == (1, 1)
    gate.ask("ann", "ward", table("ward"))
    left = gate.budget("ann", "ward")
    assert (left.requests_left, left.grants_left) == (0, 0)
    with pytest.raises(LimitReached):
        gate.ask("ann", "ward", table("sex"))


def test_without_keys_no_table_is_perturbed(opened):
    gate = opened(people().drop("id"), NOISY.format("public", "interval: {count: 2, width: 4}"), "levels: {}")
    assert gate.budget("ann", "ward").perturbed is None


def test_who_has_no_budget(opened):
    gate = opened()
    gate.add_user("sue", None, "steward", "research")
    for who in ("sue", "nobody", "north"):
        with pytest.raises(DataError):
            gate.budget(who, "ward")
    with pytest.raises(DataError, match="no data set"):
        gate.budget("ann", "elsewhere")
    assert gate.budget("public", "ward").mu == 0
