"""Disclosed randomness: what was added, how values were exchanged, in the form that an analysis can undo.

These are the parts of a disclosure that have a likelihood. A part tells a distribution, never a draw and never the
secret that draws are keyed with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from sfumato.data.codebook import Scalar
from sfumato.data.plain_errors import plain_errors
from sfumato.errors import DataError
from sfumato.kernels.grid import COARSEST

__all__ = ["Additive", "Growth", "Misclassified", "covariance_problem", "transition_problem"]

Bounds = tuple[float | None, float | None]
Where = dict[str, Scalar | None]

_TOLERANCE = 1e-9


class ErrorModel(BaseModel):
    """A part of a disclosure that states a distribution."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, /, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            told = "; ".join(": ".join([*map(str, path[-1:]), said]) for path, said in plain_errors(error, given))
            raise DataError(f"{type(self).__name__}: {told}.") from None


class Growth(BaseModel):
    """How noise grows away from the centre, so that outliers are hidden as well as the rest.

    The standard deviation of the noise is multiplied by max(1, |x − centre| / (scale · beyond)), x the true value.

    Parameters
    ----------
    centre, scale
        Median, and interquartile range / 1.349, of the true values, rounded to 3 significant digits.
    beyond
        Robust distance from which on noise grows.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    centre: float
    scale: float = Field(gt=0)
    beyond: float = Field(gt=0)

    def factor(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the standard deviation is multiplied by at true values x, shape (n,)."""
        return np.maximum(1.0, np.abs(x - self.centre) / (self.scale * self.beyond))


