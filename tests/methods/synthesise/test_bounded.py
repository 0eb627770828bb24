from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError
from sfumato.methods.synthesise.bounded import Bound, Bounded, Bounding, above, below, bounding_coding
from sfumato.methods.synthesise.cart import fit_cart
from sfumato.methods.synthesise.coding import Coded, coding_of
from sfumato.methods.synthesise.model import Drawing, Told
from sfumato.methods.synthesise.parametric import fit_parametric
from tests.methods.synthesise.small import PlainKeys

BOOK = Codebook({n: Variable(kind="continuous", missing=[-9]) for n in "abc"})
N = 600


def plain(series, book=BOOK, step=None):
    """A column that bounds others or is bounded, as models look at it."""
    coding, coded = coding_of(series, book, step, spikes=False)
    return Told(bounding_coding(coding, coded, book), coded)


def cart(column, predictors, coding, weights):
    return fit_cart(column, predictors, min_leaf=5, weights=weights)


def smooth(column, predictors, coding, weights):
    return fit_cart(column, predictors, min_leaf=5, smooth=True, weights=weights)


def parametric(column, predictors, coding, weights):
    return fit_parametric(column, predictors, coding)


FITS = pytest.mark.parametrize("fit", [cart, smooth, parametric])


def model_of(fit, own, *bounds, told, ends=None, weights=None):
    bounding = Bounding(bounds, own.coding.ends if ends is None else ends, 10)
    return Bounded(fit, bounding, own.column, [*told, *told], own.coding, weights)


def drawn_of(model, told, seed=1):
    return model.draw(
        [*told, *told], Drawing(PlainKeys(len(told[0].column.state), seed), "b", 0, len(told[0].column.state))
    )


def at(told, numbers, state=None):
    numbers = np.asarray(numbers, dtype=float)
    state = np.zeros(len(numbers), np.int64) if state is None else state
    return Told(told.coding, Coded(state, numbers), told)


@pytest.fixture
def pair():
    rng = np.random.default_rng(3)
    a = np.round(rng.lognormal(3, 0.6, N), 1)
    return plain(pl.Series("a", a)), plain(pl.Series("b", np.round(a + rng.exponential(9, N), 1)))


@FITS
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_it_keeps_to_the_bound_and_to_its_range(fit, strict, upper, pair):
    bound, own = pair[::-1] if upper else pair
    model = model_of(fit, own, Bound(bound.coding.name, upper, strict), told=[bound])
    new = drawn_of(model, [bound])
    number, limit = own.coding.rounded(new.number), bound.column.number
    low, high = (number, limit) if upper else (limit, number)
    room = limit - 0.1 >= own.coding.ends[0] if upper else limit + 0.1 <= own.coding.ends[1]
    assert np.all(low[room] < high[room]) if strict else np.all(low <= high)
    assert number.min() >= own.coding.ends[0]
    assert number.max() <= own.coding.ends[1]
    assert np.corrcoef(limit, number)[0, 1] > 0.7


@FITS
def test_a_share_of_an_interval_stays_in_it(fit):
    rng = np.random.default_rng(5)
    a, width = rng.integers(0, 90, N), rng.integers(0, 40, N)
    own = plain(pl.Series("b", a + np.round(width * rng.beta(2, 5, N))))
    told = [plain(pl.Series("a", a)), plain(pl.Series("c", a + width))]
    new = drawn_of(model_of(fit, own, Bound("a"), Bound("c", upper=True), told=told), told)
    assert np.all((a <= new.number) & (new.number <= a + width))
    assert np.all(new.number == np.rint(new.number))
    assert np.mean((new.number - a)[width > 20] / width[width > 20]) == pytest.approx(2 / 7, abs=0.05)


