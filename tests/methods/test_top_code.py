import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import sfumato as sf
from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Coarsened
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.derive import Derive
from sfumato.methods.recode import Recode
from sfumato.methods.top_code import TopCode
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import run

LAWFUL = [
    TopCode(columns=["x", "y"], at=9),
    TopCode(columns=["n"], quantile=0.9, by=["g"], replace="mean"),
    TopCode(columns=["y", "n"], largest=7, side="low", replace="median"),
]
X = [1, 2, 3, 4, 5, 6, 7, 8, 100, 200]


def ran(values=X, more=None, known=None, secret=bytes(16), **how):
    frame = pl.DataFrame({"x": values, **(more or {})}, strict=False)
    book = Codebook({n: Variable(kind="categorical") for n in frame.columns}).replace(x=Variable(**(known or {})))
    return run_steps([TopCode(columns=["x"], **how)], PolarsDataset(frame, book), Draws(secret))


def coded(*args, **how):
    return ran(*args, **how).after.frame["x"].to_list()


def test_at_and_above_is_coded():
    """sdcMicro's topBotCoding takes > only, so that who has exactly the cut would stay with a mean in its place."""
    assert coded(at=4) == [1, 2, 3, *[4] * 7]
    assert coded(at=4, replace="value", value=50) == [1, 2, 3, *[50] * 7]


def test_a_mean_or_median_is_rounded_at_random_to_twice_the_sd_over_how_many_they_are():
    """Of (4 + … + 8 + 100 + 200)/7 = 47.14 above a cut of 4, with an sd of 75: the multiple is 2 · 80/7 = 23."""
    for kind, near in (("mean", {27, 50}), ("median", {4, 27})):
        found = {max(coded(at=4, replace=kind, secret=bytes([i] * 16))) for i in range(40)}
        assert found == near
        assert coded(at=4, replace=kind)[:3] == [1, 2, 3]


def tail_mean(x, secret, **how):
    """What is put in the place of the highest, and for how many."""
    after = ran(x, replace="mean", secret=secret, **how).after.frame["x"].to_numpy()
    return after.max(), int((after == after.max()).sum())


def test_a_rounded_mean_is_right_on_average_and_never_below_its_cut():
    x = np.random.default_rng(3).lognormal(10, 1, 300)
    true = np.sort(x)[-12:].mean()
    cut = np.sort(x)[-12:].min()
    found = np.array([tail_mean(x, i.to_bytes(16, "big"), largest=12)[0] for i in range(100)])
    assert len({*found}) == 2
    step = np.ptp(found)
    assert step == pytest.approx(2 * np.std(np.sort(x)[-12:], ddof=1) / 12, rel=0.5)  # the sd has one digit
    assert abs(found.mean() - true) < 4 * step / 2 / np.sqrt(100)
    assert found.min() >= float(f"{cut:.2g}") * 0.99


@pytest.mark.slow
@pytest.mark.parametrize("m", [5, 10, 20])
def test_a_release_without_one_of_the_highest_tells_that_value_to_within_5_percent_in_a_sixth_of_cases(m):
    """Subtract the sums of the tails; who comes up from below stands in the earlier release."""
    rng, near, own = np.random.default_rng(m), [], []
    for i in range(400):
        secret, x = i.to_bytes(16, "big"), rng.lognormal(10, 1, 300)
        (old, of), (_, _) = tail_mean(x, secret, largest=m), (0, 0)
        at = np.argsort(x)[-of:]
        gone = rng.choice(at)
        (new, left) = tail_mean(np.delete(x, gone), secret, largest=m)
        others = np.sort(np.delete(x, at))[::-1]
        guess = of * old - (left * new - others[: left - of + 1].sum())
        near.append(abs(guess - x[gone]) <= 0.05 * x[gone])
        own.append(abs(old - x[gone]) <= 0.05 * x[gone])
    assert 0.08 < np.mean(near) < 0.22  # .12 to .17 by the notes, and 2.5 standard errors of 400 samples
    assert np.mean(near) < np.mean(own) + 0.1


def test_equal_releases_repeat_the_rounding_and_groups_have_their_own():
    x = np.random.default_rng(4).lognormal(10, 1, 300)
    assert tail_mean(x, bytes(16), largest=9) == tail_mean(x[::-1], bytes(16), largest=9)
    done = ran([*X, *X], {"g": ["a"] * 10 + ["b"] * 10}, at=4, by=["g"], replace="mean")
    assert {*done.after.frame["x"].to_list()} <= {1, 2, 3, 27, 50}


