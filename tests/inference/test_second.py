"""A second estimate beside a likelihood's: whether it is there, and what is said where the two disagree."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.disclosure import Additive, Disclosure
from sfumato.inference.fit import fit
from sfumato.inference.second import Alternative, with_second
from sfumato.kernels.agreement import compare

RNG = np.random.default_rng(1)
TABLE = pl.DataFrame({"x": RNG.normal(size=50), "w": RNG.normal(size=50), "y": RNG.normal(size=50)})
ASSUMED = ("assumes nothing", "assumes too much")
INFLUENCE = RNG.normal(size=(50, 3)) / 50


def both(shift, clusters=None):
    """A fit beside an estimate that is `shift` away in x, with influences that differ by a tenth."""
    fitted = fit("y ~ x + w", TABLE)
    other = Alternative("other", fitted.estimate + np.array([9.0, shift, 0.0]), np.ones(3), 0.9 * INFLUENCE, *ASSUMED)
    return fitted, other, with_second(fitted, INFLUENCE, other, clusters)


def test_it_stands_beside_the_fit_and_leaves_it():
    fitted, other, found = both(1e-6)
    assert found.second.terms == fitted.terms
    np.testing.assert_array_equal(found.second.estimate, other.estimate)
    np.testing.assert_array_equal(found.estimate, fitted.estimate)
    assert found.notes == fitted.notes
    assert set(found.to_plain()["second"]) == {"method", "terms", "p"}
    wanted, _ = compare(
        fitted.estimate[1:], INFLUENCE[:, 1:], other.estimate[1:], other.influence[:, 1:]
    )  # of slopes alone
    assert found.second.p == pytest.approx(wanted, rel=1e-4)


def test_a_disagreement_is_told_with_terms_figures_and_what_was_assumed():
    _, other, found = both(1.0)
    note = found.notes[-1]
    assert "`ml` and `other` disagree (p < .001)" in note
    assert f"x {found.estimate[1]:.3g} and {other.estimate[1]:.3g}" in note
    assert "w " not in note.partition(". ")[0].partition("x ")[2]
    assert "`ml` assumes too much; `other` assumes nothing." in note


def test_clusters_count_as_one():
    """Influences that cancel within clusters leave no doubt about the difference."""
    pairs = np.repeat(np.arange(25), 2)
    signed = np.abs(INFLUENCE) * np.tile([1, -1], 25)[:, None]
    fitted = fit("y ~ x + w", TABLE)
    other = Alternative("other", fitted.estimate + 0.05, np.ones(3), 0 * signed, *ASSUMED)
    alone, together = (with_second(fitted, signed, other, c).second.p for c in (None, pairs))
    assert together != pytest.approx(alone, rel=1e-3)


V = 0.5
TOLD = Disclosure([Additive(("x",), [[V]])])


def logit(seed, n=1000, bend=0.0):
    rng = np.random.default_rng([5, seed])
    x = np.exp(rng.normal(size=n) * 0.8)
    x = (x - x.mean()) / x.std()
    w = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-(0.8 * x + bend * x**2 + 0.5 * w)))).astype(int)
    return pl.DataFrame({"y": y, "x": x + rng.normal(0, V**0.5, n), "w": w})


def test_a_logit_model_has_the_conditional_score_beside_it():
    ours = fit("y ~ x + w", logit(1), TOLD, family="logit", hidden="normal")
    assert ours.second.method == "conditional"
    assert ours.second.estimate == pytest.approx([0.0, 0.8, 0.5], abs=4 * ours.second.se.max())
    assert np.all(ours.second.se > ours.naive_se)


def test_a_wrong_shape_of_the_hidden_number_is_noticed():
    """Normal for one that is lognormal: in 4,000 records the two are many errors of their difference apart."""
    ours = fit("y ~ x + w", logit(2, 4000, 0.3), TOLD, family="logit", hidden="normal")
    assert ours.second.p < 0.01
    assert "`ml` assumes that x given the other covariates is normal" in ours.notes[-1]
    assert "assumes nothing of the distribution of the true values" in ours.notes[-1]


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [3, 4])
def test_a_right_model_agrees(seed):
    """20 draws with normal x: p below .01 in one at most, by more than 98 chances in a hundred."""
    low = 0
    for draw in range(20):
        rng = np.random.default_rng([seed, draw])
        x, w = rng.normal(size=(2, 600))
        y = (rng.random(600) < 1 / (1 + np.exp(-(0.8 * x + 0.5 * w)))).astype(int)
        table = pl.DataFrame({"y": y, "x": x + rng.normal(0, V**0.5, 600), "w": w})
        low += fit("y ~ x + w", table, TOLD, family="logit", hidden="normal").second.p < 0.01
    assert low <= 1


@pytest.mark.parametrize(
    ("formula", "part", "family"),
    [
        ("y ~ x + I(x^2)", Additive(("x",), [[V]]), "logit"),
        ("y ~ x", Additive(("x",), [[V]], distribution="laplace"), "logit"),
        ("y ~ x", Additive(("x",), [[V]], bounds={"x": (-9.0, 9.0)}), "logit"),
        ("y ~ x", Additive(("x",), [[V]]), "probit"),
    ],
)
def test_it_is_there_for_normal_noise_on_numbers_that_enter_linearly(formula, part, family):
    assert fit(formula, logit(6, 200), Disclosure([part]), family=family, hidden="normal").second is None


def test_strata_products_gaps_and_clusters_go_through():
    """Against records of the same table: noise in one stratum alone, a product with w, gaps and clusters."""
    table = logit(7, 600).with_columns(
        s=pl.int_range(600) % 2,
        c=pl.int_range(600) // 3,
        x=pl.when(pl.int_range(600) % 50 == 0).then(None).otherwise("x"),
    )
    told = Disclosure([Additive(("x",), [[V]], where={"s": 1})])
    ours = fit("y ~ w + x:w", table, told, family="logit", hidden="normal", cluster="c")
    assert ours.second is not None
    assert ours.se_rule == "CR1"
    assert np.isfinite(ours.second.p)
    assert np.isfinite(ours.second.se).all()
