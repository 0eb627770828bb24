"""What is known of each covariate of a model: its values, or what the disclosure says of how they were released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.design import find_levels, is_factor
from sfumato.data.disclosure import Averaged, Coarsened, Disclosure
from sfumato.data.error_model import Additive, Misclassified
from sfumato.data.formula import Formula
from sfumato.data.pair import numbers
from sfumato.errors import DataError, FormulaError
from sfumato.inference.covariates.band_scores import band_scores
from sfumato.inference.covariates.bands import in_bands, read_bands
from sfumato.inference.covariates.covariate import Covariate, ErrorPart, category_codes, level_text
from sfumato.inference.covariates.grids import interval_grids
from sfumato.inference.covariates.misclassified import read_misclassified
from sfumato.inference.covariates.noisy import read_noisy
from sfumato.kernels.likelihood.released import Law, released_table

__all__ = ["error_parts", "read_covariate", "strata_notes", "stratum_rows", "told_rows", "which_are_factors"]

Bools = NDArray[np.bool_]

FEW = 10
"""A number that is missing for some counts as discrete where it takes at most this many values."""


def which_are_factors(frame: pl.DataFrame, codebook: Codebook, formula: Formula, parts: Disclosure) -> dict[str, bool]:
    """For each covariate, whether it is a factor.

    Numbers that noise was added to or that were recoded to bands, and columns of 0 and 1 alone, are numbers unless they
    stand in C().

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
    either = [n for n in said if in_bands(parts, n) or not is_factor(n, frame.schema[n], codebook)]
    both = [n for n in either if len(said[n]) > 1]
    if both:
        raise FormulaError(f"{', '.join(both)} stands both with and without C(). Write it one way throughout.")
    return {n: True in s or _is_category(frame, codebook, n, parts) for n, s in said.items()}


def _is_category(frame: pl.DataFrame, codebook: Codebook, name: str, parts: Disclosure) -> bool:
    dtype = frame.schema[name]
    if not is_factor(name, dtype, codebook) or in_bands(parts, name):
        return False
    if not dtype.is_numeric():
        return True
    if any(isinstance(p, Additive) for p in parts.of(name)):
        return False
    return find_levels(frame, codebook, name) not in (("0", "1"), ("0",), ("1",))


def error_parts(disclosure: Disclosure, column: str) -> list[ErrorPart]:
    """The parts of a disclosure that state how a column's values came to be released, in their order.

    Values that were set to a bound or rounded are released with noise of variance zero. Where something was then done
    to them that may lead beyond the bound, they are taken for the true ones, see `blurred_later`.

    Examples
    --------
    >>> len(error_parts(Disclosure([Additive(("a",), [[1.0]])]), "a"))
    1
    """
    found: list[ErrorPart] = []
    covered = blurred_later(disclosure, column)
    for part in disclosure.of(column):
        if isinstance(part, Coarsened):
            if part in covered:
                continue
            bounds, rounded = ({n: v for n, v in told.items() if n == column} for told in (part.bounds, part.rounded))
            if bounds or rounded:
                found.append(Additive((column,), [[0.0]], bounds=bounds, rounded=rounded))
            found += [part] if part.bands else []
        elif isinstance(part, Additive | Misclassified):
            found.append(part)
    return found


def blurred_later(disclosure: Disclosure, column: str) -> list[Coarsened]:
    """Bounds and rounding of a column to which noise was added afterwards, or which was averaged.

    Examples
    --------
    >>> top = Coarsened(("a",), bounds={"a": (None, 9.0)})
    >>> blurred_later(Disclosure([top, Additive(("a",), [[1.0]])]), "a") == [top]
    True
    """
    parts = disclosure.of(column)
    last = max((i for i, p in enumerate(parts) if isinstance(p, Additive | Misclassified | Averaged)), default=-1)
    return [p for p in parts[: last + 1] if isinstance(p, Coarsened) and (p.bounds or p.rounded) and not p.bands]


