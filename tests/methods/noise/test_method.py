import itertools
import json

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Disclosure
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.methods.noise.method import Noise
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import on_grid

LAWFUL = [
    Noise(columns=["x", "y"], share=0.1),
    Noise(columns=["n"], sd=1, round_to=1),
    Noise(columns=["x"], share=0.2, by=["g"], distribution="laplace", grow=1.5, round_to="input"),
    Noise(columns=["x", "y", "n"], share={"x": 0.1, "y": 0.2, "n": 0.3}, correlated=True, missing="median"),
    Noise(columns=["x", "y"], covariance=[[2, 1], [1, 3]], clip={"x": [0, None]}),
    Noise(columns=["h"], variance=0.2, dummies={"h": ["u", "v", "w"]}, clip=True),
]
N = 40_000
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "house": Variable(role="household", kind="integer"),
        "bmi": Variable(kind="continuous", missing=[-9]),
        "height": Variable(kind="continuous"),
        "smoke": Variable(kind="categorical", labels={0: "no", 1: "yes"}),
        "degree": Variable(kind="ordinal"),
        "region": Variable(kind="categorical"),
    }
)


def cohort(n=N, seed=3):
    rng = np.random.default_rng(seed)
    bmi = rng.normal(25, 4, n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "house": np.arange(n) // 3,
            "bmi": bmi,
            "height": 170 + 9 * (0.6 * (bmi - 25) / 4 + 0.8 * rng.normal(size=n)),
            "smoke": rng.integers(0, 2, n),
            "degree": rng.integers(1, 6, n),
            "region": rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2]),
        }
    )


def released(frame=None, secret=bytes(16), book=BOOK, **parameters):
    frame = cohort() if frame is None else frame
    step = Noise(**parameters)
    assert step.check(book) == []
    ran = run_steps([step], PolarsDataset(frame, book), Draws(secret))
    return ran.after.frame, ran.disclosure.parts, ran


def errors(frame, after, columns):
    return np.column_stack([(after[n].cast(pl.Float64) - frame[n]).to_numpy() for n in columns])


# Law 6: what is disclosed is true. Standard errors of the moments of N draws stand beside each tolerance.


@pytest.mark.parametrize("distribution", ["gaussian", "laplace", "uniform"])
@pytest.mark.parametrize(
    "strength", [{"share": 0.1}, {"sd": {"bmi": 2, "height": 3}}, {"variance": {"bmi": 4}, "share": {"height": 0.5}}]
)
def test_the_error_has_the_disclosed_moments(strength, distribution):
    frame = cohort()
    after, (part,), _ = released(frame, columns=["bmi", "height"], distribution=distribution, **strength)
    e = errors(frame, after, ("bmi", "height"))
    kurtosis = {"gaussian": 3, "laplace": 6, "uniform": 1.8}[distribution]
    assert np.all(np.abs(e.mean(axis=0)) < 4 * part.sd / N**0.5)
    np.testing.assert_allclose(e.var(axis=0), part.sd**2, rtol=4 * ((kurtosis - 1) / N) ** 0.5)
    assert abs(np.corrcoef(e.T)[0, 1]) < 4 / N**0.5
    assert np.mean((e / part.sd) ** 4, axis=0) == pytest.approx(kurtosis, rel=0.15)
    assert np.all(np.abs([np.corrcoef(e[:, j], frame[n])[0, 1] for j, n in enumerate(("bmi", "height"))]) < 4 / N**0.5)


def test_a_share_is_of_the_variance_to_three_digits():
    frame = cohort()
    _, (part,), _ = released(frame, columns=["bmi"], share=0.1)
    assert part.covariance[0][0] == float(f"{0.1 * frame['bmi'].var():.3g}")


def test_correlated_noise_has_the_shape_of_the_data_and_keeps_slopes():
    frame = cohort()
    after, (part,), _ = released(frame, columns=["bmi", "height"], share=0.4, correlated=True)
    e = errors(frame, after, ("bmi", "height"))
    r = part.matrix[0, 1] / part.sd.prod()
    assert r == pytest.approx(np.corrcoef(frame["bmi"], frame["height"])[0, 1], abs=0.0006)
    np.testing.assert_allclose(np.cov(e.T), part.matrix, rtol=0.04)

    def slope(t):
        return np.cov(t["bmi"], t["height"])[0, 1] / t["bmi"].var()

    assert slope(after) == pytest.approx(slope(frame), rel=0.02)  # without correlation it would be 1 / 1.4 of it


