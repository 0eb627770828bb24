"""What is granted is safe and what is refused is not, for an auditor written apart, on thousands of small data sets."""

import numpy as np
import pytest

from sfumato.gate.decision import judge
from sfumato.gate.policy import Policy
from tests.gate.auditor import gives
from tests.gate.dependence_auditor import Beside, ruled
from tests.gate.small_worlds import asked, coded, ringed_world, ruled_world, small_world, some_pair, some_table


def some_policy(rng, world):
    """An interval, an attribution, or both."""
    criteria = {}
    kind = rng.random()
    if kind < 0.75:
        count = int(rng.integers(1, 6))
        criteria["interval"] = {"count": count, "width": count + int(rng.integers(1, 8))}
    if kind > 0.6:
        names = [n for n in world.names if n != "cost"]
        own = rng.choice(names, min(len(names), int(rng.integers(1, 3))), replace=False).tolist()
        criteria["attribution"] = {"variables": own, "rule": str(rng.choice(["positive", "any"]))}
    return Policy(**criteria)


def is_safe(world, told, policy, rules):
    """The verdict of the auditor, who knows all that can be found in the data."""
    joint = Beside(world, told, rules)
    holds = True
    if policy.interval:
        holds = joint.interval_holds(policy.interval.count, policy.interval.width)
    if holds and policy.attribution:
        holds = joint.attribution_holds(policy.attribution.variables, policy.attribution.rule)
    return holds


def look(seed, made=small_world, request=some_table, requests=4):
    """Ask a few tables of one data set, and let the auditor see every answer; how many there were of each kind."""
    rng = np.random.default_rng(seed)
    world = made(rng)
    policy = some_policy(rng, world)
    records, shuffled = coded(world), coded(world, rng)
    known = [some_table(rng, world) for _ in range(int(rng.integers(1, 3)))] if rng.random() < 0.25 else []
    seen, rules = {}, ruled(world)
    for _ in range(requests):
        one = request(rng, world)
        held = [asked(records, told) for told in known]
        answer = judge(records, held, asked(records, one), policy, effort=np.inf)
        seen[answer.decision] = seen.get(answer.decision, 0) + 1
        assert answer.decision != "undecided"
        if gives(world, known, one):
            assert answer.reasons == ("known",), (seed, known, one)
        else:
            many_values = "cost" in world.names  # sums have rules on shares, of which this auditor knows nothing
            safe = is_safe(world, [*known, one], policy, rules)
            if answer.granted or not many_values:
                assert answer.granted == safe, (seed, known, one, policy, answer)
        order = rng.permutation(len(held))
        again = judge(shuffled, [held[i] for i in order], asked(shuffled, one), policy, effort=np.inf)
        assert again == answer, (seed, known, one)
        if answer.granted:
            known.append(one)
    return seen


def with_cohort(rng):
    return small_world(rng, cohorts=True)


KINDS = {"plain": small_world, "impossible combinations": ruled_world, "cohorts": with_cohort, "rings": ringed_world}
REQUESTS = {"rings": some_pair}


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_answers_are_right_on_a_few(kind):
    for seed in range(2 if kind == "rings" else 20):
        look(seed, KINDS[kind], REQUESTS.get(kind, some_table), 8 if kind == "rings" else 4)


def answers_are_right(kind, seeds):
    total = {}
    for seed in range(1000, 1000 + seeds):
        for decision, many in look(
            seed, KINDS[kind], REQUESTS.get(kind, some_table), 8 if kind == "rings" else 4
        ).items():
            total[decision] = total.get(decision, 0) + many
    assert min(total["granted"], total["refused"]) > seeds / 2  # both are put to the test


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seeds"), [("plain", 40), ("impossible combinations", 20), ("cohorts", 15), ("rings", 12)]
)
def test_answers_are_right_on_more(kind, seeds):
    answers_are_right(kind, seeds)


@pytest.mark.nightly(of="tests/gate/test_soundness.py::test_answers_are_right_on_more")
@pytest.mark.parametrize(
    ("kind", "seeds"), [("plain", 250), ("impossible combinations", 120), ("cohorts", 80), ("rings", 20)]
)
def test_answers_are_right_on_many(kind, seeds):
    answers_are_right(kind, seeds)
