"""Draws of a whole table."""

import numpy as np
import polars as pl
import pytest

from sfumato.draws import Draws
from sfumato.methods.synthesise.coding import coding_of
from sfumato.methods.synthesise.keys import StepKeys, digest_of
from tests.methods.synthesise.small import BOOK, survey

SECRET = Draws(bytes(16))


def digest(frame, units=None, draws=SECRET):
    coded = {name: coding_of(frame[name], BOOK) for name in frame.columns if name != "id"}
    own = np.zeros(frame.height, np.uint64) if units is None else units
    return digest_of(
        draws, "synthesise", {n: c for n, (c, _) in coded.items()}, {n: c for n, (_, c) in coded.items()}, own
    )


def test_equal_data_have_equal_digests_in_whatever_order():
    frame = survey()
    assert digest(frame) == digest(frame.clone()) == digest(frame.sample(fraction=1, shuffle=True, seed=3))
    assert len(digest(frame)) == 32


@pytest.mark.parametrize(
    ("column", "value"),
    [("age", 81), ("sex", None), ("income", -9.0), ("income", 123.4), ("works", None), ("grade", "mid")],
)
def test_a_corrected_value_gives_another(column, value):
    frame = survey()
    row = int((frame[column].eq_missing(pl.Series([value], dtype=frame[column].dtype)) == False).arg_max())  # noqa: E712
    other = frame.with_columns(frame[column].scatter(row, value))
    assert digest(other) != digest(frame)


def test_a_removed_or_repeated_record_gives_another():
    frame = survey()
    assert digest(frame[1:]) != digest(frame)
    assert digest(pl.concat([frame, frame[:1]])) != digest(frame)
    assert digest(pl.concat([frame, frame[:1], frame[:1]])) != digest(frame)


def test_values_that_change_places_between_columns_or_records_give_another():
    frame = survey()
    assert digest(frame.with_columns(age=pl.col("age").reverse())) != digest(frame)
    both = pl.DataFrame({"age": [1, 2], "income": [2.0, 1.0]})
    assert digest(both) != digest(
        pl.DataFrame({"age": [2, 1], "income": [1.0, 2.0]}).with_columns(age=pl.Series([1, 2]))
    )


def test_nobody_can_repeat_it_without_the_secret():
    assert digest(survey(), draws=Draws(bytes(15) + b"x")) != digest(survey())


def keys(strength="x", units=5):
    own = np.arange(1, units + 1, dtype=np.uint64)
    return StepKeys(SECRET, "synthesise", strength, own, own)


def test_draws_hang_on_all_that_they_are_for_and_on_nothing_else():
    one = keys().uniform("age", "state", 0)
    np.testing.assert_array_equal(one, keys(units=9).uniform("age", "state", 0)[:5])
    for other in (
        keys("y").uniform("age", "state", 0),
        keys().uniform("sex", "state", 0),
        keys().uniform("age", "number", 0),
        keys().uniform("age", "state", 1),
    ):
        assert (one != other).all()


def test_draws_of_parameters_are_numbered_and_nobodys():
    one = keys().numbered("age", "parameters", 0, 4)
    np.testing.assert_array_equal(one, keys(units=9).numbered("age", "parameters", 0, 7)[:4])
    assert (one != keys("y").numbered("age", "parameters", 0, 4)).all()
    assert (one != keys().numbered("age", "parameters", 1, 4)).all()
    drawn = keys().numbered("age", "parameters", 0, 10_000)
    assert abs(drawn.mean() - 0.5) < 4 / np.sqrt(12 * 10_000)


def test_weights_are_exponential_with_mean_one():
    weights = keys(units=20_000).weights(0)
    assert weights.mean() == pytest.approx(1)
    assert np.var(weights) == pytest.approx(1, abs=4 * np.sqrt(8 / 20_000))  # Var of a variance of exponentials: 8/n
    assert (weights > 0).all()
