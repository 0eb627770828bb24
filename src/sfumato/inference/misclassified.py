"""Covariates whose categories were exchanged at random (PRAM)."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook
from sfumato.data.design import find_levels
from sfumato.data.error_model import Additive, Misclassified
from sfumato.errors import DataError
from sfumato.inference.covariate import Covariate, ErrorPart, category_codes, level_text

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
    named = [tuple(map(level_text, p.levels)) for p, _ in told if isinstance(p, Misclassified) and p.levels is not None]
    levels = named[0] if named else here
    for part, _ in told:
        wrong = set(here) - set(levels) or (isinstance(part, Misclassified) and len(part.matrix) != len(levels))
        if wrong or any(set(other) != set(levels) for other in named):
            raise DataError(
                f"The categories of {name!r} are not those of its disclosed matrix. Give the table as it was released."
            )
    codes = category_codes(frame, codebook, name, levels)
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
