"""Stand-ins for three data sets on childhood asthma that are not public.

Avraam, Boyd, Goldstein and Burton (2018) show probabilistic anonymisation on children of the Avon Longitudinal Study of
Parents and Children (ALSPAC). Of data set A they print all that there is to know: it has four binary variables, and
here are its counts. Of B and C they print sizes, variances and regressions, and records are drawn that have these;
nobody in them exists. What is not published is set so that the printed figures come out: the mean and the skewness of
the body mass index, and its correlation with sex.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["LINEAR_C", "PROBIT_A", "PROBIT_B", "asthma_a", "asthma_b", "asthma_c"]

PROBIT_A = (-0.80918, 0.12402, -0.13128, 0.05292)
"""Probit model of asthma on data set A: constant, smoke, breastfed, mould. An estimate: the data are all of them."""
PROBIT_B = (-1.261, 0.010, -0.078)
"""Probit model of asthma that data set B is drawn from: constant, BMI, breastfed."""
LINEAR_C = (1.139, 0.029, 0.105, -0.005)
"""Linear model of FEV1 (litres) that data set C is drawn from: constant, BMI, sex, smoke."""

# Children by smoke, breastfed, mould (000, 001, … 111): without asthma, then with it. Table 3 prints all cells but
# three; these are the only counts for those that give all estimates, standard errors and variances of the paper.
_COUNTS_A = (380, 181, 1691, 1308, 357, 227, 758, 567, 91, 61, 348, 310, 133, 66, 200, 159)

_N_B, _N_C = 4975, 5942
_BMI_MEAN, _BMI_SKEWNESS = 17.2, 1.3
_BMI_VARIANCE_B, _BMI_VARIANCE_C = 5.512, 5.828
_BREASTFED_VARIANCE, _SMOKE_VARIANCE, _SEX_VARIANCE = 0.151, 0.248, 0.250
_FEV1_VARIANCE, _BMI_WITH_SEX = 0.069, -0.078
_DECIMALS = 6
"""Digits that are kept of what is drawn: the last ones of a float hang on the processor, and with them all noise."""

Floats = NDArray[np.float64]


def asthma_a() -> pl.DataFrame:
    """Give data set A: asthma, passive smoke, breast feeding and mould of 6,837 children, as counts that are published.

    Returns
    -------
    polars.DataFrame
        Columns `id` (1 … 6837), `asthma`, `smoke`, `breastfed` and `mould` (0 or 1), sorted by the last four.

    References
    ----------
    Avraam, D., Boyd, A., Goldstein, H. and Burton, P. (2018). A software package for the application of probabilistic
    anonymisation to sensitive individual-level data. Longitudinal and Life Course Studies 9(4), 433-446, Table 3.
    doi:10.14301/llcs.v9i4.478.

    Examples
    --------
    >>> asthma_a().group_by("smoke").len().sort("smoke")["len"].to_list()
    [4370, 2467]
    """
    cell = np.repeat(np.arange(len(_COUNTS_A)), _COUNTS_A)
    names = ("asthma", "smoke", "breastfed", "mould")
    return _frame({name: (cell >> (3 - j)) & 1 for j, name in enumerate(names)})


def asthma_b(seed: int = 1) -> pl.DataFrame:
    """Draw records like those of data set B: asthma, body mass index and breast feeding of 4,975 children.

    BMI is shifted lognormal with mean 17.2, variance 5.512 and skewness 1.3; breast feeding has variance .151 and no
    relation with it; asthma follows the probit model `PROBIT_B`.

    Parameters
    ----------
    seed
        Seed of the generator (NumPy's PCG64); the same seed gives the same table.

    Returns
    -------
    polars.DataFrame
        Columns `id` (1 … 4975), `asthma` (0 or 1), `bmi` (kg/m²) and `breastfed` (0 or 1).

    References
    ----------
    Avraam et al. (2018), doi:10.14301/llcs.v9i4.478, Tables 2 and 7.

    Examples
    --------
    >>> asthma_b().columns, asthma_b().height
    (['id', 'asthma', 'bmi', 'breastfed'], 4975)
    """
    from scipy.special import ndtr

    rng = np.random.Generator(np.random.PCG64(seed))
    bmi = _shifted_lognormal(rng.standard_normal(_N_B), _BMI_MEAN, _BMI_VARIANCE_B, _BMI_SKEWNESS)
    breastfed = (rng.random(_N_B) < 1 - _rarer(_BREASTFED_VARIANCE)).astype(np.int64)
    constant, of_bmi, of_breastfed = PROBIT_B
    bmi = np.round(bmi, _DECIMALS)
    asthma = (rng.random(_N_B) < ndtr(constant + of_bmi * bmi + of_breastfed * breastfed)).astype(np.int64)
    return _frame({"asthma": asthma, "bmi": bmi, "breastfed": breastfed})


def asthma_c(seed: int = 1) -> pl.DataFrame:
    """Draw records like those of data set C: lung function, body mass index, sex and smoking for 5,942 children.

    BMI is shifted lognormal within each sex, with skewness 1.3, variance 5.828 over both and correlation −.078 with
    sex; sex and smoke have variances .250 and .248 and no relation with each other; FEV1 follows the linear model
    `LINEAR_C` with normal errors, so that its variance is .069.

    Parameters
    ----------
    seed
        Seed of the generator (NumPy's PCG64); the same seed gives the same table.

    Returns
    -------
    polars.DataFrame
        Columns `id` (1 … 5942), `fev1` (forced expiratory volume in one second, litres), `bmi` (kg/m²), `sex` and
        `smoke` (0 or 1).

    References
    ----------
    Avraam et al. (2018), doi:10.14301/llcs.v9i4.478, Tables 2 and 9.

    Examples
    --------
    >>> asthma_c().columns, asthma_c().height
    (['id', 'fev1', 'bmi', 'sex', 'smoke'], 5942)
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    sex = (rng.random(_N_C) < 1 - _rarer(_SEX_VARIANCE)).astype(np.int64)
    smoke = (rng.random(_N_C) < _rarer(_SMOKE_VARIANCE)).astype(np.int64)
    covariance = _BMI_WITH_SEX * np.sqrt(_BMI_VARIANCE_C * _SEX_VARIANCE)
    within = _BMI_VARIANCE_C - covariance**2 / _SEX_VARIANCE
    bmi = _shifted_lognormal(rng.standard_normal(_N_C), _BMI_MEAN, within, _BMI_SKEWNESS)
    bmi += covariance / _SEX_VARIANCE * (sex - 0.5)
    constant, of_bmi, of_sex, of_smoke = LINEAR_C
    explained = of_bmi**2 * _BMI_VARIANCE_C + of_sex**2 * _SEX_VARIANCE + of_smoke**2 * _SMOKE_VARIANCE
    explained += 2 * of_bmi * of_sex * covariance
    error = np.sqrt(_FEV1_VARIANCE - explained) * rng.standard_normal(_N_C)
    fev1 = constant + of_bmi * bmi + of_sex * sex + of_smoke * smoke + error
    amounts = {"fev1": np.round(fev1, _DECIMALS), "bmi": np.round(bmi, _DECIMALS)}
    return _frame(amounts | {"sex": sex, "smoke": smoke})


def _frame(columns: dict[str, NDArray[np.int64] | Floats]) -> pl.DataFrame:
    n = len(next(iter(columns.values())))
    return pl.DataFrame({"id": np.arange(1, n + 1), **columns})


def _rarer(variance: float) -> float:
    """Probability, at most one half, of a binary variable with this variance."""
    return float((1 - np.sqrt(1 - 4 * variance)) / 2)


def _shifted_lognormal(normal: Floats, mean: float, variance: float, skewness: float) -> Floats:
    """Turn standard normal draws into shifted lognormal ones with these moments, shape (n,).

    With w = exp(σ²) the skewness is (w + 2)√(w − 1); squared, that is a cubic in w with one real root.
    """
    root = np.cbrt(1 + skewness**2 / 2 + skewness * np.sqrt(1 + skewness**2 / 4))
    w = root + 1 / root - 1
    scale = np.sqrt(variance / (w * (w - 1)))
    return np.asarray(mean + scale * (np.exp(np.sqrt(np.log(w)) * normal) - np.sqrt(w)))
