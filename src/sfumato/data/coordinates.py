"""Coordinates and the systems that they are in, by pyproj; never over the network."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from sfumato.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from pyproj import CRS

__all__ = ["CrsName", "Floats", "a_crs", "in_area", "metric", "moved", "wrong_system"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_AUTHORITY = re.compile(r"(?:(?:EPSG|ESRI|OGC|IGNF):)?[A-Za-z0-9]{1,20}", re.IGNORECASE)
_NEARLY_ALL = 0.9
_MARGIN = 1.0  # degrees beyond the area of use of a system


def _crs_name(given: Any) -> Any:
    """A number, or authority and code; nothing that could name a file or an address."""
    if isinstance(given, bool) or not isinstance(given, int | str):
        raise ValueError("an EPSG number is needed, such as 4326 (longitude and latitude) or 27700 (British grid)")
    if isinstance(given, str):
        text = given.strip()
        if not _AUTHORITY.fullmatch(text) or (":" not in text and not text.isdigit()):
            raise ValueError("an EPSG number is needed, such as 27700, or a text of authority and code: EPSG:27700")
        return int(text) if text.isdigit() else text.upper()
    return given


CrsName = Annotated[int | str, BeforeValidator(_crs_name)]
"""A coordinate reference system: an EPSG number, or authority and code such as `EPSG:27700`."""


def _pyproj() -> Any:
    try:
        import pyproj
    except ImportError:
        raise MissingExtra("Work with coordinates", "geo") from None
    pyproj.network.set_network_enabled(False)  # type: ignore[attr-defined]
    return pyproj


def a_crs(name: int | str) -> CRS:
    """The system of a name.

    Raises
    ------
    DataError
        Where there is none of that name, or it has no two coordinates on a map or in degrees.
    MissingExtra
        Without pyproj.

    Examples
    --------
    >>> a_crs(27700).name
    'OSGB36 / British National Grid'
    """
    pyproj = _pyproj()
    try:
        crs = pyproj.CRS.from_user_input(name)
    except pyproj.exceptions.CRSError:
        raise DataError(f"there is no coordinate reference system {name!r}. Give its EPSG number.") from None
    if not (crs.is_geographic or crs.is_projected):
        raise DataError(f"{name!r} is no system of degrees or of metres on a map.")
    return crs  # type: ignore[no-any-return]


def moved(x: Floats, y: Floats, source: CRS, target: CRS) -> tuple[Floats, Floats]:
    """Coordinates in another system; NaN where it has none. Degrees are longitude (x), latitude (y).

    Without grid files (which are never downloaded) a change of datum is right to some metres.

    Parameters
    ----------
    x, y
        Coordinates, shape (n,).
    source, target
        Systems.

    Examples
    --------
    >>> east, north = moved(np.array([-0.1276]), np.array([51.5072]), a_crs(4326), a_crs(27700))
    >>> round(float(east[0]), -3), round(float(north[0]), -3)
    (530000.0, 180000.0)
    """
    pyproj = _pyproj()
    if source == target:
        return x, y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of grids that are not there
        transformer = pyproj.Transformer.from_crs(source, target, always_xy=True)
        east, north = (np.asarray(part, dtype=np.float64) for part in transformer.transform(x, y))
    bad = ~(np.isfinite(east) & np.isfinite(north))
    return np.where(bad, np.nan, east), np.where(bad, np.nan, north)


def wrong_system(x: Floats, y: Floats, crs: CRS) -> str | None:
    """Say why coordinates cannot be in a system; None where they can.

    Parameters
    ----------
    x, y
        Coordinates, shape (n,), none missing.
    crs
        The system that they are said to be in.

    Examples
    --------
    >>> wrong_system(np.array([-0.1]), np.array([51.5]), a_crs(27700))
    'look like degrees (longitude and latitude), and the system given has metres: say crs: 4326'
    """
    if not len(x):
        return None
    degrees, swapped = (np.abs(x) <= 180) & (np.abs(y) <= 90), (np.abs(x) <= 90) & (np.abs(y) <= 180)
    if not crs.is_geographic:
        if max(degrees.mean(), swapped.mean()) >= _NEARLY_ALL:
            return "look like degrees (longitude and latitude), and the system given has metres: say crs: 4326"
        return None
    if degrees.all():
        return None
    if swapped.mean() >= _NEARLY_ALL > degrees.mean():
        return "look swapped: x is the longitude, y the latitude, which lies between -90 and 90"
    if np.mean(np.maximum(np.abs(x), np.abs(y)) > 360) > 0.5:
        return "look like metres, and the system given has degrees: give the one that they are in, such as crs: 27700"
    return "lie outside the degrees that there are: longitude (x) from -180 to 180, latitude (y) from -90 to 90"


def in_area(x: Floats, y: Floats, crs: CRS) -> Bools:
    """Whether points lie in the area that a system is made for, or within a degree of it; shape (n,).

    Examples
    --------
    >>> in_area(np.array([530_000.0, 3e6]), np.array([180_000.0, 180_000.0]), a_crs(27700)).tolist()
    [True, False]
    """
    area = crs.area_of_use
    if area is None:
        return np.ones(len(x), dtype=np.bool_)
    lon, lat = moved(x, y, crs, a_crs(4326))
    low, high = area.west - _MARGIN, area.east + _MARGIN
    across = (lon >= low) & (lon <= high) if low <= high else (lon >= low) | (lon <= high)
    return across & (lat >= area.south - _MARGIN) & (lat <= area.north + _MARGIN)


def metric(crs: CRS, x: float, y: float) -> CRS:
    """A system in metres: the one given, or where that has degrees one with true distances from a point.

    Parameters
    ----------
    crs
        A system.
    x, y
        The point, in it.

    Examples
    --------
    >>> metric(a_crs(4326), 10.0, 50.0).is_projected
    True
    """
    if crs.is_projected and all(axis.unit_conversion_factor == 1 for axis in crs.axis_info):
        return crs
    lon, lat = moved(np.array([x]), np.array([y]), crs, a_crs(4326))
    return _pyproj().CRS.from_proj4(  # type: ignore[no-any-return]
        f"+proj=aeqd +lat_0={lat[0]:.6f} +lon_0={lon[0]:.6f} +datum=WGS84 +units=m"
    )
