"""What is known of each covariate of a model: its values, or what the disclosure says of how they were released."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.design import find_levels, is_factor, level_codes
from sfumato.data.disclosure import Disclosure
from sfumato.data.error_model import Additive, Misclassified
from sfumato.data.formula import Formula
from sfumato.data.pair import numbers
from sfumato.errors import DataError, FormulaError
from sfumato.kernels.quadrature import NODES, true_value_nodes
from sfumato.kernels.released import Law, released_table

__all__ = ["Covariate", "ErrorPart", "error_parts", "level_text", "read_covariate", "stratum_rows", "which_are_factors"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ErrorPart = Additive | Misclassified

FEW = 10
"""A number that is missing for some counts as discrete where it takes at most this many values."""


@dataclass
class Covariate:
    """One variable of the model's right side.

    Parameters
    ----------
    name
        The column.
    levels
        Levels as text where it is a factor, the reference first; empty where it is a number.
    values
        What was released, shape (n,): numbers, or codes of levels as numbers; NaN where missing.
    support
        Values that the true variable can take, shape (L,): numbers, or 0 … L − 1 for levels; None where continuous.
    table
        Log-density of what was released given each of `support`, shape (n, L); None where it is exact or continuous.
    variance
        Of the noise on each record's value where it is continuous, shape (n,); None where it is exact or discrete.
    parts
        What the disclosure says of its noise, with the rows that each part speaks of.
    nodes, log_weights
        Possible true values where noise is not plain normal, and the logarithm of their weights, shape (n, NODES); NaN
        in rows whose value is missing or exact. None where there is no such noise.
    released
        Numbers that tell released values apart, shape (n,), where `values` are levels nearest to them; else None.
    """

    name: str
    levels: tuple[str, ...]
    values: Floats
    support: Floats | None = None
    table: Floats | None = None
    variance: Floats | None = None
    parts: list[tuple[ErrorPart, Bools]] = field(default_factory=list)
    nodes: Floats | None = None
    log_weights: Floats | None = None
    released: Floats | None = None

    @property
    def key(self) -> Floats:
        """Numbers that tell released values apart, shape (n,)."""
        return self.values if self.released is None else self.released

    @property
    def exact(self) -> bool:
        """Whether its true values are all there."""
        return self.table is None and self.variance is None

    @property
    def naive(self) -> Floats:
        """The released values as they would be used without thought: for a factor, the nearest level."""
        if self.levels and self.support is not None:
            return np.clip(np.round(self.values), 0, len(self.levels) - 1)
        return self.values


def which_are_factors(frame: pl.DataFrame, codebook: Codebook, formula: Formula, parts: Disclosure) -> dict[str, bool]:
    """For each covariate, whether it is a factor.

    Numbers that noise was added to, and columns of 0 and 1 alone, are numbers unless they stand in C().

    Raises
    ------
    FormulaError
        Where one stands both with and without C().

    Examples
    --------
    >>> from sfumato.data.formula import parse_formula
    >>> table = pl.DataFrame({"y": [0, 1], "sex": ["m", "f"], "age": [1, 2]})
    >>> which_are_factors(table, Codebook(), parse_formula("y ~ sex + age"), Disclosure())
    {'sex': True, 'age': False}
    """
    said: dict[str, set[bool]] = {}
    for term in formula.terms:
        for factor in term:
            said.setdefault(factor.name, set()).add(factor.categorical)
    both = [n for n, s in said.items() if len(s) > 1 and not is_factor(n, frame.schema[n], codebook)]
    if both:
        raise FormulaError(f"{', '.join(both)} stands both with and without C(). Write it one way throughout.")
    return {n: True in s or _is_category(frame, codebook, n, parts) for n, s in said.items()}


def _is_category(frame: pl.DataFrame, codebook: Codebook, name: str, parts: Disclosure) -> bool:
    dtype = frame.schema[name]
    if not is_factor(name, dtype, codebook):
        return False
    if not dtype.is_numeric():
        return True
    if any(isinstance(p, Additive) for p in parts.of(name)):
        return False
    return find_levels(frame, codebook, name) not in (("0", "1"), ("0",), ("1",))


def error_parts(disclosure: Disclosure, column: str) -> list[ErrorPart]:
    """The parts of a disclosure that state how a column's values were drawn anew, in their order.

    Examples
    --------
    >>> len(error_parts(Disclosure([Additive(("a",), [[1.0]])]), "a"))
    1
    """
    return [p for p in disclosure.of(column) if isinstance(p, Additive | Misclassified)]


def level_text(value: Scalar) -> str:
    """A level as text; whole numbers are written alike whether they came as integer or float.

    Examples
    --------
    >>> level_text(2.0)
    '2'
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def stratum_rows(frame: pl.DataFrame, where: Mapping[str, Scalar | None]) -> Bools:
    """The rows of a table that a part of a disclosure speaks of, shape (n,).

    Raises
    ------
    DataError
        Where the table lacks a column that the stratum is told by.

    Examples
    --------
    >>> stratum_rows(pl.DataFrame({"sex": ["m", "f"]}), {"sex": "f"}).tolist()
    [False, True]
    """
    rows = np.ones(frame.height, dtype=bool)
    for name, value in where.items():
        if name not in frame.columns:
            raise DataError(
                f"The disclosure speaks of strata of {name!r}, a column that the table does not have. Give the table "
                "as it was released."
            )
        column = frame[name].cast(pl.String) if isinstance(value, str) else frame[name]
        same = column.is_null() if value is None else (column == value).fill_null(False)
        rows &= same.to_numpy()
    return rows


