"""Who is attacked beside a control, and who is the reference."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.known import Known
from sfumato.measures.risk.attacked import attacked
from sfumato.measures.risk.linkers.coding import coded

BOOK = Codebook({"pid": Variable(role="person"), "home": Variable(role="household"), "a": Variable(kind="integer")})


def table(persons, seed, first=0, rows=3):
    rng = np.random.default_rng(seed)
    ids = np.repeat(np.arange(first, first + persons), rows)
    return pl.DataFrame({"pid": ids, "a": rng.integers(0, 6, len(ids))})


def who(people, control, **more):
    known = Known(people, people, BOOK, ("a",), False, control, **more)
    return attacked(coded(known, ["a"]), known)


def persons(people, control):
    """Ids of the reference, and of either half."""
    found = who(people, control)
    ids = np.concatenate([people["pid"].to_numpy(), control["pid"].to_numpy()])
    of_units = np.full(len(found.member), -1)
    of_units[found.unit] = ids[found.rows]
    return set(ids[found.reference]), set(of_units[found.half]), set(of_units[~found.half]), found


def test_whole_persons_are_attacked_and_half_of_the_control_are_nobodys_victims():
    people, control = table(120, 1), table(101, 2, 1000)
    reference, one, two, found = persons(people, control)
    assert len(reference) == 50
    assert not reference & (one | two)
    assert not one & two
    assert one | two | reference == {*people["pid"], *control["pid"]}
    assert (int(found.member.sum()), int((~found.member).sum())) == (120, 51)
    assert len([p for p in one if p < 1000]) == 60
    assert not found.few
    assert not found.sampled
    mixed = [t.sample(fraction=1, shuffle=True, seed=3) for t in (people, control)]
    assert persons(*mixed)[:3] == (reference, one, two)


def test_households_are_not_parted():
    people, control = (table(120, s, f).with_columns(home=pl.col("pid") // 4) for s, f in ((1, 0), (2, 1000)))
    reference, one, two, _ = persons(people, control)
    homes = [{p // 4 for p in part} for part in (reference, one, two)]
    assert sum(map(len, homes)) == len(set.union(*homes)) == 60


def test_equal_rows_without_ids_fall_into_both_halves():
    people, control = (pl.DataFrame({"a": [1] * n}) for n in (200, 300))
    found = who(people, control)
    assert (len(found.reference), int(found.half[found.member].sum())) == (150, 100)
    assert int(found.half[~found.member].sum()) == 75
    assert len(found.member) == 350


@pytest.mark.parametrize(("members", "others", "few"), [(50, 100, False), (49, 100, True), (50, 98, True)])
def test_fewer_than_fifty_on_a_side_are_few(members, others, few):
    assert who(table(members, 1), table(others, 2, 1000)).few == few


def test_samples_are_of_whole_persons_and_within_the_pairs():
    people, control = table(600, 1, rows=4), table(600, 2, 1000, rows=4)
    rng = np.random.default_rng(3)
    people, control = (t.with_columns(a=pl.Series(rng.permutation(10_000)[: t.height])) for t in (people, control))
    found = who(people, control, pairs=10**6)
    assert found.sampled
    assert 1000 <= len(found.rows) < 1004
    assert set(np.bincount(found.unit)) == {4}


def test_a_units_score_is_the_mean_of_its_rows():
    found = who(table(60, 1), table(120, 2, 1000))
    scores = np.random.default_rng(4).normal(size=len(found.rows))
    means = [scores[found.unit == u].mean() for u in range(len(found.member))]
    assert found.of_units(scores) == pytest.approx(means)
