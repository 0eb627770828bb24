import numpy as np
import polars as pl
import pytest
import statsmodels.formula.api as smf

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair
from sfumato.errors import DataError, FormulaError
from sfumato.measures.utility.model import ci_overlap, compare_models, findings, fit_model, standardised_difference


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=n), rng.integers(1, 4, n)
    eta = 0.3 + x - 0.5 * (g == 2)
    return pl.DataFrame(
        {
            "x": x,
            "g": g,
            "s": rng.choice(["m", "f"], n).tolist(),
            "cost": eta + rng.normal(size=n),
            "ill": (eta + rng.logistic(size=n) > 0).astype(int),
        }
    )


FITS = {"linear": (smf.ols, "cost"), "logistic": (smf.logit, "ill"), "probit": (smf.probit, "ill")}


@pytest.mark.parametrize("family", FITS)
@pytest.mark.parametrize("terms", ["x*s + C(g)", "0 + s + x:C(g)", "x - 1"])
def test_agrees_with_statsmodels(family, terms):
    """Estimates, standard errors, tests and intervals, with Student's t for the linear model."""
    frame, (model, outcome) = table(), FITS[family]
    ours = fit_model(frame, Codebook(), f"{outcome} ~ {terms}", family)
    how = {} if family == "linear" else {"disp": 0, "method": "newton", "tol": 1e-10}
    theirs = model(f"{outcome} ~ {terms}", frame.to_pandas()).fit(**how)
    assert set(ours.labels) == set(theirs.params.index)
    labels, interval = list(ours.labels), theirs.conf_int().loc[list(ours.labels)]
    for mine, reference in (
        (ours.estimate, theirs.params[labels]),
        (ours.se, theirs.bse[labels]),
        (ours.z, theirs.tvalues[labels]),
        (ours.p, theirs.pvalues[labels]),
        (ours.low, interval[0]),
        (ours.high, interval[1]),
    ):
        np.testing.assert_allclose(mine, reference, rtol=1e-6, atol=1e-12)
    assert ours.converged
    assert ours.n == frame.height


@pytest.mark.parametrize(
    ("values", "variable"),
    [
        (["no", "yes"], Variable()),
        ([False, True], Variable()),
        ([1, 2], Variable(kind="categorical")),
        ([0.0, 1.0], Variable()),
        (["well", "ill"], Variable(kind="ordinal", order=("well", "ill"))),
    ],
)
def test_the_second_of_two_values_is_success(values, variable):
    frame = table()
    plain = fit_model(frame, Codebook(), "ill ~ x", "logistic")
    renamed = frame.with_columns(ill=pl.Series([values[v] for v in frame["ill"]]))
    ours = fit_model(renamed, Codebook({"ill": variable}), "ill ~ x", "logistic")
    np.testing.assert_allclose(ours.estimate, plain.estimate, rtol=1e-12)


def test_records_without_a_value_are_left_out():
    frame = table()
    holed = frame.with_columns(
        x=pl.when(pl.int_range(300) % 4 == 0).then(-99.0).otherwise("x"),
        ill=pl.when(pl.int_range(300) % 4 == 1).then(None).otherwise("ill"),
    )
    ours = fit_model(holed, Codebook({"x": Variable(missing=[-99])}), "ill ~ x", "logistic")
    kept = frame.filter(pl.int_range(300) % 4 > 1)
    np.testing.assert_allclose(ours.estimate, fit_model(kept, Codebook(), "ill ~ x", "logistic").estimate, rtol=1e-9)
    assert ours.left_out == 0.5
    assert ours.n == 150
    assert "left out: 50.0%" in ours.notes[0]


