"""Grids of cells on the earth, each cell in a larger one: British National Grid, H3, plain squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.coordinates import Floats
from sfumato.errors import MissingExtra

__all__ = ["BritishGrid", "Grid", "Hexagons", "Squares"]

Bools = NDArray[np.bool_]
_WIDEST = 1_000_000  # metres


class Grid(Protocol):
    """Cells with names, each in a larger one."""

    def inside(self, x: Floats, y: Floats) -> Bools:
        """Whether points lie on the grid, shape (n,)."""
        ...

    def names(self, x: Floats, y: Floats) -> pl.Series:
        """The cell of each point; all lie on the grid."""
        ...

    def above(self, names: pl.Series) -> pl.Series:
        """The larger cell of each cell; null where there is none."""
        ...


def _letters() -> NDArray[np.str_]:
    """The two letters of each square of 100 km, shape (7, 13), by easting and northing."""
    alphabet = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    return np.array(
        [
            [alphabet[(19 - n) - (19 - n) % 5 + (e + 10) // 5] + alphabet[(19 - n) * 5 % 25 + e % 5] for n in range(13)]
            for e in range(7)
        ]
    )


@dataclass(frozen=True)
class BritishGrid:
    """Squares of the British National Grid, named as usual: TQ38 is 10 km wide, TQ3080 1 km.

    Parameters
    ----------
    size
        Width in metres: 10, 100, 1,000, 10,000 or 100,000.

    References
    ----------
    Ordnance Survey, A guide to coordinate systems in Great Britain, section 7.

    Examples
    --------
    >>> grid = BritishGrid(1000)
    >>> names = grid.names(np.array([530_034.0]), np.array([180_381.0]))
    >>> names.to_list(), grid.above(names).to_list()
    (['TQ3080'], ['TQ38'])
    """

    size: int

    def inside(self, x: Floats, y: Floats) -> Bools:
        """Whether points lie on the grid: 700 km by 1,300 km."""
        with np.errstate(invalid="ignore"):
            return np.asarray((x >= 0) & (x < 700_000) & (y >= 0) & (y < 1_300_000))

    def names(self, x: Floats, y: Floats) -> pl.Series:
        """The square of each point."""
        east, north = x.astype(np.int64), y.astype(np.int64)
        digits = len(str(100_000 // self.size)) - 1
        letters = pl.Series("", _letters()[east // 100_000, north // 100_000], dtype=pl.String)
        if not digits:
            return letters
        parts = (pl.Series("", part % 100_000 // self.size).cast(pl.String).str.zfill(digits) for part in (east, north))
        return letters + next(parts) + next(parts)

    def above(self, names: pl.Series) -> pl.Series:
        """The square ten times as wide; none above 100 km."""
        frame = names.to_frame("name").with_columns(digits=(pl.col("name").str.len_chars() - 2) // 2)
        name, digits = pl.col("name"), pl.col("digits")
        fewer = digits.cast(pl.Int64) - 1
        wider = name.str.slice(0, 2) + name.str.slice(2, fewer) + name.str.slice(2 + digits, fewer)
        return frame.select(pl.when(fewer >= 0).then(wider)).to_series()


@dataclass(frozen=True)
class Squares:
    """Squares of a system in metres, named by width and lower left corner: `1000mE530000N180000`.

    Parameters
    ----------
    size
        Width in metres.

    Examples
    --------
    >>> grid = Squares(1000)
    >>> names = grid.names(np.array([530_034.0]), np.array([-381.0]))
    >>> names.to_list(), grid.above(names).to_list()
    (['1000mE530000N-1000'], ['10000mE530000N-10000'])
    """

    size: int

    def inside(self, x: Floats, y: Floats) -> Bools:
        """Whether points have coordinates."""
        return np.isfinite(x) & np.isfinite(y)

    def names(self, x: Floats, y: Floats) -> pl.Series:
        """The square of each point."""
        corners = (np.floor(part / self.size).astype(np.int64) * self.size for part in (x, y))
        return _square(pl.Series("", np.full(len(x), self.size)), *(pl.Series("", corner) for corner in corners))

    def above(self, names: pl.Series) -> pl.Series:
        """The square ten times as wide; none above 1,000 km."""
        frame = names.to_frame("name")
        size, east, north = (
            frame.select(pl.col("name").str.extract(pattern).cast(pl.Int64)).to_series()
            for pattern in (r"^(\d+)m", r"E(-?\d+)", r"N(-?\d+)$")
        )
        wide = size * 10
        corners = (part // wide * wide for part in (east, north))
        named = _square(wide, *corners)
        return pl.select(pl.when(wide <= _WIDEST).then(named)).to_series()


def _square(size: pl.Series, east: pl.Series, north: pl.Series) -> pl.Series:
    return size.cast(pl.String) + "mE" + east.cast(pl.String) + "N" + north.cast(pl.String)


@dataclass(frozen=True)
class Hexagons:
    """Cells of H3, from longitude (x) and latitude (y); resolution 7 has about 5 square kilometres, 6 about 36.

    Parameters
    ----------
    resolution
        From 0 (largest) to 15.

    Examples
    --------
    >>> grid = Hexagons(7)
    >>> names = grid.names(np.array([-0.1276]), np.array([51.5072]))
    >>> names.to_list(), grid.above(names).to_list()
    (['87195da49ffffff'], ['86195da4fffffff'])
    """

    resolution: int

    def inside(self, x: Floats, y: Floats) -> Bools:
        """Whether points have coordinates."""
        return np.isfinite(x) & np.isfinite(y)

    def names(self, x: Floats, y: Floats) -> pl.Series:
        """The cell of each point."""
        cell = _h3().latlng_to_cell
        cells = [cell(lat, lon, self.resolution) for lat, lon in zip(y.tolist(), x.tolist(), strict=True)]
        return pl.Series("", cells, dtype=pl.String)

    def above(self, names: pl.Series) -> pl.Series:
        """The parent of each cell; none above resolution 0."""
        h3 = _h3()
        parents = [h3.cell_to_parent(name) if h3.get_resolution(name) else None for name in names]
        return pl.Series("", parents, dtype=pl.String)


def _h3() -> Any:
    try:
        import h3
    except ImportError:
        raise MissingExtra("Cells of H3", "geo") from None
    return h3
