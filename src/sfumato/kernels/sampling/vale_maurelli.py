"""Correlated variables with given means, sds, skewness and kurtosis, made from normal ones (Vale and Maurelli 1983).

Each variable is a cubic in a standard normal, Y = −c + bZ + cZ² + dZ³ (Fleishman 1978); the normals are correlated so
that the cubics have the correlations that were asked for.

References
----------
Fleishman, A. I. (1978). A method for simulating non-normal distributions. Psychometrika 43, 521–532.
doi:10.1007/BF02293811.
Vale, C. D. and Maurelli, V. A. (1983). Simulating multivariate nonnormal distributions. Psychometrika 48, 465–471.
doi:10.1007/BF02293687.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import DataError

__all__ = ["fleishman", "intermediate_correlation", "vale_maurelli"]

Cubic = tuple[float, float, float]
_STEPS = 10
_EXACT = 1e-10  # largest residual of a solved equation


def fleishman(skewness: float, kurtosis: float) -> Cubic:
    """Find the cubic Y = −c + bZ + cZ² + dZ³ with mean 0, variance 1 and the given shape.

    Parameters
    ----------
    skewness
        Third standardised moment.
    kurtosis
        Fourth standardised moment less 3 (excess kurtosis). Cubics reach about −1.226 + 1.641 skewness² and above.

    Returns
    -------
    tuple
        b, c, d.

    Raises
    ------
    DataError
        Where no cubic has this shape.

    Examples
    --------
    >>> b, c, d = fleishman(2.0, 8.0)
    >>> print(f"{b:.5f} {c:.5f} {d:.5f}")
    0.71044 0.23336 0.07226
    """
    from scipy.optimize import root

    def equations(unknown: NDArray[np.float64], third: float, fourth: float) -> list[float]:
        b, c, d = unknown
        return [
            b**2 + 6 * b * d + 2 * c**2 + 15 * d**2 - 1,
            2 * c * (b**2 + 24 * b * d + 105 * d**2 + 2) - third,
            24 * (b * d + c**2 * (1 + b**2 + 28 * b * d) + d**2 * (12 + 48 * b * d + 141 * c**2 + 225 * d**2)) - fourth,
        ]

    # The normal is b, c, d = 1, 0, 0. Walk from it to the wanted shape (every shape on this way can be reached), so
    # that of several solutions it is the one that belongs to the normal.
    found = np.array([1.0, 0.0, 0.0])
    for t in np.linspace(0, 1, _STEPS + 1)[1:]:
        found = root(equations, found, args=(t * skewness, t * t * kurtosis), tol=1e-14).x
    if np.abs(equations(found, skewness, kurtosis)).max() > _EXACT:
        raise DataError(
            f"No cubic of a normal has skewness {skewness} and excess kurtosis {kurtosis}. The kurtosis must be at "
            "least about -1.226 + 1.641 skewness²."
        )
    b, c, d = found
    return float(b), float(c), float(d)


def intermediate_correlation(correlation: float, first: Cubic, second: Cubic) -> float:
    """Find the correlation of two normals whose cubics have the correlation `correlation`.

    Parameters
    ----------
    correlation
        Wanted correlation of the cubics, −1 to 1.
    first, second
        b, c, d of each.

    Returns
    -------
    float
        Between −1 and 1; the root nearest to `correlation`.

    Raises
    ------
    DataError
        Where no correlation of the normals gives it.

    Examples
    --------
    >>> normal = (1.0, 0.0, 0.0)
    >>> round(intermediate_correlation(0.5, normal, normal), 12)
    0.5
    """
    (b1, c1, d1), (b2, c2, d2) = first, second
    roots = np.roots(
        [
            6 * d1 * d2,
            2 * c1 * c2,
            b1 * b2 + 3 * b1 * d2 + 3 * d1 * b2 + 9 * d1 * d2,
            -correlation,
        ]
    )
    real = roots[np.abs(roots.imag) < 1e-9].real
    real = real[np.abs(real) <= 1 + 1e-9].clip(-1, 1)  # 1 itself comes out with a rounding error
    if real.size == 0:
        raise DataError(f"Variables of these shapes cannot have the correlation {correlation}.")
    return float(real[np.abs(real - correlation).argmin()])


def vale_maurelli(
    normals: NDArray[np.float64],
    mean: NDArray[np.float64],
    sd: NDArray[np.float64],
    skewness: NDArray[np.float64],
    kurtosis: NDArray[np.float64],
    correlation: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Turn independent normals into correlated variables with given moments.

    Parameters
    ----------
    normals
        Independent standard normal draws, shape (n, p).
    mean, sd, skewness, kurtosis
        Moments of each variable, shape (p,); excess kurtosis.
    correlation
        Correlation matrix, shape (p, p).

    Returns
    -------
    ndarray, shape (n, p)

    Raises
    ------
    DataError
        Where a shape or the correlations cannot be had together.

    Examples
    --------
    >>> z = np.random.default_rng(1).standard_normal((100_000, 2))
    >>> r = np.array([[1, -0.3], [-0.3, 1]])
    >>> y = vale_maurelli(z, np.array([4.7, 1.4]), np.array([0.7, 0.3]), np.array([2.0, 0.7]), np.array([8.0, 0.9]), r)
    >>> print(f"{np.corrcoef(y.T)[0, 1]:.1f}")
    -0.3
    """
    p = normals.shape[1]
    cubics = [fleishman(float(skewness[j]), float(kurtosis[j])) for j in range(p)]
    rho = np.eye(p)
    for j in range(p):
        for k in range(j):
            rho[j, k] = rho[k, j] = intermediate_correlation(float(correlation[j, k]), cubics[j], cubics[k])
    try:
        lower = np.linalg.cholesky(rho)
    except np.linalg.LinAlgError:
        raise DataError("Variables of these shapes cannot have these correlations together.") from None
    z = normals @ lower.T
    b, c, d = (np.array(part) for part in zip(*cubics, strict=True))
    y = ((d * z + c) * z + b) * z - c
    return np.asarray(mean + sd * y, dtype=np.float64)
