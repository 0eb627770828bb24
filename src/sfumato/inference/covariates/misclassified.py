"""Covariates whose categories were exchanged at random (PRAM)."""

from __future__ import annotations

from functools import reduce

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import find_levels, order_levels
from sfumato.data.error_model import Additive, Misclassified
from sfumato.errors import DataError
from sfumato.inference.covariates.covariate import Covariate, ErrorPart, category_codes, level_text

__all__ = ["read_misclassified"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def read_misclassified(
    frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool, told: list[tuple[ErrorPart, Bools]]
) -> Covariate:
    """Read a column whose categories were exchanged at random.

    Parameters
    ----------
    frame, codebook
        The released table.
    name
        The column.
    factor
        Whether it is a factor; else its categories are numbers.
    told
        What was disclosed of it, in the order of the steps, each with the records that it speaks of.

    Raises
    ------
    DataError
        Where noise was added too, or the matrices do not fit the column.

    Examples
    --------
    >>> table = pl.DataFrame({"sex": ["f", "m"]})
    >>> told = [(Misclassified("sex", [[0.9, 0.1], [0.2, 0.8]]), np.ones(2, dtype=bool))]
    >>> np.exp(read_misclassified(table, Codebook(), "sex", True, told).table).round(2).tolist()
    [[0.9, 0.2], [0.1, 0.8]]
    """
    if any(isinstance(p, Additive) for p, _ in told):
        raise DataError(f"Column {name!r} was both misclassified and given noise; such a column cannot be corrected.")
    here = find_levels(frame, codebook, name)
    parts = [(p, rows) for p, rows in told if isinstance(p, Misclassified)]
    named = [tuple(map(level_text, p.levels)) for p, _ in parts if p.levels is not None]
    levels = order_levels(frame.schema[name], codebook, name, named[0]) if named else here
    wrong = set(here) - set(levels) or any(len(p.matrix) != len(levels) for p, _ in parts)
    if wrong or any(set(other) != set(levels) for other in named):
        raise DataError(
            f"The categories of {name!r} are not those of its disclosed matrix. Give the table as it was released."
        )
    if not factor:
        levels = tuple(sorted(levels, key=lambda level: _as_number(name, level)))
    codes = category_codes(frame, codebook, name, levels)
    covariate = Covariate(name, levels if factor else (), codes, np.arange(float(len(levels))), parts=told)
    matrices = [_in_order(p, frame.schema[name], levels) for p, _ in parts]
    covariate.matrices = matrices
    covariate.table = _transition_table(codes, matrices, [rows for _, rows in parts])
    if not factor:
        covariate.support = np.array([_as_number(name, level) for level in levels])
        covariate.values = np.where(np.isnan(codes), np.nan, covariate.support[np.nan_to_num(codes).astype(int)])
    return covariate


def _as_number(name: str, level: str) -> float:
    try:
        return float(level)
    except ValueError:
        raise DataError(f"The categories of {name!r} are no numbers. Write C({name}) in the formula.") from None


def _in_order(part: Misclassified, dtype: pl.DataType, levels: tuple[str, ...]) -> Floats:
    """The matrix of one step with its rows and columns in the order of the levels, shape (L, L)."""
    if part.levels is not None:
        rows = list(map(level_text, part.levels))
    else:
        rows = sorted(levels, key=float) if dtype.is_numeric() else sorted(levels)
    order = [rows.index(level) for level in levels]
    matrix = part.array[np.ix_(order, order)]
    if part.levels is None and isinstance(dtype, pl.Enum) and np.any(matrix != part.array):
        raise DataError(
            f"The matrix of {part.column!r} does not say which category each of its rows is for, and the column has an "
            "order of its own that is not the alphabetical one. Give `levels`."
        )
    return matrix


def _transition_table(codes: Floats, matrices: list[Floats], told: list[Bools]) -> Floats:
    """Log-probability of each released category under each true one: matrices of several steps multiply."""
    missing = np.isnan(codes)
    place = np.nan_to_num(codes).astype(int)
    table = np.zeros((len(codes), len(matrices[0])))
    for combination in np.unique(np.column_stack(told), axis=0):
        rows = np.all([r == c for r, c in zip(told, combination, strict=True)], axis=0)
        applied = [m for m, applies in zip(matrices, combination, strict=True) if applies]
        matrix = reduce(np.matmul, applied, np.eye(table.shape[1]))
        with np.errstate(divide="ignore"):
            table[rows] = np.log(matrix[:, place[rows]].T)
    table[missing] = 0.0
    return table
