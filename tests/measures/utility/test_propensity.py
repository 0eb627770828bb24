import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.measures.utility.propensity import findings, propensity, u_statistic


def tables(n=300, m=240, seed=0):
    """Two tables that differ in means, correlations and shares."""
    rng = np.random.default_rng(seed)

    def one(size, shift):
        x = rng.normal(size=size) + shift
        return pl.DataFrame(
            {
                "x": x,
                "z": 50 + 3 * rng.normal(size=size) + (1 + 4 * shift) * x,
                "g": rng.choice(["a", "b", "c"], size, p=[0.5 - shift, 0.3, 0.2 + shift]).tolist(),
                "k": rng.integers(1, 4, size),
            }
        )

    return one(n, 0.0), one(m, 0.2)


BOOK = Codebook({"k": Variable(kind="categorical")})


def reference(before, after, formula):
    """Scores of statsmodels' logit of the stacked tables, and U from them."""
    both = pl.concat([before.with_columns(t=0.0), after.with_columns(t=1.0)]).to_pandas()
    fitted = smf.logit(formula, both).fit(disp=0, method="newton", tol=1e-10)
    scores = np.asarray(fitted.predict())
    return scores, np.mean((scores - after.height / len(both)) ** 2)


@pytest.mark.parametrize(
    ("interactions", "formula"), [(False, "t ~ x + z + g + C(k)"), (True, "t ~ (x + z + g + C(k))**2")]
)
@pytest.mark.parametrize("m", [240, 300])
def test_agrees_with_statsmodels(interactions, formula, m):
    before, after = tables(m=m)
    ours = propensity(before, after, BOOK, interactions=interactions)
    scores, u = reference(before, after, formula)
    np.testing.assert_allclose(np.concatenate([ours.before, ours.after]), scores, rtol=1e-6)
    assert ours.u == pytest.approx(u, rel=1e-6)
    assert ours.u > 1e-3
    assert ours.note == ""


def test_a_design_that_is_not_kept_has_the_same_u(monkeypatch):
    kept = propensity(*tables(), BOOK, interactions=True)
    monkeypatch.setattr("sfumato.measures.utility.propensity._HELD", 0)
    assert propensity(*tables(), BOOK, interactions=True).u == pytest.approx(kept.u, rel=1e-9)


def test_missing_values_are_an_indicator():
    """As statsmodels with an indicator and any constant in place of what is missing, and with a level of its own."""
    holed = [
        t.with_columns(x=pl.when(pl.col("z") < 52).then("x"), g=pl.when(pl.col("z") > 48).then("g")) for t in tables()
    ]
    ours = propensity(*holed, BOOK)
    none = pl.col("x").is_null().cast(pl.Int8)
    filled = [t.with_columns(none=none, x=pl.col("x").fill_null(7.0), g=pl.col("g").fill_null("?")) for t in holed]
    _, u = reference(*filled, "t ~ x + none + z + g + C(k)")
    assert ours.u == pytest.approx(u, rel=1e-6)
    assert len(ours.before) == holed[0].height


@pytest.mark.parametrize("interactions", [False, True])
def test_equal_tables_cannot_be_told_apart(interactions):
    before, _ = tables()
    assert propensity(before, before, BOOK, interactions=interactions).u == 0
    shuffled = before.sample(fraction=1, shuffle=True, seed=1)
    assert propensity(before, shuffled, BOOK, interactions=interactions).u == pytest.approx(0, abs=1e-20)


def test_separable_tables_reach_a_quarter():
    before = pl.DataFrame({"x": np.arange(100.0)})
    result = propensity(before, before + 1000, Codebook())
    assert result.u == pytest.approx(0.25, abs=1e-5)
    assert "told apart with certainty" in result.note


def test_separable_tables_of_unequal_size_reach_c_times_one_minus_c():
    before, after = pl.DataFrame({"x": np.arange(100.0)}), pl.DataFrame({"x": np.arange(900.0, 925.0)})
    assert propensity(before, after, Codebook()).u == pytest.approx(0.2 * 0.8, abs=1e-5)


