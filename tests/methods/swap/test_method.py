import datetime

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy.stats import spearmanr

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.swap.method import Swap
from sfumato.release.run import run_steps
from tests.methods.tables import on_grid

LAWFUL = [
    Swap(columns=["x", "n"], window=0.1),
    Swap(columns=["y", "x"], window=0.2, by=["g"], together=True),
    Swap(columns=["h", "n"], random=True),
    Swap(columns=["h", "y"], random=True, by=["g"], together=True),
    Swap(columns=["x", "n"], window=0.1, by=["g"], perturb=0.1),
    Swap(columns=["h", "y"], random=True, perturb=0.05, together=True),
    Swap(columns=["x", "n", "h", "y"], group=3, together=[["x", "h"]], perturb=0.1),
    Swap(columns=["x", "h"], group=4, by=["g"]),
]

NUMBER = Variable(kind="continuous", missing=[-9])
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "bmi": NUMBER,
        "age": Variable(kind="integer"),
        "born": Variable(kind="date"),
        "sex": Variable(kind="categorical"),
        "town": Variable(kind="categorical"),
        "name": Variable(role="identifier", kind="text"),
    }
)


def survey(n=5000, seed=1):
    rng = np.random.default_rng(seed)
    bmi = rng.lognormal(3.2, 0.15, n)
    bmi[rng.random(n) < 0.02] = -9
    age = rng.integers(18, 90, n)
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "bmi": bmi,
            "age": age,
            "born": [datetime.date(1930, 1, 1) + datetime.timedelta(days=int(d)) for d in rng.permutation(n)],
            "sex": rng.choice(["f", "m"], n, p=[0.6, 0.4]),
            "town": rng.choice(["A", "B", "C"], n),
        }
    )


FRAME = survey()


def ran(step, frame=FRAME, secret=bytes(16), book=BOOK):
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(secret))


def released(*args, **kwargs):
    return ran(*args, **kwargs).after.frame


def ranks(x):
    """Rank of each value, 0 to n − 1; ties at the lowest."""
    return np.searchsorted(np.sort(x), x)


@pytest.mark.parametrize("window", [0.01, 0.05, 0.3, 0.99])
def test_values_move_within_the_window_and_margins_stay(window):
    out = released(Swap(columns=["bmi"], window=window))["bmi"]
    assert sorted(out) == sorted(FRAME["bmi"])
    assert ((out == -9) == (FRAME["bmi"] == -9)).all()
    x, z = (np.array(s)[(FRAME["bmi"] != -9).to_numpy()] for s in (FRAME["bmi"], out))
    moved = np.abs(ranks(x) - np.searchsorted(np.sort(x), z))
    assert moved.max() <= window * len(x)
    assert (moved > 0).all()
    if window < 0.5:  # else the ends of the file are nearer than the window
        assert np.median(moved) > 0.3 * window * len(x)


def test_the_window_is_of_the_stratum():
    out = released(Swap(columns=["bmi"], window=0.1, by=["sex", "town"]))
    for key, part in FRAME.filter(pl.col("bmi") != -9).group_by("sex", "town"):
        after = out.filter((pl.col("sex") == key[0]) & (pl.col("town") == key[1]) & (pl.col("bmi") != -9))["bmi"]
        x, z = part["bmi"].to_numpy(), after.to_numpy()
        assert sorted(x) == sorted(z)
        assert np.abs(ranks(x) - np.searchsorted(np.sort(x), z)).max() <= 0.1 * len(x)


def test_the_ends_are_swapped_like_the_rest():
    """Nothing is grouped or left in the tails."""
    x, z = (
        s.filter(FRAME["bmi"] != -9).to_numpy()
        for s in (FRAME["bmi"], released(Swap(columns=["bmi"], window=0.05))["bmi"])
    )
    order = np.argsort(x)
    assert np.all(x[order[:20]] != z[order[:20]])
    assert np.all(x[order[-20:]] != z[order[-20:]])
    assert x.max() == z.max()


def test_whole_numbers_with_ties_keep_their_margin_and_their_type():
    out = released(Swap(columns=["age"], window=0.05))["age"]
    assert out.dtype == FRAME["age"].dtype
    assert out.value_counts().sort("age").equals(FRAME["age"].value_counts().sort("age"))
    assert 0.5 < (out != FRAME["age"]).mean() < 1


