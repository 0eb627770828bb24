"""The parameters of `noise`, with what makes no sense; what each means stands in `Noise`."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from sfumato.data.codebook import Scalar
from sfumato.data.error_model import covariance_problem
from sfumato.kernels.grid import FINEST, noise_step, too_fine
from sfumato.kernels.masking.noise import Distribution
from sfumato.methods.base import DrawBy, Method

__all__ = ["PRESET_SHARE", "Grid", "NoiseParameters", "finer_than_noise"]

PRESET_SHARE = 0.1
"""Share of the variance that `avraam2018` gives to columns without a strength of their own."""

Bounds = tuple[float | None, float | None]
Strength = float | dict[str, float] | None
Grid = Literal["auto", "input"] | float
RoundTo = Grid | dict[str, Grid]


class NoiseParameters(Method):
    """What the stages of `noise` go by, see `Noise`."""

    masks: ClassVar[bool] = True
    passes: ClassVar[int] = 2
    draws_by_id: ClassVar[bool] = True
    draws_error: ClassVar[bool] = True

    do: Literal["noise"] = "noise"
    columns: tuple[str, ...] = Field(min_length=1, max_length=64)
    share: Strength = None
    variance: Strength = None
    sd: Strength = None
    covariance: tuple[tuple[float, ...], ...] | None = None
    correlated: bool = False
    distribution: Distribution = "gaussian"
    clip: bool | dict[str, Bounds] = False
    round_to: RoundTo = "auto"
    by: tuple[str, ...] = ()
    min_stratum: int = Field(default=10, ge=2)
    draw_by: DrawBy = "record"
    missing: Literal["keep", "mean", "median"] = "keep"
    grow: float | None = Field(default=None, gt=0)
    dummies: dict[str, tuple[Scalar, ...]] = Field(default_factory=dict)
    preset: Literal["avraam2018"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, given: Any) -> Any:
        """The preset clips 0/1 columns; the share that it gives to the others is told by `strength`."""
        if not isinstance(given, dict):
            return given
        _refuse_unrounded(given)
        return {"clip": True, **given} if given.get("preset") == "avraam2018" else given

    @property
    def later_passes(self) -> int:
        """One, for covariances of values whose gaps are filled in first."""
        return int(self.correlated)

    @model_validator(mode="after")
    def _sane(self) -> NoiseParameters:
        if len({*self.columns, *self.by}) < len(self.columns) + len(self.by):
            raise ValueError("a column may stand only once among columns and by")
        self._check_strengths()
        self._check_together()
        self._check_by_column()
        return self

    @property
    def amounts(self) -> tuple[str, ...]:
        """The columns that stay numbers."""
        return tuple(n for n in self.columns if n not in self.dummies)

    @property
    def learns(self) -> bool:
        """Whether the strength of the noise follows from how the values vary."""
        given = self.covariance is not None
        of_share = not given and any(self.strength(n)[0] == "share" for n in self.columns)
        return self.correlated or self.grow is not None or of_share

    @model_validator(mode="after")
    def _nothing_idle(self) -> NoiseParameters:
        """Strata, where nothing is learned in them."""
        self.refuse_idle({} if self.learns else {"by": "`share`, `correlated` or `grow`"})
        return self

    def _check_strengths(self) -> None:
        for name in ("share", "variance", "sd"):
            strength = getattr(self, name)
            numbers = strength.values() if isinstance(strength, dict) else (() if strength is None else (strength,))
            if any(not v > 0 for v in numbers):
                raise ValueError(f"{name} must be above 0")
            if any(not 1e-300 < _as_variance(name, v)[1] < 1e300 for v in numbers):
                raise ValueError(f"{name} is beyond what numbers can hold: give the column another unit")
        if self.covariance is not None:
            self._check_covariance()
            return
        single = [n for n in ("share", "variance", "sd") if isinstance(getattr(self, n), float)]
        if len(single) > 1:
            raise ValueError(f"{' and '.join(single)} both give a strength to every column; give one of them")
        named = [n for kind in self._by_column for n in kind]
        if twice := sorted({n for n in named if named.count(n) > 1}):
            raise ValueError(f"more than one strength is given to {', '.join(twice)}")
        without = [n for n in self.columns if n not in named]
        if without and not single and self.preset is None:
            raise ValueError(f"no strength is given to {', '.join(without)}: share, variance or sd, or covariance")
        if unknown := sorted(set(named) - set(self.columns)):
            raise ValueError(f"a strength is given to {', '.join(unknown)}, which is not among columns")

    @property
    def _by_column(self) -> tuple[dict[str, float], ...]:
        return tuple(s for s in (self.share, self.variance, self.sd) if isinstance(s, dict))

    def _check_covariance(self) -> None:
        if (self.share, self.variance, self.sd) != (None, None, None) or self.correlated:
            raise ValueError("covariance stands alone: leave share, variance, sd and correlated out")
        rows, p = self.covariance or (), len(self.columns)
        if len(rows) != p or any(len(row) != p for row in rows):
            raise ValueError("covariance needs one row and one column for each of columns, in their order")
        if problem := covariance_problem(np.array(rows)):
            raise ValueError(problem)

    def _check_together(self) -> None:
        if self.distribution != "gaussian" and (self.correlated or self.covariance is not None):
            raise ValueError(
                f"distribution: {self.distribution} is independent between columns; correlated noise is gaussian"
            )
        if self.correlated and len(self.columns) < 2:
            raise ValueError("correlated: true needs two columns or more")
        if self.dummies and (self.correlated or self.covariance is not None):
            raise ValueError("dummies take independent noise: leave correlated and covariance out")
        if self.dummies and self.draw_by == "household":
            raise ValueError("draw_by: household shows who has which of the dummies: give them a step of their own")
        if self.dummies and self.grow is not None:
            raise ValueError("grow is for amounts: give dummies a step of their own")

    def _check_by_column(self) -> None:
        clip = self.clip if isinstance(self.clip, dict) else {}
        for low, high in clip.values():
            if low is not None and high is not None and low > high:
                raise ValueError("clip takes [low, high] for each column, with low not above high")
        steps = self.round_to.values() if isinstance(self.round_to, dict) else (self.round_to,)
        if any(isinstance(s, float | int) and not s > 0 for s in steps):
            raise ValueError("round_to takes positive numbers")
        for n in self.columns:
            step, sd = self.grid_of(n), self._given_sd(n)
            if isinstance(step, float) and sd is not None and too_fine(step, sd):
                raise ValueError(finer_than_noise(n, step, sd))
        named = {*clip, *(self.round_to if isinstance(self.round_to, dict) else ()), *self.dummies}
        if unknown := sorted(named - set(self.columns)):
            raise ValueError(f"clip, round_to and dummies name {', '.join(unknown)}, which is not among columns")
        for n, levels in self.dummies.items():
            if len(set(levels)) != len(levels) or len(levels) < 2:
                raise ValueError(f"dummies lists the categories of {n}, each once and at least two")

    def grid_of(self, column: str) -> Grid:
        """What the released values of a column, as `columns` names it, are rounded to."""
        return self.round_to.get(column, "auto") if isinstance(self.round_to, dict) else self.round_to

    def stays_whole(self, column: str, step: float | None) -> bool:
        """Whether whole numbers leave as such: their step is one, and so are the bounds that they are set to."""
        ends = self.clip.get(column, ()) if isinstance(self.clip, dict) else ()
        return step is not None and step.is_integer() and all(e is None or float(e).is_integer() for e in ends)

    def _given_sd(self, column: str) -> float | None:
        """Standard deviation of a column's noise, where no look at the data is needed to tell it."""
        if self.covariance is not None:
            j = self.columns.index(column)
            return float(np.sqrt(self.covariance[j][j]))
        kind, strength = self.strength(column)
        return float(np.sqrt(strength)) if kind == "variance" else None

    def strength(self, column: str) -> tuple[Literal["share", "variance"], float]:
        """How strong the noise of a column is, without `covariance`: a share of its variance, or a variance."""
        for kind in ("share", "variance", "sd"):
            given = getattr(self, kind)
            if isinstance(given, dict) and column in given:
                return _as_variance(kind, given[column])
        for kind in ("share", "variance", "sd"):
            given = getattr(self, kind)
            if isinstance(given, float):
                return _as_variance(kind, given)
        return "share", PRESET_SHARE