def read_covariate(
    frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool, parts: Sequence[ErrorPart]
) -> Covariate:
    """Read one covariate with all that is known of its noise.

    Parameters
    ----------
    frame, codebook
        The released table.
    name
        The column.
    factor
        Whether it is a factor.
    parts
        What was disclosed of its noise.

    Raises
    ------
    DataError
        Where nothing is known of the column, or the disclosure does not fit it.

    Examples
    --------
    >>> table = pl.DataFrame({"smoke": [0.2, 1.4]})
    >>> noisy = read_covariate(table, Codebook(), "smoke", False, [Additive(("smoke",), [[0.2]], values=(0, 1))])
    >>> noisy.support.tolist(), noisy.table.shape
    ([0.0, 1.0], (2, 2))
    """
    if frame.select(codebook.missing(name, frame.schema[name]).all()).item():
        raise DataError(f"Column {name!r} has no values at all. Leave it out of the formula.")
    told = [(p, stratum_rows(frame, p.where)) for p in parts]
    told = [(p, rows) for p, rows in told if _does_something(p, name) and rows.any()]
    if any(isinstance(p, Misclassified) for p, _ in told):
        return _misclassified(frame, codebook, name, factor, told)
    if told:
        return _noisy(frame, codebook, name, factor, told)
    return _exact(frame, codebook, name, factor)


def _does_something(part: ErrorPart, name: str) -> bool:
    if isinstance(part, Misclassified):
        return True
    j = part.columns.index(name)
    bounded = name in part.bounds or name in part.rounded
    return part.covariance[j][j] > 0 or bounded


def _exact(frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool) -> Covariate:
    """An exact column; where some values are missing it is hidden, without noise on those that are there."""
    if factor:
        levels = find_levels(frame, codebook, name)
        support, values = np.arange(float(len(levels))), _codes(frame, codebook, name, levels)
    else:
        levels, values = (), numbers(frame, [name], codebook)[:, 0]
        support = np.unique(values[~np.isnan(values)])
    covariate = Covariate(name, levels, values)
    if not np.isnan(values).any():
        return covariate
    if factor or len(support) <= FEW:
        covariate.support = support
        covariate.table = released_table(values, support, np.zeros(len(support)), Law())
    else:
        covariate.variance = np.zeros(len(values))
    return covariate


