"""Values drawn within groups: whose row it is, what belongs together, what survives, what a leaver tells."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.masking.survivors import combined, survivors
from sfumato.methods.swap.coding import coded, coordinates
from sfumato.methods.swap.method import Swap
from sfumato.release.run import run_steps
from tests.methods.tables import on_grid

CATEGORY, NUMBER = Variable(kind="categorical"), Variable(kind="continuous")
BOOK = Codebook(
    {
        "id": Variable(role="record"),
        "treated": CATEGORY,
        "waiting": NUMBER,
        "weight": Variable(kind="integer"),
        "low": CATEGORY,
        "town": CATEGORY,
        "score": NUMBER,
        "design": Variable(role="weight", kind="continuous"),
    }
)
COLUMNS = tuple(n for n in BOOK if n != "id")
SETS = (("treated", "waiting"), ("low", "weight"))


def people(n=600, seed=4):
    """Births: who waited was treated, who is low weighs less than 2500."""
    rng = np.random.default_rng(seed)
    treated = rng.choice(["no", "yes"], n, p=[0.4, 0.6])
    waiting = np.where(treated == "yes", np.round(rng.exponential(30, n), 1), np.nan)
    weight = rng.integers(1800, 4200, n)
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "treated": treated,
            "waiting": pl.Series(waiting, nan_to_null=True),
            "weight": weight,
            "low": (weight < 2500).astype(int),
            "town": rng.choice([f"t{i}" for i in range(12)], n),
            "score": np.round(rng.normal(size=n) + (treated == "yes"), 2),
            "design": np.round(rng.uniform(1, 3, n), 3),
        }
    )


FRAME = people()
STEP = Swap(columns=COLUMNS, group=5, perturb=0.02, together=SETS)


def ran(step=STEP, frame=FRAME, secret=bytes(16), book=BOOK):
    assert step.check(book) == []
    known = Codebook({n: book[n] for n in frame.columns if n in book})
    return run_steps([step], PolarsDataset(frame, known), Draws(secret))


def released(*args, **how):
    return ran(*args, **how).after.frame


def test_what_belongs_together_is_never_gainsaid():
    out = released()
    assert (out["waiting"].is_null() == (out["treated"] == "no")).all()
    assert ((out["weight"] < 2500) == (out["low"] == 1)).all(), "numbers stay on their side of the cut"
    apart = released(Swap(columns=COLUMNS, group=5, perturb=0.02))
    assert not (apart["waiting"].is_null() == (apart["treated"] == "no")).all()


def test_numbers_are_drawn_anew_and_weights_are_not():
    out = released()
    assert set(out["design"]) <= set(FRAME["design"])
    assert len(set(out["score"]) - set(FRAME["score"])) > 10
    assert on_grid(out["score"].to_list(), 0.01)
    assert out["weight"].dtype == FRAME["weight"].dtype
    assert out["score"].min() >= FRAME["score"].min()
    assert out["score"].max() <= FRAME["score"].max()


def test_rows_and_other_columns_stay():
    out = released(frame=FRAME.with_columns(other=pl.int_range(pl.len())))
    assert out["id"].equals(FRAME["id"])
    assert out["other"].to_list() == list(range(FRAME.height))


def test_no_order_of_rows_and_no_name_of_the_record_is_needed():
    mixed = FRAME.sample(fraction=1, shuffle=True, seed=9)
    assert released(frame=mixed).sort("id").equals(released().sort("id"), null_equal=True)
    nameless = released(frame=FRAME.drop("id")).sort(COLUMNS)
    assert released(frame=mixed.drop("id")).sort(COLUMNS).equals(nameless, null_equal=True)
    twice = pl.concat([FRAME.drop("id"), FRAME.drop("id").head(50)])
    again = twice.sample(fraction=1, shuffle=True, seed=2)
    assert released(frame=again).sort(COLUMNS).equals(released(frame=twice).sort(COLUMNS), null_equal=True)


def test_an_equal_file_repeats_its_draws_and_another_secret_does_not():
    assert released().equals(released(), null_equal=True)
    assert not released(secret=bytes([1] * 16)).equals(released(), null_equal=True)


def test_strata_are_kept_apart():
    out = released(Swap(columns=["score", "weight"], group=5, by=["treated"], perturb=0.05))
    for value in ("yes", "no"):
        mine = FRAME.filter(pl.col("treated") == value)["score"]
        assert out.filter(pl.col("treated") == value)["score"].is_between(mine.min(), mine.max()).all()


def votes_by_rarity(true, out, known):
    """Share of people whom somebody finds who weighs each agreement by minus the logarithm of the value's share."""
    score = np.zeros((true.height, out.height))
    for n in known:
        a, b = (side[n].cast(pl.String).fill_null("?").to_numpy() for side in (true, out))
        if true[n].dtype.is_float() or n == "weight":
            edges = np.nanquantile(
                true[n].cast(pl.Float64).fill_null(float("nan")).to_numpy(), np.linspace(0, 1, 11)[1:-1]
            )
            a, b = (
                np.digitize(side[n].cast(pl.Float64).fill_null(float("nan")).to_numpy(), edges) for side in (true, out)
            )
        values, times = np.unique(a, return_counts=True)
        rarity = dict(zip(values.tolist(), -np.log(times / len(a)), strict=True))
        score += (a[:, None] == b[None, :]) * np.array([rarity[v] for v in a.tolist()])[:, None]
    best = np.isclose(score, score.max(axis=1, keepdims=True))
    return float((np.diag(best) / best.sum(axis=1)).mean())