def _refuse_unrounded(given: dict[str, Any]) -> None:
    """Refuse null, which meant full doubles: their last bits tell which true value they were made of."""
    grid = given.get("round_to", "auto")
    if grid is not None and not (isinstance(grid, dict) and None in grid.values()):
        return
    step = ""
    for sd in (given.get("sd"), _root(given.get("variance"))):
        if isinstance(sd, int | float) and not isinstance(sd, bool) and 0 < sd < 1e300:
            step = f" (a step of {noise_step(sd):g} here)"
    raise ValueError(
        f"round_to: null leaves every last digit, and these tell which value the noise was added to; write auto{step}"
    )


def _root(variance: Any) -> float | None:
    number = isinstance(variance, int | float) and not isinstance(variance, bool)
    return float(np.sqrt(variance)) if number and 0 < variance < 1e300 else None


def finer_than_noise(column: str, step: float, sd: float) -> str:
    """Say that a column's step is too fine to hide its noise's last digits, and which one would do.

    Examples
    --------
    >>> finer_than_noise("bmi", 1e-9, 2.0)
    "round_to of 'bmi' is finer than 1/10,000 of the noise's sd, so that last digits may tell values; write 0.1 or auto"
    """
    return (
        f"round_to of {column!r} is finer than 1/{1 / FINEST:,.0f} of the noise's sd, so that last digits may tell "
        f"values; write {noise_step(sd):g} or auto"
    )


def _as_variance(kind: str, value: float) -> tuple[Literal["share", "variance"], float]:
    if kind == "share":
        return "share", value
    return "variance", value if kind == "variance" else value * value