def _codes(frame: pl.DataFrame, codebook: Codebook, name: str, levels: tuple[str, ...]) -> Floats:
    """Codes of levels as numbers, NaN where missing."""
    missing = frame.select(codebook.missing(name, frame.schema[name])).to_series()
    out = np.full(frame.height, np.nan)
    out[~missing.to_numpy()] = level_codes(frame.filter(~missing), codebook, name, levels)
    return out


def _misclassified(
    frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool, told: list[tuple[ErrorPart, Bools]]
) -> Covariate:
    if any(isinstance(p, Additive) for p, _ in told):
        raise DataError(f"Column {name!r} was both misclassified and given noise; such a column cannot be corrected.")
    here = find_levels(frame, codebook, name)
    named = [tuple(map(level_text, p.levels)) for p, _ in told if isinstance(p, Misclassified) and p.levels is not None]
    levels = named[0] if named else here
    for part, _ in told:
        wrong = set(here) - set(levels) or (isinstance(part, Misclassified) and len(part.matrix) != len(levels))
        if wrong or any(set(other) != set(levels) for other in named):
            raise DataError(
                f"The categories of {name!r} are not those of its disclosed matrix. Give the table as it was released."
            )
    codes = _codes(frame, codebook, name, levels)
    covariate = Covariate(name, levels if factor else (), codes, np.arange(float(len(levels))), parts=told)
    covariate.table = _transition_table(codes, levels, told)
    if not factor:
        covariate.support = _as_numbers(name, levels)
        covariate.values = np.where(np.isnan(codes), np.nan, covariate.support[np.nan_to_num(codes).astype(int)])
    return covariate


def _as_numbers(name: str, levels: tuple[str, ...]) -> Floats:
    try:
        return np.array([float(level) for level in levels])
    except ValueError:
        raise DataError(f"The categories of {name!r} are no numbers. Write C({name}) in the formula.") from None


def _transition_table(codes: Floats, levels: tuple[str, ...], told: list[tuple[ErrorPart, Bools]]) -> Floats:
    """Log-probability of each released category under each true one: matrices of several steps multiply."""
    missing = np.isnan(codes)
    place = np.nan_to_num(codes).astype(int)
    steps = np.broadcast_to(np.eye(len(levels)), (len(codes), len(levels), len(levels)))
    distinct = np.unique(np.column_stack([rows for _, rows in told]), axis=0)
    table = np.zeros((len(codes), len(levels)))
    for combination in distinct:
        rows = np.all([r == c for (_, r), c in zip(told, combination, strict=True)], axis=0)
        matrix = steps[0]
        for (part, _), applies in zip(told, combination, strict=True):
            if applies and isinstance(part, Misclassified):
                order = [list(map(level_text, part.levels or levels)).index(level) for level in levels]
                matrix = matrix @ part.array[np.ix_(order, order)]
        with np.errstate(divide="ignore"):
            table[rows] = np.log(matrix[:, place[rows]].T)
    table[missing] = 0.0
    return table


def _noisy(
    frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool, told: list[tuple[ErrorPart, Bools]]
) -> Covariate:
    """A number that noise was added to."""
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
        table[rows] = released_table(z[rows], support, sd, _law(part, name))
        counted += rows
    if counted.max() > 1:
        raise DataError(f"Noise was added to {name!r} more than once; a column of known values takes one such step.")
    return table


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
            _add_nodes(covariate, part, rows & known)
    if covariate.nodes is not None and counted.max() > 1:
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


def _add_nodes(covariate: Covariate, part: Additive, rows: Bools) -> None:
    """Nodes for the rows that one part speaks of; values that were only bounded are exact within the bounds."""
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
    if not rows.any():
        return
    if covariate.nodes is None or covariate.log_weights is None:
        covariate.nodes, covariate.log_weights = np.full((2, len(z), NODES), np.nan)
    growth = part.grows[name].factor if name in part.grows else None
    spread = float(np.nanstd(z))
    covariate.nodes[rows], covariate.log_weights[rows] = true_value_nodes(z[rows], sd, law, spread, growth)