def test_bottom_coding_is_the_same_with_signs_turned():
    assert coded(at=6, side="low") == [*[6] * 6, 7, 8, 100, 200]
    assert [-x for x in coded([-x for x in X], side="low", at=-4)] == coded(at=4)
    assert [-x for x in coded([-x for x in X], side="low", largest=6)] == coded(largest=6)
    assert [-x for x in coded([-x for x in X], side="low", quantile=0.25)] == coded(quantile=0.75)


def test_numbers_stay_numbers_of_their_type():
    assert ran(at=4).after.frame["x"].dtype == pl.Int64
    assert ran(at=4, replace="mean").after.frame["x"].dtype == pl.Int64
    assert ran(known={"kind": "integer"}, at=4.5).after.codebook["x"].kind == "continuous"
    assert coded(at=4.5)[:5] == [1.0, 2.0, 3.0, 4.0, 4.5]
    assert ran(pl.Series(X, dtype=pl.Float32), at=4).after.frame["x"].dtype == pl.Float32


def test_missing_values_and_codes_stay():
    done = ran([*X, -9, 999, None], known={"missing": [-9, 999]}, at=4)
    assert done.after.frame["x"].to_list()[-3:] == [-9, 999, None]
    with pytest.raises(DataError, match="is a missing code"):
        ran([*X, 4], known={"missing": [4]}, at=4)


def test_fewer_than_k_above_the_cut_move_it():
    done = ran(at=100)
    assert done.after.frame["x"].to_list() == [1, 2, 3, 4, 5, *[6] * 5]
    assert done.disclosure.parts[0].bounds == {"x": (None, 6.0)}
    moved, lone = done.steps[0].warnings
    assert "it was moved" in moved
    assert "a value that fewer than 5 records have" in lone  # 6, for there is no whole number between 5 and it
    assert {c for c in moved + lone if c.isdigit()} == {"5"}  # k, and no figure of the data
    assert set(coded(at=1000, replace="mean")[5:]) <= {42, 78}  # (6 + 7 + 8 + 100 + 200)/5 = 64.2 above 6, by 36
    assert coded(at=100, k=2)[-2:] == [100, 100]
    assert coded(at=1000, k=0) == X
    assert ran(at=4).steps[0].warnings == ()


def test_learned_cuts_have_three_digits_and_leave_enough_above():
    values = [123456, 123999, 124001, 9999999, 123111, 123222, 5]
    assert set(coded(values, largest=5)) == {5, 123000}
    assert coded([-x for x in values], largest=3)[0] == -124000  # −123,222 is the third
    assert max(coded([0.0012345 + i / 10**7 for i in range(9)], largest=5)) == 0.00123


def test_a_learned_cut_of_round_figures_is_nobodys_value_where_there_is_room():
    pay = [20_000, 31_000, 38_500, 40_000, 41_000, 52_000, 60_500, 75_000]
    for how in ({"largest": 5}, {"at": 60_000}, {"quantile": 3 / 7}):
        done = ran(pay, **how)
        assert done.after.frame["x"].to_list() == [20_000, 31_000, 38_500, *[39_000] * 5]
        assert not any("a value that" in said for said in done.steps[0].warnings)
    assert coded(pay, largest=5, side="low") == [*[50_000] * 5, 52_000, 60_500, 75_000]
    assert coded([-x for x in pay], largest=5, side="low") == [-20_000, -31_000, -38_500, *[-39_000] * 5]
    assert coded(pay, at=40_000)[3] == 40_000  # given, so it stays
    assert coded([*pay, *[40_000] * 4], largest=9).count(40_000) == 9  # shared by k, so it tells of nobody
    assert coded(pay, largest=8) == [10_000] * 8
    assert coded([-3.0, *[float(i) for i in range(5)]], largest=5) == [-3.0, *[-1.0] * 5]


