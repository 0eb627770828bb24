"""One column after the other."""

import numpy as np
import polars as pl
import pytest

from sfumato.methods.synthesise.cart import fit_cart
from sfumato.methods.synthesise.coding import Coded
from sfumato.methods.synthesise.parametric import fit_parametric
from sfumato.methods.synthesise.sequence import Forced, Target, drawn
from tests.methods.synthesise.small import PlainKeys, survey, told

FRAME = survey(300)
TOLD = {name: told(FRAME[name]) for name in FRAME.columns if name != "id"}
CODINGS = {name: own.coding for name, own in TOLD.items()}
ORIGINAL = {name: own.column for name, own in TOLD.items()}


class Recorded:
    """A way to fit that remembers what it was given."""

    def __init__(self):
        self.given = []

    def __call__(self, column, predictors, coding, weights):
        self.given.append((len(column.state), [own.coding.name for own in predictors], weights))
        return fit_cart(column, predictors, min_leaf=5, weights=weights)


def made(targets, copies=1, rows=300, fixed=(), proper=False):
    keys = PlainKeys(rows)
    kept = {name: ORIGINAL[name] for name in fixed}
    return drawn(targets, CODINGS, ORIGINAL, kept, rows, copies, keys, proper=proper), keys


def test_each_column_is_fitted_once_to_the_original_and_drawn_for_each_copy():
    fits = {name: Recorded() for name in ("age", "sex")}
    copies, keys = made([Target("age", (), fits["age"]), Target("sex", ("age",), fits["sex"])], copies=3, rows=40)
    assert fits["age"].given == [(300, [], None)]
    assert fits["sex"].given == [(300, ["age"], None)]
    assert [list(copy) for copy in copies] == [["age", "sex"]] * 3
    assert {len(copy["sex"].state) for copy in copies} == {40}
    assert len({copy["age"].number.tobytes() for copy in copies}) == 3
    assert keys.weighted == []


def test_proper_trees_are_fitted_anew_with_weights_and_others_draw_their_parameters():
    trees, lines = Recorded(), Recorded()
    _, keys = made([Target("age", (), trees), Target("income", (), lines, weighted=False)], copies=2, proper=True)
    assert [weights is None for _, _, weights in trees.given] == [False, False]
    assert [weights is None for _, _, weights in lines.given] == [True]
    assert keys.weighted == [0, 1]
    assert made([Target("income", (), lines, weighted=False)], copies=2, proper=True)[1].weighted == []


def test_columns_that_stay_true_are_what_the_others_are_drawn_from():
    copies, _ = made([Target("code", ("town",), Recorded())], copies=2, fixed=("town",))
    for copy in copies:
        assert copy["town"] is ORIGINAL["town"]
        np.testing.assert_array_equal(copy["code"].state, ORIGINAL["code"].state)


def test_a_column_that_is_one_to_one_follows_its_partner():
    copies, _ = made([Target("town", (), Recorded()), Target("code", ("town",), Recorded(), like="town")], rows=500)
    both = pl.DataFrame([CODINGS[n].series(copies[0][n]) for n in ("town", "code")])
    assert sorted(both.unique().rows()) == [("A", "1"), ("B", "2"), ("C", "3")]


@pytest.mark.parametrize("fit", [fit_cart, fit_parametric])
def test_a_rule_settles_values_before_the_model_does(fit):
    """Records that it settles take no part: no woman is at work here, and what men do is what was fitted."""
    women, works = TOLD["sex"].coding.special.index("f") + 1, TOLD["works"].coding.special
    rule = Forced(
        (FRAME["sex"] == "f").fill_null(False).to_numpy(),
        lambda own: own["sex"].state == women,
        works.index(False) + 1,
        0,
    )
    seen = []

    def fitted(column, predictors, coding, weights):
        seen.append(len(column.state))
        more = {"min_leaf": 5} if fit is fit_cart else {"coding": coding}
        return fit(column, predictors, **more)

    targets = [Target("sex", (), Recorded()), Target("works", ("sex",), fitted, forced=(rule,))]
    copy = made(targets, rows=2000)[0][0]
    assert seen == [300 - int((FRAME["sex"] == "f").sum())]
    told_ = copy["works"].state == works.index(True) + 1
    assert not told_[copy["sex"].state == women].any()
    share = FRAME.filter(pl.col("sex") == "m")["works"].mean()
    assert told_[copy["sex"].state == TOLD["sex"].coding.special.index("m") + 1].mean() == pytest.approx(
        share, abs=0.06
    )


def test_where_a_rule_settles_all_the_rest_is_fitted_to_all():
    rule = Forced(np.ones(300, bool), lambda own: np.ones(len(own["sex"].state), bool), 1, 0.0)
    fit = Recorded()
    copies, _ = made([Target("sex", (), Recorded()), Target("works", ("sex",), fit, forced=(rule,))])
    assert fit.given[0][0] == 300
    assert (copies[0]["works"].state == 1).all()


def test_told_columns_of_a_copy_are_scored_as_the_original_is():
    from sfumato.methods.synthesise.model import Told

    own = TOLD["income"]
    copy = Told(own.coding, Coded(own.column.state[:5], own.column.number[:5]), own)
    np.testing.assert_array_equal(copy.scores, own.scores[:5])
    rows = np.array([3, 1])
    for late in (own.at(rows), Told(own.coding, own.column).at(rows)):
        np.testing.assert_array_equal(late.scores, own.scores[rows])
        np.testing.assert_array_equal(late.codes, own.codes[rows])
    assert (own.scores[own.column.state > 0] == 0).all()
