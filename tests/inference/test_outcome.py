import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.disclosure import Additive, Coarsened, Disclosure, Misclassified, Swapped
from sfumato.errors import DataError
from sfumato.inference.fit import fit
from sfumato.inference.outcome import read_outcome, read_times

BOOK = Codebook()


def read(values, family, *parts):
    return read_outcome(pl.DataFrame({"y": values}), BOOK, "y", family, parts)


def test_exact_responses_are_their_own_plain_ones():
    for values, family in (([0, 1], "probit"), (["no", "yes"], "logit"), ([0, 3], "poisson"), ([1, 2, 3], "ordered")):
        found = read(values, family)
        assert found.exact
        assert found.response is found.plain
    assert read(["no", "yes"], "logit").values.tolist() == [0, 1]
    assert read([True, False], "probit").values.tolist() == [1, 0]


def test_a_misclassified_response_has_the_matrix_in_it():
    found = read([0, 1], "probit", Misclassified("y", [[0.9, 0.1], [0.2, 0.8]]))
    np.testing.assert_allclose(np.exp(found.response.log_q), [[0.9, 0.2], [0.1, 0.8]])
    assert found.values.tolist() == [0, 1]


def test_a_noisy_binary_response_has_the_noise_in_it():
    found = read([0.2, 1.3], "logit", Additive(("y",), [[0.25]], values=(0, 1)))
    np.testing.assert_allclose(found.response.log_q[0], stats.norm([0, 1], 0.5).logpdf(0.2))
    assert found.values.tolist() == [0, 1]


def test_bounds_and_rounding_of_numbers_are_intervals():
    part = Additive(("y",), [[0.1]], bounds={"y": (0, 10)}, rounded={"y": 1})
    found = read([0.0, 4.0, 10.0], "linear", part)
    np.testing.assert_array_equal(found.response.low, [-np.inf, 3.5, 9.5])
    np.testing.assert_array_equal(found.response.high, [0.5, 4.5, np.inf])
    np.testing.assert_allclose(found.response.noise, 0.1)
    assert found.noise.mean() == pytest.approx(0.1)


def test_an_ordered_response_may_be_misclassified():
    P = np.array([[0.8, 0.2, 0], [0.1, 0.8, 0.1], [0, 0.2, 0.8]])
    found = read(["a", "b", "c"], "ordered", Misclassified("y", P, levels=("a", "b", "c")))
    np.testing.assert_allclose(found.response.q / found.response.q.max(axis=1)[:, None], P.T / P.T.max(axis=1)[:, None])
    assert found.levels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("values", "family", "parts", "says"),
    [
        ([0, 2], "probit", [], "0 and 1"),
        (["a", "b", "c"], "logit", [], "0 and 1"),
        ([-0.5, 1.0], "poisson", [], "numbers from 0"),
        ([-1, 1], "poisson", [], "numbers from 0"),
        ([0, 1], "poisson", [Additive(("y",), [[0.1]], clipped=True)], "cut off, rounded"),
        ([1, 1], "ordered", [], "2 to 50"),
        (list(range(60)), "ordered", [], "2 to 50"),
        ([0.1, 0.9], "probit", [Additive(("y",), [[0.1]])], "true values are 0 and 1"),
        ([0, 1], "linear", [Misclassified("y", np.eye(2))], "misclassified"),
        ([0.1, 0.9], "linear", [Additive(("y",), [[5.0]])], "larger than all the variation"),
        ([0.1, 0.9], "linear", [Additive(("y",), [[0.1]], clipped=True)], "hangs on its true value"),
        ([0.1, 0.9], "linear", [Additive(("y",), [[0.01]], bounds={"y": (None, 0.5)})], "beyond the bounds"),
        ([0.1, 0.9], "linear", [Additive(("y",), [[0.01]], rounded={"y": 0.5})], "no multiples"),
        ([0.1, 0.9], "linear", [Additive(("y",), [[9.0]], distribution="laplace")], "larger than all the variation"),
    ],
)
def test_responses_that_do_not_suit_are_refused(values, family, parts, says):
    with pytest.raises(DataError, match=says):
        read(values, family, *parts)