def stratum_rows(frame: pl.DataFrame, where: Mapping[str, Scalar | None]) -> Bools:
    """The rows of a table that a part of a disclosure speaks of, shape (n,).

    Files may hold a value in another type than the one that was disclosed: a number as text, true as 1.

    Raises
    ------
    DataError
        Where the table lacks a column that the stratum is told by.

    Examples
    --------
    >>> stratum_rows(pl.DataFrame({"sex": ["m", "f"]}), {"sex": "f"}).tolist()
    [False, True]
    >>> stratum_rows(pl.DataFrame({"ward": [1.0, 2.0]}), {"ward": "2"}).tolist()
    [False, True]
    """
    rows = np.ones(frame.height, dtype=bool)
    for name, value in where.items():
        if name not in frame.columns:
            raise DataError(
                f"The disclosure speaks of strata of {name!r}, a column that the table does not have. Give the table "
                "as it was released."
            )
        rows &= frame.select(_is_value(name, frame.schema[name], value).fill_null(False)).to_series().to_numpy()
    return rows


def _is_value(name: str, dtype: pl.DataType, value: Scalar | None) -> pl.Expr:
    """Whether a column holds a value: numbers by size, true as 1, texts by letters."""
    column = pl.col(name)
    if value is None:
        return column.is_null() | column.is_nan() if dtype.is_float() else column.is_null()
    if dtype.is_numeric() or dtype == pl.Boolean:
        number = _as_number(value)
        return pl.lit(False) if number is None else column.cast(pl.Float64) == number
    if dtype.is_nested():
        return pl.lit(False)
    text = column.cast(pl.String)
    if isinstance(value, bool):
        return text.str.to_lowercase().is_in([str(value).lower(), str(int(value))])
    return text == level_text(value)


def _as_number(value: Scalar) -> float | None:
    text = str(value).strip().lower()
    try:
        return {"true": 1.0, "false": 0.0}[text] if text in ("true", "false") else float(text)
    except ValueError:
        return None


def told_rows(
    frame: pl.DataFrame, codebook: Codebook, name: str, parts: Sequence[ErrorPart]
) -> list[tuple[ErrorPart, Bools]]:
    """Each part of what was disclosed of a column, with the records that it speaks of.

    Raises
    ------
    DataError
        Where a stratum that the disclosure speaks of has no record, and records with a value are in no stratum: then
        it is that of another table, or the strata were recoded since.

    Examples
    --------
    >>> table, part = pl.DataFrame({"x": [0.1, 0.4], "sex": ["m", "f"]}), Additive(("x",), [[0.1]], where={"sex": "f"})
    >>> [rows.tolist() for _, rows in told_rows(table, Codebook(), "x", [part])]
    [[False, True]]
    """
    told = [(p, stratum_rows(frame, _where(p))) for p in parts]
    found = _outside(frame, codebook, name, parts)
    if found is not None and any(_where(p) and not rows.any() for p, rows in told):
        raise DataError(
            f"The disclosure of {name!r} speaks of strata of {', '.join(found)} that no record is in, and other "
            "records are in none of its strata. Give the table as it was released, or leave out parts that speak of no "
            "record."
        )
    return told


def strata_notes(
    frame: pl.DataFrame, codebook: Codebook, disclosure: Disclosure, columns: Sequence[str]
) -> tuple[str, ...]:
    """What to say of columns that a disclosure speaks of by stratum where some records are in no such stratum.

    Examples
    --------
    >>> table = pl.DataFrame({"x": [0.1, 0.4], "sex": ["m", "f"]})
    >>> told = Disclosure([Additive(("x",), [[0.1]], where={"sex": "f"})])
    >>> len(strata_notes(table, Codebook(), told, ["x", "sex"]))
    1
    """
    notes = []
    for name in dict.fromkeys(columns):
        parts = error_parts(disclosure, name)
        keys = _outside(frame, codebook, name, parts)
        if keys is not None:
            rest = f"their values of {name} are taken for exact"
            if not all(_where(p) for p in parts):
                rest = f"only what is said of all records is taken out of their values of {name}"
            notes.append(
                f"The disclosure speaks of strata of {', '.join(keys)}; some records are in none of them, and {rest}."
            )
    return tuple(notes)


