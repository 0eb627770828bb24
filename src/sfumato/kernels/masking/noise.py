"""Noise of a stated distribution and covariance, made of uniform draws."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distribution", "factor", "nearest_correlation", "shaped", "standard"]

Distribution = Literal["gaussian", "laplace", "uniform"]
Floats = NDArray[np.float64]


def standard(u: Floats, distribution: Distribution) -> Floats:
    """Turn uniform draws into draws with mean 0 and variance 1, by the inverse distribution function.

    Parameters
    ----------
    u
        Uniform draws in the open interval (0, 1), shape (n,).
    distribution
        `gaussian`, `laplace` (heavier tails) or `uniform` (bounded by √3).

    Returns
    -------
    ndarray, shape (n,)

    Examples
    --------
    >>> standard(np.array([0.5, 0.975]), "gaussian").round(2).tolist()
    [0.0, 1.96]
    """
    if distribution == "gaussian":
        from scipy.special import ndtri

        return np.asarray(ndtri(u))
    middle = u - 0.5
    if distribution == "uniform":
        return np.asarray(middle * np.sqrt(12.0))
    return np.asarray(-np.sign(middle) * np.log1p(-2 * np.abs(middle)) / np.sqrt(2.0))


def factor(covariance: Floats) -> Floats:
    """Lower triangle L with L L' = covariance, shape (p, p); the matrix may be singular.

    A pivot below 1e-12 of its diagonal counts as zero. Unlike eigenvectors, L has no free sign, so that the same draws
    give the same noise on every machine.

    Examples
    --------
    >>> factor(np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 0.0], [1.0, 0.0]]
    """
    p = len(covariance)
    lower = np.zeros((p, p))
    for j in range(p):
        pivot = covariance[j, j] - lower[j, :j] @ lower[j, :j]
        if pivot <= 1e-12 * covariance[j, j]:
            continue
        lower[j, j] = np.sqrt(pivot)
        lower[j + 1 :, j] = (covariance[j + 1 :, j] - lower[j + 1 :, :j] @ lower[j, :j]) / lower[j, j]
    return lower


def nearest_correlation(correlation: Floats, least: float = 0.0) -> Floats:
    """Shrink a correlation matrix towards the identity until its smallest eigenvalue is `least`, shape (p, p).

    With `least` = 0 a rounded matrix becomes positive semi-definite again; a little more leaves no combination of
    columns without noise.

    Examples
    --------
    >>> nearest_correlation(np.array([[1.0, 0.3], [0.3, 1.0]])).tolist()
    [[1.0, 0.3], [0.3, 1.0]]
    """
    smallest = float(np.linalg.eigvalsh(correlation).min())
    if smallest >= least:
        return correlation
    keep = (1 - least - 1e-12) / (1 - smallest)
    return keep * correlation + (1 - keep) * np.eye(len(correlation))


def shaped(e: Floats, covariance: Floats) -> Floats:
    """Give independent draws with variance 1 a covariance, shape (n, p).

    Each column of independent noise is only scaled, so that it keeps its distribution.

    Parameters
    ----------
    e
        Draws with mean 0 and variance 1, shape (n, p).
    covariance
        Shape (p, p).

    Examples
    --------
    >>> shaped(np.array([[1.0, 1.0]]), np.array([[4.0, 2.0], [2.0, 1.0]])).tolist()
    [[2.0, 1.0]]
    """
    diagonal = np.diagonal(covariance)
    if np.any(covariance - np.diag(diagonal)):
        return np.asarray(e @ factor(covariance).T)
    return e * np.sqrt(diagonal)
