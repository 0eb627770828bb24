"""Models of some members."""

import numpy as np

from sfumato.methods.synthesise.cart import fit_cart
from sfumato.methods.synthesise.households.group import Group
from sfumato.methods.synthesise.sequence import Target
from tests.methods.synthesise.small import PlainKeys, survey, told

FRAME = survey(200)
TOLD = {name: told(FRAME[name]) for name in ("age", "town", "code")}
CODINGS = {name: own.coding for name, own in TOLD.items()}
ORIGINAL = {name: own.column for name, own in TOLD.items()}


def group(weights=None):
    """Towns by age, their codes beside them; and how often a model was fitted, with which weights."""
    seen = []

    def fit(column, predictors, coding, weights):
        seen.append(weights)
        return fit_cart(column, predictors, min_leaf=5, weights=weights)

    targets = [Target("town", ("age",), fit), Target("code", ("age", "town"), fit, like="town")]
    return Group(targets, CODINGS, ORIGINAL, weights), seen


def fixed(rows):
    return {"age": TOLD["age"].at(np.arange(rows)).column}


def test_models_are_fitted_once_for_all_places_and_copies():
    own, seen = group()
    made = [own.draw(fixed(rows), copy, PlainKeys(rows), rows) for rows, copy in ((50, 0), (20, 0), (20, 1))]
    assert seen == [None]
    assert [list(one) for one in made] == [["town", "code"]] * 3
    assert [len(one["town"].state) for one in made] == [50, 20, 20]
    np.testing.assert_array_equal(made[0]["town"].state, made[0]["code"].state)  # A is 1, B is 2, C is 3


def test_a_bootstrap_is_another_for_each_copy():
    own, seen = group(lambda copy: np.random.default_rng(copy).exponential(size=200))
    for copy in (0, 0, 1):
        own.draw(fixed(30), copy, PlainKeys(30), 30)
    assert len(seen) == 2
    assert (seen[0] != seen[1]).all()
