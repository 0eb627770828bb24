"""Columns from regressions."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.methods.synthesise.coding import coding_of
from sfumato.methods.synthesise.model import Drawing, Told
from sfumato.methods.synthesise.parametric import fit_parametric
from tests.methods.synthesise.small import PlainKeys, survey, told

FRAME = survey(3000)
NUMBER = Codebook({"v": Variable(kind="continuous"), "w": Variable(kind="integer"), "g": Variable(kind="categorical")})


def drawn(target, predictors=(), *, proper=False, smooth=False):
    n = len(target.column.state)
    fitted = fit_parametric(target.column, predictors, target.coding, proper=proper, smooth=smooth)
    return target.coding.series(fitted.draw(predictors, Drawing(PlainKeys(n), "c", 0, n)))


def own(name, values):
    return Told(*coding_of(pl.Series(name, values), NUMBER))


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize("given", [(), ("age", "town")])
@pytest.mark.parametrize("name", [n for n in FRAME.columns if n != "id"])
def test_margins_are_kept(name, given, proper):
    """Shares of categories, and of numbers below some cuts, within five standard errors of proper draws, and .01."""
    predictors = [told(FRAME[n]) for n in given if n != name]
    before, after = FRAME[name], drawn(told(FRAME[name]), predictors, proper=proper)
    if before.dtype.is_numeric() or before.dtype.is_temporal():
        one, other = before.to_physical().to_numpy(), after.to_physical().to_numpy()
        cuts = np.quantile(one, [0.1, 0.2, 0.4, 0.6, 0.8, 0.9])
        shares = [(np.mean(one <= cut), np.mean(other <= cut)) for cut in cuts]
    else:
        shares = [(before.eq_missing(v).mean(), after.eq_missing(v).mean()) for v in before.unique()]
    for wanted, got in shares:
        assert abs(wanted - got) < 5 * np.sqrt(2 * wanted * (1 - wanted) / 3000) + 0.01


def test_missing_codes_and_spikes_keep_their_shares_and_numbers_their_relation():
    out = drawn(told(FRAME["income"]), [told(FRAME["age"])])
    for value in (-9.0, -8.0, 0.0):
        share = (FRAME["income"] == value).mean()
        assert (out == value).mean() == pytest.approx(share, abs=5 * np.sqrt(share / 3000))
    both = pl.DataFrame({"age": FRAME["age"], "before": FRAME["income"], "after": out})
    ranks = [
        both.filter(pl.col(n) > 0).select(pl.corr("age", n, method="spearman")).item() for n in ("before", "after")
    ]
    assert ranks[1] == pytest.approx(ranks[0], abs=0.08)


def test_smooth_numbers_lie_between_the_true_ones():
    true = set(FRAME["income"])
    assert set(drawn(told(FRAME["income"]), [told(FRAME["age"])])) <= true
    assert not set(drawn(told(FRAME["income"]), [told(FRAME["age"])], smooth=True)) <= true


def test_categories_that_have_an_order_follow_it():
    out = drawn(told(FRAME["grade"]), [told(FRAME["age"])])
    old = FRAME["age"] > 60
    for which in (old, ~old):
        for level in ("low", "mid", "high"):
            before, after = ((s.filter(which) == level).mean() for s in (FRAME["grade"], out))
            assert after == pytest.approx(before, abs=0.05)  # a logit of what a normal made


def test_missing_categories_are_no_level_of_an_order():
    grades = FRAME["grade"].scatter(np.arange(0, 3000, 10), None)
    book = Codebook({"grade": Variable(kind="ordinal", order=["low", "mid", "high"])})
    out = drawn(Told(*coding_of(grades, book)), [told(FRAME["age"])])
    assert out.is_null().mean() == pytest.approx(0.1, abs=0.03)
    assert abs(FRAME["age"].filter(out.is_null()).mean() - FRAME["age"].mean()) < 4


def test_relations_of_many_classes_are_kept_also_among_the_rare():
    """25 classes, the rarest with 20 records, each of which belongs to one of two groups."""
    rng = np.random.default_rng(1)
    g = np.repeat(np.arange(25), np.linspace(220, 20, 25).astype(int))
    group = np.where(rng.random(len(g)) < 0.9, g % 2, 1 - g % 2)
    out = drawn(own("g", g.astype(str)), [own("g", group.astype(str))]).to_numpy().astype(int)
    for part in (g < 8, (g >= 8) & (g < 16), g >= 16):
        told_ = np.isin(out, np.unique(g[part]))
        assert np.mean(out[told_] % 2 == group[told_]) == pytest.approx(0.9, abs=0.06)
        assert told_.mean() == pytest.approx(part.mean(), abs=0.03)


def test_a_count_of_which_most_are_nought_keeps_its_noughts():
    """60% noughts in a whole number, which has no spikes by its kind."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=4000)
    w = np.where(rng.random(4000) < 0.6, 0, np.ceil(np.exp(3 + 0.5 * x + 0.5 * rng.normal(size=4000)))).astype(int)
    out = drawn(own("w", w), [own("v", x)]).to_numpy()
    assert np.mean(out == 0) == pytest.approx(0.6, abs=0.03)
    one, other = (np.corrcoef(x[y > 0], np.log(y[y > 0]))[0, 1] for y in (w, out))
    assert other == pytest.approx(one, abs=0.05)


HARD = {
    "constant predictor": (np.arange(40.0), [np.ones(40)]),
    "a predictor twice": (np.arange(40.0), [np.arange(40.0), np.arange(40.0) * 2]),
    "more predictors than records": (np.arange(12.0), list(np.random.default_rng(3).normal(size=(30, 12)))),
    "told by a predictor": ((np.arange(40) > 20).astype(str), [np.arange(40.0)]),
    "classes of one record": (np.array(["a"] * 30 + [f"b{i}" for i in range(10)]), [np.arange(40.0)]),
    "every record a class": (np.arange(40).astype(str), [np.arange(40.0)]),
    "one record": (np.array([3.0]), [np.array([1.0])]),
    "two records": (np.array(["a", "b"]), [np.array([1.0, 2.0])]),
    "one value": (np.full(20, 7.0), [np.arange(20.0)]),
    "huge numbers": (np.arange(40.0) * 1e300, [np.arange(40.0) * 1e-300]),
    "two numbers": (np.repeat([0.0, 1.0], 20), [np.repeat([0.0, 1.0], 20)]),
}


@pytest.mark.parametrize("proper", [False, True])
@pytest.mark.parametrize(("target", "predictors"), HARD.values(), ids=HARD)
def test_nothing_is_too_hard(target, predictors, proper):
    column = own("g" if target.dtype.kind == "U" else "v", target)
    out = drawn(column, [own("v", x) for x in predictors], proper=proper)
    assert set(out) <= set(target.tolist())
    if len(target) == 40 and target.dtype.kind == "U" and len(set(target)) == 2:
        assert (out.to_numpy() == target).mean() > 0.8


@pytest.mark.slow
def test_proper_copies_differ_more():
    """The mean of five drawn columns: plain ones scatter by σ²/n, those with drawn parameters by twice that."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=100)
    y, keys = own("v", (values - values.mean()) / values.std(ddof=1)), PlainKeys(100)
    spread = []
    for proper in (False, True):
        fitted = fit_parametric(y.column, [], y.coding, proper=proper)
        means = [fitted.draw([], Drawing(keys, "c", copy, 100)).number.mean() for copy in range(200)]
        spread.append(np.var(means) * 100)
    assert spread[0] == pytest.approx(1, abs=0.4)  # four standard errors of a variance of 200: .4
    assert spread[1] == pytest.approx(2, abs=0.8)
