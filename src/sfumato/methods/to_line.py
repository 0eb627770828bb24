"""Replace a point by a road or a river near it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook
from sfumato.data.coordinates import a_crs
from sfumato.data.disclosure import Coarsened, Disclosed, Dropped
from sfumato.data.files.layers import LayerPath, Shapes, named_shapes
from sfumato.data.hidden import HIDDEN
from sfumato.data.query import COUNT, Counts
from sfumato.methods.base import Stage, StepDraws, unit_problems
from sfumato.methods.checks import few_missing
from sfumato.methods.points import (
    Points,
    PointStep,
    in_area_of,
    layer_problems,
    small,
    swapped_or_outside,
    told_codes,
)
from sfumato.methods.to_polygon import first_names

__all__ = ["ToLine"]


class ToLine(PointStep):
    """Replace a point by the name of a road or river near it: the nearest one, or one drawn among several.

    Protects little against an intruder who knows the country, for the nearest lane of one house names the house: lines
    with few records become missing, and a line drawn at random among several says less. It cannot protect a rare
    combination with other columns; and as draws are by record, several records of one house show the lines that it
    draws from.

    Parameters
    ----------
    lines
        File with the lines: GeoJSON, GeoPackage (`.gpkg`) or a zipped shapefile, beside the plan. Its path, or
        `{path: …, layer: …, crs: …}`.
    column
        Name of the new column.
    attribute
        The lines' attribute with the names; the one called as the new column, where nothing is said. Several lines of
        one name are one.
    mode
        `nearest`: the nearest line, the first by name where several are as near. `random`: one of several, drawn for
        each record (which needs a record column).
    within
        Greatest distance in metres; points without a line so near are missing. For `random`, all lines so near are
        drawn from.
    among
        For `random` in place of `within`: from how many of the nearest lines one is drawn; 5 where nothing is said.
    min_count
        Lines with fewer records than this become missing. 1 leaves all.

    Examples
    --------
    >>> ToLine(x="lon", y="lat", crs=4326, lines="rivers.gpkg", column="river", mode="random").drawn_from
    5
    """

    passes: ClassVar[int] = 2

    do: Literal["to_line"] = "to_line"
    lines: LayerPath
    column: str = Field(min_length=1)
    attribute: str | None = Field(default=None, min_length=1)
    mode: Literal["nearest", "random"] = "nearest"
    within: float | None = Field(default=None, gt=0)
    among: int | None = Field(default=None, ge=2)
    min_count: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> ToLine:
        if self.among is not None and (self.mode != "random" or self.within is not None):
            raise ValueError("`among` goes with `mode: random`, and in place of `within`")
        return self

    @property
    def drawn_from(self) -> int:
        """From how many of the nearest lines one is drawn, where no distance is given."""
        return self.among or 5

    @property
    def counts_records(self) -> bool:
        """Lines need so many."""
        return self.min_count > 1

    @property
    def made(self) -> tuple[str, ...]:
        """The line."""
        return (self.column,)

    def check(self, codebook: Codebook) -> list[str]:
        """The file must be there; draws need ids."""
        drawn = unit_problems(self.name, codebook) if self.mode == "random" else []
        return [*super().check(codebook), *layer_problems(self.lines), *drawn]

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """The line of each record; then those with few records."""
        if len(states) == 2:
            return None
        return self._thinning(codebook) if states else self._finding(codebook)

    def _finding(self, codebook: Codebook) -> Stage:
        def fit(answers: Sequence[pl.DataFrame]) -> _Found:
            return self._found(self.points(answers[0], codebook))

        def transform(batch: pl.DataFrame, state: _Found, draws: StepDraws) -> pl.DataFrame:
            if self.mode == "nearest":
                return self.joined(batch, codebook, state.lines)
            lines = batch.select(self.x, self.y).join(
                state.lines, on=[self.x, self.y], how="left", maintain_order="left", coalesce=True
            )[f"{HIDDEN}{self.column}"]
            return self.replaced(batch, codebook, {self.column: self._drawn(lines, batch, draws)})

        return Stage(transform, (self.looking(),), fit)

    def _drawn(self, lines: pl.Series, batch: pl.DataFrame, draws: StepDraws) -> pl.Series:
        """One of the names that each record has, drawn by its id."""
        strength = f"within {self.within:g}" if self.within is not None else f"among {self.drawn_from}"
        share = draws.draws.uniform(draws.units(batch), draws.purpose(self.column, strength))
        many = lines.list.len().fill_null(0).to_numpy()
        which = np.minimum((share * many).astype(np.int64), np.maximum(many - 1, 0))
        return pl.DataFrame([lines.alias("lines"), pl.Series("which", which)]).select(
            pl.col("lines").list.get(pl.col("which"), null_on_oob=True).alias(self.column)
        )[self.column]

    def _found(self, points: Points) -> _Found:
        """The line of each point, or those that its records draw from."""
        crs = a_crs(self.crs)
        shapes = named_shapes(self.lines, self.attribute or self.column, "lines").in_metres()
        names = np.array(shapes.values, dtype=object)
        inside = in_area_of(self, points, crs, True)
        if self.mode == "nearest":
            at, shape = shapes.nearest(points.x, points.y, crs, self.within)
            found = first_names(len(points.x), at, names[shape])[0]
            column = pl.Series(found.tolist(), dtype=pl.String)
        else:
            column = self._candidates(shapes, names, points)
        near = column.is_not_null().to_numpy()
        swapped_or_outside(near, ~inside, (self.x, self.y), f"the reach of {self.lines.name!r}", False)
        lines = points.frame.select(self.x, self.y).with_columns(column.alias(f"{HIDDEN}{self.column}"))
        return _Found(lines, points.without, int(points.records[~near].sum()))

    def _candidates(self, shapes: Shapes, names: np.ndarray[Any, Any], points: Points) -> pl.Series:
        """The names that are drawn from for each point, sorted; null where there is none."""
        crs = a_crs(self.crs)
        if self.within is not None:
            pairs = _pairs(*shapes.about(points.x, points.y, crs, self.within), names)
        else:
            pairs = self._nearest_few(shapes, names, points)
        lists = pairs.sort("at", "name").group_by("at", maintain_order=True).agg("name")
        whole = pl.DataFrame({"at": np.arange(len(points.x))}).join(lists, on="at", how="left", maintain_order="left")
        return whole["name"]

    def _nearest_few(self, shapes: Shapes, names: np.ndarray[Any, Any], points: Points) -> pl.DataFrame:
        """The names of the nearest few lines of each point, found by looking farther and farther."""
        wanted = min(self.drawn_from, len(set(names.tolist())))
        west, south, east, north = shapes.bounds()
        reach = max(east - west, north - south, 1.0) / 32
        left, done = np.arange(len(points.x)), []
        while len(left):
            at, shape, distance = shapes.about(points.x[left], points.y[left], a_crs(self.crs), reach)
            pairs = _pairs(left[at], shape, distance, names).sort("at", "distance", "name")
            enough = pairs.filter(pl.len().over("at") >= wanted)
            done.append(enough.group_by("at", maintain_order=True).head(wanted))
            left = np.setdiff1d(left, enough["at"].unique().to_numpy())
            reach *= 2
        return pl.concat(done) if done else _pairs([], [], [], names)

    def _thinning(self, codebook: Codebook) -> Stage:
        codes = told_codes(codebook, self.x, self.y)

        def fit(answers: Sequence[pl.DataFrame]) -> pl.DataFrame:
            return small(answers[0], self.column, codes, self.min_count)

        def transform(batch: pl.DataFrame, state: pl.DataFrame, draws: StepDraws) -> pl.DataFrame:
            line = pl.col(self.column)
            rare = line.is_in(state[self.column].implode())
            return batch.with_columns(pl.when(~rare).then(line).alias(self.column))

        return Stage(transform, (Counts((self.column,)),), fit)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """How lines were found, and what became of those with few records."""
        far = f" within {self.within:,.15g} m" if self.within is not None else ""
        which = f"the nearest line{far}"
        if self.mode == "random":
            which = f"a line drawn among {f'all{far}' if far else f'the {self.drawn_from} nearest'}"
        rare = f"; lines with fewer than {self.min_count} records are missing" if self.min_count > 1 else ""
        how = f"from the coordinates {self.x} and {self.y} to {which} of {self.lines.name}{rare}"
        return Coarsened((self.column,), how), Dropped(columns=tuple(n for n in (self.x, self.y) if n != self.column))

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records had no point or no line, and how many had a line with few."""
        found, rare = states
        return (
            f"{found.without} records have no point, {found.far} no line near; {int(rare[COUNT].sum())} had a line "
            "with few records, which is missing now.",
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """That a line names few houses, and where few records have none."""
        found, rare = states
        few = 0 < found.far + int(rare[COUNT].sum()) < self.min_count
        told = few_missing([self.column] if few else [], "min_count")
        if self.mode == "random":
            return told
        return (
            f"{self.column}: the nearest line of a house can name it, where it is the only one there. Take main roads "
            "and rivers only, or `mode: random`.",
            *told,
        )


@dataclass(frozen=True)
class _Found:
    """Each point with its line or lines, and how many records have none."""

    lines: pl.DataFrame
    without: int
    far: int


def _pairs(at: Any, shape: Any, distance: Any, names: np.ndarray[Any, Any]) -> pl.DataFrame:
    """Each point with each name near it, and how far it is."""
    frame = pl.DataFrame(
        {
            "at": np.asarray(at, dtype=np.int64),
            "name": pl.Series(names[np.asarray(shape, dtype=np.int64)].tolist(), dtype=pl.String),
            "distance": np.asarray(distance, dtype=np.float64),
        }
    )
    return frame.group_by("at", "name").agg(pl.col("distance").min())