def test_given_covariance_singular_too():
    frame = cohort()
    after, (part,), _ = released(frame, columns=["bmi", "height"], covariance=[[1, 2], [2, 4]])
    e = errors(frame, after, ("bmi", "height"))
    half = [part.rounded[n] / 2 for n in ("bmi", "height")]  # each value is rounded by at most that
    np.testing.assert_allclose(e[:, 1], 2 * e[:, 0], rtol=0, atol=half[1] + 2 * half[0] + 1e-9)
    assert part.covariance == ((1, 2), (2, 4))


def test_strata_have_strengths_of_their_own():
    frame = cohort().with_columns(bmi=pl.when(pl.col("region") == "A").then(pl.col("bmi") * 3).otherwise("bmi"))
    after, parts, _ = released(frame, columns=["bmi"], share=0.2, by=["region"])
    assert sorted(p.where["region"] for p in parts) == ["A", "B", "C"]
    for part in parts:
        rows = frame["region"] == part.where["region"]
        assert part.covariance[0][0] == float(f"{0.2 * frame.filter(rows)['bmi'].var():.3g}")
        e = (after.filter(rows)["bmi"] - frame.filter(rows)["bmi"]).to_numpy()
        assert e.var() == pytest.approx(part.covariance[0][0], rel=4 * (2 / rows.sum()) ** 0.5)
    with pytest.raises(ValidationError, match="`by` changes nothing without `share`"):
        Noise(columns=["bmi"], sd=1, by=["region"])  # a strength from outside the data needs no strata


def test_zero_one_becomes_continuous_and_is_clipped_only_when_asked():
    frame = cohort()
    after, (part,), ran = released(frame, columns=["smoke"], variance=0.2)
    assert after["smoke"].min() < 0 < 1 < after["smoke"].max()
    assert part.values == {"smoke": (0.0, 1.0)}
    assert not part.clipped
    assert ran.after.codebook["smoke"].kind == "continuous"
    assert ran.after.codebook["smoke"].labels == {}
    clipped, (part,), _ = released(frame, columns=["smoke", "bmi"], variance={"smoke": 0.2, "bmi": 1}, clip=True)
    assert part.bounds == {"smoke": (0, 1)}
    assert part.clipped
    np.testing.assert_array_equal(clipped["smoke"], after["smoke"].clip(0, 1))
    told = (frame["smoke"] == 1) == (after["smoke"] > 0.5)
    assert told.mean() == pytest.approx(0.868, abs=0.007)  # the notes' figure for a threshold; 4 standard errors


def test_the_threshold_figures_of_the_notes():
    frame = cohort()
    for variance, right in ((0.05, 0.987), (0.1, 0.943), (0.2, 0.868), (0.5, 0.760)):
        after, _, _ = released(frame, columns=["smoke"], variance=variance)
        share = ((frame["smoke"] == 1) == (after["smoke"] > 0.5)).mean()
        assert share == pytest.approx(right, abs=4 * (right * (1 - right) / N) ** 0.5 + 0.0005)


def test_codes_disclose_their_support():
    _, (part,), _ = released(columns=["degree"], sd=1)
    assert part.values == {"degree": (1, 2, 3, 4, 5)}


def test_dummies_take_the_place_of_their_column():
    frame = cohort()
    after, (part,), ran = released(frame, columns=["region"], share=0.5, dummies={"region": ["A", "B", "C"]})
    assert after.columns == [*frame.columns[:-1], "region=A", "region=B", "region=C"]
    assert list(ran.after.codebook) == after.columns
    assert part.indicators_of == "region"
    for j, level in enumerate("ABC"):
        e = after[f"region={level}"] - (frame["region"] == level).cast(pl.Float64)
        assert e.var() == pytest.approx(part.sd[j] ** 2, rel=0.03)
        p = (frame["region"] == level).mean()
        assert part.sd[j] ** 2 == pytest.approx(0.5 * p * (1 - p), rel=0.006)
    with pytest.raises(DataError, match="List all"):
        released(frame, columns=["region"], sd=1, dummies={"region": ["A", "B"]})


