"""Columns from trees."""

import numpy as np
import polars as pl

from sfumato.methods.synthesise.cart import fit_cart
from sfumato.methods.synthesise.model import Drawing
from tests.methods.synthesise.small import BOOK, PlainKeys, survey, told

FRAME = survey(2000)
INCOME = told(FRAME["income"])


def drawn(target, predictors, **more):
    fitted = fit_cart(target.column, predictors, min_leaf=5, **more)
    n = len(target.column.state)
    return target.coding.series(fitted.draw(predictors, Drawing(PlainKeys(n), "c", 0, n)))


def test_without_predictors_the_margin_is_drawn():
    out = drawn(INCOME, [])
    assert set(out) <= set(FRAME["income"])
    for value in (-9.0, -8.0, 0.0):
        share = (FRAME["income"] == value).mean()
        assert abs((out == value).mean() - share) < 4 * np.sqrt(share / 2000)


def test_relations_are_kept():
    out = drawn(told(FRAME["code"]), [told(FRAME["sex"]), told(FRAME["town"])])
    assert pl.DataFrame([FRAME["town"], out]).n_unique() == 3
    assert (
        abs(
            pl.DataFrame([FRAME["born"].to_physical(), drawn(told(FRAME["age"]), [told(FRAME["born"])])])
            .select(pl.corr("born", "age"))
            .item()
            + 1
        )
        < 0.01
    )


def test_smooth_numbers_lie_between_donors_and_categories_stay():
    out = drawn(INCOME, [told(FRAME["age"])], smooth=True)
    free = out.filter(~out.is_in([-9.0, -8.0, 0.0]))
    assert not set(free) <= set(FRAME["income"])
    assert free.min() >= FRAME["income"].filter(FRAME["income"] > 0).min()
    assert set(drawn(INCOME, [told(FRAME["age"])])) <= set(FRAME["income"])


def test_weights_decide_who_gives():
    weights = np.where(FRAME["sex"] == "f", 1.0, 1e-9)
    weights = np.where(FRAME["sex"].is_null(), 1e-9, weights)
    out = drawn(told(FRAME["sex"]), [told(FRAME["town"], BOOK)], weights=weights)
    assert (out == "f").all()


def test_one_value_needs_no_tree():
    assert drawn(told(pl.Series("sex", ["f"] * 20)), [told(FRAME["town"][:20])]).to_list() == ["f"] * 20
