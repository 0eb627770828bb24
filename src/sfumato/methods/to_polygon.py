"""Replace a point by the area that it lies in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook
from sfumato.data.coordinates import Floats, a_crs
from sfumato.data.disclosure import Coarsened, Disclosed, Dropped
from sfumato.data.files.layers import LayerPath, Shapes, named_shapes
from sfumato.data.hidden import HIDDEN
from sfumato.errors import DataError
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.points import Points, PointStep, in_area_of, layer_problems, swapped_or_outside

__all__ = ["ToPolygon", "first_names"]


class ToPolygon(PointStep):
    """Replace a point by the name of the polygon that it lies in: a district, a county.

    Protects against an intruder who looks a house up by its coordinates, as far as an area holds many people: say with
    a limit how many records must share it. It cannot protect a rare combination with other columns.

    Parameters
    ----------
    polygons
        File with the polygons: GeoJSON, GeoPackage (`.gpkg`) or a zipped shapefile, beside the plan. Its path, or
        `{path: …, layer: …, crs: …}`.
    column
        Name of the new column.
    attribute
        The polygons' attribute with the names; the one called as the new column, where nothing is said. Several
        polygons of one name are one area.
    outside
        What becomes of points that lie in no polygon: `missing`, refused (`error`), or the `nearest` one.
    tie
        What becomes of points that lie in several polygons, such as on a border: the `first` by name, or refused
        (`error`).

    Examples
    --------
    >>> ToPolygon(x="lon", y="lat", crs=4326, polygons="districts.geojson", column="district").made
    ('district',)
    """

    do: Literal["to_polygon"] = "to_polygon"
    polygons: LayerPath
    column: str = Field(min_length=1)
    attribute: str | None = Field(default=None, min_length=1)
    outside: Literal["missing", "error", "nearest"] = "missing"
    tie: Literal["first", "error"] = "first"

    @property
    def made(self) -> tuple[str, ...]:
        """The area."""
        return (self.column,)

    def check(self, codebook: Codebook) -> list[str]:
        """The file must be there."""
        return [*super().check(codebook), *layer_problems(self.polygons)]

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, after a look at which points there are."""

        def fit(answers: Sequence[pl.DataFrame]) -> _Found:
            return self._found(self.points(answers[0], codebook))

        def transform(batch: pl.DataFrame, state: _Found, draws: StepDraws) -> pl.DataFrame:
            return self.joined(batch, codebook, state.areas)

        return None if states else Stage(transform, (self.looking(),), fit)

    def _found(self, points: Points) -> _Found:
        """The area of each point."""
        crs = a_crs(self.crs)
        shapes = named_shapes(self.polygons, self.attribute or self.column, "polygons")
        names = np.array(shapes.values, dtype=object)
        at, shape = shapes.holding(points.x, points.y, crs)
        found, tied = first_names(len(points.x), at, names[shape])
        inside = np.array([name is not None for name in found.tolist()], dtype=np.bool_)
        if not inside.all():
            in_area_of(self, points, crs, self.outside != "missing")
            swapped = _boxed(shapes, points.y, points.x, self.crs) if inside.mean() < 0.5 else inside
            swapped_or_outside(inside, swapped, (self.x, self.y), f"the polygons of {self.polygons.name!r}", False)
        if self.tie == "error" and tied.any():
            raise DataError(
                f"{self.x} and {self.y}: some points lie in several polygons of {self.polygons.name!r}, for instance "
                "on a border; `tie: first` takes the first by name."
            )
        if self.outside == "error" and not inside.all():
            raise DataError(
                f"{self.x} and {self.y}: some points lie in no polygon of {self.polygons.name!r}; `outside: missing` "
                "makes them missing, `nearest` takes the nearest polygon."
            )
        if self.outside == "nearest" and not inside.all():
            found[~inside] = _nearest(shapes, names, points.x[~inside], points.y[~inside], self.crs)
        areas = points.frame.select(self.x, self.y).with_columns(
            pl.Series(f"{HIDDEN}{self.column}", found.tolist(), dtype=pl.String)
        )
        counts = points.records
        return _Found(areas, points.without, int(counts[~inside].sum()), int(counts[tied].sum()))

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """Which areas, by the file's name."""
        near = ", outside them the nearest" if self.outside == "nearest" else ""
        how = f"from the coordinates {self.x} and {self.y} to the polygons of {self.polygons.name}{near}"
        return Coarsened((self.column,), how), Dropped(columns=tuple(n for n in (self.x, self.y) if n != self.column))

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records had no point, lay outside, or on a border."""
        found = states[0]
        return (f"{found.without} records have no point, {found.outside} lie in no polygon, {found.tied} in several.",)


@dataclass(frozen=True)
class _Found:
    """Each point with its area, and how many records had none or several."""

    areas: pl.DataFrame
    without: int
    outside: int
    tied: int


def first_names(
    n: int, at: np.ndarray[Any, Any], names: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The first name of each of `n` points, None where it has none, and whether it has several.

    Examples
    --------
    >>> found, tied = first_names(3, np.array([0, 0, 2]), np.array(["b", "a", "c"], dtype=object))
    >>> found.tolist(), tied.tolist()
    (['a', None, 'c'], [True, False, False])
    """
    pairs = pl.DataFrame({"at": at, "name": pl.Series(names.tolist(), dtype=pl.String)}).unique().sort("at", "name")
    first = pairs.group_by("at", maintain_order=True).agg(pl.col("name").first(), pl.len().alias("several"))
    found, tied = np.full(n, None, dtype=object), np.zeros(n, dtype=np.bool_)
    found[first["at"].to_numpy()] = first["name"].to_numpy()
    tied[first["at"].to_numpy()] = (first["several"] > 1).to_numpy()
    return found, tied


def _boxed(shapes: Shapes, x: Floats, y: Floats, crs: int | str) -> np.ndarray[Any, Any]:
    """Whether points lie in the box around all shapes."""
    east, north = shapes.near(x, y, a_crs(crs))
    low_x, low_y, high_x, high_y = shapes.bounds()
    with np.errstate(invalid="ignore"):
        return np.asarray((east >= low_x) & (east <= high_x) & (north >= low_y) & (north <= high_y))


def _nearest(shapes: Shapes, names: np.ndarray[Any, Any], x: Floats, y: Floats, crs: int | str) -> np.ndarray[Any, Any]:
    """The name of the nearest shape of each point, the first by name where several are as near."""
    at, shape = shapes.in_metres().nearest(x, y, a_crs(crs))
    return first_names(len(x), at, names[shape])[0]
