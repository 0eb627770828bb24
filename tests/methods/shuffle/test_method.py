import datetime

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError
from scipy.stats import spearmanr

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.shuffle.method import Shuffle
from sfumato.release.run import run_steps

LAWFUL = [
    Shuffle(columns=["x", "y"], given=["n"]),
    Shuffle(columns=["n"], given=["x", "h"], by=["g"]),
    Shuffle(columns=["x", "n", "y"]),
    Shuffle(columns=["y"], given=["g", "n"]),
]

NUMBER = Variable(kind="continuous", missing=[-9])
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "pay": NUMBER,
        "rooms": Variable(kind="integer"),
        "age": Variable(kind="integer"),
        "sex": Variable(kind="categorical"),
        "school": Variable(kind="ordinal", order=("none", "some", "much")),
        "born": Variable(kind="date"),
        "name": Variable(role="identifier", kind="text"),
    }
)
COLUMNS = ["pay", "rooms"]
ALL = ["pay", "rooms", "age", "school"]


def survey(n=20_000, seed=1):
    """Pay and rooms depend on age, school and sex and on each other; the link of pay with age differs by sex."""
    rng = np.random.default_rng(seed)
    woman, age, school = rng.random(n) < 0.5, rng.normal(size=n), rng.normal(size=n)
    pay = 0.5 * school + np.where(woman, 0.1, 0.6) * age + 0.6 * rng.normal(size=n) - 0.3 * woman
    rooms = 0.4 * pay + 0.3 * age + rng.normal(size=n)
    pay = np.exp(pay).round(4)
    pay[rng.random(n) < 0.05] = -9
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "pay": pay,
            "rooms": np.clip(np.round(2 * rooms + 4), 1, 12).astype(int),
            "age": np.round(45 + 12 * age).astype(int),
            "sex": np.where(woman, "f", "m"),
            "school": np.array(["none", "some", "much"])[np.digitize(school, [-0.6, 0.9])],
            "born": [
                datetime.date(1950, 1, 1) + datetime.timedelta(days=int(2000 * a)) for a in age + rng.normal(size=n) / 4
            ],
            "name": [f"n{i}" for i in range(n)],
        }
    )


FRAME = survey()


def ran(step, frame=FRAME, secret=bytes(16), book=BOOK):
    assert step.check(book) == []
    return run_steps([step], PolarsDataset(frame, book), Draws(secret))


def released(step, frame=FRAME, secret=bytes(16)):
    return ran(step, frame, secret).after.frame


def ranks(frame):
    """Rank correlations of all numbers where pay is known; schools by their order."""
    known = frame.filter(pl.col("pay") != -9)
    school = known["school"].replace_strict({"none": 0, "some": 1, "much": 2}, return_dtype=pl.Int64)
    return spearmanr(known.with_columns(school=school).select(ALL).to_numpy()).statistic


def test_every_column_keeps_its_values_and_nothing_else_changes():
    after = released(Shuffle(columns=COLUMNS, given=["age", "school"]))
    for n in COLUMNS:
        assert after[n].sort().equals(FRAME[n].sort())
    assert (after["pay"] == -9).equals(FRAME["pay"] == -9)
    assert after.drop(COLUMNS).equals(FRAME.drop(COLUMNS))
    assert (after["pay"] == FRAME["pay"]).mean() < 0.06


def test_values_stay_within_their_combination():
    after = released(Shuffle(columns=COLUMNS, given=["age"], by=["sex", "school"]))
    for _, rows in FRAME.with_row_index("row").group_by("sex", "school"):
        where = pl.Series(rows["row"])
        for n in COLUMNS:
            assert after[n].gather(where).sort().equals(rows[n].sort())


@pytest.mark.parametrize("given", [["age", "school"], ["age", "school", "sex"]])
def test_rank_correlations_are_kept(given):
    """Of all with all, tied or not; 5 standard errors of a rank correlation of 19,000, and the ties' own error."""
    after = released(Shuffle(columns=COLUMNS, given=given))
    np.testing.assert_allclose(ranks(after), ranks(FRAME), atol=0.035)