def test_dates_are_ranked_too():
    out = released(Swap(columns=["born"], window=0.02))["born"]
    days = (out - FRAME["born"]).dt.total_days().to_numpy()  # every day once: a day is a rank
    assert np.abs(days).max() <= 0.02 * FRAME.height
    assert sorted(out) == sorted(FRAME["born"])


def test_random_swapping_keeps_margins_within_strata_and_nothing_else():
    out = released(Swap(columns=["town", "age"], random=True, by=["sex"]))
    for n in ("town", "age"):
        counted = [f.group_by("sex", n).len().sort("sex", n) for f in (FRAME, out)]
        assert counted[0].equals(counted[1])
    # what is left of a value's own town is what chance gives, Σp² = 1/3 of equal towns
    assert (out["town"] == FRAME["town"]).mean() == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / FRAME.height) + 0.01)
    assert abs(spearmanr(out["age"], FRAME["age"]).statistic) < 4 / np.sqrt(FRAME.height)


def test_columns_alone_or_together():
    frame = FRAME.with_columns(twin=pl.col("bmi"), place=pl.col("id"))
    book = BOOK.replace(twin=NUMBER, place=Variable(kind="integer"))
    alone = released(Swap(columns=["bmi", "twin"], window=0.1), frame, book=book)
    assert (alone["bmi"] != alone["twin"]).filter(frame["bmi"] != -9).mean() > 0.9
    done = ran(Swap(columns=["bmi", "twin", "town"], window=0.1, together=True), frame, book=book)
    whose = done.after.frame.join(frame, left_on="bmi", right_on="bmi", suffix="_owner").filter(pl.col("bmi") != -9)
    assert (whose["twin"] == whose["twin_owner"]).all()
    assert (whose["town"] == whose["town_owner"]).all()
    assert "moved together" in done.disclosure.parts[0].sentence()


def test_a_record_whose_first_column_is_missing_keeps_all():
    out = released(Swap(columns=["bmi", "age"], random=True, together=True))
    missing = FRAME["bmi"] == -9
    assert out.filter(missing).equals(FRAME.filter(missing))


@pytest.mark.parametrize("n", [5000, 4999])
def test_nobody_is_left_out(n):
    """Two exchange, whoever has my value, I have theirs; of an odd number three do, in turn."""
    for step in (Swap(columns=["place"], window=0.1), Swap(columns=["place"], random=True)):
        frame = FRAME.sort("id").head(n).with_columns(place=pl.col("id"))
        z = released(step, frame, book=BOOK.replace(place=Variable(kind="integer")))["place"].to_numpy()
        assert (z != np.arange(n)).all()
        assert (z[z] != np.arange(n)).sum() == 3 * (n % 2)


def test_the_custodian_hears_the_correlation_and_what_stayed():
    done = ran(Swap(columns=["bmi", "town"], random=True))
    first, second = done.steps[0].notes
    here = FRAME["bmi"] != -9
    r = np.corrcoef(FRAME["bmi"].filter(here), done.after.frame["bmi"].filter(here))[0, 1]
    assert f"original values {r:.4f}" in first
    same = (FRAME["town"] == done.after.frame["town"]).mean()
    assert second == f"town: {same:.2%} of the values are as they were."
    assert f"{FRAME.height}" not in first
    near = ran(Swap(columns=["bmi"], window=0.02))
    r = np.corrcoef(FRAME["bmi"].filter(here), near.after.frame["bmi"].filter(here))[0, 1]
    assert f"original values {r:.4f}" in near.steps[0].notes[0]
    assert r > 0.98


def test_analysts_are_told_the_window_the_strata_and_how_columns_moved():
    alone = ran(Swap(columns=["bmi", "age"], window=0.05, by=["sex"])).disclosure
    assert alone.sentences() == (
        "bmi, age: values were exchanged between records of the same sex whose ranks lie within 0.05 of all ranks, "
        "for each column anew.",
    )
    assert ran(Swap(columns=["town"], random=True)).disclosure.sentences() == (
        "town: values were exchanged between records.",
    )