@pytest.mark.parametrize("prob", [0.1, 0.5, 0.77, 0.9])
def test_quantiles_are_those_of_numpy(prob):
    x = np.random.default_rng(1).lognormal(10, 1, 200)
    expected = float(f"{np.quantile(x, prob):.3g}")
    assert ran(x, quantile=prob).disclosure.parts[0].bounds == {"x": (None, expected)}
    assert ran(x, quantile=prob, side="low").disclosure.parts[0].bounds == {"x": (expected, None)}


def test_weighted_quantiles_and_means_are_those_of_repeated_records():
    rng = np.random.default_rng(2)
    x, w = rng.integers(0, 50, 100), rng.integers(1, 9, 100)
    repeated = np.repeat(x, w)
    for prob in (0.2, 0.5, 0.9):
        expected = np.quantile(repeated, prob, method="inverted_cdf")
        assert ran(x, {"w": w}, quantile=prob, weight="w", k=0).disclosure.parts[0].bounds == {"x": (None, expected)}
    found = [coded(x, {"w": w}, at=30, replace="mean", weight="w", secret=bytes([i] * 16)) for i in range(40)]
    mean = repeated[repeated >= 30].mean()
    low, high = sorted({max(each) for each in found})
    assert high - low == 1  # whole numbers stay whole
    assert low < mean < high
    with pytest.raises(DataError, match="must not be negative"):
        ran(X, {"w": [-1] * 10}, quantile=0.5, weight="w")


def test_the_weight_may_be_that_of_the_role():
    book = Codebook({"x": Variable(), "w": Variable(role="weight")})
    frame = pl.DataFrame({"x": X, "w": [1] * 9 + [100]})
    step = TopCode(columns=["x"], quantile=0.5, weight=True, k=0)
    assert run(step, frame, book).disclosure.parts[0].bounds == {"x": (None, 200.0)}
    assert "role weight" in step.check(Codebook({"x": Variable()}))[0]
    assert "no column 'v'" in TopCode(columns=["x"], at=1, weight="v").check(book)[0]


def test_ties_at_the_cut_are_coded_together():
    assert coded([1, 1, 1, *[7] * 6, 9], quantile=0.5) == [1, 1, 1, *[7] * 7]
    assert coded([1] * 5 + [2] * 5, largest=3) == [1] * 5 + [2] * 5  # all with a 2 reach it, and share it


def test_groups_have_cuts_of_their_own_and_small_ones_that_of_all():
    g = {"g": ["a"] * 5 + [None] * 5}
    assert coded(X, g, quantile=0.5, by=["g"], k=2) == [1, 2, 3, 3, 3, 6, 7, 8, 8, 8]
    done = ran(X, {"g": ["a"] * 3 + ["b"] * 7}, quantile=0.5, by=["g"])
    assert done.after.frame["x"].to_list() == [1, 2, 3, 4, 5, *[6] * 5]
    assert "takes the cut of all" in done.steps[0].warnings[-1]
    (told,) = done.disclosure
    assert told.bounds == {}
    assert told.sentence() == "x: recoded at the top, by g: values from the quantile 0.5 of the group on to the cut."


def test_too_few_values_for_any_cut_are_refused():
    for values in ([1, 2, 3], [None, None], []):
        with pytest.raises(DataError, match="fewer values than"):
            ran(values, at=2)
    with pytest.raises(DataError, match="fewer values than"):
        ran(largest=11)
    with pytest.raises(DataError, match="needs numbers"):
        ran(["a"] * 9, at=1)


def test_what_is_told():
    assert ran(at=4).disclosure.sentences() == ("x: values above 4 were set to it (top-coded).",)
    assert ran(at=6, side="low").disclosure.parts[0].bounds == {"x": (6.0, None)}
    (told,) = ran(at=4, replace="mean").disclosure
    new = max(coded(at=4, replace="mean"))
    assert told.sentence() == (
        f"x: recoded at the top: 4 or more to their mean, rounded at random to a multiple of 23 beyond the cut, {new}."
    )
    assert told.replaced == {"x": (4.0, new, 23.0)}
    (told,) = ran(at=4, replace="value", value=50).disclosure
    assert told.sentence() == "x: recoded at the top: 4 or more to 50."


def told_of(*steps):
    frame = pl.DataFrame({"x": X, "y": X})
    return run_steps(steps, PolarsDataset(frame, Codebook().only(["x", "y"])), Draws(bytes(16))).disclosure


