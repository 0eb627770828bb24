import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.errors import DataError
from sfumato.inference.fit import fit
from tests.late import late

sm = late("statsmodels.api")

RNG = np.random.default_rng(2)
FRAME = pl.DataFrame({"x": RNG.normal(size=200), "s": RNG.choice(["a", "b", "c"], 200)}).with_columns(
    y=pl.Series(RNG.normal(size=200)) + pl.col("x"), c=pl.Series(RNG.integers(0, 3, 200))
)


def test_intervals_and_p_values_are_those_of_t():
    ours = fit("y ~ x", FRAME, level=0.9)
    theirs = sm.OLS(FRAME["y"].to_numpy(), sm.add_constant(FRAME["x"].to_numpy())).fit()
    np.testing.assert_allclose(ours.interval, theirs.conf_int(0.1), rtol=1e-8)
    np.testing.assert_allclose(ours.p_values, theirs.pvalues, rtol=1e-6, atol=1e-300)
    assert ours.sigma == pytest.approx(np.sqrt(theirs.scale))


def test_plain_values_are_json():
    text = json.dumps(fit("y ~ x + s", FRAME).to_plain(), allow_nan=False)
    terms = json.loads(text)["terms"]
    assert [t["term"] for t in terms] == ["Intercept", "x", "s[T.b]", "s[T.c]"]
    assert terms[0]["reliability"] is None


def test_predictions_are_those_of_the_formula():
    ours = fit("y ~ x*s", FRAME)
    new = pl.DataFrame({"x": [1.0, 2.0, None], "s": ["a", "c", "b"]})
    b = dict(zip(ours.terms, ours.estimate, strict=True))
    wanted = [b["Intercept"] + b["x"], b["Intercept"] + b["s[T.c]"] + 2 * (b["x"] + b["x:s[T.c]"])]
    found = ours.predict(new)
    np.testing.assert_allclose(found[:2], wanted)
    assert np.isnan(found[2])


def test_ordered_predictions_are_shares():
    ours = fit("c ~ x", FRAME, family="ordered")
    shares = ours.predict(pl.DataFrame({"x": [0.3]}))
    slope, low, high = ours.estimate
    np.testing.assert_allclose(shares[0], np.diff(stats.norm.cdf([-np.inf, low, high, np.inf], slope * 0.3)))
    assert ours.terms == ("x", "0|1", "1|2")


@pytest.mark.parametrize("frame", [{"x": [1.0]}, {"x": [1.0], "s": ["new"]}])
def test_predictions_need_what_the_model_knows(frame):
    with pytest.raises(DataError, match="needs column|does not know"):
        fit("y ~ x + s", FRAME).predict(pl.DataFrame(frame))


def test_the_summary_names_every_term():
    text = fit("y ~ x + s", FRAME).summary()
    assert all(term in text for term in ("Intercept", "s[T.b]", "reliability", "n = 200"))
    assert "times as wide" not in text


@pytest.mark.parametrize("make", [dict, lambda columns: pl.DataFrame(columns).to_pandas()])
def test_predictions_take_whatever_is_a_table(make):
    ours = fit("y ~ x + s", FRAME)
    columns = {"x": [1.0, 2.0], "s": ["a", "c"]}
    np.testing.assert_array_equal(ours.predict(make(columns)), ours.predict(pl.DataFrame(columns)))


@pytest.mark.parametrize("frame", [5, {"x": [1.0, 2.0], "s": ["a", "b", "c"]}, "table.csv", None])
def test_predictions_refuse_what_is_no_table(frame):
    with pytest.raises(DataError, match="need a table|needs column"):
        fit("y ~ x + s", FRAME).predict(frame)