def test_draws_are_the_secrets_and_the_strengths():
    frame = FRAME.sort("id").with_columns(place=pl.col("id"))
    book = BOOK.replace(place=Variable(kind="integer"))
    step = Swap(columns=["place"], window=0.05)

    def gap(*args):
        """Ranks that values moved by, away from the ends, where all move inwards."""
        return (released(*args, book=book)["place"] - frame["place"]).to_numpy()[1000:4000]

    first = gap(step, frame)
    assert np.array_equal(first, gap(step, frame))
    # pairs move by opposite amounts, so that 3000 gaps are worth at least 1500 independent ones
    assert abs(np.corrcoef(first, gap(step, frame, bytes(15) + b"x"))[0, 1]) < 4 / np.sqrt(1500)
    assert abs(np.corrcoef(first, gap(Swap(columns=["place"], window=0.051), frame))[0, 1]) < 4 / np.sqrt(1500)


def test_a_corrected_value_changes_partners_all_over():
    """Else two releases would differ at two records alone, and give the correction and its neighbour away."""
    other = pl.when(pl.col("town") == "A").then(pl.lit("B")).otherwise(pl.lit("A"))
    corrected = FRAME.with_columns(town=pl.when(pl.col("id") == 7).then(other).otherwise("town"))
    assert (corrected["town"] != FRAME["town"]).sum() == 1
    for step in (Swap(columns=["town"], random=True), Swap(columns=["town", "age"], random=True, together=True)):
        one, two = released(step), released(step, corrected)
        assert (one["town"] != two["town"]).sum() > 50


def test_all_missing_and_empty():
    nothing = FRAME.with_columns(bmi=pl.lit(None, pl.Float64))
    done = ran(Swap(columns=["bmi"], window=0.1), nothing)
    assert done.after.frame.equals(nothing)
    assert done.steps[0].notes == ("bmi has no value at all: nothing was exchanged.",)
    assert released(Swap(columns=["town"], random=True), FRAME.clear()).is_empty()


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "one of `group`, `window` and `random: true`"),
        ({"window": 0.1, "random": True}, "one of `group`, `window` and `random: true`"),
        ({"group": 5, "random": True}, "one of `group`, `window` and `random: true`"),
        ({"group": 2}, "greater than or equal to 3"),
        ({"group": 5, "together": True}, "lists sets of columns"),
        ({"group": 5, "together": [["bmi", "age"]]}, "names age"),
        ({"random": True, "together": [["bmi", "age"]]}, "true or false without `group`"),
        ({"window": 10}, "share of the ranks, above 0 and below 1"),
        ({"window": 1}, "above 0 and below 1"),
        ({"window": 0}, "above 0 and below 1"),
        ({"window": -0.1}, "above 0 and below 1"),
        ({"window": float("nan")}, "finite"),
        ({"window": 0.1, "by": ["bmi"]}, "only once"),
    ],
)
def test_parameters_that_make_no_sense(wrong, says):
    with pytest.raises(ValidationError, match=says):
        Swap(columns=["bmi"], **wrong)


def test_what_swapping_needs():
    assert "random: true" in Swap(columns=["town"], window=0.1).check(BOOK)[0]
    assert Swap(columns=["bmi", "town"], window=0.1, together=True).check(BOOK) == []
    assert "role identifier" in Swap(columns=["name"], random=True).check(BOOK)[0]
    assert "role: record" in Swap(columns=["bmi"], window=0.1).check(BOOK.without("id"))[0]
    assert "continuous" in Swap(columns=["age"], window=0.1, by=["bmi"]).check(BOOK)[0]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (Swap(columns=["bmi"], window=0.0001), "wider window"),
        (Swap(columns=["bmi"], random=True, by=["town"]), "some combinations of town"),
    ],
)
def test_who_has_nobody_to_hide_among_is_not_passed_in_silence(step, says):
    alone = FRAME.with_columns(
        town=pl.when(pl.col("id") < 2).then(pl.lit("zqtown")).otherwise("town"), bmi=pl.lit(20.0)
    )
    with pytest.raises(DataError, match=says) as told:
        ran(step, alone)
    assert "zqtown" not in str(told.value)


def test_types_that_the_kind_did_not_show():
    text = FRAME.with_columns(bmi=pl.col("bmi").cast(pl.String))
    with pytest.raises(DataError, match="needs numbers or dates"):
        ran(Swap(columns=["bmi"], window=0.1), text)
    lists = FRAME.with_columns(town=pl.concat_list("bmi"))
    with pytest.raises(DataError, match="cannot be exchanged"):
        ran(Swap(columns=["town"], random=True), lists)


STEP = 0.002  # sd of bmi to one digit, 4, over 1,000; the largest of 1, 2, 5 times ten that is not above it


