"""No sum that was granted tells too much of somebody, for an auditor written apart, on thousands of small data sets."""

import numpy as np
import pytest

from sfumato.gate.decision import judge, together
from sfumato.gate.policy import Policy
from tests.gate.auditor import Joint, Told, World
from tests.gate.sum_auditor import BOTH, P10, Costs, SumJoint
from tests.gate.sum_worlds import asked, coded, hostile_world, of_others, some_frame, some_sums, some_world
from tests.late import late

pd = late("pandas")

NEEDLESS = 0.1
"""At most this share of all cases may be refused that an attacker who knows every empty cell could not break."""


def staircase():
    """Empty cells so that sums by A and by B give those of every cell; nobody has a large share of a row or column."""
    held = {("1", "1"): 12, ("1", "2"): 1, ("2", "2"): 12, ("2", "3"): 12, ("3", "3"): 12}
    rows = [(a, b) for (a, b), many in held.items() for _ in range(many)]
    frame = pd.DataFrame(rows, columns=["A", "B"]).astype(object)
    frame["cost"] = 100.0 + np.arange(len(frame)) / 7
    return Costs({"v1": frame}, ("cost",))


def one(text):
    value, bar, by = text.rpartition("|")
    return Told(tuple((v, None) for v in by.split(",") if v), value if bar else None)


def test_the_auditor_follows_a_staircase():
    world = staircase()
    sums = [one("cost|A"), one("cost|B")]
    assert not SumJoint(world, sums).released_sensitive()
    assert SumJoint(world, sums).refuted() is None
    own = world.versions["v1"]["cost"][12]
    number, _, cell, needed, most = SumJoint(world, [*sums, one("A,B")]).refuted()
    assert (number, list(cell.values())) == ("cost", ["1", "2"])
    assert most == pytest.approx(own)  # to the last digit
    assert needed == pytest.approx(own / 0.9)


def test_the_auditor_takes_what_an_equation_leaves_open():
    """A person in a row of twenty whose columns are full: as much as all of the row."""
    frame = pd.DataFrame({"A": ["1"] * 20 + ["2"] * 20, "B": (["1"] + ["2"] * 19) + ["1"] * 10 + ["2"] * 10}).astype(
        object
    )
    frame["cost"] = 1.0 + np.arange(40) / 100
    world = Costs({"v1": frame}, ("cost",))
    assert SumJoint(world, [one("cost|A"), one("cost|B"), one("A,B")]).refuted() is None
    assert SumJoint(world, [one("cost|A,B")]).refuted()


def test_the_auditor_knows_what_follows_from_numbers_that_add_up():
    frame = pd.DataFrame({"A": ["1"] * 20 + ["2"] * 20}).astype(object)
    frame["drugs"] = 1.0 + np.arange(40) / 100
    frame["staff"] = np.where(np.arange(40) % 20 == 0, 50.0, 0.01)
    frame["cost"] = frame["drugs"] + frame["staff"]
    adds = (((1, "cost"), (-1, "drugs"), (-1, "staff")),)
    sums = [one("drugs|A"), one("cost|")]
    assert SumJoint(Costs({"v1": frame}, ("drugs", "staff", "cost"), adds=adds), sums).refuted()[0] == "staff"
    assert SumJoint(Costs({"v1": frame}, ("drugs", "staff", "cost")), sums[:1]).refuted() is None


def test_counts_that_empty_a_staircase_and_sums_beside_them_are_not_granted():
    world = staircase()
    rows = world.versions["v1"]
    records = coded(world, of_others(np.random.default_rng(1), rows))
    policy = Policy(dominance=("p(10)", "nk(2,90)"))
    known = [one("A,B")]
    for told in (one("cost|A"), one("cost|B")):
        answer = judge(records, [asked(records, k) for k in known], asked(records, told), policy)
        known.append(told)
        if not answer.granted:
            break
    assert not answer.granted