def test_columns_that_others_determine_change_nothing():
    before, after = tables()
    wider = [t.with_columns(twice=2 * pl.col("x") + 1, again=pl.col("g"), one=pl.lit(1)) for t in (before, after)]
    assert propensity(*wider, BOOK).u == pytest.approx(propensity(before, after, BOOK).u, rel=1e-9)


@pytest.mark.parametrize("interactions", [False, True])
def test_offsets_and_row_order_change_nothing(interactions):
    before, after = tables()
    plain = propensity(before, after, BOOK, interactions=interactions).u
    moved = [
        t.with_columns(x=1e6 + pl.col("x") / 100).sample(fraction=1, shuffle=True, seed=2) for t in (before, after)
    ]
    assert propensity(*moved, BOOK, interactions=interactions).u == pytest.approx(plain, rel=1e-6)
    shuffled = [t.sample(fraction=1, shuffle=True, seed=3) for t in (before, after)]
    assert propensity(*shuffled, BOOK, interactions=interactions).u == pytest.approx(plain, rel=1e-9)


def test_main_effects_miss_what_interactions_see():
    """Equal margins, opposite correlations."""
    x = np.random.default_rng(5).normal(size=(500, 2))
    before = pl.DataFrame({"a": x[:, 0], "b": x[:, 0] + x[:, 1]})
    after = before.with_columns(b=-pl.col("b"))
    both = [pl.concat([t, t.select(-pl.all())]) for t in (before, after)]
    assert propensity(*both, Codebook()).u == pytest.approx(0, abs=1e-12)
    assert propensity(*both, Codebook(), interactions=True).u > 0.05


def wide():
    """40 columns of which the last two lose their correlation."""
    x = np.random.default_rng(6).normal(size=(400, 40))
    x[:, 39] += x[:, 38]
    z = x.copy()
    z[:, 39] = np.roll(z[:, 39], 1)
    return [pl.DataFrame(t, schema=[f"c{j}" for j in range(40)], orient="row") for t in (x, z)]


def test_too_many_interactions_are_left_out_and_said():
    before, after = wide()
    pair = Pair(before, after, Codebook(), ("c38", "c39"))
    found = findings(pair)
    assert "interactions than these tables allow" in found.notes[0]
    without = propensity(before, after, Codebook(), interactions=True).u
    assert found.of("u_interactions").value > without + 0.01


def test_coarser_factors_where_interactions_would_be_too_many():
    rng = np.random.default_rng(7)
    before, after = (pl.DataFrame({f"g{j}": rng.integers(0, 40, 500).astype(str) for j in range(4)}) for _ in range(2))
    result = propensity(before, after, Codebook(), interactions=True)
    assert "factors have at most" in result.note
    assert 0 < result.u <= 0.25


def test_findings_are_two_lines():
    before, after = tables()
    book = Codebook({**BOOK, "id": Variable(role="key")})
    named = [t.with_columns(id=pl.lit(i) + pl.int_range(pl.len())) for i, t in enumerate((before, after))]
    found = findings(Pair(*named, book, ("x",), record="id"))
    assert [f.measure for f in found] == ["u_main", "u_interactions"]
    assert found.of("u_main").value == pytest.approx(propensity(before, after, BOOK).u, rel=1e-12)
    assert found.of("u_interactions").value > found.of("u_main").value


def test_nothing_to_compare_is_said():
    frame = pl.DataFrame({"x": [1.0, 2.0]})
    for one, other in ((frame, frame.clear()), (frame.clear(), frame), (frame, frame.rename({"x": "y"}))):
        result = propensity(one, other, Codebook())
        assert result.u is None
        assert result.note
        assert len(result.before) == len(result.after) == 0
    assert findings(Pair(frame, frame.clear(), Codebook())).of("u_main").value is None


def test_u_by_hand():
    """c = 1/4: deviations 0, 1/4, −1/4 and 1/2 give (1 + 1 + 4)/64."""
    assert u_statistic(np.array([0.25, 0.5, 0.0]), np.array([0.75])) == pytest.approx(6 / 64)


def test_tidy_has_every_score():
    result = propensity(*tables(n=30, m=20), BOOK)
    assert result.tidy().group_by("table").len().sort("table").rows() == [("after", 20), ("before", 30)]
