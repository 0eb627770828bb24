"""Membership by each attack and the strongest, against whole matrices and what is known of choosing."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp, mannwhitneyu

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.known import Known
from sfumato.measures.risk.attacked import FEW, attacked
from sfumato.measures.risk.linkers.coding import coded
from sfumato.measures.risk.membership import NO_REFERENCE, findings, nearer, widest_gap

RNG = np.random.default_rng(1)
MEMBERS, OTHERS = RNG.integers(0, 6, 200) / 2.0, RNG.integers(1, 8, 150) / 2.0
BOOK = Codebook({"id": Variable(role="record"), "a": Variable(kind="categorical"), "x": Variable(kind="integer")})


def test_the_area_is_mann_and_whitneys_share():
    area, (low, high) = nearer(MEMBERS, OTHERS)
    assert area == pytest.approx(mannwhitneyu(OTHERS, MEMBERS).statistic / (200 * 150))
    assert low < area < high


def test_the_gap_is_kolmogorov_and_smirnovs():
    assert widest_gap(MEMBERS, OTHERS) == pytest.approx(ks_2samp(MEMBERS, OTHERS, alternative="greater").statistic)
    assert widest_gap(OTHERS, OTHERS) == 0.0


def test_the_interval_covers_the_truth_as_often_as_it_says():
    """Normal distances one sd apart: the area is Φ(1/√2); 95% of 1,000 intervals, give or take four standard errors."""
    rng, truth, held = np.random.default_rng(2), 0.7602499389, 0
    for _ in range(1000):
        low, high = nearer(rng.normal(0, 1, 150), rng.normal(1, 1, 150))[1]
        held += low <= truth <= high
    assert held / 1000 == pytest.approx(0.95, abs=0.028)


def table(n, seed, first=0):
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"id": np.arange(first, first + n), "a": rng.integers(0, 4, n), "x": rng.integers(0, 30, n)})


def distances(one, two, reach):
    d = (one["a"].to_numpy()[:, None] != two["a"].to_numpy()[None]).astype(float)
    return d + np.minimum(np.abs(one["x"].to_numpy()[:, None] - two["x"].to_numpy()[None]) / reach, 1)


def by_definition(people, released, control, known):
    """Scores of the attacked by whole matrices, after the formulas, and who they are."""
    who = attacked(coded(known, ["a", "x"]), known)
    everybody = pl.concat([people, control])
    some, reference = everybody[who.rows], everybody[who.reference]
    low, high = np.quantile(reference["x"].to_numpy(), [0.1, 0.9])
    here, there = (distances(some, t, (high - low) / 4) for t in (released, reference))
    scores = {"nearest": [-here.min(axis=1)]}
    scores["relative"] = [np.log(there.min(axis=1) + 0.02) - np.log(here.min(axis=1) + 0.02)]
    means = [[np.log(np.exp(-d / w).mean(axis=1)) for d in (here, there)] for w in (0.3, 0.6, 1.0)]
    scores["density"] = [a - b for a, b in means]
    return {k: [s.round(9) for s in v] for k, v in scores.items()}, who


def area(score, member, half):
    m, c = score[member & half], score[~member & half]
    return ((m[:, None] > c).mean() + (m[:, None] >= c).mean()) / 2


def test_every_attack_is_that_of_the_definition_and_the_strongest_is_chosen_on_the_other_half():
    people, others = table(160, 1), table(260, 2, 500)
    released = people.with_columns(x=pl.col("x") + pl.Series(RNG.integers(0, 3, 160)))
    known = Known(people, released, BOOK, ("a",), False, others, record="id")
    found = findings(known)
    scores, who = by_definition(people, released, others, known)
    member = who.rows < 160
    halves = [np.isin(np.arange(len(member)), np.flatnonzero(h)) for h in (~who.half, who.half)]
    for attack in (*scores, None):
        family = [s for name, each in scores.items() if attack in (None, name) for s in each]
        areas = np.array([[area(s, member, h) for h in halves] for s in family])
        stated = (areas[areas[:, 1].argmax(), 0] + areas[areas[:, 0].argmax(), 1]) / 2
        assert found.of("membership", group="auc", attack=attack).value == pytest.approx(stated)
    assert found.notes == ()


def test_released_truth_is_told_with_certainty_but_for_equals():
    """Ids take no part: members stand at 0, and so do others who are equal to one."""
    people, others = table(100, 1), table(300, 2, 500)
    known = Known(people, people, BOOK, ("a",), False, others, record="id")
    found = findings(known)
    who = attacked(coded(known, ["a", "x"]), known)
    outside = pl.concat([people, others])[who.rows].filter(pl.Series(who.rows >= 100))
    away = np.array([row not in set(people.select("a", "x").rows()) for row in outside.select("a", "x").rows()])
    halves = [away[h[~who.member]] for h in (who.half, ~who.half)]
    line = found.of("membership", group="auc", attack="nearest")
    assert line.value == line.baseline == pytest.approx(np.mean([0.5 + h.mean() / 2 for h in halves]))
    assert found.of("membership", group="advantage", attack="nearest").value == pytest.approx(
        np.mean([h.mean() for h in halves])
    )


def test_members_who_are_released_as_others_are_not_told():
    people, others = table(400, 3), table(800, 4)
    found = findings(Known(people, table(400, 5), BOOK, ("a",), False, others))
    low, high = found.of("membership", group="auc").interval
    assert low - 0.03 < 0.5 < high + 0.03
    assert not findings(Known(people, people, BOOK, ("a",)))


def plain(n, seed, width=3):
    return pl.DataFrame(np.random.default_rng(seed).normal(size=(n, width)), schema=[f"v{i}" for i in range(width)])


NUMBERS = Codebook({f"v{i}": Variable(kind="continuous") for i in range(5)})


@pytest.mark.slow
def test_choosing_flatters_nobody():
    """Of 100 and 100 who are told by nothing, the stated area is .50 in the mean, where the largest of all is not.

    An area of 50 and 50 has sd .058; the mean of two halves, over 150 tables, .0033, correlations of choosing aside.
    """
    stated, largest = [], []
    for seed in range(150):
        people, copy, others = plain(100, 3 * seed), plain(100, 3 * seed + 1), plain(200, 3 * seed + 2)
        found = findings(Known(people, copy, NUMBERS, ("v0",), False, others))
        stated.append(found.of("membership", group="auc").value)
        largest.append(max(f.value for f in found.select("membership", group="auc") if f.attack is not None))
    assert np.mean(stated) == pytest.approx(0.5, abs=0.014)
    assert np.mean(largest) > np.mean(stated) + 0.01


def test_with_few_the_largest_is_stated_and_a_note_says_so():
    people, others = plain(40, 1), plain(90, 2)
    found = findings(Known(people, plain(40, 3), NUMBERS, ("v0",), False, others))
    areas = [f.value for f in found.select("membership", group="auc") if f.attack is not None]
    assert found.of("membership", group="auc", attack=None).value == max(areas)
    assert FEW in found.notes
    assert "too high rather than too low" in FEW


def test_a_ratio_of_distances_finds_the_odd_who_are_near_by_their_own_measure():
    """Half of the people have 30 times the spread, and the copy is each of them but for .15 of it.

    The notes have .73 for the nearest record, .92 for the ratio; areas of 500 and 500 have standard errors of .01.
    """

    def people(n, seed):
        rng = np.random.default_rng(seed)
        scale = np.where(np.arange(n) % 2, 30.0, 1.0)[:, None]
        return rng.normal(size=(n, 5)) * scale, scale, rng

    (truth, scale, rng), (others, _, _) = people(500, 1), people(1000, 2)
    tables = [
        pl.DataFrame(v, schema=[f"v{i}" for i in range(5)])
        for v in (truth, truth + rng.normal(size=truth.shape) * 0.15 * scale, others)
    ]
    found = findings(Known(tables[0], tables[1], NUMBERS, ("v0",), False, tables[2]))
    by = {a: found.of("membership", group="auc", attack=a).value for a in (None, "nearest", "relative")}
    assert by["relative"] == pytest.approx(0.92, abs=0.05)
    assert by["nearest"] == pytest.approx(0.73, abs=0.05)
    assert by[None] >= by["relative"] - 0.02


def panel(persons, seed, first):
    """Persons whose four rows are nearly alike."""
    rng = np.random.default_rng(seed)
    rows = np.repeat(rng.normal(size=(persons, 3)), 4, axis=0) + rng.normal(size=(4 * persons, 3)) * 0.05
    ids = np.repeat(np.arange(first, first + persons), 4)
    return pl.DataFrame(rows, schema=["v0", "v1", "v2"]).with_columns(pid=pl.Series(ids))


def test_a_reference_holds_no_other_rows_of_those_attacked():
    """Else outsiders would look like outsiders by themselves: a release that tells nothing would tell nearly all."""
    people, others, copy = panel(150, 1, 0), panel(300, 2, 1000), panel(150, 3, 2000)
    whole = Codebook({**NUMBERS, "pid": Variable(role="person")})
    parted = Codebook({**NUMBERS, "pid": Variable(role="identifier")})
    right, wrong = (
        findings(Known(people, copy, book, ("v0",), False, others)).of("membership", group="auc")
        for book in (whole, parted)
    )
    assert right.interval[0] - 0.02 < 0.5 < right.interval[1] + 0.02
    assert wrong.value > 0.8


@pytest.mark.parametrize("ids", [True, False])
def test_the_order_of_rows_changes_nothing(ids):
    tables = [table(120, 1), table(110, 2), table(240, 3, 500)]
    tables = tables if ids else [t.drop("id") for t in tables]
    mixed = [t.sample(fraction=1, shuffle=True, seed=7) for t in tables]
    one, two = (
        findings(Known(a, b, BOOK, ("a",), False, c, record="id" if ids else None)) for a, b, c in (tables, mixed)
    )
    assert one == two


def test_a_control_of_one_leaves_no_reference():
    found = findings(Known(table(60, 1), table(60, 2), BOOK, ("a",), False, table(1, 3)))
    assert not found.lines
    assert found.notes == (NO_REFERENCE,)