def test_both_ends_of_a_column_are_told_together():
    top = TopCode(columns=["x", "y"], at=6)
    told = told_of(top, TopCode(columns=["x"], at=5, side="low"))
    assert list(told) == [Coarsened(("y",), bounds={"y": (None, 6)}), Coarsened(("x",), bounds={"x": (5, 6)})]
    assert [part.bounds for part in told_of(top, TopCode(columns=["x"], at=4)).of("x")] == [{}, {}]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"at": 1, "quantile": 0.5},
        {"quantile": 1},
        {"largest": 0},
        {"at": 1, "replace": "value"},
        {"at": 1, "value": 2},
        {"at": 5, "replace": "value", "value": 4},
        {"at": True},
        {"at": 1, "k": -1},
    ],
)
def test_parameters_that_do_not_go_together(wrong):
    with pytest.raises(ValidationError):
        TopCode(columns=["x"], **wrong)


def test_what_is_no_amount_is_found_before_the_run():
    book = Codebook({"t": Variable(kind="text"), "id": Variable(role="record"), "c": Variable(kind="continuous")})
    assert "needs numbers" in TopCode(columns=["t"], at=1).check(book)[0]
    assert "role record" in TopCode(columns=["id"], at=1).check(book)[0]
    assert "strata need categories" in TopCode(columns=["c"], at=1, by=["c"]).check(book)[0]
    codes = Codebook({"c": Variable(kind="categorical")})
    assert "`by` names 'c', which the step itself changes" in TopCode(columns=["c"], at=1, by=["c"]).check(codes)[0]


@pytest.mark.slow
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 2)), min_size=5, max_size=60), st.floats(0.01, 0.99))
def test_at_least_k_share_what_is_put_in_their_place_and_the_rest_stays(values, prob):
    done = ran(values, quantile=prob)
    cut = done.disclosure.parts[0].bounds["x"][1]
    after = done.after.frame["x"].to_list()
    assert cut == float(f"{cut:.3g}")
    assert sum(x >= cut for x in values) >= 5
    assert all(new == (cut if old >= cut else old) for old, new in zip(values, after, strict=True))


VARIABLES = {"id": {"role": "record"}, "pay": {"role": "key", "kind": "integer"}, "sex": {"role": "key"}}


def protected(*steps, n=200):
    frame = pl.DataFrame({"id": range(n), "pay": [i * 7919 % 1000 for i in range(n)], "sex": ["f", "m"] * (n // 2)})
    return sf.protect(Plan(variables=VARIABLES, steps=steps), frame, secret=bytes(16)).report


def test_numbers_that_were_only_top_coded_are_compared():
    step, band = TopCode(columns=["pay"], at=500), Recode(columns=["pay"], band=[100])
    assert Plan(steps=[step]).traces.coarsened == ()
    assert Plan(steps=[step, band]).traces.coarsened == ("pay",)
    found = protected(step).findings
    mean = found.of("mean", variable="pay")
    assert mean.value < mean.baseline
    assert not [note for note in found.notes if "left out of every comparison" in note]
    assert not [f for f in protected(band).findings if f.measure == "mean"]


def test_a_key_that_was_only_top_coded_still_needs_a_limit():
    assert any("nothing protects pay" in refusal for refusal in protected(TopCode(columns=["pay"], at=900)).refusals)


def test_what_was_computed_from_the_column_before_is_warned_of():
    double, step = Derive(column="double", formula="2 * pay"), TopCode(columns=["pay"], at=900)
    assert any("double was computed from pay" in said for said in protected(double, step).warnings)
    assert not any("double was computed from pay" in said for said in protected(step, double).warnings)


@pytest.mark.slow
def test_fit_knows_where_a_release_was_top_coded():
    """A tobit: the slope of a response that is cut off comes back, which least squares would halve."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=1500)
    frame = pl.DataFrame({"id": range(1500), "x": x, "y": 2 * x + rng.normal(size=1500)})
    plan = Plan(variables={"id": {"role": "record"}}, steps=[TopCode(columns=["y"], at=0)])
    release = sf.protect(plan, frame, secret=bytes(16))
    fitted = sf.fit("y ~ x", release.data, disclosure=release.disclosure)
    slope = fitted.tidy().filter(pl.col("term") == "x")["estimate"].item()
    assert slope == pytest.approx(2, abs=0.2)  # above three standard errors
