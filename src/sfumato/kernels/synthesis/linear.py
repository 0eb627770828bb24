"""Linear regression of normal scores, and draws from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import chdtri, ndtri

from sfumato.kernels.synthesis.design import root_of
from sfumato.kernels.synthesis.scores import Scores

__all__ = ["Line", "fit_line"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A linear model of normal scores. Confidential: it holds true values.

    Parameters
    ----------
    scores
        Of the response.
    slopes : ndarray of float64, shape (p,)
        Of columns with mean 0 and variance 1.
    root : ndarray of float64, shape (p, p)
        Lower triangle L with LLᵀ = XᵀX.
    rss
        Sum of squared residuals.
    n, df
        Rows, and degrees of freedom of the residuals.
    """

    scores: Scores
    slopes: Floats
    root: Floats
    rss: float
    n: int
    df: int

    def many(self) -> int:
        """How many draws its parameters need."""
        return len(self.slopes) + 2

    def draw(self, X: Floats, u: Floats, parameters: Floats | None = None, *, smooth: bool = False) -> Floats:
        """Draw numbers.

        Parameters
        ----------
        X : ndarray of float64, shape (k, p)
            Columns, scaled as those of the fit.
        u : ndarray of float64, shape (k,)
            Uniform draws between 0 and 1, one for each number.
        parameters : ndarray of float64, shape (p + 2,), optional
            Uniform draws for the parameters: the variance from a scaled inverse χ², then the mean and the slopes from
            a normal, as their posterior under a flat prior is. None: parameters as they were fitted.
        smooth
            Whether numbers between the true ones are drawn.
        """
        slopes, mean, variance = self.slopes, 0.0, self.rss / self.df
        if parameters is not None:
            # chdtri turns the upper tail: u and 1 − u are as good
            variance = self.rss / float(chdtri(self.df, parameters[0]))
            normal = ndtri(parameters[1:])
            mean = float(normal[0]) * np.sqrt(variance / self.n)
            slopes = slopes + np.sqrt(variance) * _solved(self.root, normal[1:])
        explained = float(np.sum((self.root.T @ slopes) ** 2)) / self.n
        kept = self.scores.kept
        left = max(variance / kept - explained * (1 - kept) / kept**2, 0.0)
        z = mean + X @ (slopes / kept) + np.sqrt(left) * ndtri(u)
        return self.scores.back(z, smooth=smooth)


def fit_line(X: Floats, y: Floats) -> Line:
    """Regress the normal scores of numbers on columns, by least squares.

    Parameters
    ----------
    X : ndarray of float64, shape (n, p)
        Columns of mean 0 and variance 1 that are not determined by one another, p < n.
    y : ndarray of float64, shape (n,)
        Numbers.

    Notes
    -----
    Numbers that are equal share the mean of their scores, of which a share k of the variance stays. The slopes of such
    means are too small by the factor k, and the variance around them is that of the whole scores less what the right
    slopes explain: with s² the variance of the residuals and e what was explained, s²/k − e (1 − k)/k².

    References
    ----------
    Rubin (1987), Multiple Imputation for Nonresponse in Surveys, doi:10.1002/9780470316696, pp. 166-167.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 50)
    >>> line = fit_line(x[:, None] / x.std(), np.exp(x))
    >>> line.slopes.round(1).tolist()
    [1.0]
    """
    n, p = X.shape
    scores = Scores(y)
    z = scores.of(y)
    root = root_of(X.T @ X)
    slopes = _solved(root, solve_triangular(root, X.T @ z, lower=True)) if p else np.zeros(0)
    df = max(n - p - 1, 1)
    return Line(scores, slopes, root, float(np.sum((z - X @ slopes) ** 2)), n, df)


def _solved(root: Floats, right: Floats) -> Floats:
    """Solve Lᵀx = right."""
    return np.asarray(solve_triangular(root, right, lower=True, trans="T")) if len(right) else np.zeros(0)
