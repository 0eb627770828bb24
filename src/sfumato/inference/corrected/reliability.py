"""How reliable each column of a model is: the squared correlation of what was released with what is true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.inference.corrected.hidden import Categories, HiddenColumns
from sfumato.inference.problem import Problem
from sfumato.kernels.corrected.design import Design

__all__ = ["reliability_of"]

Floats = NDArray[np.float64]


def reliability_of(problem: Problem, hidden: HiddenColumns) -> Floats:
    """Estimate the squared correlation of each column's released and true values, from unbiased moments.

    Of numbers with additive noise, and of products, it is the share of the released variance that is true.

    Parameters
    ----------
    problem
        The model with its data.
    hidden
        Its hidden columns.

    Returns
    -------
    ndarray, shape (p,)
        NaN for the constant.
    """
    constant = np.array([not parts for parts in problem.columns.parts])
    out = np.where(constant, np.nan, 1.0)
    design = hidden.design
    if design is None:
        return out
    share = problem.weight / problem.weight.sum()
    naive = problem.naive_design()
    by_name = {c.name: c for c in hidden.categories}
    for j in np.flatnonzero(design.hidden[:-1]).tolist():
        spread = float(share @ (naive[:, j] - share @ naive[:, j]) ** 2)
        mean, square = _moments(design, j, share)
        true, together = square - mean**2, square - mean**2
        parts = problem.columns.parts[j]
        if len(parts) == 1 and parts[0][0] in by_name:
            together = _together(by_name[parts[0][0]], parts[0][1], share)
        squared = together**2 / (true * spread) if true > 0 and spread > 0 else np.nan
        out[j] = min(squared, 1.0)
    return out


def _moments(design: Design, j: int, share: Floats) -> tuple[float, float]:
    """Mean of a true column, and of its square."""
    levels = [told[[j]] for told in design.levels]
    own = replace(design, exact=design.exact[:, [j]], powers=design.powers[[j]], levels=levels)
    return float(share @ own.columns()[:, 0]), float(own.total(share)[0, 0])


def _together(category: Categories, level: int | None, share: Floats) -> float:
    """Covariance of a released and a true column of one category, or number of few values."""
    if category.indicators is None or category.seen is None:
        return np.nan
    shares = share @ category.indicators
    true = category.support if level is None else np.eye(len(category.support))[level]
    seen = category.seen[:, 0 if level is None else 1 + level]
    return float(shares @ (true * seen) - (shares @ true) * (shares @ seen))