@FITS
def test_the_tightest_bound_counts(fit):
    rng = np.random.default_rng(6)
    a, c = rng.integers(0, 50, N), rng.integers(0, 50, N)
    own, told = plain(pl.Series("b", np.maximum(a, c) + rng.integers(0, 9, N))), []
    told = [plain(pl.Series("a", a)), plain(pl.Series("c", c))]
    new = drawn_of(model_of(fit, own, Bound("a"), Bound("c"), told=told), told)
    assert np.all(new.number >= np.maximum(a, c))
    assert np.max(new.number - np.maximum(a, c)) <= 8


@FITS
def test_what_is_top_coded_stays_so(fit):
    """Differences that lead beyond are no donors; where no donor is left it is the bound."""
    rng = np.random.default_rng(7)
    a = rng.integers(0, 100, N)
    b = np.minimum(a + 30 + rng.integers(0, 30, N), 100)
    bound, own = plain(pl.Series("a", a)), plain(pl.Series("b", b))
    new = drawn_of(model_of(fit, own, Bound("a"), told=[bound]), [bound]).number
    assert new.max() == 100
    assert np.all(new >= a)
    assert np.mean(new == 100) < 2 * np.mean(b == 100)


def test_no_donor_left_is_the_bound(pair):
    bound, own = pair
    model = model_of(cart, own, Bound("a"), told=[bound], ends=(0.0, 50.0))
    lone = at(bound, [50.0])
    assert drawn_of(model, [lone]).number.tolist() == [50.0]


def test_a_bound_beyond_the_range_goes_before_it(pair):
    bound, own = pair
    model = model_of(cart, own, Bound("a"), told=[bound], ends=(0.0, 50.0))
    assert drawn_of(model, [at(bound, [80.0])]).number.tolist() == [80.0]


def test_a_missing_value_is_what_a_bound_beyond_the_range_leaves():
    a = np.r_[np.arange(100), 500, 501]
    b = np.r_[np.arange(100) + 5, -9, -9]
    bound, own = plain(pl.Series("a", a)), plain(pl.Series("b", b))
    for seed in range(5):
        new = drawn_of(model_of(cart, own, Bound("a"), told=[bound]), [at(bound, [400.0, 3.0])], seed)
        assert new.state[0] == 1
        assert new.state[1] == 1 or new.number[1] >= 3


def test_where_a_bound_is_missing_there_is_none():
    rng = np.random.default_rng(8)
    a = np.where(rng.random(N) < 0.3, -9, rng.integers(50, 90, N))
    b = np.where(a == -9, rng.integers(0, 40, N), a + rng.integers(0, 9, N))
    bound, own = plain(pl.Series("a", a)), plain(pl.Series("b", b))
    new = drawn_of(model_of(cart, own, Bound("a"), told=[bound]), [bound]).number
    gone = bound.column.state > 0
    assert new[gone].max() < 40
    assert np.all(new[~gone] >= a[~gone])


@FITS
def test_records_that_break_it_take_no_part(fit):
    rng = np.random.default_rng(9)
    a = rng.integers(0, 50, N)
    b = np.where(np.arange(N) % 7 == 0, a - 40, a + 3)
    bound, own = plain(pl.Series("a", a)), plain(pl.Series("b", b))
    new = drawn_of(model_of(fit, own, Bound("a"), told=[bound]), [bound]).number
    assert np.all((new == a + 3) | (new == own.coding.ends[1]))


def test_where_all_break_it_numbers_themselves_are_drawn_above_the_bound():
    a = np.arange(N) % 50 + 1
    bound, own = plain(pl.Series("a", a)), plain(pl.Series("b", a - 1))
    new = drawn_of(model_of(cart, own, Bound("a"), told=[bound]), [bound]).number
    assert np.all(new >= a)
    assert set(new) <= set(range(51))


def test_contradictory_bounds_that_stay_are_refused(pair):
    bound, own = pair
    told = [bound, plain(pl.Series("c", own.column.number + 5))]
    model = model_of(cart, own, Bound("a"), Bound("c", upper=True), told=told)
    with pytest.raises(DataError, match="between a, c"):
        drawn_of(model, [at(bound, [40.0]), at(told[1], [20.0])])


