"""Replace a point by the cell of a grid that it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.coordinates import CrsName, Floats, a_crs, in_area, moved
from sfumato.data.disclosure import Coarsened, Disclosed, Dropped
from sfumato.data.grids import BritishGrid, Grid, Hexagons, Squares
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.errors import DataError
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.checks import few_missing
from sfumato.methods.points import Points, PointStep, in_area_of, small, swapped_or_outside, told_codes

__all__ = ["ToGrid"]

_SIZES = (10, 100, 1000, 10_000, 100_000)
_FINE_RESOLUTION = 8


class ToGrid(PointStep):
    """Replace a point by the cell of a grid: a square kilometre, or a hexagon.

    Protects against an intruder who looks a house up by its coordinates. A cell in the countryside may hold one house,
    so cells with few records become larger ones. It cannot protect a rare combination with other columns, and says
    nothing of how many people live in a cell.

    Parameters
    ----------
    column
        Name of the new column.
    size
        Width of a square in metres: for `bng` 10, 100, 1000, 10000 or 100000.
    system
        `bng`: squares of the British National Grid under their usual names (TQ38 is 10 km wide, TQ3080 1 km). `h3`:
        hexagons of H3. `square`: squares of any system in metres, named by their lower left corners.
    resolution
        For `h3` in place of `size`, from 0 to 15: 7 has about 5 square kilometres, 6 about 36.
    into
        For `square`, the system in metres whose squares are taken; the points' own where that has metres.
    min_population
        Cells with fewer records than this are joined to the next larger cell (ten times as wide; the parent in H3)
        until these are as many; where they never are, the cell is missing. 1 leaves all cells as they are.
    outside
        What becomes of points outside the grid, or outside the area that a system is made for: they are refused
        (`error`), or `missing`.

    Examples
    --------
    >>> ToGrid(x="lon", y="lat", crs=4326).where
    'squares of 1,000 m of the British National Grid'
    """

    passes: ClassVar[int] = 2

    do: Literal["to_grid"] = "to_grid"
    column: str = Field(default="cell", min_length=1)
    size: int | None = Field(default=None, gt=0, le=1_000_000)
    system: Literal["bng", "h3", "square"] = "bng"
    resolution: int | None = Field(default=None, ge=0, le=15)
    into: CrsName | None = None
    min_population: int = Field(default=5, ge=1)
    outside: Literal["error", "missing"] = "error"

    @model_validator(mode="after")
    def _fits(self) -> ToGrid:
        if self.system == "h3":
            if self.resolution is None or self.size is not None:
                raise ValueError("h3 takes `resolution`, from 0 (largest) to 15, and no `size`")
        elif self.resolution is not None:
            raise ValueError("`resolution` goes with `system: h3`")
        if self.system == "bng" and self.width not in _SIZES:
            raise ValueError(f"squares of the British National Grid have a `size` of {', '.join(map(str, _SIZES))}")
        if self.into is not None and self.system != "square":
            raise ValueError("`into` goes with `system: square`")
        return self

    @property
    def width(self) -> int:
        """Width of a square in metres."""
        return self.size or 1000

    @property
    def counts_records(self) -> bool:
        """Cells need so many."""
        return self.min_population > 1

    @property
    def made(self) -> tuple[str, ...]:
        """The cell."""
        return (self.column,)

    @property
    def where(self) -> str:
        """The grid in words."""
        if self.system == "h3":
            return f"cells of H3 at resolution {self.resolution}"
        if self.system == "bng":
            return f"squares of {self.width:,} m of the British National Grid"
        return f"squares of {self.width:,} m in system {self.into or self.crs}"

    @property
    def grid(self) -> Grid:
        """The grid."""
        if self.system == "h3":
            assert self.resolution is not None
            return Hexagons(self.resolution)
        return BritishGrid(self.width) if self.system == "bng" else Squares(self.width)

    @property
    def target(self) -> int | str:
        """The system whose coordinates the grid takes."""
        return {"bng": 27700, "h3": 4326, "square": self.into or self.crs}[self.system]

    def check(self, codebook: Codebook) -> list[str]:
        """Squares are cut in metres."""
        problems = super().check(codebook)
        if self.system == "square":
            try:
                axes = a_crs(self.target).axis_info
            except DataError as error:
                return [*problems, *([f"into: {error}"] if self.into is not None else [])]
            if any(axis.unit_conversion_factor != 1 or axis.unit_name == "degree" for axis in axes):
                problems.append(
                    f"squares are cut in metres, and system {self.target} has none: say `into`, such as 27700 "
                    "(Britain) or 3035 (Europe)"
                )
        return problems

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """The cell of each point; then those with few records."""
        if len(states) == 2:
            return None
        return self._thinning(codebook) if states else self._finding(codebook)

    def _finding(self, codebook: Codebook) -> Stage:
        def fit(answers: Sequence[pl.DataFrame]) -> _Found:
            return self._found(self.points(answers[0], codebook))

        def transform(batch: pl.DataFrame, state: _Found, draws: StepDraws) -> pl.DataFrame:
            return self.joined(batch, codebook, state.cells)

        return Stage(transform, (self.looking(),), fit)

    def _found(self, points: Points) -> _Found:
        """The cell of each point."""
        inside = in_area_of(self, points, a_crs(self.crs), self.outside == "error")
        x, y = self._on_grid(points.x, points.y)
        on_grid = self._inside(x, y)
        swapped = self._inside(*self._on_grid(points.y, points.x)) if not on_grid.all() else on_grid
        swapped_or_outside(on_grid, swapped, (self.x, self.y), self._ground(), self.outside == "error")
        inside &= on_grid
        cells = points.frame.filter(pl.Series(inside, dtype=pl.Boolean)).select(self.x, self.y)
        names = self.grid.names(x[inside], y[inside]).alias(f"{HIDDEN}{self.column}")
        return _Found(cells.with_columns(names), points.without, int(points.records[~inside].sum()))

    def _on_grid(self, x: Floats, y: Floats) -> tuple[Floats, Floats]:
        return moved(x, y, a_crs(self.crs), a_crs(self.target))

    def _inside(self, x: Floats, y: Floats) -> np.ndarray[Any, Any]:
        inside = self.grid.inside(x, y)
        return inside & in_area(x, y, a_crs(self.target)) if self.system == "square" else inside

    def _ground(self) -> str:
        return {"bng": "the British National Grid", "h3": "the earth"}.get(
            self.system, f"the area that crs {self.target} is for"
        )

    def _thinning(self, codebook: Codebook) -> Stage:
        codes = told_codes(codebook, self.x, self.y)

        def fit(answers: Sequence[pl.DataFrame]) -> _Merged:
            return self._merged(small(answers[0], self.column, codes, self.min_population))

        def transform(batch: pl.DataFrame, state: _Merged, draws: StepDraws) -> pl.DataFrame:
            cell = pl.col(self.column)
            return batch.with_columns(cell.replace(state.cells["old"].implode(), state.cells["new"].implode()))

        return Stage(transform, (Counts((self.column,)),), fit)

    def _merged(self, few: pl.DataFrame) -> _Merged:
        """The larger cell of each that has few records: the smallest that is large enough; null where none is."""
        left = few.select(old=pl.col(self.column), new=pl.col(self.column), records=pl.col(COUNT))
        records, done = int(left["records"].sum()), []
        while left.height and left["new"].null_count() == 0:
            left = left.with_columns(self.grid.above(left["new"]).alias("new"))
            lot = pl.col("records").sum().over("new")
            enough = left.select((lot >= self.min_population) & pl.col("new").is_not_null()).to_series()
            done.append(left.filter(enough))
            left = left.filter(~enough)
        left = left.with_columns(pl.lit(None, dtype=pl.String).alias("new"))
        return _Merged(pl.concat([*done, left]).select("old", "new"), records, int(left["records"].sum()))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """Which grid, and what became of cells with few records."""
        rare = ""
        if self.min_population > 1:
            rare = f"; cells with fewer than {self.min_population} records became larger ones, or missing"
        how = f"from the coordinates {self.x} and {self.y} to {self.where}{rare}"
        return Coarsened((self.column,), how), Dropped(columns=tuple(n for n in (self.x, self.y) if n != self.column))

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records had no point, lay outside, or were in cells with few."""
        found, merged = states
        return (
            f"{found.without} records have no point, {found.outside} lie outside; {merged.records} were in cells with "
            f"few records, {merged.missing} of which are missing now.",
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Where cells are small, and where few records have none."""
        found, merged = states
        few = 0 < found.outside + merged.missing < self.min_population
        told = few_missing([self.column] if few else [], "min_population")
        fine = (self.resolution or 0) > _FINE_RESOLUTION if self.system == "h3" else self.width < 1000
        if not fine and self.min_population > 1:
            return told
        what = f"{self.where}: cells of this size may hold one house" if fine else "cells with a single record stay"
        return (f"{self.column}: {what}. Take larger ones, or a larger min_population.", *told)


@dataclass(frozen=True)
class _Found:
    """Each point with its cell, and how many records have none."""

    cells: pl.DataFrame
    without: int
    outside: int


@dataclass(frozen=True)
class _Merged:
    """The larger cell of each cell with few records."""

    cells: pl.DataFrame
    records: int
    missing: int