def test_household_draws_are_shared_and_whole_numbers_stay_whole():
    frame = cohort().with_columns(height=pl.col("height").round(0).cast(pl.Int64))
    after, (part,), _ = released(frame, columns=["height"], sd=2, draw_by="household")
    e = (
        after.select("house", e=after["height"] - frame["height"])
        .group_by("house")
        .agg(pl.col("e").round(9).n_unique())
    )
    assert e["e"].max() == 1
    assert part.draw_by == "household"
    rounded, (part,), _ = released(frame, columns=["height"], sd=2, round_to=1)
    assert rounded["height"].dtype == pl.Int64
    assert part.rounded == {"height": 1}


def test_missing_values_and_codes_stay_or_are_filled_and_masked():
    frame = cohort().with_columns(
        bmi=pl.when(pl.col("id") % 5 == 0).then(-9).when(pl.col("id") % 7 == 0).then(None).otherwise("bmi")
    )
    gone = (frame["bmi"].is_null() | (frame["bmi"] == -9)).fill_null(True)
    after, _, _ = released(frame, columns=["bmi"], share=0.1)
    assert after.filter(gone)["bmi"].equals(frame.filter(gone)["bmi"])
    assert after.filter(~gone)["bmi"].is_in(frame["bmi"].implode()).sum() == 0
    filled, parts, ran = released(frame, columns=["bmi"], share=0.1, missing="mean")
    assert filled["bmi"].null_count() == 0
    assert ran.after.codebook["bmi"].missing == ()
    assert [p.what for p in parts] == ["imputed", "additive"]
    assert filled.filter(gone)["bmi"].std() == pytest.approx(parts[1].sd[0], rel=0.05)


def test_noise_that_falls_on_a_missing_code_is_refused():
    frame = cohort(400).with_columns(degree=pl.col("degree").cast(pl.Int64))
    book = Codebook({**BOOK, "degree": Variable(kind="integer", missing=[{"low": -8, "high": 0}])})
    with pytest.raises(DataError, match=r"clip: \{degree"):
        released(frame, book=book, columns=["degree"], sd=2)
    after, _, _ = released(frame, book=book, columns=["degree"], sd=2, clip={"degree": [1, None]})
    assert after["degree"].min() >= 1


def test_noise_grows_for_outliers_and_says_so():
    frame = cohort()
    after, (part,), _ = released(frame, columns=["bmi"], share=0.1, grow=2)
    growth = part.grows["bmi"]
    distance = np.abs(frame["bmi"].to_numpy() - growth.centre) / growth.scale
    e = errors(frame, after, ("bmi",))[:, 0]
    far, near = distance > 3, distance < 2
    assert e[near].std() == pytest.approx(part.sd[0], rel=0.02)
    expected = part.sd[0] * np.sqrt(np.mean((distance[far] / 2) ** 2))
    assert e[far].std() == pytest.approx(expected, rel=4 / np.sqrt(2 * far.sum()))
    assert growth.centre == pytest.approx(25, abs=0.2)
    assert growth.scale == pytest.approx(4, rel=0.03)


# Keyed draws


def test_an_equal_release_repeats_and_another_strength_or_value_is_independent():
    frame = cohort()
    one, _, _ = released(frame, columns=["bmi", "height"], sd=2)
    again, _, _ = released(frame.reverse(), columns=["height", "bmi"], sd={"bmi": 2, "height": 2})
    assert one.equals(again.sort("id"))
    other, _, _ = released(frame, columns=["bmi"], sd=2.1)
    corrected = frame.with_columns(pl.col("bmi") + 0.001)
    moved, _, _ = released(corrected, columns=["bmi"], sd=2)
    e = errors(frame, one, ("bmi", "height"))
    for e2 in (errors(frame, other, ("bmi",)), errors(corrected, moved, ("bmi",))):
        assert abs(np.corrcoef(e[:, 0], e2[:, 0])[0, 1]) < 4 / N**0.5
    assert abs(np.corrcoef(e.T)[0, 1]) < 4 / N**0.5, "columns draw independently"