class Additive(ErrorModel):
    """Noise of mean zero and known covariance was added: z = x + e.

    Parameters
    ----------
    columns
        The columns.
    covariance
        Covariance of the noise, shape (p, p), in the columns' units squared; rows and columns as in `columns`.
    clipped
        Whether released values outside `bounds` were set to the bound; without `bounds` those are 0 and 1.
    values
        Values that the true variable can take, by column, or one tuple for all columns; a column without is continuous.
    distribution
        Of each column's noise; `laplace` and `uniform` are independent between columns.
    bounds
        Lowest and highest released value by column, null for an open side.
    rounded
        Multiple that released values were then rounded to, by column.
    draw_by
        `household`: all records of a household share the draw, so that differences within it are as they were but for
        rounding. `person`: the value is the same in all records of a person, and drawn once.
    where
        The stratum that the part speaks of: value by column; without it, all records.
    grows
        How noise grows away from the centre, by column.
    indicators_of
        The categorical variable whose indicators the columns are.

    Raises
    ------
    DataError
        Where the covariance is not a symmetric positive semi-definite matrix that fits the columns.

    Examples
    --------
    >>> Additive(("smoke",), [[0.2]], values=(0, 1)).sd.round(3).tolist()
    [0.447]
    """

    what: Literal["additive"] = "additive"
    columns: tuple[str, ...] = Field(min_length=1)
    covariance: tuple[tuple[float, ...], ...]
    clipped: bool = False
    values: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    distribution: Literal["gaussian", "laplace", "uniform"] = "gaussian"
    bounds: dict[str, Bounds] = Field(default_factory=dict)
    rounded: dict[str, float] = Field(default_factory=dict)
    draw_by: Literal["record", "person", "household"] = "record"
    where: Where = Field(default_factory=dict)
    grows: dict[str, Growth] = Field(default_factory=dict)
    indicators_of: str | None = None

    def __init__(
        self,
        columns: Sequence[str] = (),
        covariance: ArrayLike = (),
        clipped: bool = False,
        values: Mapping[str, Sequence[float]] | Sequence[float] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(
            columns=tuple(columns), covariance=_rows(covariance), clipped=clipped, values=values or {}, **more
        )

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, given: Any) -> Any:
        """One tuple of `values` is for all columns; clipping without bounds is to [0, 1] and of 0/1 variables."""
        columns = tuple(given.get("columns", ()))
        values = given.get("values") or {}
        values = dict(values) if isinstance(values, Mapping) else dict.fromkeys(columns, tuple(values))
        bounds = dict(given.get("bounds") or {})
        if given.get("clipped") and not bounds:
            bounds = dict.fromkeys(columns, (0.0, 1.0))
            values = {**dict.fromkeys(columns, (0.0, 1.0)), **values}
        return {**given, "values": values, "bounds": bounds, "clipped": bool(bounds)}

    @field_validator("values")
    @classmethod
    def _sorted(cls, values: dict[str, tuple[float, ...]]) -> dict[str, tuple[float, ...]]:
        return {n: tuple(sorted(set(v))) for n, v in values.items()}

    @model_validator(mode="after")
    def _fits(self) -> Additive:
        p = len(self.columns)
        if len(set(self.columns)) < p:
            raise ValueError("a column may stand only once among columns")
        if len(self.covariance) != p or any(len(row) != p for row in self.covariance):
            raise ValueError(f"covariance must have one row and one column for each of the {p} columns")
        if problem := covariance_problem(np.array(self.covariance)):
            raise ValueError(problem)
        if any(low is not None and high is not None and low > high for low, high in self.bounds.values()):
            raise ValueError("bounds are [low, high], with low not above high")
        if any(not step > 0 for step in self.rounded.values()):
            raise ValueError("rounded takes positive multiples")
        named = {*self.values, *self.bounds, *self.rounded, *self.grows}
        if unknown := sorted(named - set(self.columns)):
            raise ValueError(f"values, bounds, rounded or grows name {', '.join(unknown)}, not among columns")
        return self

    @property
    def matrix(self) -> NDArray[np.float64]:
        """The covariance as an array, shape (p, p)."""
        return np.array(self.covariance, dtype=np.float64)

    @property
    def sd(self) -> NDArray[np.float64]:
        """Standard deviation of each column's noise, shape (p,)."""
        return np.sqrt(np.diagonal(self.matrix))

    @property
    def coarse(self) -> tuple[str, ...]:
        """Columns whose rounding is more than a fifth of the noise's standard deviation, so that it counts by itself.

        Examples
        --------
        >>> Additive(("age", "pay"), [[4.0, 0.0], [0.0, 4.0]], rounded={"age": 0.1, "pay": 10}).coarse
        ('pay',)
        """
        sd = dict(zip(self.columns, self.sd, strict=True))
        return tuple(n for n, g in self.rounded.items() if g > COARSEST * sd[n] * (1 + _TOLERANCE))

    @property
    def smooth(self) -> Additive:
        """The same with fine rounding counted as a little more noise, which is what it comes to.

        Rounding to multiples g of normal values with noise of variance sd² leaves values with noise of about
        sd² + g²/12 (Sheppard's correction); up to g = sd/5 estimates differ by less than .005 standard errors. Where
        noise grows, is not normal, or values were set to a bound, rounding stays as it is told.

        Examples
        --------
        >>> Additive(("age",), [[4.0]], rounded={"age": 0.12}).smooth == Additive(("age",), [[4.0012]])
        True
        """
        fine = [n for n in self.rounded if n not in {*self.bounds, *self.grows, *self.coarse}]
        if self.distribution != "gaussian" or not fine:
            return self
        covariance = self.matrix
        for n in fine:
            j = self.columns.index(n)
            covariance[j, j] += self.rounded[n] ** 2 / 12
        coarse = {n: g for n, g in self.rounded.items() if n not in fine}
        return self.model_copy(update={"covariance": _rows(covariance), "rounded": coarse})

    def of(self, column: str) -> Additive:
        """What it says of one column alone."""
        j = self.columns.index(column)
        own = {
            k: {column: v[column]}
            for k in ("values", "bounds", "rounded", "grows")
            if column in (v := getattr(self, k))
        }
        empty: dict[str, Any] = {"values": {}, "bounds": {}, "rounded": {}, "grows": {}}
        cut = {"columns": (column,), "covariance": ((self.covariance[j][j],),), "clipped": "bounds" in own}
        return self.model_copy(update={**empty, **own, **cut})

    def sentence(self) -> str:
        """The disclosure in words."""
        kind = {"gaussian": "normal", "laplace": "Laplace", "uniform": "uniform"}[self.distribution]
        each = ", ".join(f"{n} (sd {s:.3g})" for n, s in zip(self.columns, self.sd, strict=True))
        each = ", ".join(self.columns) if self.where else each
        text = f"{each}: {kind} noise with mean zero was added"
        if self.where:
            text += f", its strength set within each combination of {', '.join(self.where)}"
        if np.any(self.matrix - np.diag(np.diagonal(self.matrix))):
            text += ", correlated between the columns"
        if self.draw_by != "record":
            text += f", the same for all of a {self.draw_by}"
        if self.indicators_of:
            text += f", to indicators of the categories of {self.indicators_of}"
        for n, growth in self.grows.items():
            text += f"; for {n} it grows beyond {growth.beyond:g} robust sds from the centre"
        if self.bounds:
            text += f"; values of {', '.join(self.bounds)} outside stated bounds were then set to the bound"
        if self.rounded:
            steps = ", ".join(f"{n} to multiples of {g:g}" for n, g in self.rounded.items())
            text += f"; then values were rounded, {steps}"
        return text + "."


