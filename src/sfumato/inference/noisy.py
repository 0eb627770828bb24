"""Covariates of numbers that noise was added to, or that were set to a bound or rounded."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.error_model import Additive
from sfumato.data.pair import numbers
from sfumato.errors import DataError
from sfumato.inference.covariate import Covariate, ErrorPart, level_text
from sfumato.inference.grids import Grid, interval_grids
from sfumato.kernels.quadrature import true_value_nodes
from sfumato.kernels.released import Law, released_table

__all__ = ["read_noisy"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ENOUGH, _CERTAIN = 20, 30
"""Records from which on a column can be seen not to fit, and expected ones with visible noise that must not lack."""
_VISIBLE = 0.1
"""Noise below this share of the distance between true values may be lost in digits."""
_KURTOSIS = 5.0
"""Largest variance of a squared standardised value among the laws of noise, that of Laplace's."""


def read_noisy(
    frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool, told: list[tuple[ErrorPart, Bools]]
) -> Covariate:
    """Read a number that noise was added to, or that was set to a bound or rounded.

    Parameters
    ----------
    frame, codebook
        The released table.
    name
        The column.
    factor
        Whether it stands in C().
    told
        What was disclosed of it, each with the records that it speaks of.

    Raises
    ------
    DataError
        Where the noise has no likelihood here, or does not fit the column.

    Examples
    --------
    >>> told = [(Additive(("x",), [[0.5]]), np.ones(3, dtype=bool))]
    >>> read_noisy(pl.DataFrame({"x": [0.0, 2.0, 5.0]}), Codebook(), "x", False, told).variance.tolist()
    [0.5, 0.5, 0.5]
    """
    additive = [(p, rows) for p, rows in told if isinstance(p, Additive)]
    values = numbers(frame, [name], codebook)[:, 0]
    supports = {p.values.get(name) for p, _ in additive}
    if len(supports) > 1:
        raise DataError(f"The disclosure gives {name!r} different sets of true values. Give one.")
    support = supports.pop()
    covariate = Covariate(name, (), values, None if support is None else np.array(support), parts=told)
    if support is None:
        _continuous(covariate, additive)
        if factor:
            raise DataError(
                f"{name!r} stands in C(), and its disclosure does not say which values it can take. Give `values`."
            )
        return covariate
    if factor:
        covariate.levels = tuple(map(level_text, support))
    covariate.table = _additive_table(name, values, np.array(support), additive)
    if factor:  # codes of levels in place of numbers
        covariate.released = values
        nearest = np.abs(values[:, None] - covariate.support).argmin(axis=1).astype(float)
        covariate.values = np.where(np.isnan(values), np.nan, nearest)
        covariate.support = np.arange(float(len(support)))
    return covariate


def _law(part: Additive, name: str) -> Law:
    low, high = part.bounds.get(name, (None, None))
    return Law(
        part.distribution,
        -math.inf if low is None else low,
        math.inf if high is None else high,
        part.rounded.get(name, 0.0),
    )


def _additive_table(name: str, z: Floats, support: Floats, told: list[tuple[Additive, Bools]]) -> Floats:
    table = released_table(z, support, np.zeros(len(support)), Law())
    counted = np.zeros(len(z), dtype=int)
    for part, rows in told:
        sd = np.full(len(support), part.sd[part.columns.index(name)])
        if name in part.grows:
            sd = sd * part.grows[name].factor(support)
        law = _law(part, name)
        _refuse_misfit(name, z[rows & ~np.isnan(z)], support, sd, law)
        table[rows] = released_table(z[rows], support, sd, law)
        counted += rows
    if counted.max() > 1:
        raise DataError(f"Noise was added to {name!r} more than once; a column of known values takes one such step.")
    return table


def _refuse_misfit(name: str, z: Floats, support: Floats, sd: Floats, law: Law) -> None:
    """Refuse values that cannot have got their noise as disclosed; `sd` is that at each value of the support."""
    if len(z) < _ENOUGH or sd.min() < _VISIBLE * np.diff(support).min(initial=math.inf):
        return
    ends = np.array([[law.low], [law.high]])
    with np.errstate(divide="ignore", invalid="ignore"):
        at_bounds = np.where(np.isfinite(ends), np.exp(law.log_density(ends, support, sd)), 0.0).sum(axis=0)
    if not law.rounded and len(z) * (1 - at_bounds.max()) > _CERTAIN and np.isin(z, support).all():
        raise DataError(
            f"The disclosure says that noise was added to {name!r}, but the column holds nothing but true values. The "
            "disclosure is not that of this table."
        )
    if np.isfinite(ends).any() or np.ptp(sd) > 0:
        return
    noise, total = float(sd[0]) ** 2 + law.rounded**2 / 12, float(z.var())
    slack = 1 + 6 * math.sqrt(_KURTOSIS / len(z))
    if total * slack < noise:
        raise DataError(
            f"The noise on {name!r} is larger than all the variation that the column shows. The disclosure is not that "
            "of this table."
        )
    if total > (noise + np.ptp(support) ** 2 / 4) * slack:
        raise DataError(
            f"The values of {name!r} spread further than the disclosed noise and the true values allow. The disclosure "
            "is not that of this table."
        )


def _continuous(covariate: Covariate, told: list[tuple[Additive, Bools]]) -> None:
    """Variance of the noise on each value, or nodes where it is not plain normal."""
    name, z = covariate.name, covariate.values
    variance = np.zeros(len(z))
    known, counted = ~np.isnan(z), np.zeros(len(z), dtype=int)
    for part, rows in told:
        strength = part.covariance[part.columns.index(name)][part.columns.index(name)]
        counted += rows
        if _plain_noise(part, name):
            variance[rows] += strength
        else:
            _add_grids(covariate, part, rows & known)
    if covariate.grids and counted.max() > 1:
        raise DataError(f"Noise that is not plain normal was added to {name!r} together with other noise; it stays in.")
    bounded = any(part.bounds for part, _ in told)
    if known.any() and not bounded and np.var(z[known]) <= np.mean(variance[known]):
        raise DataError(
            f"The noise on {name!r} is larger than all the variation that the column shows. Either the disclosure is "
            "not that of this table, or nothing can be learned from the column."
        )
    covariate.variance = variance


def _plain_noise(part: Additive, name: str) -> bool:
    named = name in part.grows or name in part.bounds or name in part.rounded
    return part.distribution == "gaussian" and not named


def _add_grids(covariate: Covariate, part: Additive, rows: Bools) -> None:
    """Grids for the records that one part speaks of; values that were only bounded are exact within the bounds."""
    name, z = covariate.name, covariate.values
    j = part.columns.index(name)
    sd, law = float(part.sd[j]), _law(part, name)
    if any(part.covariance[j][i] for i in range(len(part.columns)) if i != j):
        raise DataError(
            f"The noise on {name!r} is correlated with that on other columns, and grows, is bounded or rounded; such "
            "noise cannot be taken out. Use method `naive`."
        )
    if sd == 0 and not law.rounded:
        rows = rows & ((z <= law.low) | (z >= law.high))
    at, spread = np.flatnonzero(rows), float(np.nanstd(z))
    if not len(at) or spread == 0:
        return
    if sd == 0:
        low, high = law.interval(z[at])
        covariate.grids += interval_grids(at, low, high, float(np.nanmean(z)), spread)
        return
    growth = part.grows[name].factor if name in part.grows else None
    covariate.grids.append(Grid(at, *true_value_nodes(z[at], sd, law, spread, growth)))