def test_two_releases_do_not_give_a_value_and_many_do_not_average():
    """Subtracting strengths s1 < s2 with a shared draw would give y exactly; equal releases add no information."""
    frame = cohort(2_000)
    (one, _, _), (two, _, _) = released(frame, columns=["bmi"], sd=1), released(frame, columns=["bmi"], sd=2)
    guess = 2 * one["bmi"] - two["bmi"]  # y, if the draws were shared
    assert (guess - frame["bmi"]).std() > 2
    same = [released(frame, columns=["bmi"], sd=1)[0]["bmi"] for _ in range(5)]
    mean = sum(same[1:], same[0]) / 5
    assert (mean - frame["bmi"]).std() == pytest.approx((one["bmi"] - frame["bmi"]).std())


def test_a_corrected_value_in_correlated_noise_does_not_give_itself_away():
    """All columns' noise is drawn anew, so that no difference of two releases is the correction."""
    frame = cohort(2_000)
    corrected = frame.with_columns(pl.col("bmi") + 1)
    kinds = {"columns": ["bmi", "height"], "covariance": [[2, 1], [1, 3]]}
    (one, _, _), (two, _, _) = released(frame, **kinds), released(corrected, **kinds)
    assert (two["height"] - one["height"]).std() > 1
    assert (two["bmi"] - one["bmi"] - 1).std() > 1


def test_another_secret_changes_draws_only():
    frame = cohort()
    one, said, _ = released(frame, columns=["bmi"], share=0.1)
    two, said_too, _ = released(frame, secret=b"x" * 16, columns=["bmi"], share=0.1)
    assert said == said_too
    e, e2 = errors(frame, one, ("bmi",)), errors(frame, two, ("bmi",))
    assert abs(np.corrcoef(e[:, 0], e2[:, 0])[0, 1]) < 4 / N**0.5


# The disclosure


