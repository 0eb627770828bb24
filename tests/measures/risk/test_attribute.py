"""Attribute disclosure, by hand."""

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import cdist
from scipy.special import ndtr

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure, Misclassified
from sfumato.data.pair import Pair
from sfumato.measures.risk.attackers.error_law import laws
from sfumato.measures.risk.attribute import ALONE, findings, nearest_outcomes, posterior_right

N = 40_000


def law_of(parts, names):
    ((_, law),) = laws(parts, names, None, ())
    return law


@pytest.mark.parametrize("clipped", [True, False])
@pytest.mark.parametrize(("variance", "right"), [(0.05, 0.987), (0.1, 0.943), (0.2, 0.868), (0.5, 0.760)])
def test_a_threshold_tells_a_lone_balanced_column(variance, right, clipped):
    """Φ(1/2s), with four standard errors; the figures of the methods notes to their last digit besides."""
    true = np.repeat([0.0, 1.0], N // 2)[:, None]
    law = law_of([Additive(("s",), [[variance]], clipped=clipped, values=(0, 1))], ("s",))
    share, baseline = posterior_right(true, law.simulate(true, np.random.default_rng(5)), law, 0)
    assert ndtr(0.5 / variance**0.5) == pytest.approx(right, abs=1e-3)
    assert share == pytest.approx(ndtr(0.5 / variance**0.5), abs=4 * np.sqrt(right * (1 - right) / N))
    assert baseline == 0.5


def test_an_unequal_column_has_another_threshold():
    """With 80% ones and variance .5 a record is called 0 below z = .5 − .5 ln 4."""
    cut = 0.5 - 0.5 * np.log(4)
    right = 0.8 * ndtr((1 - cut) / 0.5**0.5) + 0.2 * ndtr(cut / 0.5**0.5)
    true = np.repeat([0.0, 1.0], [N // 5, N - N // 5])[:, None]
    law = law_of([Additive(("s",), [[0.5]], values=(0, 1))], ("s",))
    share, baseline = posterior_right(true, law.simulate(true, np.random.default_rng(6)), law, 0)
    assert share == pytest.approx(right, abs=4 * np.sqrt(right * (1 - right) / N))
    assert baseline == 0.8


def test_exchanged_categories_and_missing_truth():
    """Released 0 means 0 and released 1 means 1 more often than not; who has no true value is not counted."""
    true = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [np.nan]])
    released = np.array([[0.0], [0.0], [1.0], [1.0], [1.0], [1.0]])
    law = law_of([Misclassified("s", [[0.9, 0.1], [0.1, 0.9]], levels=(0, 1))], ("s",))
    assert posterior_right(true, released, law, 0) == (4 / 5, 3 / 5)


def nearest_by_definition(true, released, outcome, label=None, told=None):
    near = cdist(true, released)
    if label is not None:
        near[label[:, None] != label] = np.inf
    order = np.argsort(near, axis=1)
    told = outcome if told is None else told
    right, wrong = told[order[:, 0]] == outcome, order[:, 0] != np.arange(len(true))
    alike = (told[order[:, :5]] == told[order[:, :1]]).all(axis=1)
    return right.mean(), right[wrong].mean(), alike.mean(), len(true)


@pytest.mark.parametrize("grouped", [False, True])
def test_nearest_outcomes_equal_the_definition(grouped):
    rng = np.random.default_rng(7)
    x = rng.standard_normal((300, 2))
    z = x + 0.5 * rng.standard_normal(x.shape)
    outcome = (x[:, 0] + rng.standard_normal(300) > 0).astype(int)
    label = rng.integers(0, 3, 300) if grouped else None
    assert nearest_outcomes(x, z, outcome, label) == pytest.approx(nearest_by_definition(x, z, outcome, label))
    told = np.where(rng.random(300) < 0.3, 1 - outcome, outcome)
    expected = nearest_by_definition(x, z, outcome, label, told)
    assert nearest_outcomes(x, z, outcome, label, told) == pytest.approx(expected)


def test_a_wrong_record_gives_the_right_outcome_away():
    """Two far clusters, each of one outcome: nobody's record need be found."""
    x = np.append(np.linspace(0, 1, 20), np.linspace(100, 101, 20))[:, None]
    z = x[np.append(np.roll(np.arange(20), 1), 20 + np.roll(np.arange(20), 1))]
    outcome = np.repeat([0, 1], 20)
    assert nearest_outcomes(x, z, outcome) == (1, 1, 1, 40)


def test_few_records():
    assert nearest_outcomes(np.zeros((1, 1)), np.zeros((1, 1)), np.array([3])) == (1, None, 0, 1)


def test_of_many_records_a_fixed_sample_is_attacked():
    rng = np.random.default_rng(8)
    x, outcome = rng.standard_normal((12_000, 1)), rng.integers(0, 2, 12_000)
    found = nearest_outcomes(x, x + 0.01, outcome)
    assert found[3] == 10_000
    assert found == nearest_outcomes(x, x + 0.01, outcome)


# Findings


def pair(n=400, aligned=True, by=()):
    rng = np.random.default_rng(9)
    before = pl.DataFrame(
        {
            "x": rng.standard_normal(n),
            "s": (rng.random(n) < 0.7).astype(float),
            "ill": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            "g": rng.choice(["u", "v"], n),
        }
    )
    after = before.with_columns(
        pl.col("x") + 0.3 * rng.standard_normal(n), pl.Series("s", before["s"] + 0.5 * rng.standard_normal(n))
    )
    return Pair(before, after, Codebook(), ("x", "s"), by=by, aligned=aligned)


TOLD = Disclosure([Additive(("x",), [[0.09]]), Additive(("s",), [[0.25]], values=(0, 1))])


def test_lines():
    tables = pair()
    found = findings(tables, TOLD, ["ill"])
    (line,) = found.select("attribute_posterior")
    share, baseline = posterior_right(tables.x, tables.z, law_of(TOLD, ("x", "s")), 1)
    assert (line.variable, line.group, line.attack, line.at) == ("s", "all", "posterior", None)
    assert (line.value, line.baseline) == (share, baseline)
    assert line.interval[0] < line.value < line.interval[1]
    sd = tables.x.std(axis=0)
    outcome = (tables.after["ill"] == "yes").to_numpy().astype(int)
    right, though, alike, _ = nearest_by_definition(tables.x / sd, tables.z / sd, outcome)
    guess = outcome.mean() ** 2 + (1 - outcome.mean()) ** 2
    nearest = found.select("attribute_nearest")
    assert [(f.variable, f.group, f.attack) for f in nearest] == [
        ("ill", "all", "nearest"),
        ("ill", "wrong record", "nearest"),
    ]
    assert [f.value for f in nearest] == pytest.approx([right, though])
    assert [f.baseline for f in nearest] == pytest.approx([guess, guess])
    (line,) = found.select("attribute_alike")
    assert (line.at, line.group, line.value) == (5, "all", pytest.approx(alike))
    assert line.baseline == pytest.approx(outcome.mean() ** 5 + (1 - outcome.mean()) ** 5)
    assert len(found) == 4


def test_a_sensitive_column_is_not_among_the_known():
    """Were it known, more of the true outcomes would be found."""
    plain = pair()
    tables = Pair(plain.before, plain.after.with_columns(plain.before["s"]), Codebook(), ("x", "s"), aligned=True)
    found = findings(tables, TOLD, ["s"])
    outcome = tables.before["s"].to_numpy().astype(int)
    x, z = tables.x[:, :1], tables.z[:, :1]
    line = found.of("attribute_nearest", variable="s", group="all")
    assert line.value == pytest.approx(nearest_by_definition(x, z, outcome)[0])
    assert line.value < nearest_by_definition(tables.x, tables.z, outcome)[0]


def test_an_exchanged_outcome_is_judged_by_the_true_one():
    """Half of the outcomes are exchanged: whose record is found for certain is read as often as the exchange allows."""
    rng = np.random.default_rng(31)
    before = pl.DataFrame({"x": rng.standard_normal(2000), "hiv": rng.choice(["neg", "pos"], 2000, p=[0.7, 0.3])})
    after = before.with_columns(pl.Series("hiv", rng.permutation(before["hiv"].to_numpy())))
    found = findings(Pair(before, after, Codebook(), ("x",), aligned=True), Disclosure(), ["hiv"])
    line = found.of("attribute_nearest", variable="hiv", group="all")
    assert line.value == (before["hiv"] == after["hiv"]).mean() < 0.65
    assert line.baseline == pytest.approx((before["hiv"] == "pos").mean() ** 2 + (before["hiv"] == "neg").mean() ** 2)


def test_outcomes_of_different_types_are_compared_as_numbers():
    before = pl.DataFrame({"x": np.arange(8.0), "s": [True, False] * 4})
    after = before.with_columns(pl.col("s").cast(pl.Float64))
    found = findings(Pair(before, after, Codebook(), ("x",), aligned=True), Disclosure(), ["s"])
    assert found.of("attribute_nearest", variable="s", group="all").value == 1


# Several steps on one column


@pytest.mark.parametrize("kind", ["exchanged, then noise", "noise twice"])
def test_two_steps_on_one_column(kind):
    """Noise of variance .001 hides nothing: what is right is what the exchange left, or all."""
    rng = np.random.default_rng(32)
    x = rng.integers(1, 6, 2000)
    moved = np.where(rng.random(2000) < 0.9, x, rng.integers(1, 6, 2000)) if kind != "noise twice" else x
    before = pl.DataFrame({"c": x})
    after = pl.DataFrame({"c": moved + 0.001**0.5 * rng.standard_normal(2000)})
    first = (
        Additive(("c",), [[0.0005]], values=(1, 2, 3, 4, 5))
        if kind == "noise twice"
        else Misclassified("c", 0.9 * np.eye(5) + 0.02, levels=(1, 2, 3, 4, 5))
    )
    told = Disclosure([first, Additive(("c",), [[0.0005 if kind == "noise twice" else 0.001]])])
    found = findings(Pair(before, after, Codebook(), ("c",), aligned=True), told, [])
    assert found.of("attribute_posterior", variable="c").value == (moved == x).mean()


# Noise that households share


def shared(clip=False):
    rng = np.random.default_rng(33)
    before = pl.DataFrame({"hh": np.arange(900) // 3, "s": rng.integers(0, 2, 900)})
    z = before["s"].to_numpy() + np.repeat(50**0.5 * rng.standard_normal(300), 3)
    after = before.with_columns(pl.Series("s", z.clip(0, 1) if clip else z))
    book = Codebook({"hh": Variable(role="household")})
    told = Disclosure([Additive(("s",), [[50.0]], clipped=clip, values=(0, 1), draw_by="household")])
    return Pair(before, after, book, ("s",), aligned=True), told


def test_members_of_a_household_give_each_other_away():
    """Whose members differ is known for certain; of the others half are guessed, to four standard errors."""
    tables, told = shared()
    found = findings(tables, told, [])
    mixed = tables.before.group_by("hh").agg(pl.col("s").n_unique() > 1)["s"].mean()
    value = found.of("attribute_posterior", variable="s").value
    assert mixed > 0.6
    assert value == pytest.approx(mixed + (1 - mixed) / 2, abs=4 * np.sqrt(0.25 * (1 - mixed) / 300))
    assert found.notes == ()


def test_a_note_says_where_members_are_not_read_together():
    tables, told = shared(clip=True)
    assert findings(tables, told, []).notes == (ALONE.format(columns="s"),)


def test_strata_with_laws_of_their_own():
    tables = pair(by=("g",))
    told = Disclosure([Additive(("s",), [[v]], values=(0, 1), where={"g": g}) for g, v in (("u", 0.1), ("v", 0.6))])
    right = 0
    for g, v in (("u", 0.1), ("v", 0.6)):
        rows = (tables.after["g"] == g).to_numpy()
        law = law_of([Additive(("s",), [[v]], values=(0, 1))], ("x", "s"))
        right += posterior_right(tables.x[rows], tables.z[rows], law, 1)[0] * rows.mean()
    assert findings(tables, told, []).of("attribute_posterior").value == pytest.approx(right)


def test_what_cannot_be_measured_is_left_out():
    assert len(findings(pair(aligned=False), TOLD, ["ill"])) == 0
    assert len(findings(pair(), Disclosure(), ["absent"])) == 0
    assert not findings(pair(), Disclosure([Additive(("x",), [[0.09]])]), []).select("attribute_posterior")
    empty = pl.DataFrame({"x": []}, schema={"x": pl.Float64})
    assert len(findings(Pair(empty, empty, Codebook(), ("x",), aligned=True), TOLD, [])) == 0


def test_row_order_changes_nothing():
    tables = pair()
    turned = Pair(tables.before.reverse(), tables.after.reverse(), Codebook(), ("x", "s"), aligned=True)
    for a, b in zip(findings(tables, TOLD, ["ill"]), findings(turned, TOLD, ["ill"]), strict=True):
        assert (a.measure, a.group) == (b.measure, b.group)
        assert a.value == pytest.approx(b.value, rel=1e-9)


@pytest.mark.parametrize("step", [0.5, 1.0, 3.0])
def test_records_released_as_one_point_are_drawn_from_at_random(step):
    """By trying every five that could be taken: those of whole points, and any of the last one's."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(24, 1))
    z = np.round((x + rng.normal(size=(24, 1))) / step) * step
    outcome = (rng.random(24) < 0.8).astype(np.int64)
    chances = []
    for own in x[:, 0]:
        points = sorted(set(z[:, 0]), key=lambda point, own=own: abs(point - own))
        sure = []
        for point in points:
            here = outcome[z[:, 0] == point].tolist()
            if len(sure) + len(here) >= 5:
                fives = [sure + list(more) for more in itertools.combinations(here, 5 - len(sure))]
                break
            sure += here
        chances.append(np.mean([len(set(five)) == 1 for five in fives]))
    alike = nearest_outcomes(x, z, outcome)[2]
    assert 0 < alike < 1
    assert alike == pytest.approx(np.mean(chances))