def test_relations_within_combinations_are_kept_by_each():
    by_sex = released(Shuffle(columns=COLUMNS, given=["age", "school"], by=["sex"]))
    over_all = released(Shuffle(columns=COLUMNS, given=["age", "school"]))
    for sex in ("f", "m"):
        true, kept, mixed = (ranks(f.filter(pl.col("sex") == sex))[0, 2] for f in (FRAME, by_sex, over_all))
        assert kept == pytest.approx(true, abs=0.035)
        assert abs(mixed - true) > 0.1  # one slope for both


def test_categories_that_are_given_keep_their_differences():
    def gap(frame):
        known = frame.filter(pl.col("pay") != -9).with_columns(rank=pl.col("pay").rank() / 19_000)
        means = known.group_by("sex").agg(pl.col("rank").mean()).sort("sex")["rank"]
        return means[1] - means[0]

    assert gap(released(Shuffle(columns=["pay"], given=["sex"]))) == pytest.approx(gap(FRAME), abs=0.02)
    assert abs(gap(released(Shuffle(columns=["pay"])))) < 0.02


def test_a_record_gets_no_value_that_its_own_tells_beyond_what_is_given():
    """Partial rank correlation of released with true pay given age and school: 0 but for chance, over 5 secrets."""
    known = (FRAME["pay"] != -9).to_numpy()
    step = Shuffle(columns=["pay"], given=["age"])
    age = FRAME["age"].rank().to_numpy()[known]

    def rest(pay):
        rank = pay.rank().to_numpy()[known]
        return rank - np.polyval(np.polyfit(age, rank, 1), age)

    own = rest(FRAME["pay"])
    others = [rest(released(step, secret=bytes([s] * 16))["pay"]) for s in range(5)]
    assert max(abs(np.corrcoef(own, other)[0, 1]) for other in others) < 4.5 / np.sqrt(known.sum()) + 0.01


def test_many_releases_tell_no_more_than_what_is_given():
    """The mean rank over 20 secrets is the prediction from age: as far from the truth as that."""
    small = FRAME.head(1000)
    mean = np.mean(
        [
            released(Shuffle(columns=["rooms"], given=["age"]), small, bytes([s] * 16))["rooms"].rank()
            for s in range(20)
        ],
        axis=0,
    )
    true, age = small["rooms"].rank().to_numpy(), small["age"].rank().to_numpy()
    by_age = np.corrcoef(true, age)[0, 1]
    assert np.corrcoef(true, mean)[0, 1] < by_age + 0.05


@pytest.mark.slow
def test_nearest_records_are_found_by_chance_alone():
    numbers = {n: Variable(role="key", kind="continuous", missing=[-9]) for n in ("pay", "age")}
    plan = sf.Plan(
        variables={**BOOK, **numbers},
        steps=[{"do": "drop", "columns": ["name", "born"]}, Shuffle(columns=["pay"], given=["age"])],
        limits=[{"measure": "linkage_nearest", "at_most": 0.02}],
    )
    release = sf.protect(plan, FRAME.head(2000).filter(pl.col("pay") != -9), secret=bytes(16))
    line = release.report.findings.of("linkage_nearest", group="overall")
    assert line.baseline > 0.9
    assert line.value < 0.02


def test_order_of_rows_means_nothing():
    step = Shuffle(columns=[*COLUMNS, "born"], given=["age", "sex"], by=["school"])
    shuffled = FRAME.sample(fraction=1, shuffle=True, seed=4)
    assert released(step, shuffled).sort("id").equals(released(step).sort("id"))


def test_dates_and_ordered_words_are_shuffled():
    after = released(Shuffle(columns=["born", "school"], given=["age"]))
    assert after["born"].sort().equals(FRAME["born"].sort())
    assert after["school"].value_counts(sort=True).equals(FRAME["school"].value_counts(sort=True))
    place = {"none": 0, "some": 1, "much": 2}

    def link(frame):
        return spearmanr(frame["born"].to_physical(), frame["age"]).statistic

    assert link(after) > 0.9  # what was computed from age follows it
    assert abs(spearmanr(after["school"].replace_strict(place), after["age"]).statistic) < 0.03


def test_a_release_without_somebody_tells_their_value_and_says_so():
    """All values stay: the one that the second release lacks is theirs."""
    step = Shuffle(columns=["pay"], given=["age"])
    less = FRAME.filter(pl.col("id") != 7)
    (value,) = FRAME.filter(pl.col("id") == 7)["pay"]
    gone = released(step)["pay"].value_counts().join(released(step, less)["pay"].value_counts(), on="pay", how="left")
    assert gone.filter(pl.col("count") != pl.col("count_right").fill_null(0))["pay"].to_list() == [value]
    (part,) = ran(step).disclosure
    assert "without somebody tells their value exactly" in part.left(True)