def test_a_bound_leaves_room_for_what_lies_between():
    """a < m < b with whole m: b is at least the whole number after the next."""
    whole = plain(pl.Series("m", [1, 2, 3])).coding
    fine = plain(pl.Series("b", [0.1, 0.2])).coding
    bound = Bound("a", strict=True, through=((whole, True),))
    assert bound.of(np.array([1.0, 1.5]), fine).tolist() == [2.1, 2.1]
    assert bound.back(np.array([2.1, 2.0]), fine).tolist() == [1.9, 0.9]
    upper = Bound("b", upper=True, strict=True, through=((whole, True),))
    assert upper.of(np.array([2.1, 2.0]), fine).tolist() == [1.9, 0.9]
    assert upper.back(np.array([1.0, 1.5]), fine).tolist() == [2.1, 2.1]


def test_the_next_number_of_a_column():
    whole = plain(pl.Series("a", [1, 2])).coding
    assert above(whole, np.array([1.0, 1.2]), False).tolist() == [1, 2]
    assert above(whole, np.array([1.0, 1.2]), True).tolist() == [2, 2]
    assert below(whole, np.array([1.0, 1.2]), False).tolist() == [1, 1]
    assert below(whole, np.array([1.0, 1.2]), True).tolist() == [0, 1]
    free = replace(whole, decimals=None)
    assert above(free, np.array([1.0]), False) == 1 < above(free, np.array([1.0]), True) < 1 + 1e-15


def test_multiples_and_whole_days_stay():
    book = Codebook({"a": Variable(kind="continuous", multiple=50.0)})
    assert plain(pl.Series("a", [100.0, 350.0]), book).coding.unit == 50
    assert plain(pl.Series("a", [100.0, 351.0]), book).coding.unit == 1
    days = pl.Series("b", ["2020-01-01 00:00:00", "2021-05-07 00:00:00"]).str.to_datetime()
    assert plain(days).coding.unit == 86400e6


def test_weights_and_chosen_rows(pair):
    """Of a Bayesian bootstrap: who weighs nothing gives nothing; and only some rows are drawn."""
    bound, own = pair
    weights = np.where(np.arange(N) % 2, 1.0, 1e-12)
    model = model_of(cart, own, Bound("a"), told=[bound], weights=weights)
    rows = np.arange(N) % 3 == 0
    some = [bound.at(rows)] * 2
    draws = Drawing(PlainKeys(N), "b", 0, int(rows.sum()), rows)
    new = model.draw(some, draws).number
    assert np.all(new >= bound.column.number[rows])
    assert len(new) == rows.sum()
    odd = set(np.round(own.column.number - bound.column.number, 1)[1::2])
    inside = new < own.coding.ends[1]
    assert np.mean([d in odd for d in np.round(new - bound.column.number[rows], 1)[inside]]) > 0.97


@pytest.mark.parametrize(
    ("dtype", "numbers", "held"),
    [
        (pl.Float32, [0.1, 0.3, 0.7], [0.1, 0.3, 0.7]),  # no double is one of these as a table has it
        (pl.Float32, [1 / 3, 2 / 7, 0.1234567], [0.1234567, 1 / 3]),
        (pl.Float64, [1e9 + 1 / 3, 1e9 + 2 / 7, 1e9 + 0.1], [1e9 + 0.1, 1e9 + 1 / 3]),  # nine decimals are too many
    ],
)
def test_the_next_number_is_one_that_the_type_can_hold(dtype, numbers, held):
    coding = plain(pl.Series("x", numbers, dtype=dtype), Codebook()).coding
    number = np.array([*held, *np.nextafter(held, 9e9)])
    for strict in (False, True):
        for least, sign in ((above(coding, number, strict), 1), (below(coding, number, strict), -1)):
            as_held = pl.Series(least).cast(dtype).cast(pl.Float64).to_numpy()
            assert (as_held == least).all()
            assert (sign * least > sign * number if strict else sign * least >= sign * number).all()
