"""The lines of the h-rank: which there are, what they hold, and what they must not hold."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified, Sampled
from sfumato.data.finding import Finding
from sfumato.data.pair import Pair
from sfumato.measures.attacking import Attacking
from sfumato.measures.risk.attackers.attackers import Attack
from sfumato.measures.risk.attackers.error_law import laws, observed_law
from sfumato.measures.risk.h_rank.h_rank import AT, GROUPS, h_rank
from sfumato.measures.risk.h_rank.measure import (
    FRACTION,
    NO_COLUMN,
    NO_FILE_ORDER,
    NOT_ALIGNED,
    SUMMED,
    findings,
    known_columns,
)
from sfumato.plan.limits import apply_limits
from sfumato.plan.plan import Plan

N = 300
TOLD = Disclosure([Additive(("x", "y"), np.diag([0.04, 9.0]))])


def tables(n=N, seed=3):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(n)
    before = pl.DataFrame({"x": x, "y": 100 + 10 * (0.7 * x + rng.standard_normal(n)), "g": rng.choice(["u", "v"], n)})
    after = before.with_columns(
        pl.col("x") + 0.2 * rng.standard_normal(n), pl.Series("y", before["y"] + 3 * rng.standard_normal(n))
    )
    return before, after


def pair(columns=("x", "y"), by=(), aligned=True, book=None, frames=None):
    before, after = frames or tables()
    return Pair(before, after, book or Codebook(), columns, by=by, aligned=aligned)


def told_law(names=("x", "y"), disclosure=TOLD):
    return tuple(laws(disclosure, names, pl.DataFrame(), ()))


def test_each_line_stands_once():
    found = findings(pair(), TOLD)
    keys = [(f.measure, f.variable, f.group, f.at, f.attack) for f in found]
    assert len(keys) == len(set(keys))
    assert set(keys) == {
        ("h_rank", None, g, t, a) for g in GROUPS for t in AT for a in ("nearest", "predicted", "worst")
    }
    assert found.notes == ()


@pytest.mark.parametrize("name", ["nearest", "predicted"])
def test_lines_hold_what_the_measure_gives(name):
    p = pair()
    expected = h_rank(p.x, p.z, metric="scaled", cap=100, attack=Attack(name), laws=told_law())
    for line in findings(p, TOLD).select("h_rank", attack=name):
        assert line.value == expected.probability(line.at, line.group)
        assert line.interval == expected.interval(line.at, line.group)
        assert line.baseline == (line.at + 1) / N


def test_worst_is_the_maximum_with_its_interval():
    found = findings(pair(), TOLD, Attacking(("nearest", "predicted", "averaging:3", "imprecise:0.5")))
    for line in found.select("h_rank", attack="worst"):
        others = [f for f in found.select("h_rank", group=line.group, at=line.at) if f.attack != "worst"]
        assert len(others) == 4
        assert line.value == max(f.value for f in others)
        assert line.interval in [f.interval for f in others if f.value == line.value]
    strongest = found.of("h_rank", group="all", at=0, attack="averaging:3")
    assert found.of("h_rank", group="all", at=0, attack="worst").value == strongest.value


def test_an_attack_named_twice_counts_once():
    found = findings(pair(), TOLD, Attacking(("nearest", "nearest")))
    assert len(found) == 2 * len(GROUPS) * len(AT)


def test_a_group_that_the_attacker_knows():
    p = pair(by=("g",))
    expected = h_rank(p.x, p.z, metric="scaled", label=p.stratum, cap=100)
    line = findings(p, TOLD).of("h_rank", group="all", at=0, attack="nearest")
    assert line.value == expected.probability(0)
    assert line.value > findings(pair(), TOLD).of("h_rank", group="all", at=0, attack="nearest").value


def test_laws_by_stratum_are_used():
    before, after = tables()
    p = pair(by=("g",), frames=(before, after))
    parts = [Additive(("x",), [[v]], where={"g": g}) for g, v in (("u", 0.01), ("v", 0.5))]
    told = Disclosure([*parts, Additive(("y",), [[9.0]])])
    expected = h_rank(
        p.x,
        p.z,
        metric="scaled",
        attack=Attack("predicted"),
        label=p.stratum,
        laws=tuple(laws(told, ("x", "y"), after, ("g",))),
        cap=100,
    )
    assert findings(p, told).of("h_rank", group="all", at=1, attack="predicted").value == expected.probability(1)


def test_metric_cap_and_sample_are_passed_on():
    p = pair()
    found = findings(p, TOLD, Attacking(("nearest",), cap=0, sample=60, metric="euclidean"))
    expected = h_rank(p.x, p.z, sample=60)
    assert {f.at for f in found} == set(AT)  # a cap below the largest t reported is raised to it
    for line in found.select("h_rank", attack="nearest"):
        assert line.value == pytest.approx(expected.probability(line.at, line.group))


def test_a_sampled_release_counts_by_its_fraction():
    whole = findings(pair(), TOLD)
    told = Disclosure([*TOLD, Sampled(columns=(), fraction=0.5), Sampled(columns=(), fraction=0.4)])
    found = findings(pair(), told)
    assert found.notes == (FRACTION,)
    for a, b in zip(whole, found, strict=True):
        assert b.value == pytest.approx(0.2 * a.value)
        assert b.baseline == pytest.approx(0.2 * a.baseline)
    certain = findings(pair(), told, Attacking(fraction=1.0))
    assert [f.value for f in certain] == [f.value for f in whole]
    assert certain.notes == ()


def test_file_order_is_an_option():
    p = pair()
    found = findings(p, TOLD, Attacking(("nearest",), file_order=True))
    expected = h_rank(p.x, p.z, metric="scaled", cap=100)
    assert NO_FILE_ORDER in found.notes
    for share, group in ((0.1, "first 10%"), (0.5, "first 50%"), (0.9, "first 90%")):
        for t in AT:
            line = found.of("h_rank", group=group, at=t, attack="worst")
            assert line.value == pytest.approx(expected.probabilities(t)[: round(share * N)].mean())
            assert line.interval is None


@pytest.mark.parametrize("draws", ["two releases", "two steps", "one"])
def test_a_note_says_that_sums_of_draws_are_taken_as_normal(draws):
    uniform = Additive(("x", "y"), np.diag([0.02, 4.5]), distribution="uniform")
    told = Disclosure([uniform, uniform] if draws == "two steps" else [uniform])
    attacks = ("nearest", "predicted:2") if draws == "two releases" else ("nearest", "predicted")
    assert findings(pair(), told, Attacking(attacks)).notes == (() if draws == "one" else (SUMMED,))
    assert findings(pair(), TOLD, Attacking(attacks)).notes == ()


# What is not disclosed


def test_undisclosed_errors_are_taken_as_known():
    p = pair()
    found = findings(p, Disclosure([Additive(("x",), [[0.04]])]))
    (note,) = found.notes
    assert note.startswith("No noise is disclosed on y:")
    error = observed_law(("y",), p.x[:, 1:], p.z[:, 1:]).covariance[0, 0]
    law = told_law(disclosure=Disclosure([Additive(("x", "y"), np.diag([0.04, error]))]))
    expected = h_rank(p.x, p.z, metric="scaled", attack=Attack("predicted"), laws=law, cap=100)
    assert found.of("h_rank", group="all", at=0, attack="predicted").value == expected.probability(0)


def test_an_exact_column_needs_no_note():
    before, after = tables()
    p = pair(frames=(before, after.with_columns(before["y"])))
    found = findings(p, Disclosure([Additive(("x",), [[0.04]])]))
    assert found.notes == ()
    assert found.of("h_rank", group="all", at=0, attack="nearest").value > 0.3
    assert found.of("h_rank", group="all", at=0, attack="predicted").value == 1  # y is all different


def test_tables_that_are_not_aligned():
    found = findings(pair(aligned=False), TOLD)
    assert len(found) == 0
    assert found.notes == (NOT_ALIGNED,)


def test_no_column_and_no_record():
    assert findings(pair(columns=()), TOLD).notes == (NO_COLUMN,)
    before, after = tables()
    empty = findings(pair(frames=(before[:0], after[:0])), TOLD)
    assert len(empty) == 0
    assert empty.notes == (NO_COLUMN,)


def test_missing_everywhere_in_turn():
    """No record is whole; the default attackers still give every line."""
    before, after = tables()
    early = pl.int_range(N) < N // 2
    gone = [pl.when(early).then(None).otherwise(pl.col("x")).alias("x"), pl.when(early).then(pl.col("y")).alias("y")]
    found = findings(pair(frames=(before.with_columns(gone), after.with_columns(gone))), TOLD)
    assert len(found) == 3 * len(GROUPS) * len(AT)
    assert all(0 <= f.value <= 1 for f in found)


# A category that has become indicators


def dummies():
    rng = np.random.default_rng(12)
    region = rng.choice(["n", "s", "w"], N, p=[0.5, 0.3, 0.2]).tolist()
    region[:3] = ["?", None, "?"]
    before = pl.DataFrame({"x": rng.standard_normal(N), "region": region})
    indicator = np.array([[r == level for level in ("n", "s", "w")] for r in region], dtype=float)
    noisy = indicator + 0.4 * rng.standard_normal((N, 3))
    noisy[:3] = np.nan
    after = pl.DataFrame(
        {
            "x": before["x"] + 0.3 * rng.standard_normal(N),
            **{f"region={v}": noisy[:, j] for j, v in enumerate(("n", "s", "w"))},
        }
    )
    names = ("region=n", "region=s", "region=w")
    told = Disclosure(
        [
            Additive(("x",), [[0.09]]),
            Additive(names, 0.16 * np.eye(3), values=(0, 1), indicators_of="region"),
        ]
    )
    book = Codebook({"region": Variable(kind="categorical", missing=["?"])})
    indicator[:3] = np.nan
    return Pair(before, after, book, ("x",), aligned=True), told, indicator, noisy


def test_indicators_stand_in_place_of_their_category():
    p, told, indicator, noisy = dummies()
    names, true, released = known_columns(p, told)
    assert names == ("x", "region=n", "region=s", "region=w")
    np.testing.assert_array_equal(true, np.column_stack([p.x, indicator]))
    np.testing.assert_array_equal(released, np.column_stack([p.z, noisy]))
    expected = h_rank(true, released, metric="scaled", cap=100)
    line = findings(p, told).of("h_rank", group="all", at=1, attack="nearest")
    assert line.value == expected.probability(1)
    alone = findings(p, Disclosure([Additive(("x",), [[0.09]])])).of("h_rank", group="all", at=1, attack="nearest")
    assert line.value > alone.value


def test_indicators_of_a_column_that_is_gone_are_not_known():
    p, told, *_ = dummies()
    without = Pair(p.before.drop("region"), p.after, p.codebook, ("x",), aligned=True)
    assert known_columns(without, told)[0] == ("x",)


# Exchanged codes


def test_exchanged_codes_are_attacked_too():
    rng = np.random.default_rng(13)
    before = pl.DataFrame({"k": rng.integers(0, 3, N), "x": rng.standard_normal(N)})
    matrix = np.full((3, 3), 0.1) + 0.7 * np.eye(3)
    told = Disclosure([Misclassified("k", matrix, levels=(0, 1, 2)), Additive(("x",), [[0.0004]])])
    law = told_law(("k", "x"), told)
    z = law[0][1].simulate(before.to_numpy().astype(float), rng)
    after = pl.DataFrame({"k": z[:, 0].astype(int), "x": z[:, 1]})
    found = findings(pair(("k", "x"), frames=(before, after)), told)
    nearest, predicted = (found.of("h_rank", group="all", at=0, attack=a).value for a in ("nearest", "predicted"))
    assert predicted > nearest + 0.02


# Limits and silence


def limited(found, **limit):
    plan = Plan(limits=[{"measure": "h_rank", **limit}])
    return apply_limits(found, plan.limits)


@pytest.mark.parametrize(("at_most", "ok"), [(0.99, True), (0.01, False)])
def test_a_limit_binds_the_line_it_names(at_most, ok):
    found = limited(findings(pair(), TOLD), at=2, group="all", attack="worst", at_most=at_most)
    line = found.of("h_rank", group="all", at=2, attack="worst")
    assert (line.limit, line.ok) == (at_most, ok)
    assert [f for f in found if f.limit is not None] == [line]
    assert found.ok is ok


def test_notes_hold_no_value_of_the_data():
    planted = 987_654.321
    before, after = tables()
    before[0, "x"], after[0, "x"], after[1, "y"] = planted, planted + 0.25, -planted
    p = pair(by=("g",), frames=(before, after))
    told = Disclosure([Sampled(columns=(), fraction=0.5)])
    found = findings(p, told, Attacking(file_order=True))
    assert len(found.notes) == 3
    for note in found.notes:
        assert "987" not in note
        assert str(N) not in note
    assert not [
        f for f in found if f.variable is not None or f.group not in (*GROUPS, "first 10%", "first 50%", "first 90%")
    ]
    assert all(isinstance(f, Finding) and f.value <= 0.5 for f in found)


def test_row_order_changes_nothing():
    before, after = tables()
    found = findings(pair(frames=(before, after)), TOLD)
    turned = findings(pair(frames=(before.reverse(), after.reverse())), TOLD)
    for a, b in zip(found, turned, strict=True):
        assert (a.group, a.at, a.attack) == (b.group, b.at, b.attack)
        assert a.value == pytest.approx(b.value, rel=1e-9)


def test_a_sample_hangs_on_ids_and_not_on_the_order_of_rows():
    before, after = (table.with_columns(id=pl.int_range(N)) for table in tables())
    order = np.random.default_rng(0).permutation(N)
    how = Attacking(sample=40)
    told = [
        findings(Pair(one, other, Codebook(), ("x", "y"), aligned=True, record="id"), TOLD, how)
        for one, other in ((before, after), (before[order], after[order]))
    ]
    values = [{(f.group, f.at, f.attack): f.value for f in found} for found in told]
    assert values[0] == pytest.approx(values[1])
    by_place = findings(Pair(before.drop("id"), after.drop("id"), Codebook(), ("x", "y"), aligned=True), TOLD, how)
    assert [f.value for f in by_place] != [f.value for f in told[0]]
