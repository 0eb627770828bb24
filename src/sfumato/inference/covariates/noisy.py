"""Covariates of numbers that noise was added to, or that were set to a bound or rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import order_levels
from sfumato.data.error_model import Additive
from sfumato.data.pair import numbers
from sfumato.errors import DataError
from sfumato.inference.covariates.covariate import Covariate, ErrorPart, level_text
from sfumato.inference.covariates.grids import Grid, interval_grids
from sfumato.kernels.likelihood.censored import censored_moments
from sfumato.kernels.likelihood.quadrature import true_value_nodes
from sfumato.kernels.likelihood.released import Law, released_table

__all__ = ["law_of", "read_noisy", "refuse_misfit"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_ENOUGH, _CERTAIN = 20, 30
"""Records from which on a column can be seen not to fit, and expected ones with visible noise that must not lack."""
_VISIBLE = 0.1
"""Noise below this share of the distance between true values may be lost in digits."""
_SQUARES = {"gaussian": 2.0, "laplace": 5.0, "uniform": 0.8}
"""Variance of a squared standardised value under each law of noise: n of them vary by its root over √n."""
_ERRORS, _FAR = 3.0, 6.0
"""Standard errors of a variance below which it is clearly less, and above which it is clearly more."""
_SHARED = 5
"""Records that may share a draw where households do: so many times fewer draws may there be."""
_MULTIPLE, _DIGITS = 1e-6, float(np.finfo(np.float32).eps)
"""Share of a multiple, and of a value, by which digits that were lost may move it."""


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
    covariate.table = _additive_table(name, values, np.array(support), additive)
    if factor:  # codes of levels in place of numbers
        texts = list(map(level_text, support))
        covariate.levels = order_levels(frame.schema[name], codebook, name, texts)
        order = [texts.index(level) for level in covariate.levels]
        covariate.table, covariate.support = covariate.table[:, order], np.array(support)[order]
        covariate.released = values
        nearest = np.abs(values[:, None] - covariate.support).argmin(axis=1).astype(float)
        covariate.values = np.where(np.isnan(values), np.nan, nearest)
        covariate.support = np.arange(float(len(support)))
    return covariate


def law_of(part: Additive, name: str) -> Law:
    """How a column's values were released, as one part of the disclosure says.

    Examples
    --------
    >>> law_of(Additive(("x",), [[1.0]], bounds={"x": (0.0, None)}), "x").high
    inf
    """
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
        smooth = part.smooth
        sd = np.full(len(support), smooth.sd[part.columns.index(name)])
        if name in part.grows:
            sd = sd * part.grows[name].factor(support)
        _refuse_other_values(name, z[rows & ~np.isnan(z)], support, sd, part)
        table[rows] = released_table(z[rows], support, sd, law_of(smooth, name))
        counted += rows
    if counted.max() > 1:
        raise DataError(f"Noise was added to {name!r} more than once; a column of known values takes one such step.")
    return table


def _refuse_other_values(name: str, z: Floats, support: Floats, sd: Floats, part: Additive) -> None:
    """Refuse values that cannot come from those of `support` with noise of standard deviations `sd`."""
    edge = _refuse_impossible(name, z, law_of(part, name))
    law = law_of(part.smooth, name)
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
    spread = float(z.std(ddof=1))
    if not edge.any() and (spread + law.rounded / 2) ** 2 < float(sd.min()) ** 2 * _least([part], len(z)):
        raise DataError(_too_strong(name))
    if np.isfinite(ends).any() or np.ptp(sd) > 0:
        return
    most = math.sqrt(float(sd[0]) ** 2 + float(np.ptp(support)) ** 2 / 4) + law.rounded / 2
    if spread**2 > most**2 * (1 + _FAR * math.sqrt(max(_SQUARES.values()) / len(z))):
        raise DataError(
            f"The values of {name!r} spread further than the disclosed noise and the true values allow. The disclosure "
            "is not that of this table."
        )


def _too_strong(name: str) -> str:
    return (
        f"The noise on {name!r} is larger than all the variation that the column shows. Either the disclosure is not "
        "that of this table, or nothing can be learned from the column."
    )


def _least(parts: Sequence[Additive], n: float) -> float:
    """Share of the variance of noise that n values with it show at least, but for chance."""
    squares = max(_SQUARES[p.distribution] * (_SHARED if p.draw_by != "record" else 1) for p in parts)
    return 1 - _ERRORS * math.sqrt(squares / n)


def _refuse_impossible(name: str, z: Floats, law: Law) -> Bools:
    """Refuse values beyond the bounds, or that are no multiples; which of the others may have been set to a bound."""
    half, near = law.rounded / 2, _MULTIPLE * law.rounded + _DIGITS * np.abs(z)
    if np.any(z < law.low - half - near) or np.any(z > law.high + half + near):
        raise DataError(
            f"Some values of {name!r} lie beyond the bounds that its disclosure states. Either the disclosure is not "
            "that of this table, or a later step changed them."
        )
    if law.rounded:
        from_multiple = np.abs(z - law.rounded * np.round(z / law.rounded))
        at_bound = (np.abs(z - law.low) <= near) | (np.abs(z - law.high) <= near)
        if np.any((from_multiple > near) & ~at_bound):
            raise DataError(
                f"Some values of {name!r} are no multiples of what its disclosure says they were rounded to. Either "
                "the disclosure is not that of this table, or a later step changed them."
            )
    return np.asarray((z <= law.low + half + near) | (z >= law.high - half - near))


def refuse_misfit(name: str, z: Floats, told: Sequence[tuple[Additive, Bools]]) -> None:
    """Refuse a column of numbers that cannot have been released as disclosed, whatever the true values were.

    Values must lie within the bounds and be multiples, as the last part that speaks of a record says; and they must
    vary as much as the noise alone, but for chance.

    Parameters
    ----------
    name
        The column.
    z
        Released values, shape (n,); NaN where missing.
    told
        What was disclosed of it, in the order of the steps, each with the records that it speaks of.

    Raises
    ------
    DataError
        Where they cannot.

    Examples
    --------
    >>> refuse_misfit("x", np.arange(40.0), [(Additive(("x",), [[25.0]]), np.ones(40, dtype=bool))])
    """
    last, variance, edge = np.full(len(z), -1), np.zeros(len(z)), np.zeros(len(z), dtype=bool)
    for i, (part, rows) in enumerate(told):
        last[rows] = i
        variance[rows] += float(part.sd[part.columns.index(name)]) ** 2
    for i, (part, _) in enumerate(told):
        here = np.flatnonzero((last == i) & ~np.isnan(z))
        edge[here] = _refuse_impossible(name, z[here], law_of(part, name))
    half = max((part.rounded.get(name, 0.0) for part, _ in told), default=0.0) / 2
    known = ~np.isnan(z)
    if _varies_less([part for part, _ in told], z[known], variance[known], edge[known], half):
        raise DataError(_too_strong(name))


def _varies_less(parts: Sequence[Additive], z: Floats, variance: Floats, edge: Bools, half: float) -> bool:
    """Whether records with equal variance of the noise vary less than it, or those of rare variances taken together.

    Rounding by at most `half` changes a standard deviation by no more; where values were set to a bound it is not known
    by how much. Of less than `_ENOUGH` values in all nothing can be learned where they vary less at all.
    """
    if len(z) and (variance == variance[0]).all():
        levels, which, count = variance[:1], np.zeros(len(z), dtype=np.int64), np.array([len(z)])
    else:
        levels, which, count = np.unique(variance, return_inverse=True, return_counts=True)
    mean = np.bincount(which, weights=z) / count
    free = np.maximum(count - 1, 1)
    spread = np.sqrt(np.bincount(which, weights=(z - mean[which]) ** 2) / free) + half
    plain = (levels > 0) & (np.bincount(which, weights=edge) == 0)
    ratio = spread**2 / np.where(plain, levels, 1.0)
    many, few = plain & (count >= _ENOUGH), plain & (count > 1) & (count < _ENOUGH)
    if any(ratio[k] < _least(parts, count[k]) for k in np.flatnonzero(many)):
        return True
    together = int(free[few].sum())
    if not together:
        return False
    least = _least(parts, together) if len(z) >= _ENOUGH else float(plain.all())
    return float(ratio[few] @ free[few]) < together * least


def _continuous(covariate: Covariate, told: list[tuple[Additive, Bools]]) -> None:
    """Variance of the noise on each value, or nodes where it is not plain normal."""
    name, z = covariate.name, covariate.values
    refuse_misfit(name, z, told)
    variance = np.zeros(len(z))
    known, counted = ~np.isnan(z), np.zeros(len(z), dtype=int)
    for given, rows in told:
        part = given.smooth
        strength = part.covariance[part.columns.index(name)][part.columns.index(name)]
        counted += rows
        if _plain_noise(part, name):
            variance[rows] += strength
        else:
            covariate.griddings.append(partial(_grids, name, z, part, rows & known))
    if covariate.griddings and counted.max() > 1:
        covariate.griddings = [partial(_refuse_mixed, name)]
    covariate.variance = variance


def _plain_noise(part: Additive, name: str) -> bool:
    named = name in part.grows or name in part.bounds or name in part.rounded
    return part.distribution == "gaussian" and not named


def _refuse_mixed(name: str) -> list[Grid]:
    raise DataError(
        f"Noise that is not plain normal was added to {name!r} together with other noise, which a likelihood cannot "
        "take out. Use method `corrected` where the family has it, or `naive`."
    )


def _grids(name: str, z: Floats, part: Additive, rows: Bools) -> list[Grid]:
    """Grids for the records that one part speaks of; values that were only bounded are exact within the bounds."""
    j = part.columns.index(name)
    sd, law = float(part.sd[j]), law_of(part, name)
    if any(part.covariance[j][i] for i in range(len(part.columns)) if i != j):
        raise DataError(
            f"The noise on {name!r} is correlated with that on other columns, and grows, is bounded or rounded; such "
            "noise cannot be taken out. Use method `naive`."
        )
    if law.rounded and name not in {*part.coarse, *part.bounds}:  # a little more noise of the same shape
        sd, law = math.hypot(sd, law.rounded / math.sqrt(12)), replace(law, rounded=0.0)
    if sd == 0 and not law.rounded:
        rows = rows & ((z <= law.low) | (z >= law.high))
    at, known = np.flatnonzero(rows), z[~np.isnan(z)]
    centre, spread = censored_moments(known, known <= law.low, known >= law.high)
    if not len(at) or spread == 0:
        return []
    if sd == 0:
        low, high = law.interval(z[at])
        return list(interval_grids(at, low, high, centre, spread))
    growth = part.grows[name].factor if name in part.grows else None
    return [Grid(at, *true_value_nodes(z[at], sd, law, spread, growth))]
