"""The stand-ins for the asthma data: the published figures come back."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from sfumato.examples import asthma_a, asthma_b, asthma_c
from sfumato.examples.alspac import LINEAR_C, PROBIT_A, PROBIT_B
from tests.late import late

sm = late("statsmodels.api")

# Avraam et al. (2018), Table 3, without the three cells that are cut off.
TABLE_3 = {
    (0, 0, 0, 0): 380,
    (0, 0, 0, 1): 181,
    (0, 0, 1, 0): 1691,
    (0, 0, 1, 1): 1308,
    (0, 1, 0, 0): 357,
    (0, 1, 0, 1): 227,
    (0, 1, 1, 0): 758,
    (0, 1, 1, 1): 567,
    (1, 0, 0, 0): 91,
    (1, 0, 0, 1): 61,
    (1, 0, 1, 0): 348,
    (1, 0, 1, 1): 310,
    (1, 1, 0, 0): 133,
}
DRAWS = 150


def probit(frame, outcome, covariates):
    x = sm.add_constant(frame.select(covariates).to_numpy().astype(float))
    return sm.Probit(frame[outcome].to_numpy(), x).fit(disp=0)


def linear(frame, outcome, covariates):
    x = sm.add_constant(frame.select(covariates).to_numpy().astype(float))
    return sm.OLS(frame[outcome].to_numpy(), x).fit()


def test_a_is_the_published_table():
    a = asthma_a()
    counts = {row[:4]: row[4] for row in a.group_by("asthma", "smoke", "breastfed", "mould").len().iter_rows()}
    assert a.height == 6837
    assert {cell: counts[cell] for cell in TABLE_3} == TABLE_3
    assert len(counts) == 16
    # Table 2, to the three decimals printed
    for name, variance in {"asthma": 0.160, "smoke": 0.231, "breastfed": 0.171, "mould": 0.244}.items():
        assert a[name].var() == pytest.approx(variance, abs=5e-4 + 1e-9), name


def test_a_gives_the_published_probit():
    """Table 5, true data, to the three decimals printed; and the constants that go with it."""
    fit = probit(asthma_a(), "asthma", ["smoke", "breastfed", "mould"])
    assert fit.params == pytest.approx([-0.809, 0.124, -0.131, 0.053], abs=5e-4)
    assert fit.bse == pytest.approx([0.043, 0.036, 0.042, 0.035], abs=5e-4)
    assert fit.params == pytest.approx(np.array(PROBIT_A), abs=1e-5)


@pytest.mark.parametrize(
    ("draw", "n", "kinds"),
    [
        (asthma_b, 4975, {"asthma": pl.Int64, "bmi": pl.Float64, "breastfed": pl.Int64}),
        (asthma_c, 5942, {"fev1": pl.Float64, "bmi": pl.Float64, "sex": pl.Int64, "smoke": pl.Int64}),
    ],
)
def test_tables_and_seeds(draw, n, kinds):
    table = draw()
    assert table.schema == pl.Schema({"id": pl.Int64, **kinds})
    assert table["id"].to_list() == list(range(1, n + 1))
    assert table.equals(draw(seed=1))
    assert not table.equals(draw(seed=2))
    for name, dtype in kinds.items():
        if dtype == pl.Int64:
            assert sorted(table[name].unique().to_list()) == [0, 1]


def check(figures, truth, names):
    """The mean over draws is the truth, up to four standard errors and half a unit of the last printed figure."""
    mean, error = np.mean(figures, axis=0), np.std(figures, axis=0, ddof=1) / np.sqrt(len(figures))
    for name, m, e, t, rounding in zip(names, mean, error, *zip(*truth, strict=True), strict=True):
        assert abs(m - t) < 4 * e + rounding, name


def test_b_has_the_published_moments():
    """Table 2; mean and skewness of BMI as set. The skewness of 4,975 draws is biased by a few hundredths."""
    figures = [
        (b["asthma"].var(), b["bmi"].mean(), b["bmi"].var(), stats.skew(b["bmi"]), b["breastfed"].var())
        for b in (asthma_b(seed) for seed in range(DRAWS))
    ]
    truth = [(0.109, 5e-4), (17.2, 0), (5.512, 0), (1.3, 0.03), (0.151, 5e-4)]
    check(figures, truth, ["asthma", "mean", "variance", "skewness", "breastfed"])
    assert np.mean([b["breastfed"].mean() for b in (asthma_b(s) for s in range(5))]) > 0.5


def test_c_has_the_published_moments():
    figures = [
        (
            c["fev1"].var(),
            c["bmi"].mean(),
            c["bmi"].var(),
            stats.skew(c["bmi"]),
            c["sex"].var(),
            c["smoke"].var(),
            np.corrcoef(c["bmi"], c["sex"])[0, 1],
            np.corrcoef(c["smoke"], c["sex"])[0, 1],
        )
        for c in (asthma_c(seed) for seed in range(DRAWS))
    ]
    truth = [(0.069, 0), (17.2, 0), (5.828, 0), (1.3, 0.03), (0.25, 1e-4), (0.248, 0), (-0.078, 0), (0, 0)]
    check(figures, truth, ["fev1", "mean", "variance", "skewness", "sex", "smoke", "bmi with sex", "smoke with sex"])


def test_models_come_back():
    """Unbiased: the mean of estimates over draws is the coefficient (Tables 7 and 9)."""
    b = [probit(asthma_b(seed), "asthma", ["bmi", "breastfed"]).params for seed in range(40)]
    check(b, [(v, 0) for v in PROBIT_B], ["constant", "bmi", "breastfed"])
    c = [linear(asthma_c(seed), "fev1", ["bmi", "sex", "smoke"]).params for seed in range(40)]
    check(c, [(v, 0) for v in LINEAR_C], ["constant", "bmi", "sex", "smoke"])
    assert PROBIT_B == (-1.261, 0.010, -0.078)
    assert LINEAR_C == (1.139, 0.029, 0.105, -0.005)


def test_standard_errors_are_those_of_the_paper():
    """Tables 7 and 9, true data: 10% for the draw of the data, and half a unit of the last printed figure."""
    b = np.mean([probit(asthma_b(s), "asthma", ["bmi", "breastfed"]).bse for s in range(10)], axis=0)
    for got, printed in zip(b, (0.174, 0.010, 0.058), strict=True):
        assert abs(got - printed) < 0.1 * printed + 5e-4
    c = np.mean([linear(asthma_c(s), "fev1", ["bmi", "sex", "smoke"]).bse for s in range(10)], axis=0)
    for got, printed in zip(c, (0.024, 0.001, 0.007, 0.007), strict=True):
        assert abs(got - printed) < 0.1 * printed + 5e-4
