"""A stand-in for the biomedical survey of a birth cohort that is not public.

The variables, their moments and the four strata are those of the National Child Development Study as far as they are
published or plausible; every record is drawn at random and describes nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from sfumato.errors import DataError
from sfumato.kernels.sampling.vale_maurelli import vale_maurelli

__all__ = ["COLUMNS", "STRATA", "Stratum", "ncds_like", "stratum_sizes"]

COLUMNS = ("glucose", "hdl", "height", "weight")
"""The continuous variables: glucose and HDL cholesterol in mmol/l, height in cm, weight in kg."""
_PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))


@dataclass(frozen=True, slots=True)
class Stratum:
    """The population of one stratum; moments in the order of `COLUMNS`.

    Parameters
    ----------
    sex, smoker
        Labels.
    share
        Share of the population.
    mean, sd, skewness, kurtosis
        Moments of each variable; excess kurtosis.
    correlation
        Of glucose with HDL, height and weight, of HDL with height and weight, of height with weight.
    """

    sex: str
    smoker: str
    share: float
    mean: tuple[float, ...]
    sd: tuple[float, ...]
    skewness: tuple[float, ...]
    kurtosis: tuple[float, ...]
    correlation: tuple[float, ...]

    def matrix(self) -> np.ndarray:
        """The correlation matrix, shape (4, 4)."""
        full = np.eye(len(COLUMNS))
        for (j, k), r in zip(_PAIRS, self.correlation, strict=True):
            full[j, k] = full[k, j] = r
        return full


_MEN = ((2.0, 0.70, 0.02, 0.60), (8.0, 0.90, 0.05, 0.90))
_WOMEN = ((2.2, 0.60, 0.05, 1.00), (10.0, 0.70, 0.10, 1.60))

STRATA = (
    Stratum(
        "male",
        "no",
        0.406,
        (4.669, 1.43, 176.4, 86.0),
        (0.710, 0.34, 6.6, 13.2),
        *_MEN,
        (-0.173, -0.045, 0.171, 0.02, -0.33, 0.42),
    ),
    Stratum(
        "male",
        "yes",
        0.092,
        (4.779, 1.37, 175.2, 83.0),
        (0.712, 0.36, 6.6, 13.8),
        *_MEN,
        (-0.182, -0.041, 0.181, 0.02, -0.33, 0.42),
    ),
    Stratum(
        "female",
        "no",
        0.386,
        (4.536, 1.71, 162.8, 71.2),
        (0.717, 0.40, 6.2, 14.2),
        *_WOMEN,
        (-0.206, -0.061, 0.210, 0.06, -0.36, 0.30),
    ),
    Stratum(
        "female",
        "yes",
        0.116,
        (4.660, 1.60, 162.1, 69.2),
        (0.717, 0.42, 6.2, 13.6),
        *_WOMEN,
        (-0.209, -0.064, 0.204, 0.06, -0.36, 0.30),
    ),
)
"""The four strata of the population."""


def stratum_sizes(n: int) -> tuple[int, ...]:
    """How many of `n` records each of `STRATA` has: rounded half up, what is left over goes to the largest.

    Examples
    --------
    >>> stratum_sizes(500)
    (203, 46, 193, 58)
    """
    sizes = [int(np.floor(n * s.share + 0.5)) for s in STRATA]
    sizes[int(np.argmax([s.share for s in STRATA]))] += n - sum(sizes)
    return tuple(sizes)


def ncds_like(n: int, seed: int = 1) -> pl.DataFrame:
    """Draw a table like the biomedical survey of the 1958 British birth cohort.

    All of it is invented, so an ordinary random generator with a public seed is right here; what protects real data is
    drawn by `sfumato.draws`.

    Parameters
    ----------
    n
        Number of records, 1 or more.
    seed
        Seed of the generator (NumPy's PCG64); the same seed gives the same table.

    Returns
    -------
    polars.DataFrame
        Columns `id` (1 … n), `sex` (male, female), `smoker` (yes, no), `glucose`, `hdl`, `height`, `weight`; one
        stratum after another.

    Raises
    ------
    DataError
        Where n is below 1.

    References
    ----------
    Power, C. and Elliott, J. (2006). Cohort profile: 1958 British birth cohort (National Child Development Study).
    International Journal of Epidemiology 35, 34-41. doi:10.1093/ije/dyi183.

    Examples
    --------
    >>> ncds_like(500).group_by("sex", "smoker").len().sort("len")["len"].to_list()
    [46, 58, 193, 203]
    """
    if n < 1:
        raise DataError(f"`n` is {n}; it must be 1 or more.")
    rng = np.random.Generator(np.random.PCG64(seed))
    sizes = stratum_sizes(n)
    values = np.concatenate([_draw(stratum, size, rng) for stratum, size in zip(STRATA, sizes, strict=True)])
    columns: dict[str, object] = {"id": np.arange(1, n + 1)}
    columns["sex"] = np.repeat([s.sex for s in STRATA], sizes)
    columns["smoker"] = np.repeat([s.smoker for s in STRATA], sizes)
    return pl.DataFrame(columns | {name: values[:, j] for j, name in enumerate(COLUMNS)})


def _draw(stratum: Stratum, size: int, rng: np.random.Generator) -> np.ndarray:
    normals = rng.standard_normal((size, len(COLUMNS)))
    mean, sd = np.array(stratum.mean), np.array(stratum.sd)
    skewness, kurtosis = np.array(stratum.skewness), np.array(stratum.kurtosis)
    return vale_maurelli(normals, mean, sd, skewness, kurtosis, stratum.matrix())