def test_noise_that_is_nearly_all_of_a_response_may_vary_less_by_chance():
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    z *= np.sqrt(0.9) / z.std()  # 1 − 3 √(2 / 200) is 0.7
    assert not read(z, "linear", Additive(("y",), [[1.0]])).exact
    with pytest.raises(DataError, match="larger than all the variation"):
        read(z, "linear", Additive(("y",), [[1.4]]))


SAID = ["low", "mid", "high"] * 40


@pytest.mark.parametrize(
    ("dtype", "order", "levels", "told"),
    [
        (pl.String, (), ("high", "low", "mid"), True),
        (pl.Categorical, (), ("high", "low", "mid"), True),
        (pl.String, ("high",), ("high", "low", "mid"), True),
        (pl.String, ("low", "mid", "high"), ("low", "mid", "high"), False),
        (pl.String, ("high", "low", "mid"), ("high", "low", "mid"), False),
        (pl.Enum(["low", "mid", "high"]), (), ("low", "mid", "high"), False),
    ],
)
def test_an_order_that_nothing_states_is_told(dtype, order, levels, told):
    table = pl.DataFrame({"y": pl.Series(SAID, dtype=dtype), "x": np.random.default_rng(0).normal(size=120)})
    book = Codebook({"y": Variable(kind="ordinal", order=order)})
    found = read_outcome(table, book, "y", "ordered", [])
    assert found.levels == levels
    assert any("alphabetical order" in note for note in found.notes) is told
    assert (
        any("alphabetical order" in note for note in fit("y ~ x", table, family="ordered", codebook=book).notes) is told
    )
    P = 0.7 * np.eye(3) + 0.1
    noisy = read_outcome(table, book, "y", "ordered", [Misclassified("y", P, levels=("high", "low", "mid"))])
    assert noisy.levels == levels
    assert bool(noisy.notes) is told


def test_bands_of_an_ordered_response_are_in_their_order():
    bands = {"60 and over": (60, None), "below 18": (None, 18), "18 to below 60": (18, 60)}
    found = read(["below 18", "60 and over", "18 to below 60"], "ordered", Coarsened(("y",), bands=bands))
    assert found.levels == ("below 18", "18 to below 60", "60 and over")
    assert found.notes == ()


def times(**columns):
    return pl.DataFrame({"days": [3.0, 5.0, 2.0], "died": [1, 0, 1], **columns})


def test_times_are_read_with_their_events():
    found = read_times(times(), Codebook(), "days", "died", Disclosure())
    assert found.values.tolist() == [3, 5, 2]
    assert found.event.tolist() == [True, False, True]
    assert found.exact
    told = read_times(times(died=[True, False, True]), Codebook(), "days", "died", Disclosure())
    assert told.event.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"days": [3.0, 0.0, 1.0]}, "above 0"),
        ({"days": [3.0, -1.0, 1.0]}, "above 0"),
        ({"days": [3.0, float("inf"), 1.0]}, "above 0"),
        ({"days": ["3", "5", "2"]}, "numeric"),
        ({"died": [1, 2, 1]}, "0 and 1"),
        ({"died": ["yes", "no", "yes"]}, "0 and 1"),
        ({"died": [0, 0, 0]}, "Nobody"),
    ],
)
def test_other_times_and_events_are_refused_without_a_value(columns, says):
    with pytest.raises(DataError, match=says) as caught:
        read_times(times(**columns), Codebook(), "days", "died", Disclosure())
    assert "-1" not in str(caught.value)
    assert "yes" not in str(caught.value)


@pytest.mark.parametrize(
    "part",
    [
        Coarsened(("days",), rounded={"days": 7}),
        Coarsened(("days",), bounds={"days": (None, 5)}),
        Swapped(columns=("died",)),
    ],
)
def test_times_and_events_that_were_changed_are_refused(part):
    with pytest.raises(DataError, match="as they were"):
        read_times(times(), Codebook(), "days", "died", Disclosure([part]))