def look(seed, made, rules, policy):
    """What the gate says of all that is told together, and what the auditor says of it: None where it is no case."""
    rng = np.random.default_rng(seed)
    world, told = made(rng)
    joint = SumJoint(world, told)
    if joint.released_sensitive(rules):
        return None
    others = of_others(rng, next(iter(world.versions.values())), world.numbers)
    records = coded(world, others, search=bool(world.adds))
    if together(records, [asked(records, one) for one in told], policy).granted:
        assert joint.refuted(rules) is None, (seed, [one.text for one in told])
        return "granted"
    if joint.refuted(rules) or SumJoint(world, told, everywhere=True).refuted(rules):
        return "refused"
    return "needless"


def looked(cases, made, first, rules, policy):
    """So many cases in which no cell that is released has too few who make it up."""
    seen, seed = [], first
    while len(seen) < cases:
        found = look(seed, made, rules, policy)
        seen += [] if found is None else [found]
        seed += 1
    return seen


def grants_hold(cases, first):
    seen = looked(cases, some_world, first, P10, Policy(dominance=("p(10)",)))
    assert seen.count("needless") <= NEEDLESS * cases
    return seen


def test_no_grant_of_a_few_is_refuted():
    seen = [
        look(seed, some_world, P10, Policy(dominance=("p(10)",)))
        for seed in (345, 391, 415, 495, *range(12))  # those were granted before counts beside sums were looked at
    ]
    assert "granted" in seen


@pytest.mark.slow
def test_no_grant_of_more_is_refuted():
    assert grants_hold(300, 1000).count("granted") > 150


@pytest.mark.nightly(of="tests/gate/test_sums_audited.py::test_no_grant_of_more_is_refuted")
def test_no_grant_of_many_is_refuted():
    assert grants_hold(2262, 10_000).count("granted") > 1500


def hostile_grants_hold(cases, first):
    """With missing values, levels, versions, ranges, numbers that add up."""
    return looked(cases, hostile_world, first, BOTH, Policy(dominance=("p(10)", "nk(2,90)")))


@pytest.mark.slow
def test_no_grant_of_hostile_ones_is_refuted():
    assert hostile_grants_hold(150, 1000).count("granted") > 30


@pytest.mark.nightly(of="tests/gate/test_sums_audited.py::test_no_grant_of_hostile_ones_is_refuted")
def test_no_grant_of_many_hostile_ones_is_refuted():
    assert hostile_grants_hold(1500, 10_000).count("granted") > 300


def lacking(rng):
    """People of whom some have no cost: which is no secret."""
    frame = some_frame(rng, 70, 400)
    names = [n for n in frame.columns if n != "cost"]
    gone = rng.random(len(frame)) < rng.choice([0.02, 0.1, 0.4])
    frame.loc[gone, "cost"] = np.nan
    return frame, names, some_sums(rng, names)


def look_at_who_lacks(seed):
    """Of those who have a cost no small group is told; counts are those of the table beside whether there is one."""
    rng = np.random.default_rng(seed)
    frame, names, told = lacking(rng)
    if frame["cost"].nunique() <= 50:
        return False
    records = coded(Costs({"v1": frame}, ("cost",)), missing_told=("cost",))
    policy = Policy(interval={"count": 3, "width": 6}, dominance=["p(0.001)"])
    if not together(records, [asked(records, one) for one in told], policy).granted:
        return False
    cut = frame[names].assign(has=np.where(frame["cost"].isna(), "no", "yes")).astype(object)
    counts = [Told((*own.by, ("has", None)) if own.value else own.by) for own in told]
    counts = [Told(tuple(sorted(own.by, key=str))) for own in counts]
    joint = Joint(World({"v1": cut}), counts)
    at = joint.variables.index("has") if "has" in joint.variables else None
    narrow = joint.narrow(3, 6)
    for cell in narrow:
        assert at is not None
        assert joint.cells[cell][at] == ("no",), (seed, told)
    return bool(narrow)


def test_who_has_a_value_is_no_small_group():
    assert sum(look_at_who_lacks(seed) for seed in range(80)) > 0  # small groups of people without one are told


@pytest.mark.slow
def test_who_has_a_value_is_no_small_group_in_more():
    assert sum(look_at_who_lacks(seed) for seed in range(1000, 2000)) > 10
