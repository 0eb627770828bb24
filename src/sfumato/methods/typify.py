"""Replace a point by what the place is like: poverty, density, altitude, vegetation."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import Field, model_validator

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.coordinates import a_crs
from sfumato.data.disclosure import Coarsened, Disclosed, Dropped
from sfumato.data.error_model import Bounds
from sfumato.data.files.layers import Layer, read_raster, read_shapes
from sfumato.data.hidden import HIDDEN
from sfumato.data.roles import Kind, Role
from sfumato.errors import DataError
from sfumato.methods.base import Stage, StepDraws
from sfumato.methods.checks import few_missing
from sfumato.methods.points import Points, PointStep, in_area_of, layer_problems, swapped_or_outside, told_codes

__all__ = ["Typify"]

Array = np.ndarray[Any, Any]


class Typify(PointStep):
    """Replace a point by the values of layers there: an index of poverty, density, altitude, kind of vegetation.

    Protects against an intruder who looks a house up by its coordinates. An exact value, or a combination of several,
    can be that of one place alone, so each must be found in several areas. It cannot protect a combination with other
    columns.

    Parameters
    ----------
    layers
        By new column, the layer whose value it gets: `{path: poverty.geojson, attribute: index}` for polygons (GeoJSON,
        GeoPackage, zipped shapefile), `{path: altitude.tif}` for a raster (GeoTIFF, its first band), beside the plan.
    band
        By new column, cut points in rising order, each of which begins its band: [100, 200] gives below 100, 100 to
        below 200, and 200 and over.
    drop
        Whether the coordinates leave; false where another step replaces them.
    k
        A value must be that of at least this many areas of its layer (polygons, or cells of a raster), and a
        combination that of at least this many different areas that records lie in; others become missing. 1 leaves all.

    Examples
    --------
    >>> layers = {"altitude": {"path": "altitude.tif"}}
    >>> step = Typify(x="lon", y="lat", crs=4326, layers=layers, band={"altitude": [200]})
    >>> step.labels("altitude")
    ('below 200', '200 and over')
    """

    do: Literal["typify"] = "typify"
    layers: dict[str, Layer] = Field(min_length=1)
    band: dict[str, tuple[float, ...]] = Field(default_factory=dict)
    drop: bool = True
    k: int = Field(default=5, ge=1)

    @model_validator(mode="after")
    def _fits(self) -> Typify:
        if unknown := [n for n in self.band if n not in self.layers]:
            raise ValueError(f"`band` names {', '.join(unknown)}, not among `layers`")
        if any(not cuts or any(b <= a for a, b in itertools.pairwise(cuts)) for cuts in self.band.values()):
            raise ValueError("`band` takes cut points in rising order")
        if open_ := [n for n, layer in self.layers.items() if not layer.raster and layer.attribute is None]:
            raise ValueError(f"say which attribute of the polygons {', '.join(open_)} gets (`attribute`)")
        return self

    @property
    def made(self) -> tuple[str, ...]:
        """A column for each layer."""
        return tuple(self.layers)

    @property
    def leaves(self) -> bool:
        """Whether the coordinates leave."""
        return self.drop

    @property
    def changes(self) -> tuple[str, ...]:
        """The new columns, and the coordinates where they leave."""
        return super().changes if self.drop else self.made

    @property
    def reads(self) -> tuple[str, ...]:
        """The coordinates."""
        return (self.x, self.y)

    def labels(self, column: str) -> tuple[str, ...]:
        """Name of each band of a column, lowest first."""
        cuts = [repr(float(cut)).removesuffix(".0") for cut in self.band[column]]
        inner = (f"{low} to below {high}" for low, high in itertools.pairwise(cuts))
        return (f"below {cuts[0]}", *inner, f"{cuts[-1]} and over")

    def check(self, codebook: Codebook) -> list[str]:
        """The files must be there."""
        return [*super().check(codebook), *(p for layer in self.layers.values() for p in layer_problems(layer))]

    def variable(self, column: str, codebook: Codebook, states: tuple[Any, ...]) -> Variable:
        """Bands are ordered; numbers stay numbers, without a code for those that have no point."""
        codes = told_codes(codebook, self.x, self.y)
        if column in self.band:
            order = (*self.labels(column), *(code.code for code in codes if code.code is not None))
            return Variable(role=Role.KEY, kind=Kind.ORDINAL, order=order, missing=codes)
        numbers = states[0].new.schema[f"{HIDDEN}{column}"] != pl.String if states else self.layers[column].raster
        if numbers:
            return Variable(role=Role.KEY, kind=Kind.CONTINUOUS)
        return Variable(role=Role.KEY, kind=Kind.CATEGORICAL, missing=codes)

    def stage(self, codebook: Codebook, states: tuple[Any, ...]) -> Stage | None:
        """One pass, after a look at which points there are."""

        def fit(answers: Sequence[pl.DataFrame]) -> _Found:
            return self._found(self.points(answers[0], codebook))

        def transform(batch: pl.DataFrame, state: _Found, draws: StepDraws) -> pl.DataFrame:
            return self.joined(batch, codebook, state.new)

        return None if states else Stage(transform, (self.looking(),), fit)

    def _found(self, points: Points) -> _Found:
        """The values of each point that are those of enough areas."""
        crs = a_crs(self.crs)
        inside = in_area_of(self, points, crs, True)
        values, areas = {}, {}
        for n in self.layers:
            values[n], areas[n] = self._values(n, points)
            hit = areas[n] >= 0
            swapped = (
                self._values(n, Points(points.frame, points.y, points.x, 0))[1] >= 0
                if 2 * hit.sum() < len(hit)
                else hit
            )
            swapped_or_outside(hit, swapped, (self.x, self.y), f"the layer {self.layers[n].name!r}", False)
        frame = pl.DataFrame(values)
        told = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
        frame = self._shared(frame, areas)
        after = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
        named = frame.rename({n: f"{HIDDEN}{n}" for n in frame.columns})
        new = points.frame.select(self.x, self.y).hstack(named)
        outside, rare = ~told.to_numpy() & inside, (told & after).to_numpy()
        gone = {n: int(points.records[frame[n].is_null().to_numpy()].sum()) for n in self.layers}
        few = tuple(n for n, records in gone.items() if 0 < records < self.k)
        return _Found(new, points.without, int(points.records[outside].sum()), int(points.records[rare].sum()), few)

    def _values(self, column: str, points: Points) -> tuple[pl.Series, Array]:
        """The value of a layer at each point where enough areas have it, and the number of the area; -1 outside."""
        layer, crs = self.layers[column], a_crs(self.crs)
        if layer.raster:
            raster = read_raster(layer)
            area = raster.cell(points.x, points.y, crs)
            everywhere = pl.Series(raster.values.ravel(), nan_to_null=True)
        else:
            shapes = read_shapes(layer, layer.attribute or column, "polygons")
            at, shape = shapes.holding(points.x, points.y, crs)
            area = np.full(len(points.x), -1, dtype=np.int64)
            area[at[::-1]] = shape[::-1]  # the first, where there are several
            everywhere = _series(layer.name, layer.attribute or column, shapes.values)
        everywhere = self._banded(column, everywhere)
        counts = everywhere.drop_nulls().value_counts(name="areas")
        known = counts.filter(pl.col("areas") >= self.k).to_series()
        there = everywhere.gather(pl.Series(np.maximum(area, 0))) if len(everywhere) else everywhere
        frame = pl.DataFrame({column: there, "in": area >= 0})
        shared = pl.col("in") & pl.col(column).is_in(known.implode())
        return frame.select(pl.when(shared).then(pl.col(column)))[column], area

    def _banded(self, column: str, values: pl.Series) -> pl.Series:
        if column not in self.band:
            return values.alias(column)
        if not values.dtype.is_numeric():
            raise DataError(f"{self.layers[column].name!r}: `band` needs numbers, and {column} gets text.")
        labels = self.labels(column)
        value = pl.col(column)
        reached = pl.sum_horizontal((value >= cut).cast(pl.Int64) for cut in self.band[column])
        text = reached.replace_strict(range(len(labels)), list(labels), return_dtype=pl.String)
        return values.alias(column).to_frame().select(pl.when(value.is_not_null()).then(text).alias(column))[column]

    def _shared(self, frame: pl.DataFrame, areas: dict[str, Array]) -> pl.DataFrame:
        """The values without combinations that too few areas have; a layer's own values were looked at before."""
        names = frame.columns
        if len(names) == 1 or self.k == 1:
            return frame
        numbered = frame.with_columns(pl.Series(f"{HIDDEN}{n}", area) for n, area in areas.items())
        enough = [pl.col(f"{HIDDEN}{n}").n_unique().over(names) >= self.k for n in names]
        keep = numbered.select(pl.all_horizontal(enough)).to_series()
        return frame.select(pl.when(keep).then(pl.col(n)).alias(n) for n in names)

    def disclose(self, states: tuple[Any, ...]) -> tuple[Disclosed, ...]:
        """Which layers, bands, and the rule for rare values."""
        rare = f"; values that fewer than {self.k} areas share are missing" if self.k > 1 else ""
        told: list[Disclosed] = []
        for n, layer in self.layers.items():
            bands: dict[str, Bounds] = {}
            if n in self.band:
                bands = dict(zip(self.labels(n), itertools.pairwise((None, *self.band[n], None)), strict=True))
            how = f"from the coordinates {self.x} and {self.y} to the value of {layer.name} there"
            told.append(Coarsened((n,), f"{how}{', in bands' if bands else ''}{rare}", bands))
        gone = tuple(n for n in (self.x, self.y) if n not in self.layers)
        return (*told, Dropped(columns=gone)) if self.drop and gone else tuple(told)

    def notes(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """How many records had no point, no value, or a value that few areas have."""
        found = states[0]
        return (
            f"{found.without} records have no point; {found.outside} have no value that enough areas share, "
            f"{found.rare} no combination that enough areas share.",
        )

    def warnings(self, states: tuple[Any, ...]) -> tuple[str, ...]:
        """Columns in which few records have no value."""
        return few_missing([n for n in self.layers if n in states[0].few], "k")


@dataclass(frozen=True)
class _Found:
    """Each point with its values, and how many records have none."""

    new: pl.DataFrame
    without: int
    outside: int
    rare: int
    few: tuple[str, ...]


def _series(name: str, attribute: str, values: Sequence[Any]) -> pl.Series:
    """Values of an attribute: numbers where all are, else texts."""
    present = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return pl.Series([None if value is None else float(value) for value in values], dtype=pl.Float64)
    if not all(isinstance(value, str | bool) for value in present):
        raise DataError(f"{name!r}: the attribute {attribute!r} holds numbers and texts, or lists; give it one kind.")
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
