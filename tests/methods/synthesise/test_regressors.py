"""What a regression sees of its predictors."""

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook, Variable
from sfumato.methods.synthesise.coding import coding_of
from sfumato.methods.synthesise.model import Told
from sfumato.methods.synthesise.regressors import MOST, regressors
from tests.methods.synthesise.small import survey, told

FRAME = survey(600)


def seen(columns, response, n=600):
    own, X = regressors(columns, response.reshape(n, -1))
    assert X.shape == (n, len(own.parts))
    np.testing.assert_allclose(own.of(columns, n), X, atol=1e-12)
    return own, X


def test_numbers_are_scores_beside_indicators_of_what_is_none():
    X = seen([told(FRAME["income"])], np.arange(600.0))[1]
    assert X.shape[1] == 5  # the scores and their squares, the spike and two missing codes
    free = (FRAME["income"] > 0).to_numpy()
    assert np.corrcoef(X[free, 0], np.log(FRAME["income"].to_numpy()[free]))[0, 1] > 0.95
    assert np.ptp(X[~free, 0]) < 1e-12
    line = np.polyfit(X[free, 0] ** 2, X[free, 1], 1)  # what is scaled is a line of the square and of the score
    assert line[0] > 0


def test_categories_are_indicators_beside_the_commonest():
    X = seen([told(FRAME["town"])], np.arange(600.0))[1]
    assert X.shape[1] == 2
    towns = FRAME["town"].to_numpy()
    assert {tuple(x.round(6)) for x in X[towns == "A"]} == {tuple(X[towns == "A"][0].round(6))}
    assert len({tuple(x.round(6)) for x in X}) == 3


def test_rare_levels_share_an_indicator():
    levels = ["a"] * 500 + ["b"] * 60 + [f"rare {i}" for i in range(40)]
    X = seen(
        [Told(*coding_of(pl.Series("g", levels), Codebook({"g": Variable(kind="categorical")})))], np.arange(600.0)
    )[1]
    assert X.shape[1] == 2
    assert len(np.unique(X[560:].round(9), axis=0)) == 1


def test_of_too_many_columns_those_that_tell_most_stay():
    rng = np.random.default_rng(1)
    book = Codebook({"x": Variable(kind="continuous")})
    numbers = [pl.Series("x", rng.normal(size=600)) for _ in range(100)]
    response = numbers[70].to_numpy() + 0.1 * rng.normal(size=600)
    own, X = seen([Told(*coding_of(x, book)) for x in numbers], response)
    assert X.shape[1] <= MOST
    assert 70 in [part.predictor for part in own.parts]
    few = [Told(*coding_of(x[:50], book)) for x in numbers]
    assert seen(few, response[:50], 50)[1].shape[1] <= 10


def test_constant_columns_and_copies_of_others_are_left_out():
    age = told(FRAME["age"])
    same = Told(*coding_of((FRAME["age"] * 2 + 1).alias("age"), Codebook({"age": Variable(kind="integer")})))
    one = Told(*coding_of(pl.Series("g", ["x"] * 600), Codebook({"g": Variable(kind="categorical")})))
    assert seen([age, one, same], np.arange(600.0))[1].shape[1] == 2
    assert seen([], np.arange(600.0))[1].shape[1] == 0
