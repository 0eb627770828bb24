"""A covariate of a model: its values, or how they were released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.codebook import Codebook, Scalar
from sfumato.data.design import level_codes
from sfumato.data.disclosure import Coarsened
from sfumato.data.error_model import Additive, Misclassified
from sfumato.inference.covariates.grids import Grid

__all__ = ["Covariate", "ErrorPart", "category_codes", "level_text", "some_records"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ErrorPart = Additive | Misclassified | Coarsened


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
    scores, scale
        Where the model of the covariates sees the number on another scale: its value there for each record, shape
        (n,), and what takes values there back to numbers. None where it sees the number itself.
    griddings
        What makes `grids`, which only likelihoods need.
    released
        Numbers that tell released values apart, shape (n,), where `values` are levels nearest to them; else None.
    matrices
        Of exchanged categories the probabilities of each released level for each true one, (L, L), for each of `parts`.
    """

    name: str
    levels: tuple[str, ...]
    values: Floats
    support: Floats | None = None
    table: Floats | None = None
    variance: Floats | None = None
    parts: list[tuple[ErrorPart, Bools]] = field(default_factory=list)
    griddings: list[Callable[[], list[Grid]]] = field(default_factory=list)
    scores: Floats | None = None
    scale: Callable[[Floats], Floats] | None = None
    released: Floats | None = None
    matrices: list[Floats] = field(default_factory=list)

    @cached_property
    def grids(self) -> list[Grid]:
        """Possible true values of the records whose noise is not plain normal, or of which an interval was released.

        Raises
        ------
        DataError
            Where the noise has no likelihood here.
        """
        return [grid for make in self.griddings for grid in make()]

    @property
    def key(self) -> Floats:
        """Numbers that tell released values apart, shape (n,)."""
        return self.values if self.released is None else self.released

    @property
    def latent(self) -> Floats:
        """What was released, on the scale of the model of the covariates, shape (n,)."""
        return self.values if self.scores is None else self.scores

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


def some_records(covariate: Covariate, rows: NDArray[np.int64]) -> Covariate:
    """A covariate of some records in which it has a value; exact where nothing but gaps hid it.

    Examples
    --------
    >>> some_records(Covariate("x", (), np.array([1.0, np.nan]), variance=np.zeros(2)), np.array([0])).exact
    True
    """
    if not covariate.parts:
        return Covariate(covariate.name, covariate.levels, covariate.values[rows])

    def taken(values: Floats | None) -> Floats | None:
        return None if values is None else values[rows]

    kept = [k for k, (_, told) in enumerate(covariate.parts) if told[rows].any()]
    return replace(
        covariate,
        values=covariate.values[rows],
        table=taken(covariate.table),
        variance=taken(covariate.variance),
        scores=taken(covariate.scores),
        released=taken(covariate.released),
        parts=[(covariate.parts[k][0], covariate.parts[k][1][rows]) for k in kept],
        matrices=[covariate.matrices[k] for k in kept] if covariate.matrices else [],
        griddings=[],
    )


def level_text(value: Scalar) -> str:
    """A level as text; whole numbers are written alike whether they came as integer or float.

    Examples
    --------
    >>> level_text(2.0)
    '2'
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def category_codes(frame: pl.DataFrame, codebook: Codebook, name: str, levels: tuple[str, ...]) -> Floats:
    """Number each category by its place among `levels`, as floats with NaN where missing, shape (n,).

    Examples
    --------
    >>> category_codes(pl.DataFrame({"sex": ["m", None, "f"]}), Codebook(), "sex", ("f", "m")).tolist()
    [1.0, nan, 0.0]
    """
    missing = frame.select(codebook.missing(name, frame.schema[name])).to_series()
    out = np.full(frame.height, np.nan)
    out[~missing.to_numpy()] = level_codes(frame.filter(~missing), codebook, name, levels)
    return out