def _where(part: ErrorPart) -> Mapping[str, Scalar | None]:
    return {} if isinstance(part, Coarsened) else part.where


def _outside(frame: pl.DataFrame, codebook: Codebook, name: str, parts: Sequence[ErrorPart]) -> list[str] | None:
    """Columns that the strata of a column are told by, where some records with a value are in none; else None."""
    keys = list(dict.fromkeys(key for p in parts for key in _where(p)))
    if not keys:
        return None
    strata = frame.filter(~codebook.missing(name, frame.schema[name])).select(keys).unique()
    told = [stratum_rows(strata, _where(p)) for p in parts if _where(p)]
    return None if np.any(told, axis=0).all() else keys


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
    bands = [p for p in parts if isinstance(p, Coarsened)]
    if bands and not factor:
        return _banded(frame, codebook, name, parts)
    every = told_rows(frame, codebook, name, [p for p in parts if not isinstance(p, Coarsened)])
    told: list[tuple[ErrorPart, Bools]] = [(p, r) for p, r in every if _does_something(p, name) and r.any()]
    silent = [r for p, r in every if not _does_something(p, name)]
    if any((r & other).any() for r in silent for _, other in told):
        raise DataError(
            f"The disclosure says of {name!r} both that it has noise and that it has none. Give one part, or strata "
            "that do not overlap."
        )
    if any(isinstance(p, Misclassified) for p, _ in told):
        return read_misclassified(frame, codebook, name, factor, told)
    if told:
        return read_noisy(frame, codebook, name, factor, told)
    return _exact(frame, codebook, name, factor)


def _banded(frame: pl.DataFrame, codebook: Codebook, name: str, parts: Sequence[ErrorPart]) -> Covariate:
    """A number of which a band was released."""
    part = parts[0]
    if len(parts) > 1 or not isinstance(part, Coarsened):
        raise DataError(
            f"{name!r} was recoded to bands and changed in another way as well, which has no likelihood here as a "
            f"number. Write C({name}), which takes the bands for categories."
        )
    found = read_bands(frame, codebook, name, part)
    known = np.flatnonzero(~np.isnan(found.middle))
    every = np.ones(frame.height, dtype=bool)
    ends, which, counts = np.unique(
        np.column_stack([found.low, found.high])[known], axis=0, return_inverse=True, return_counts=True
    )
    if len(ends) < 2 or not np.isfinite(ends).all(axis=1).any():
        raise DataError(
            f"All records with a value in {name!r} lie in one band, or in bands without both ends. Write C({name}) in "
            "the formula, which takes the bands for categories, or leave it out."
        )
    scores = band_scores(list(map(tuple, ends)), counts.tolist())
    covariate = Covariate(name, (), found.middle, variance=np.zeros(frame.height), parts=[(part, every)])
    covariate.scores, covariate.scale = np.full(frame.height, np.nan), scores.values
    low, high = scores.low[which.ravel()], scores.high[which.ravel()]
    covariate.scores[known] = ndtri((ndtr(low) + ndtr(high)) / 2)
    covariate.griddings = [lambda: interval_grids(known, low, high, 0.0, 1.0)]
    return covariate


def _does_something(part: ErrorPart, name: str) -> bool:
    if not isinstance(part, Additive):
        return True
    j = part.columns.index(name)
    bounded = name in part.bounds or name in part.rounded
    return part.covariance[j][j] > 0 or bounded


def _exact(frame: pl.DataFrame, codebook: Codebook, name: str, factor: bool) -> Covariate:
    """An exact column; where some values are missing it is hidden, without noise on those that are there."""
    if factor:
        levels = find_levels(frame, codebook, name)
        support, values = np.arange(float(len(levels))), category_codes(frame, codebook, name, levels)
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