@pytest.mark.parametrize("step", LAWFUL)
def test_the_disclosure_reads_back_and_holds_no_draw(step):
    from tests.methods.tables import PEOPLE_BOOK, people

    ran = run_steps([step], PolarsDataset(people(), PEOPLE_BOOK), Draws(b"the secret of this test"))
    text = json.dumps(ran.disclosure.to_plain())
    assert Disclosure.from_plain(json.loads(text)) == ran.disclosure
    assert "secret" not in text
    assert all(isinstance(p, Additive) or p.what == "imputed" for p in ran.disclosure)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": -0.1}, "above 0"),
        ({"variance": {"bmi": -1}}, "above 0"),
        ({"sd": 0}, "above 0"),
        ({}, "no strength"),
        ({"share": 0.1, "sd": 1}, "both give"),
        ({"share": {"bmi": 0.1}, "sd": {"bmi": 1}}, "more than one strength"),
        ({"sd": {"other": 1, "bmi": 1}}, "not among columns"),
        ({"columns": ["bmi", "height"], "covariance": [[1, 2], [2, 1]]}, "positive semi-definite"),
        ({"columns": ["bmi", "height"], "covariance": [[1, 0.5], [0.4, 1]]}, "symmetric"),
        ({"columns": ["bmi", "height"], "covariance": [[1]]}, "one row and one column"),
        ({"columns": ["bmi", "height"], "covariance": [[-1, 0], [0, 1]]}, "negative"),
        ({"columns": ["bmi", "height"], "covariance": [[1, 0], [0, 1]], "sd": 1}, "stands alone"),
        ({"correlated": True, "share": 0.1}, "two columns"),
        ({"columns": ["bmi", "height"], "correlated": True, "share": 0.1, "distribution": "laplace"}, "gaussian"),
        ({"share": 0.1, "clip": {"bmi": [3, 1]}}, "low not above high"),
        ({"share": 0.1, "clip": {"x": [0, 1]}}, "not among columns"),
        ({"share": 0.1, "round_to": 0}, "positive"),
        ({"share": 0.1, "round_to": None}, r"last digit.*write auto \["),
        ({"sd": 2, "round_to": None}, r"write auto \(a step of 0\.1 here\)"),
        ({"variance": 4, "round_to": {"bmi": None}}, r"write auto \(a step of 0\.1 here\)"),
        ({"sd": 2, "round_to": 0.00019}, r"1/10,000 .* write 0\.1 or auto"),
        ({"columns": ["bmi", "x"], "covariance": [[4, 0], [0, 1]], "round_to": {"x": 1e-5}}, r"'x'.*write 0\.05"),
        ({"share": 0.1, "by": ["bmi"]}, "only once"),
        ({"sd": 1, "dummies": {"bmi": ["a"]}}, "at least two"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        Noise(**{"columns": ["bmi"], **parameters})


@pytest.mark.parametrize(("kind", "message"), [("text", "pram"), ("date", "derive"), ("geographic", "pram")])
def test_text_dates_and_places_are_told_which_step_would_do(kind, message):
    book = Codebook({**BOOK, "bmi": Variable(kind=kind)})
    (problem,) = Noise(columns=["bmi"], sd=1).check(book)
    assert message in problem


def test_steps_that_draw_need_a_record_id_or_a_household():
    (problem,) = Noise(columns=["bmi"], sd=1).check(BOOK.without("id"))
    assert "role: record" in problem
    (problem,) = Noise(columns=["bmi"], sd=1, draw_by="household").check(BOOK.without("house"))
    assert "role: household" in problem
    assert Noise(columns=["id"], sd=1).check(BOOK) != []


def test_text_categories_are_refused_when_the_data_are_seen():
    with pytest.raises(DataError, match="dummies"):
        released(columns=["region"], sd=1)


@pytest.mark.parametrize("frame", [cohort(1), cohort(50).with_columns(bmi=pl.lit(3.0))])
def test_a_share_of_nothing_is_refused_and_an_sd_is_not(frame):
    with pytest.raises(DataError, match="does not vary"):
        released(frame, columns=["bmi"], share=0.1)
    after, _, _ = released(frame, columns=["bmi"], sd=1)
    assert (after["bmi"] != frame["bmi"]).all()


def test_small_strata_are_refused_for_what_they_would_tell():
    with pytest.raises(DataError, match="min_stratum"):
        released(cohort(24), columns=["bmi"], share=0.1, by=["region"])
    released(cohort(24), columns=["bmi"], sd=1)


def test_all_missing_and_dominated_columns():
    with pytest.raises(DataError, match="no value at all"):
        released(cohort(9).with_columns(bmi=pl.lit(None, pl.Float64)), columns=["bmi"], sd=1)
    frame = cohort(50).with_columns(bmi=pl.when(pl.col("id") == 0).then(1e6).otherwise("bmi"))
    step = Noise(columns=["bmi"], share=0.1)
    ran = run_steps([step], PolarsDataset(frame, BOOK), Draws(bytes(16)))
    assert any("makes most of its variance" in note for note in ran.steps[0].notes)


def test_the_preset_is_the_papers_setting():
    step = Noise(columns=["bmi", "smoke"], variance={"smoke": 0.2}, preset="avraam2018")
    frame = cohort()
    _, (part,), _ = released(frame, columns=["bmi", "smoke"], variance={"smoke": 0.2}, preset="avraam2018")
    assert part.bounds == {"smoke": (0, 1)}
    assert part.covariance[0][0] == float(f"{0.1 * frame['bmi'].var():.3g}")
    assert part.covariance[1][1] == 0.2
    assert step.clip is True
    (problem,) = Noise(columns=["smoke"], preset="avraam2018").check(BOOK)
    assert "variance" in problem


def test_every_pair_of_columns_is_disclosed_with_its_own_covariance():
    frame = cohort().with_columns(third=pl.col("bmi") * -1 + pl.Series(np.random.default_rng(0).normal(size=N)))
    book = Codebook({**BOOK, "third": Variable(kind="continuous")})
    columns = ["bmi", "height", "third"]
    _, (part,), _ = released(frame, book=book, columns=columns, share=0.3, correlated=True)
    truth = np.cov(frame.select(columns).to_numpy().T)
    for i, j in itertools.product(range(3), repeat=2):
        assert part.matrix[i, j] == pytest.approx(0.3 * truth[i, j], rel=0.01)


# What may not be told, and what would become untrue


def test_a_code_that_one_person_has_is_not_told():
    frame = cohort(400).with_columns(degree=pl.when(pl.col("id") == 7).then(77).otherwise("degree"))
    _, (part,), ran = released(frame, columns=["degree"], sd=1)
    assert part.values == {}
    assert any("not labelled" in note for note in ran.steps[0].notes)
    labelled = Codebook({**BOOK, "degree": Variable(kind="ordinal", order=[1, 2, 3, 4, 5, 77])})
    _, (part,), _ = released(frame, book=labelled, columns=["degree"], sd=1)
    assert part.values == {"degree": (1, 2, 3, 4, 5, 77)}


def test_the_centre_of_a_small_stratum_is_not_told():
    frame = cohort(60).with_columns(region=pl.when(pl.col("id") < 3).then(pl.lit("Z")).otherwise(pl.lit("A")))
    with pytest.raises(DataError, match="min_stratum"):
        released(frame, columns=["bmi"], sd=1, grow=2, by=["region"])


def test_one_persons_amount_is_not_told_by_its_stratum():
    frame = cohort(60).with_columns(
        region=pl.when(pl.col("id") < 12).then(pl.lit("Z")).otherwise(pl.lit("A")),
        bmi=pl.when(pl.col("id") == 5).then(91_234.0).when(pl.col("id") < 12).then(0.0).otherwise("bmi"),
    )
    with pytest.raises(DataError, match="most of the variance") as error:
        released(frame, columns=["bmi"], share=0.1, by=["region"])
    assert "91" not in str(error.value)


def test_household_draws_are_refused_on_what_differences_would_show():
    with pytest.raises(DataError, match="draw_by household"):
        released(columns=["smoke"], variance=50, draw_by="household")
    with pytest.raises(ValueError, match="draw_by: household"):
        Noise(columns=["region"], sd=1, draw_by="household", dummies={"region": ["A", "B", "C"]})


def test_no_combination_of_nearly_collinear_columns_stays_without_noise():
    random = np.random.default_rng(2)
    frame = cohort(2_000).with_columns(height=pl.col("bmi") * 2 + pl.Series(random.normal(0, 0.16, 2_000)))
    after, (part,), _ = released(frame, columns=["bmi", "height"], share=1.0, correlated=True)
    assert np.linalg.eigvalsh(part.matrix / np.outer(part.sd, part.sd)).min() >= 0.99e-3
    e = errors(frame, after, ("bmi", "height"))
    scaled = e / part.sd
    assert (scaled[:, 1] - scaled[:, 0]).std() > 0.03
    *_, ran = released(frame, columns=["bmi", "height"], covariance=[[1, 2], [2, 4]])
    assert any("singular" in note for note in ran.steps[0].notes)


def test_columns_whose_names_join_to_anothers():
    frame = cohort(500).rename({"bmi": "a", "height": "b"}).with_columns(pl.col("a").alias("a+b") * -1.0)
    number = Variable(kind="continuous")
    book = Codebook({"id": BOOK["id"], "a": number, "b": number, "a+b": number})
    after, _, _ = released(
        frame.select("id", "a", "b", "a+b"), book=book, columns=["a", "b", "a+b"], share=0.1, correlated=True
    )
    assert after.columns == ["id", "a", "b", "a+b"]


def test_a_diagonal_covariance_is_so_many_variances_and_growth_of_nobody_is_none():
    frame = cohort(500)
    one, _, _ = released(frame, columns=["bmi", "height"], variance={"bmi": 1, "height": 2})
    two, _, _ = released(frame, columns=["bmi", "height"], covariance=[[1, 0], [0, 2]])
    three, _, _ = released(frame, columns=["bmi", "height"], variance={"bmi": 1, "height": 2}, grow=50)
    assert one.equals(two)
    assert one.equals(three)


def test_where_noise_grew_its_draw_is_another():
    frame = cohort(2_000)
    one, _, _ = released(frame, columns=["bmi"], sd=1)
    two, (part,), _ = released(frame, columns=["bmi"], sd=1, grow=1)
    factor = part.grows["bmi"].factor(frame["bmi"].to_numpy())
    e, e2 = errors(frame, one, ("bmi",))[:, 0], errors(frame, two, ("bmi",))[:, 0]
    np.testing.assert_array_equal(e[factor == 1], e2[factor == 1])
    assert abs(np.corrcoef(e[factor > 1], e2[factor > 1])[0, 1]) < 4 / (factor > 1).sum() ** 0.5


@pytest.mark.parametrize(
    ("later", "says"),
    [
        ({"do": "derive", "column": "bmi", "formula": "min(bmi, 5)"}, "changes bmi"),
        ({"do": "derive", "column": "fat", "formula": "bmi > 3"}, "computes from bmi"),
        ({"do": "pram", "columns": ["region"], "retention": 0.8}, "strata region"),
        ({"do": "swap", "columns": ["region"], "random": True}, "strata region"),
        ({"do": "centroids", "columns": ["bmi"], "k": 3}, "changes bmi"),
    ],
)
def test_a_later_step_may_not_make_the_disclosure_untrue(later, says):
    noise = {"do": "noise", "columns": ["bmi"], "share": 0.1, "by": ["region"]}
    with pytest.raises(PlanError, match=says):
        Plan.model_validate({"steps": [noise, later]}).check(BOOK)
    Plan.model_validate({"steps": [noise, {"do": "noise", "columns": ["bmi"], "sd": 1}]}).check(BOOK)


@pytest.mark.parametrize("parameters", [{"share": True}, {"sd": 1e160}, {"sd": 1e-170}])
def test_numbers_that_are_none_or_beyond_numbers(parameters):
    with pytest.raises(ValueError, match="number"):
        Noise(columns=["bmi"], **parameters)


def test_whole_numbers_beyond_whole_numbers_stay_floats():
    after, _, _ = released(cohort(50), columns=["degree"], sd=1e19)
    assert after["degree"].dtype == pl.Float64


# The grid


def test_released_values_are_multiples_of_a_step_that_the_sd_gives():
    frame = cohort(2_000)
    after, (part,), ran = released(frame, columns=["bmi", "smoke"], sd={"bmi": 2.8, "smoke": 0.447})
    assert part.rounded == {"bmi": 0.1, "smoke": 0.02}  # a twentieth is .14 and .02235
    assert all(on_grid(after[n].to_list(), step) for n, step in part.rounded.items())
    assert {n: ran.after.codebook[n].multiple for n in part.rounded} == part.rounded
    assert "bmi to multiples of 0.1, smoke to multiples of 0.02" in part.sentence()


def test_one_step_for_all_strata_is_that_of_the_least_sd():
    frame = cohort().with_columns(bmi=pl.when(pl.col("region") == "A").then(pl.col("bmi") * 30).otherwise("bmi"))
    _, parts, _ = released(frame, columns=["bmi"], share=0.25, by=["region"])
    assert min(p.sd[0] for p in parts) == pytest.approx(2, rel=0.02)  # half of 4; 120 / 2 in A
    assert {p.rounded["bmi"] for p in parts} <= {0.05, 0.1}  # the estimate lies about 2
    assert len({p.rounded["bmi"] for p in parts}) == 1


def test_growing_and_correlated_noise_have_the_step_of_their_own_sd():
    _, (grown,), _ = released(cohort(4_000), columns=["bmi"], sd=2.8, grow=1)
    assert grown.rounded == {"bmi": 0.1}
    _, (mixed,), _ = released(columns=["bmi", "height"], covariance=[[8, 3], [3, 200]])
    assert mixed.rounded == {"bmi": 0.1, "height": 0.5}
    _, (dummies,), _ = released(columns=["region"], sd=2.8, dummies={"region": ["A", "B", "C"]})
    assert set(dummies.rounded.values()) == {0.1}


def test_rounding_comes_after_adding():
    """The sums are rounded, not the noise: the true values are full doubles, and what is released is a decimal."""
    frame = cohort(500)
    fine, (part,), _ = released(frame, columns=["bmi"], sd=2.8, round_to=0.0005)
    coarse, _, _ = released(frame, columns=["bmi"], sd=2.8)
    assert part.rounded == {"bmi": 0.0005}
    # two roundings of one sum: half of each step apart at most
    assert (fine["bmi"] - coarse["bmi"]).abs().max() <= (0.1 + 0.0005) / 2 + 1e-9


def test_whole_numbers_leave_whole_where_the_step_is():
    book = Codebook({**BOOK, "height": Variable(kind="integer")})
    frame = cohort(500).with_columns(pl.col("height").round().cast(pl.Int64))
    wide, (part,), ran = released(frame, book=book, columns=["height"], sd=41)
    assert (wide["height"].dtype, part.rounded) == (pl.Int64, {"height": 2})
    assert (ran.after.codebook["height"].kind, ran.after.codebook["height"].multiple) == ("integer", 2)
    narrow, _, ran = released(frame, book=book, columns=["height"], sd=4.1)
    assert narrow["height"].dtype == pl.Float64
    assert (ran.after.codebook["height"].kind, ran.after.codebook["height"].multiple) == ("continuous", 0.2)
    bound, _, ran = released(frame, book=book, columns=["height"], sd=41, clip={"height": [150.5, None]})
    assert bound["height"].min() == 150.5
    assert ran.after.codebook["height"].kind == "continuous"


def test_decimals_that_are_too_many_for_input_give_way_to_auto_and_that_is_said():
    frame = cohort(500).with_columns(height=pl.col("height").round(6))
    _, (part,), ran = released(frame, columns=["bmi", "height"], sd=2.8, round_to="input")
    assert part.rounded == {"bmi": 0.1, "height": 0.1}  # more than ten decimals; six, less than 1/10,000 of the sd
    (note,) = ran.steps[0].notes
    assert "bmi, height" in note
    assert "rounded as by `auto`" in note
    _, (part,), ran = released(frame, columns=["height"], sd=0.01, round_to="input")
    assert (part.rounded, ran.steps[0].notes) == ({"height": 1e-6}, ())


def test_a_step_that_only_the_data_show_to_be_too_fine_is_refused_with_one_to_write():
    with pytest.raises(DataError, match=r"'bmi' is finer than 1/10,000 .* write 0\.05 or auto"):
        released(columns=["bmi"], share=0.1, round_to=1e-4)  # sd 4, so 1.26 of noise
    _, (part,), _ = released(columns=["bmi"], share=0.1, round_to=2e-4)
    assert part.rounded == {"bmi": 2e-4}


def test_a_column_without_noise_is_not_rounded():
    frame = cohort(500)
    after, (part,), _ = released(frame, columns=["bmi", "height"], covariance=[[4, 0], [0, 0]])
    assert after["height"].equals(frame["height"])
    assert part.rounded == {"bmi": 0.1}


def test_rounding_does_not_make_a_value_a_missing_code():
    """It goes to the next multiple, on the side that it came from; with a chosen step the release is refused."""
    frame = cohort(5_000)
    book = Codebook({**BOOK, "bmi": Variable(kind="continuous", missing=[25, 25.1, {"low": -9, "high": -8}])})
    plain, _, _ = released(frame, columns=["bmi"], sd=2.8)
    moved, (part,), _ = released(frame, book=book, columns=["bmi"], sd=2.8)
    hit = plain["bmi"].is_in([25.0, 25.1])
    assert hit.sum() > 20
    assert moved.filter(~hit)["bmi"].equals(plain.filter(~hit)["bmi"])
    assert set(moved.filter(hit)["bmi"]) == {24.9, 25.2}
    assert part.rounded == {"bmi": 0.1}
    with pytest.raises(DataError, match="fall on its missing codes"):
        released(frame, book=book, columns=["bmi"], sd=2.8, round_to=0.1)
