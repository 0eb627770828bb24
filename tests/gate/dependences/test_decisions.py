"""What is found counts in decisions: what it lets an attacker see is refused."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate import structure
from sfumato.gate.case import Case
from sfumato.gate.decision import judge
from sfumato.gate.dependences import rules
from sfumato.gate.policy import Policy
from sfumato.gate.reading import records_of
from sfumato.gate.stages.cover import Narrow
from sfumato.gate.stages.exact import Joint
from sfumato.gate.stages.exchange import settled
from tests.gate.conftest import table

POLICY = Policy(interval={"count": 4, "width": 10})


def stays(seed=1, n=1000):
    """Stays of patients with two flags, the second of which says more than the first."""
    rng = np.random.default_rng(seed)
    days = rng.integers(1, 60, n)
    ward = rng.choice(["a", "b", "c"], n)
    days[ward == "c"] = 3
    days[np.flatnonzero(ward == "c")[:27]] = 20
    days[np.flatnonzero(ward == "c")[:25]] = 40
    return pl.DataFrame({"ward": ward, "over7": days > 7, "over30": days > 30})


@pytest.mark.parametrize("counted", [False, True])
def test_nested_flags_do_not_give_a_difference(counted):
    frame = stays()
    if counted:
        frame = frame.group_by(frame.columns).len("n")
    records = records_of(frame, count="n" if counted else None)
    first, second = table("ward", "over7"), table("ward", "over30")  # of ward c 27 and 25: two of 8 to 30 days
    assert judge(records, [], first, POLICY).granted
    assert judge(records, [first], second, POLICY).decision == "refused"
    unsearched = records_of(frame, count="n" if counted else None, search=False)
    assert judge(unsearched, [first], second, POLICY).granted


@pytest.mark.parametrize("seed", range(6))
def test_people_in_any_order_and_their_counts_get_the_same_answers(seed):
    rng = np.random.default_rng(seed)
    frame = hung(rng)
    counted = frame.group_by(frame.columns).len("n")
    nobody = counted.head(1).with_columns(band=pl.lit("nobody's code"), n=pl.lit(0, counted["n"].dtype))
    plain, shuffled = records_of(frame), records_of(frame.sample(fraction=1, shuffle=True, seed=seed))
    counts = records_of(pl.concat([counted, nobody]), count="n")
    assert plain.found == shuffled.found == counts.found != ()
    known = []
    for _ in range(8):
        one = table(*rng.choice(frame.columns, int(rng.integers(1, 4)), replace=False).tolist())
        said = [judge(data, known, one, POLICY, effort=np.inf).decision for data in (plain, shuffled)]
        assert said[0] == said[1]
        assert judge(records_of(counted, count="n"), known, one, POLICY, effort=np.inf).decision == said[0]
        known += [one] if said[0] == "granted" else []


def hung(rng, n=600):
    """Columns that hang on one another: a tree, flags of one number, a band, and two flags with their `any`."""
    site, age = rng.integers(0, 9, n), rng.integers(20, 90, n)
    ill, old = rng.random(n) < 0.3, age > 70
    columns = {"site": site, "trust": site // 3, "band": age // 10, "old": old, "ill": ill, "any": ill | old}
    return pl.DataFrame({name: own.astype(str) for name, own in columns.items()})


def test_what_is_chance_is_left_out_and_nothing_else():
    frame = hung(np.random.default_rng(3))
    every = {(one.kind, one.of, one.to) for one in records_of(frame).found}
    gone = {("never", ("old", "any"), None), ("tells_together", ("old", "ill"), "any")}
    assert gone < every
    left = records_of(frame, chance=[("any", "old"), ("any", "ill", "old")])
    assert {(one.kind, one.of, one.to) for one in left.found} == every - gone


def test_all_that_is_no_chance_is_said_at_once():
    with pytest.raises(DataError) as caught:
        records_of(hung(np.random.default_rng(3)), chance=[("trust", "site"), ("site", "ill"), ("old", "any")])
    assert "trust and site: it is arithmetic (site tells trust)" in str(caught.value)
    assert "site and ill: no dependence" in str(caught.value)
    assert "old and any" not in str(caught.value)


def test_what_the_codebook_says_is_not_found_again():
    frame = stays()
    assert [one.of for one in records_of(frame).found] == [("over7", "over30")]
    said = records_of(frame, never=[{"over7": "false", "over30": "true"}])
    assert said.found == ()
    rows = pl.DataFrame({"a": [1, 2, 3] * 50, "b": [1, 2] * 75})
    assert records_of(rows, cohorts={"first": "a == 1"}).found == ()
    assert records_of(rows.with_columns(first=pl.col("a") == 1)).found != ()


@pytest.mark.parametrize("written", [rules.LARGEST, 3])
def test_too_many_codes_are_given_away_and_no_error(monkeypatch, written):
    """The same attack is refused, whether the rule is written out or its cells are given away."""
    monkeypatch.setattr(rules, "LARGEST", written)
    monkeypatch.setattr(structure, "WRITTEN_OUT", written)
    records = records_of(stays())
    first, second = table("ward", "over7"), table("ward", "over30")
    assert bool(records.structure.away([*first.nodes, *second.nodes])) == (written == 3)
    assert judge(records, [], first, POLICY).granted
    assert not judge(records, [first], second, POLICY).granted
    both = Case.of(records, [first, second])
    held = Joint(both)
    assert held.possible[held.true > 0].all()


def test_programs_have_the_work_limit_of_the_other_stages():
    """What takes programs stays open where no work is allowed, and is answered where enough is."""
    rng = np.random.default_rng(1)
    cells = np.indices((4, 5, 5)).reshape(3, -1)
    counts = rng.poisson(rng.gamma(0.5, 3, cells.shape[1]))
    rows = pl.DataFrame({name: cells[i] for i, name in enumerate("ABC")}).with_columns(n=pl.Series(counts))
    data = records_of(rows, count="n", search=False)
    case = Case.of(data, [table("A", "B"), table("B", "C"), table("A", "C")])
    joint = Joint(case)
    cells_ = np.flatnonzero((joint.true >= 1) & (joint.true <= 4))
    first = [int(np.flatnonzero(joint.of_records(np.arange(data.scope(["v1"]).rows)) == cell)[0]) for cell in cells_]
    open_ = Narrow(np.array(first), joint.true[cells_], False, 0)
    assert settled(case, open_, 10, 0, -1).holds is None
    whole = settled(case, open_, 10, 0, np.inf)
    assert whole.holds is not None
    assert settled(case, open_, 10, 0, whole.work).holds == whole.holds