@pytest.mark.parametrize("share", [0.01, 0.1])
def test_numbers_are_drawn_anew_within_so_many_ranks(share):
    """Between the values a share of ranks below and above that which would have been exchanged; codes stay."""
    plain, anew = (released(Swap(columns=["bmi"], window=0.05, perturb=p)) for p in (None, share))
    here = (FRAME["bmi"] != -9).to_numpy()
    assert (anew["bmi"].to_numpy()[~here] == -9).all()
    x, z = plain["bmi"].to_numpy()[here], anew["bmi"].to_numpy()[here]
    ordered, most = np.sort(x), share * len(x)
    gap = np.searchsorted(ordered, z) - ranks(x)
    below, above = (np.searchsorted(ordered, z + half) - ranks(x) for half in (-STEP / 2, STEP / 2))
    assert ((below <= most + 1) & (above >= -most - 1)).all()  # but for the rounding
    inner = (ranks(x) > most) & (ranks(x) < len(x) - most)
    # even over 2 · share · n ranks, where values lie evenly: sd 2/√12 of it; skewness takes little at 0.1
    assert gap[inner].std() == pytest.approx(2 * most / np.sqrt(12), rel=0.1)
    assert not set(z) & set(x) or share == 0.01


def test_whole_numbers_and_dates_stay_what_they_are_and_categories_as_they_were():
    step = Swap(columns=["age", "born", "town"], random=True, perturb=0.02)
    out = released(step)
    assert out.schema == FRAME.schema
    assert out["born"].min() >= FRAME["born"].min()
    assert out["born"].sort().to_list() != FRAME["born"].sort().to_list()
    assert out["town"].value_counts().sort("town").equals(FRAME["town"].value_counts().sort("town"))
    coded = FRAME.with_columns(town=pl.col("id") % 7)
    codes = released(Swap(columns=["town", "age"], random=True, perturb=0.2), coded)["town"]
    assert codes.sort().equals(coded["town"].sort())


def test_who_exchanges_with_whom_repeats_what_is_drawn():
    """Values drawn anew belong to their owners: another window shows the same ones, at other records."""
    one, two = (released(Swap(columns=["bmi"], window=w, perturb=0.05))["bmi"] for w in (0.05, 0.2))
    assert one.sort().equals(two.sort())
    assert not one.equals(two)
    other = released(Swap(columns=["bmi"], window=0.05, perturb=0.06))["bmi"]
    assert not other.sort().equals(one.sort())


def test_analysts_are_told_what_is_drawn_anew():
    told = ran(Swap(columns=["age"], window=0.05, perturb=0.02)).disclosure
    assert "drawn anew, evenly between the values 0.02 of all ranks below and above" in told.sentences()[0]
    assert "exactly" in told.parts[0].left(number=False)
    assert "0.02" in told.parts[0].left(number=True)
    assert "leave it out" in Swap(columns=["town"], random=True, perturb=0.1).check(BOOK)[0]
    for wrong in (0, 1, -0.1, True):
        with pytest.raises(ValidationError):
            Swap(columns=["age"], random=True, perturb=wrong)


def test_numbers_drawn_anew_lie_on_a_grid_that_is_told():
    done = ran(Swap(columns=["bmi", "age", "born"], window=0.05, perturb=0.02))
    (part,) = done.disclosure
    assert part.rounded == {"bmi": STEP, "age": 1.0}
    assert "bmi to multiples of 0.002, age to multiples of 1" in part.sentence()
    book = done.after.codebook
    assert (book["bmi"].multiple, book["age"].multiple, book["age"].kind) == (STEP, 1, "integer")
    moved = done.after.frame["bmi"].to_list()
    assert on_grid(moved, STEP)
    assert not on_grid(FRAME["bmi"].to_list(), STEP)
    (still,) = ran(Swap(columns=["bmi"], window=0.05)).disclosure
    assert (still.rounded, "multiples" in still.sentence()) == ({}, False)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_drawn_anew_are_whole_seconds(unit):
    rng = np.random.default_rng(0)
    times = pl.Series("born", rng.integers(0, 10**15, FRAME.height)).cast(pl.Datetime("ns")).dt.cast_time_unit(unit)
    out = released(Swap(columns=["born"], random=True, perturb=0.02), FRAME.with_columns(times))["born"]
    assert out.dtype == pl.Datetime(unit)
    assert out.equals(out.dt.truncate("1s"))
    assert not times.equals(times.dt.truncate("1s"))