@pytest.mark.parametrize("known", [COLUMNS, ("town", "low", "treated"), ("score", "weight", "waiting")])
@pytest.mark.parametrize("group", [5, 12])
def test_nobody_finds_more_than_one_in_a_group(known, group):
    """The rows of a group have one law, so that weighing agreements by rarity (Fellegi and Sunter) helps nobody."""
    out = released(Swap(columns=COLUMNS, group=group, perturb=0.02, together=SETS))
    found = votes_by_rarity(FRAME, out, known)
    assert found <= 1 / group + 3 * np.sqrt(1 / group * (1 - 1 / group) / FRAME.height)


def words(frame, columns):
    both = pl.concat([FRAME.select(columns), frame.select(columns)])
    codes = np.column_stack([both[n].rank("dense").fill_null(0).to_numpy() for n in columns]).astype(np.int64)
    word = combined(codes)
    return word[: FRAME.height], word[FRAME.height :]


def test_unique_combinations_do_not_survive():
    categories = ["treated", "low", "town"]
    for columns in (categories, list(COLUMNS)):
        assert len(survivors(*words(released(), columns))) <= 0.01 * FRAME.height
    unmoved = Swap(columns=COLUMNS, group=5)
    assert len(survivors(*words(released(unmoved), list(COLUMNS)))) <= 0.01 * FRAME.height


def leaver_is_told(step, who):
    """Whether the differences of two releases' counts, without a person and with, tell his category."""
    rest = FRAME.filter(pl.col("id") != who)
    one, two = (released(step, frame)["town"].value_counts() for frame in (FRAME, rest))
    both = one.join(two, on="town", how="left").select("town", pl.col("count") - pl.col("count_right").fill_null(0))
    most = both.sort("count", descending=True)["town"][0]
    return most == FRAME.filter(pl.col("id") == who)["town"][0]


def test_two_releases_do_not_subtract_to_the_leaver():
    """Permuting keeps counts, so that their difference is his value, always; donors drawn with replacement do not."""
    people = FRAME["id"][:20].to_list()
    permuted = Swap(columns=["town"], random=True)
    assert all(leaver_is_told(permuted, who) for who in people)
    assert sum(leaver_is_told(STEP, who) for who in people) <= 15


def test_what_is_told_of_it():
    done = ran()
    (told,) = done.disclosure
    assert (told.group, told.perturb, told.sets[:2]) == (5, 0.02, (("treated", "waiting"), ("weight", "low")))
    assert told.moved * 20 == round(told.moved * 20)
    assert 0 <= told.relations_shift < 0.1
    assert "at least 5 similar ones" in told.sentence()
    assert "correlations moved by" in told.sentence()
    assert not [n for n in done.after.frame.columns if n.startswith("sfumato:")]


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (Swap(columns=COLUMNS, group=250), "fewer than 3 groups"),
        (Swap(columns=["score"], group=40, by=["town"]), "some combinations of town have fewer than 40"),
    ],
)
def test_too_few_records_are_refused_without_a_value(step, says):
    rare = FRAME.with_columns(town=pl.when(pl.col("id") < 3).then(pl.lit("zqtown")).otherwise("town"))
    with pytest.raises(DataError, match=says) as told:
        ran(step, rare)
    assert "zqtown" not in str(told.value)


def test_gaps_move_with_what_tells_them_and_an_empty_table_stays_empty():
    assert released(frame=FRAME.clear()).is_empty()
    out = released(Swap(columns=["waiting", "treated"], group=5))
    assert abs(out["waiting"].null_count() - FRAME["waiting"].null_count()) < 0.1 * FRAME.height


def test_coordinates_put_alike_records_near():
    frame = pl.DataFrame({"a": [1.0, 1.0, 900.0, None], "c": ["x", "x", "y", None]})
    book = Codebook({"a": NUMBER, "c": CATEGORY})
    z = coordinates(coded(frame, ["a", "c"], book), book)
    apart = np.linalg.norm(z[0] - z, axis=1)
    assert apart[1] == 0
    assert apart[2] > 1
    assert apart[3] > 1
    assert np.abs(z).max() <= 4, "numbers are cut at four standard deviations"