@pytest.mark.parametrize(
    ("formula", "family", "says"),
    [
        ("s ~ x", "linear", "numeric outcome"),
        ("x ~ cost", "logistic", "has two values"),
        ("g ~ x", "probit", "has two values"),
        ("one ~ x", "logistic", "Derive a column that varies"),
        ("none ~ x", "logistic", "Derive a column that varies"),
        ("none ~ x", "linear", "at least one row"),
        ("nosuch ~ x", "linear", "'nosuch', which the table does not have"),
        ("cost ~ x", "poisson", "Families: linear, logistic, probit"),
    ],
)
def test_an_outcome_that_does_not_fit_is_refused(formula, family, says):
    frame = table().with_columns(one=pl.lit(1), none=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(DataError, match=says):
        fit_model(frame, Codebook(), formula, family)


def test_messages_hold_no_value():
    frame = pl.DataFrame({"y": ["planted1", "planted2", "planted3"], "x": [1, 2, 3]})
    for family in FITS:
        with pytest.raises(DataError) as error:
            fit_model(frame, Codebook(), "y ~ x", family)
        assert "planted" not in str(error.value)


def test_formulas_are_not_evaluated():
    with pytest.raises(FormulaError):
        fit_model(table(), Codebook(), "ill ~ __import__('os')", "logistic")


def test_separation_is_said():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": [0, 0, 0, 1, 1, 1]})
    ours = fit_model(frame, Codebook(), "y ~ x", "logistic")
    assert not ours.converged
    assert "separation" in ours.notes[0]


def test_comparison_by_hand():
    before, after = table(), table(seed=1)
    compared = compare_models(before, after, Codebook(), "cost ~ x + C(g)", "linear")
    one, other = (fit_model(t, Codebook(), "cost ~ x + C(g)", "linear") for t in (before, after))
    assert compared.labels == ("Intercept", "x", "C(g)[T.2]", "C(g)[T.3]")
    np.testing.assert_allclose(compared.standardised_difference, np.abs(one.estimate - other.estimate) / one.se)
    common = np.minimum(one.high, other.high) - np.maximum(one.low, other.low)
    np.testing.assert_allclose(
        compared.ci_overlap, (common / (one.high - one.low) + common / (other.high - other.low)) / 2
    )
    assert compared.notes == ()


def test_equal_tables_agree_entirely():
    frame = table()
    compared = compare_models(frame, frame, Codebook(), "ill ~ x + s", "probit")
    assert compared.standardised_difference.tolist() == [0, 0, 0]
    np.testing.assert_allclose(compared.ci_overlap, 1)


def test_the_original_fixes_the_levels():
    before = table()
    after = before.with_columns(g=pl.col("g").replace({2: 5}), s=pl.lit("m"))
    compared = compare_models(before, after, Codebook(), "ill ~ x + C(g) + s", "logistic")
    assert compared.labels == ("Intercept", "x", "C(g)[T.2]", "C(g)[T.3]", "s[T.m]", "C(g)[T.5]")
    missing = dict(zip(compared.labels, np.isnan(compared.standardised_difference), strict=True))
    assert missing == {
        "Intercept": False,
        "x": False,
        "C(g)[T.2]": True,
        "C(g)[T.3]": False,
        "s[T.m]": True,
        "C(g)[T.5]": True,
    }
    assert np.isnan(compared.before.estimate[5])
    assert len(compared.after.se) == 6
    text = " ".join(compared.notes)
    assert "'g' has a category that the original lacks" in text
    assert "reference category of 's' does not occur" in text
    assert "were not estimated there" in text


def test_the_outcome_keeps_its_meaning():
    """All that is left of the outcome is what counts as success: it must not become the reference."""
    before = table()
    after = before.with_columns(ill=pl.lit(1))
    compared = compare_models(before, after, Codebook(), "ill ~ x", "logistic")
    assert compared.after.estimate[0] > 5
    with pytest.raises(DataError, match="value that the original does not have"):
        compare_models(before, before.with_columns(ill=pl.col("ill") + 1), Codebook(), "ill ~ x", "logistic")


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ((0, 2), (0, 2), 1),
        ((0, 2), (1, 3), 0.5),
        ((0, 4), (1, 2), 0.625),
        ((0, 1), (1, 2), 0),
        ((0, 1), (2, 3), -1),
    ],
)
def test_overlap_by_hand(one, other, overlap):
    ends = [np.array([float(v)]) for v in (*one, *other)]
    assert ci_overlap(*ends).tolist() == [overlap]


def test_no_standard_error_no_measure():
    zero = np.zeros(1)
    assert np.isnan(standardised_difference(zero, zero + 1, zero)).all()
    assert np.isnan(ci_overlap(zero, zero, zero, zero + 1)).all()


def test_findings_are_two_lines_for_each_coefficient():
    before, after = table(), table(seed=1)
    found = findings(Pair(before, after, Codebook()), "cost ~ x", "linear")
    compared = compare_models(before, after, Codebook(), "cost ~ x", "linear")
    assert [(f.measure, f.variable) for f in found] == [
        ("standardised_difference", "Intercept"),
        ("standardised_difference", "x"),
        ("ci_overlap", "Intercept"),
        ("ci_overlap", "x"),
    ]
    assert [f.value for f in found][:2] == compared.standardised_difference.tolist()
    assert [f.value for f in found][2:] == compared.ci_overlap.tolist()


def test_findings_say_when_the_release_does_not_fit():
    before = table()
    found = findings(Pair(before, before.drop("x"), Codebook()), "cost ~ x", "linear")
    assert [f.value for f in found] == [None] * 4
    assert "could not be fitted to the release" in found.notes[0]
    with pytest.raises(DataError):
        findings(Pair(before.drop("x"), before, Codebook()), "cost ~ x", "linear")


def test_aliased_coefficients_have_no_value():
    before = table().with_columns(twice=2 * pl.col("x"))
    found = findings(Pair(before, before, Codebook()), "cost ~ x + twice", "linear")
    assert found.of("standardised_difference", variable="twice").value is None
    assert found.of("standardised_difference", variable="x").value == 0
    assert "were not estimated" in found.notes[0]


def test_tidy_has_one_row_for_each_coefficient():
    compared = compare_models(table(), table(seed=1), Codebook(), "cost ~ x", "linear")
    assert compared.tidy()["coefficient"].to_list() == ["Intercept", "x"]
    assert compared.before.tidy().columns == ["coefficient", "estimate", "se", "z", "p", "low", "high"]
    assert compared.tidy()["se_after"].to_list() == compared.after.se.tolist()