class Misclassified(ErrorModel):
    """Categories were exchanged at random with known probabilities (PRAM, the post-randomisation method).

    Parameters
    ----------
    column
        The column.
    matrix
        Probability of each released category for each true one, shape (L, L); a row is a true value and sums to 1.
    levels
        The categories, sorted, as the rows and columns have them; None: the sorted values of the data.
    where
        The stratum that the part speaks of: value by column; without it, all records.
    draw_by
        `household`, `person`: all records of a household, or of a person, share the draw.

    Raises
    ------
    DataError
        Where the matrix is not square, has a negative entry, or a row does not sum to 1.

    References
    ----------
    Gouweleeuw, Kooiman, Willenborg and de Wolf (1998), Journal of Official Statistics 14, 463-478.

    Examples
    --------
    >>> Misclassified("smoke", [[0.9, 0.1], [0.2, 0.8]]).columns
    ('smoke',)
    """

    what: Literal["misclassified"] = "misclassified"
    column: str
    matrix: tuple[tuple[float, ...], ...] = Field(min_length=1)
    levels: tuple[Scalar, ...] | None = None
    where: Where = Field(default_factory=dict)
    draw_by: Literal["record", "person", "household"] = "record"

    def __init__(
        self, column: str = "", matrix: ArrayLike = (), levels: Sequence[Scalar] | None = None, **more: Any
    ) -> None:
        super().__init__(column=column, matrix=_rows(matrix), levels=None if levels is None else tuple(levels), **more)

    @model_validator(mode="after")
    def _fits(self) -> Misclassified:
        if problem := transition_problem(self.matrix):
            raise ValueError(problem)
        if self.levels is not None and len(set(self.levels)) != len(self.matrix):
            raise ValueError("levels must name each row of the matrix once")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The column, as every part of a disclosure has it."""
        return (self.column,)

    @property
    def array(self) -> NDArray[np.float64]:
        """The matrix as an array, shape (L, L)."""
        return np.array(self.matrix, dtype=np.float64)

    def sentence(self) -> str:
        """The disclosure in words."""
        text = f"{self.column}: categories were exchanged at random"
        kept = np.diagonal(self.array)
        if self.where:
            text += f", with probabilities set within each combination of {', '.join(self.where)}"
        elif f"{kept.min():.0%}" == f"{kept.max():.0%}":
            text += f"; each stays with probability {kept.min():.0%}"
        else:
            text += f"; each stays with a probability between {kept.min():.0%} and {kept.max():.0%}"
        if self.draw_by != "record":
            text += f", the same draw for all of a {self.draw_by}"
        return text + "."


def _rows(matrix: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """A matrix as nested tuples of plain numbers."""
    try:
        rows = [[float(v) for v in row] for row in matrix]  # type: ignore[union-attr, arg-type]
    except (TypeError, ValueError):
        raise DataError("A matrix is a list of rows, each a list of numbers.") from None
    return tuple(tuple(row) for row in rows)


def covariance_problem(matrix: NDArray[np.float64]) -> str | None:
    """Why a matrix cannot be the covariance of noise; None where it can."""
    if np.any(np.diagonal(matrix) < 0):
        return "a variance of noise must not be negative"
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.any(np.abs(matrix - matrix.T) > _TOLERANCE * size):
        return "covariance must be symmetric"
    if np.linalg.eigvalsh(matrix).min(initial=0.0) < -_TOLERANCE * size * len(matrix):
        return "covariance must be positive semi-definite: no correlation may be beyond -1 and 1, nor any of several"
    return None


def transition_problem(matrix: Sequence[Sequence[float]]) -> str | None:
    """Why rows cannot hold transition probabilities; None where they can."""
    if any(len(row) != len(matrix) for row in matrix):
        return "matrix must be square: a row and a column for each category"
    numbers = np.array(matrix, dtype=np.float64)
    if np.any(numbers < 0) or np.any(numbers > 1):
        return "matrix holds probabilities, from 0 to 1"
    if np.any(np.abs(numbers.sum(axis=1) - 1) > 1e-6):
        return "each row of matrix must sum to 1"
    return None