def test_what_is_told():
    (part,) = ran(Shuffle(columns=COLUMNS, given=["age"], by=["sex"])).disclosure
    assert part.sentence() == (
        "pay, rooms: values were shuffled between records of the same sex, so that all values stay; rank correlations "
        "among the columns and with age are kept, others only as far as they follow from these."
    )
    (part,) = ran(Shuffle(columns=["pay"])).disclosure
    assert part.sentence().endswith("whose they are was drawn at random, and relations with other columns are gone.")


def test_a_fit_says_that_shuffling_was_not_taken_out():
    release = ran(Shuffle(columns=["pay"], given=["age"]))
    fit = sf.fit("pay ~ age", release.after.frame, disclosure=release.disclosure, family="linear")
    assert any("values were shuffled" in note and "not taken out" in note for note in fit.notes)


def test_too_few_for_what_is_given_is_refused():
    step = Shuffle(columns=["pay"], given=["age", "rooms"], by=["sex"])
    few = FRAME.filter(pl.col("pay") != -9).group_by("sex", maintain_order=True).head(29)
    with pytest.raises(DataError, match="in some combinations of sex fewer than 10 values of 'pay' for each column"):
        ran(step, few)
    enough = FRAME.filter(pl.col("pay") != -9).group_by("sex", maintain_order=True).head(30)
    assert released(step, enough).height == 60


def test_a_column_that_follows_from_what_is_given_is_refused():
    twice = FRAME.with_columns(rooms=pl.col("age") * 2)
    with pytest.raises(DataError, match="age tell more than 99% of the variance of 'rooms'"):
        ran(Shuffle(columns=["rooms"], given=["age"]), twice)
    cut = FRAME.with_columns(rooms=(pl.col("pay") > 1).cast(pl.Int64) + (pl.col("pay") > 2))
    with pytest.raises(DataError, match="pay tell more than 99%"):
        ran(Shuffle(columns=["rooms"], given=["pay"]), cut.filter(pl.col("pay") != -9))


def test_words_that_the_order_does_not_name_are_refused():
    frame = FRAME.with_columns(school=pl.lit("other"))
    with pytest.raises(DataError, match="'school' holds categories that its `order` does not name") as told:
        ran(Shuffle(columns=["school"]), frame)
    assert "other" not in str(told.value)


def test_a_table_without_records_stays():
    assert released(Shuffle(columns=COLUMNS, given=["age", "sex"]), FRAME.head(0)).equals(FRAME.head(0))


def test_columns_without_values_stay():
    frame = FRAME.with_columns(pay=pl.lit(None, pl.Float64), rooms=pl.lit(3))
    after = released(Shuffle(columns=COLUMNS, given=["age"]), frame)
    assert after.equals(frame)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"columns": []}, "at least 1"),
        ({"columns": ["pay", "pay"]}, "only once"),
        ({"columns": ["pay"], "given": ["pay"]}, "only once"),
        ({"columns": ["pay"], "given": ["sex"], "by": ["sex"]}, "only once"),
        ({"columns": ["pay"], "window": 0.1}, "Extra inputs"),
    ],
)
def test_parameters_that_make_no_sense(wrong, told):
    with pytest.raises(ValidationError, match=told):
        Shuffle(**wrong)


def test_columns_that_will_not_do_are_told_before_any_data_are_touched():
    assert "no column 'nothing'" in Shuffle(columns=["nothing"]).check(BOOK)[0]
    assert "no column 'nothing'" in Shuffle(columns=["pay"], given=["nothing"]).check(BOOK)[0]
    assert "no ranks" in Shuffle(columns=["sex"]).check(BOOK)[0]
    assert "must not change" in Shuffle(columns=["id"]).check(BOOK)[0]
    assert "role identifier" in Shuffle(columns=["pay"], given=["name"]).check(BOOK)[0]
    assert "continuous" in Shuffle(columns=["rooms"], by=["pay"]).check(BOOK)[0]
    assert "record's id" in Shuffle(columns=["pay"]).check(BOOK.without("id"))[0]
