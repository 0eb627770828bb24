"""Steps that put something less exact in the place of a point: what they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
from pydantic import Field

from sfumato.data.codebook import Codebook, Missing, Variable
from sfumato.data.coordinates import CrsName, Floats, a_crs, in_area, wrong_system
from sfumato.data.files.layers import LayerFile
from sfumato.data.hidden import HIDDEN
from sfumato.data.holding import holding
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import IDS, Kind, Role
from sfumato.errors import DataError, FileError
from sfumato.methods.base import Method, unknown_problems
from sfumato.methods.generalising import code_text

if TYPE_CHECKING:
    from pyproj import CRS

__all__ = ["PointStep", "Points", "in_area_of", "layer_problems", "small", "swapped_or_outside", "told_codes"]

_NOT_A_PLACE = (*IDS, Role.WEIGHT)
_MOST = 0.9
"""Share of the points that must lie inside when x and y change places, for them to look swapped."""


@dataclass(frozen=True)
class Points:
    """The different points of a table.

    Parameters
    ----------
    frame
        Columns x and y as they stand in the table, and the number of records of each.
    x, y
        Coordinates, shape (n,).
    without
        How many records have no point.
    """

    frame: pl.DataFrame = field(repr=False)
    x: Floats
    y: Floats
    without: int

    @property
    def records(self) -> np.ndarray[Any, Any]:
        """Records of each point, shape (n,)."""
        return self.frame[COUNT].to_numpy()


class PointStep(Method):
    """A step that replaces the coordinates of a point.

    Parameters
    ----------
    x, y
        The columns with the coordinates: longitude and latitude, or easting and northing. Both leave.
    crs
        The system that they are in: an EPSG number, such as 4326 (longitude and latitude in degrees) or 27700 (British
        National Grid), or a text such as EPSG:27700.
    """

    coarsens: ClassVar[bool] = True

    x: str = Field(min_length=1)
    y: str = Field(min_length=1)
    crs: CrsName

    @property
    @abstractmethod
    def made(self) -> tuple[str, ...]:
        """The columns that stand in the place of the point."""

    @property
    def leaves(self) -> bool:
        """Whether the coordinates leave."""
        return True

    @property
    def changes(self) -> tuple[str, ...]:
        """The coordinates, and what stands in their place."""
        return tuple(dict.fromkeys((self.x, self.y, *self.made)))

    def check(self, codebook: Codebook) -> list[str]:
        """Two columns of numbers, a system that there is, and names that are free."""
        problems = unknown_problems(codebook, (self.x, self.y))
        if self.x == self.y:
            problems.append("x and y are one column; a point has two coordinates")
        for name in (n for n in (self.x, self.y) if n in codebook):
            variable = codebook[name]
            if variable.role in _NOT_A_PLACE:
                problems.append(f"column {name!r} has role {variable.role}, which this step must not change")
            if variable.kind in (Kind.TEXT, Kind.DATE, Kind.ORDINAL):
                problems.append(
                    f"column {name!r} is {variable.kind}; coordinates are numbers: mend the cells that are not"
                )
        for name in self.made:
            if name in codebook and (name not in (self.x, self.y) or not self.leaves):
                problems.append(f"there is a column {name!r} already; give the new one another name")
            if name.startswith(HIDDEN):
                problems.append(f"names that begin with {HIDDEN!r} are sfumato's own")
        try:
            a_crs(self.crs)
        except DataError as error:
            problems.append(f"crs: {error}")
        return problems

    def describe(self, codebook: Codebook, states: tuple[Any, ...] = ()) -> Codebook:
        """The new columns where the first coordinate stood: keys, whose codes are those of the coordinates."""
        return Codebook(self._placed(codebook, states))

    def _placed(self, codebook: Codebook, states: tuple[Any, ...]) -> Iterator[tuple[str, Variable]]:
        first = next(n for n in codebook if n in (self.x, self.y)) if {self.x, self.y} & set(codebook) else None
        for name, variable in codebook.items():
            if name == first:
                yield from ((n, self.variable(n, codebook, states)) for n in self.made)
            if name not in (self.x, self.y) or not self.leaves:
                yield name, variable

    def variable(self, column: str, codebook: Codebook, states: tuple[Any, ...]) -> Variable:
        """What is known of a new column."""
        return Variable(role=Role.KEY, kind=Kind.CATEGORICAL, missing=told_codes(codebook, self.x, self.y))

    def points(self, counts: pl.DataFrame, codebook: Codebook) -> Points:
        """The different points, from counts of both columns.

        Raises
        ------
        DataError
            Where the columns hold no numbers, or coordinates that cannot be in the system.
        """
        for name in (self.x, self.y):
            dtype = counts.schema[name]
            if not dtype.is_numeric() and dtype != pl.Null:
                raise DataError(
                    f"Column {name!r} holds {holding(dtype)}; {self.name} needs coordinates, which are numbers: mend "
                    "the cells that are not."
                )
        missing = pl.any_horizontal(codebook.missing(n, counts.schema[n]) for n in (self.x, self.y))
        frame = counts.filter(~missing)
        x, y = (frame[n].cast(pl.Float64).to_numpy() for n in (self.x, self.y))
        if (why := wrong_system(x, y, a_crs(self.crs))) is not None:
            raise DataError(f"The coordinates in {self.x} and {self.y} {why}.")
        return Points(frame, x, y, int(counts[COUNT].sum()) - int(frame[COUNT].sum()))

    def looking(self) -> Counts:
        """What is asked of the data: which points there are."""
        return Counts((self.x, self.y))

    def joined(self, batch: pl.DataFrame, codebook: Codebook, new: pl.DataFrame) -> pl.DataFrame:
        """A batch with the new columns of its points in the place of the coordinates.

        Parameters
        ----------
        batch
            Rows.
        codebook
            What is known of them.
        new
            Each point with its new columns, under `HIDDEN` and their names.
        """
        found = batch.select(self.x, self.y).join(
            new, on=[self.x, self.y], how="left", maintain_order="left", coalesce=True
        )
        columns = {n: found[f"{HIDDEN}{n}"].alias(n) for n in self.made}
        return self.replaced(batch, codebook, columns)

    def replaced(self, batch: pl.DataFrame, codebook: Codebook, new: Mapping[str, pl.Series]) -> pl.DataFrame:
        """A batch with new columns in the place of the coordinates; those that are texts keep their missing codes."""
        codes = self._codes(batch, codebook)
        columns: list[pl.Series] = []
        first = next(n for n in batch.columns if n in (self.x, self.y))
        for name in batch.columns:
            if name == first:
                columns += [
                    codes.zip_with(codes.is_not_null(), s).alias(n) if s.dtype == pl.String else s.alias(n)
                    for n, s in new.items()
                ]
            if name not in (self.x, self.y) or not self.leaves:
                columns.append(batch[name])
        return pl.DataFrame(columns)

    def _codes(self, batch: pl.DataFrame, codebook: Codebook) -> pl.Series:
        """The missing code of each record as a text, that of x first; null where it has none."""
        text = pl.lit(None, dtype=pl.String)
        for name in (self.y, self.x):
            dtype = batch.schema[name]
            for code in codebook[name].missing:
                there = code.expression(pl.col(name), dtype).fill_null(False)
                text = pl.when(there).then(pl.lit(code_text(code))).otherwise(text)
        return batch.select(pl.col(self.x), text.alias(f"{HIDDEN}code"))[f"{HIDDEN}code"]


def told_codes(codebook: Codebook, *columns: str) -> tuple[Missing, ...]:
    """The missing codes of columns as categories of a text."""
    found: dict[str, Missing] = {}
    for code in (code for n in columns if n in codebook for code in codebook[n].missing):
        found.setdefault(code_text(code), Missing(code=code_text(code), label=code.label))
    return tuple(found.values())


def swapped_or_outside(
    inside: np.ndarray[Any, Any], swapped: np.ndarray[Any, Any], columns: Sequence[str], where: str, refuse: bool
) -> None:
    """Refuse points that lie outside, and say so where they look swapped.

    Parameters
    ----------
    inside, swapped
        Whether each point lies inside, as it stands and with x and y in each other's place, shape (n,).
    columns
        The columns x and y.
    where
        Inside of what.
    refuse
        Whether a single one is an error; where all lie outside it always is.

    Raises
    ------
    DataError
        With what to do.
    """
    if not len(inside) or inside.all():
        return
    named = " and ".join(columns)
    if inside.mean() < 0.5 and swapped.mean() >= _MOST:
        raise DataError(
            f"The coordinates in {named} look swapped: with x and y in each other's place nearly all points lie in "
            f"{where}. x is the longitude or easting, y the latitude or northing."
        )
    if refuse or not inside.any():
        hint = "`outside: missing` makes them missing" if inside.any() else "is `crs` the system that they are in?"
        raise DataError(f"{named}: {'some' if inside.any() else 'all'} points lie outside {where}; {hint}.")


def in_area_of(step: PointStep, points: Points, crs: CRS, refuse: bool) -> np.ndarray[Any, Any]:
    """Whether points lie where their own system is made for; refused like those outside a grid."""
    inside = in_area(points.x, points.y, crs)
    if not inside.all():
        swapped = in_area(points.y, points.x, crs)
        swapped_or_outside(inside, swapped, (step.x, step.y), f"the area that crs {step.crs} is for", refuse)
    return inside


def layer_problems(file: LayerFile) -> list[str]:
    """What is wrong with a layer's file, before it is read."""
    try:
        file.checked()
    except (DataError, FileError) as error:
        return [str(error)]
    return []


def small(counts: pl.DataFrame, column: str, codes: Sequence[Missing], fewest: int) -> pl.DataFrame:
    """The values of a column that fewer than `fewest` records have, and their counts; codes and nulls are none."""
    known = pl.col(column).is_not_null() & ~pl.col(column).is_in([code_text(code) for code in codes])
    return counts.filter(known & (pl.col(COUNT) < fewest))
