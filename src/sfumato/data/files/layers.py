"""Layers of a map in files of the user's own: shapes with a value each, and grids of values."""

from __future__ import annotations

import json
import math
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from sfumato.data.coordinates import CrsName, Floats, a_crs, metric, moved
from sfumato.data.files.named import NamedFile
from sfumato.errors import DataError, FileError, MissingExtra

if TYPE_CHECKING:
    from pyproj import CRS

__all__ = ["Layer", "LayerFile", "LayerPath", "Raster", "Shapes", "named_shapes", "read_raster", "read_shapes"]

Ints = NDArray[np.int64]

_GEOJSON = (".geojson", ".json")
_SHAPES = (*_GEOJSON, ".gpkg", ".zip")
_RASTERS = (".tif", ".tiff")
_MOST_CELLS = 250_000_000
_CRS_NAME = re.compile(
    r"urn:ogc:def:crs:\w+:[\w.]*:\w+|https?://www\.opengis\.net/def/crs/\w+/[\w.]+/\w+|\w+:\w+", re.IGNORECASE
)
_SHAPEFILE = b"\0\0\x27\x0a"
_MAGIC = {".gpkg": (b"SQLite format 3\0",), ".zip": (b"PK",), ".tif": (b"II", b"MM"), ".tiff": (b"II", b"MM")}


class LayerFile(NamedFile):
    """A file with a layer: GeoJSON, GeoPackage, a zipped shapefile, or a GeoTIFF.

    Parameters
    ----------
    layer
        Which layer of a GeoPackage; not needed where it has one.
    crs
        The system of its coordinates, where the file does not say; GeoJSON without a word is in longitude and latitude.
    """

    suffixes: ClassVar[tuple[str, ...]] = (*_SHAPES, *_RASTERS)

    layer: str | None = None
    crs: CrsName | None = None

    @property
    def raster(self) -> bool:
        """Whether it is a grid of values."""
        return self.path.lower().endswith(_RASTERS)


def _named(given: Any) -> Any:
    return {"path": given} if isinstance(given, str) else given


LayerPath = Annotated[LayerFile, BeforeValidator(_named, json_schema_input_type=str | LayerFile)]
"""A layer, as a plan may name it: by its path alone."""


class Layer(LayerFile):
    """A layer whose values say what a place is like.

    Parameters
    ----------
    attribute
        Which attribute of shapes; a raster's first band needs none.

    Examples
    --------
    >>> Layer(path="poverty.geojson", attribute="index").raster
    False
    """

    attribute: str | None = Field(default=None, min_length=1)


@dataclass(frozen=True)
class Shapes:
    """Shapes with a value each.

    Parameters
    ----------
    shapes
        Geometries, shape (n,).
    values
        Value of each, in the same order; null where it has none.
    crs
        Their system.
    """

    shapes: NDArray[np.object_] = field(repr=False)
    values: list[Any] = field(repr=False)
    crs: CRS

    def holding(self, x: Floats, y: Floats, crs: CRS) -> tuple[Ints, Ints]:
        """Which points lie in which shapes, on their borders too: numbers of points and of shapes, sorted.

        Parameters
        ----------
        x, y
            Points, shape (m,).
        crs
            Their system.
        """
        shapely = _shapely()
        x, y = moved(x, y, crs, self.crs)
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        points = shapely.points(x[known], y[known])
        shape, at = shapely.STRtree(points).query(self.shapes, predicate="intersects")  # shapes are prepared once
        order = np.lexsort((shape, at))
        return known[at[order]], shape[order].astype(np.int64)

    def in_metres(self) -> Shapes:
        """The same shapes in a system whose distances are metres."""
        shapely = _shapely()
        west, south, east, north = shapely.total_bounds(self.shapes)
        crs = metric(self.crs, (west + east) / 2, (south + north) / 2)
        if crs == self.crs:
            return self

        def move(pairs: Floats) -> Floats:
            return np.column_stack(moved(pairs[:, 0], pairs[:, 1], self.crs, crs))

        return Shapes(shapely.transform(self.shapes, move), self.values, crs)

    def near(self, x: Floats, y: Floats, crs: CRS) -> tuple[Floats, Floats]:
        """Points in the system of the shapes."""
        return moved(x, y, crs, self.crs)

    def nearest(self, x: Floats, y: Floats, crs: CRS, within: float | None = None) -> tuple[Ints, Ints]:
        """The nearest shapes of each point, all that are equally near: numbers of points and of shapes.

        Parameters
        ----------
        x, y
            Points, shape (m,).
        crs
            Their system.
        within
            The greatest distance, in the unit of the shapes.
        """
        shapely = _shapely()
        x, y = self.near(x, y, crs)
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        points = shapely.points(x[known], y[known])
        at, shape = shapely.STRtree(self.shapes).query_nearest(points, max_distance=within)
        return known[at], shape.astype(np.int64)

    def about(self, x: Floats, y: Floats, crs: CRS, distance: float) -> tuple[Ints, Ints, Floats]:
        """The shapes within a distance of each point: numbers of points and of shapes, and how far they are.

        Parameters
        ----------
        x, y
            Points, shape (m,).
        crs
            Their system.
        distance
            In the unit of the shapes.
        """
        shapely = _shapely()
        x, y = self.near(x, y, crs)
        known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        points = shapely.points(x[known], y[known])
        at, shape = shapely.STRtree(self.shapes).query(points, predicate="dwithin", distance=distance)
        return known[at], shape.astype(np.int64), shapely.distance(points[at], self.shapes[shape])

    def bounds(self) -> tuple[float, float, float, float]:
        """West, south, east and north end of all shapes."""
        west, south, east, north = _shapely().total_bounds(self.shapes)
        return float(west), float(south), float(east), float(north)


def _shapely() -> Any:
    try:
        import shapely
    except ImportError:
        raise MissingExtra("Work with layers of a map", "geo") from None
    return shapely


def read_shapes(file: LayerFile, attribute: str, kind: str) -> Shapes:
    """Read shapes and an attribute of each; invalid shapes are mended.

    Parameters
    ----------
    file
        The file.
    attribute
        Name of the attribute.
    kind
        `polygons` or `lines`.

    Raises
    ------
    FileError
        A file that is not there, too large, or of another format than its name says.
    DataError
        No such attribute, no system, shapes of another kind or beyond mending, none at all.
    MissingExtra
        Without the packages that read it.
    """
    path = file.checked()
    if file.raster:
        raise DataError(f"{file.name!r} is a raster, and {kind} are needed")
    _refuse_disguised(path)
    shapes, values, told = (
        _geojson(path, attribute) if path.suffix.lower() in _GEOJSON else _by_gdal(path, file.layer, attribute)
    )
    if told is None and file.crs is None and path.suffix.lower() in _GEOJSON:
        told = "OGC:CRS84"  # so the standard has it
    crs = _system(file, told)
    shapes, values = _mended(file.name, shapes, values, kind)
    if crs.is_geographic and (np.abs(_shapely().total_bounds(shapes)) > (181, 91, 181, 91)).any():
        raise DataError(f"{file.name!r} has coordinates that are no degrees; say their system: {{path: …, crs: 27700}}")
    return Shapes(shapes, values, crs)


def named_shapes(file: LayerFile, attribute: str, kind: str) -> Shapes:
    """Read shapes that have a name each; errors as in `read_shapes`, and where one has none.

    Whole numbers are names too.
    """
    read = read_shapes(file, attribute, kind)
    known = [None if isinstance(v, float) and not math.isfinite(v) else v for v in read.values]
    names = [None if v is None else str(int(v) if isinstance(v, float) and v.is_integer() else v) for v in known]
    if any(name is None or not name.strip() for name in names):
        raise DataError(f"{file.name!r} has {kind} whose {attribute!r} is empty; give each a name")
    return Shapes(read.shapes, names, read.crs)


def _refuse_disguised(path: Path) -> None:
    """Refuse a file of another format than its name says, which could name files elsewhere."""
    with path.open("rb") as file:
        head = file.read(64)
    known = _MAGIC.get(path.suffix.lower())
    if known is not None and not head.startswith(known):
        raise FileError(f"{path.name!r} does not hold what its name says")


def _system(file: LayerFile, told: str | int | None) -> CRS:
    """The system that a file tells or the plan states; both must agree."""
    if told is None and file.crs is None:
        raise DataError(
            f"{file.name!r} does not say in which system its coordinates are; say so: {{path: {file.name}, crs: 27700}}"
        )
    try:
        import pyproj

        crs = pyproj.CRS.from_user_input(told) if told is not None else a_crs(file.crs or 4326)
    except ImportError:
        raise MissingExtra("Work with layers of a map", "geo") from None
    except pyproj.exceptions.CRSError:
        raise DataError(f"{file.name!r} has coordinates in a system that is not known") from None
    if told is not None and file.crs is not None and not crs.equals(a_crs(file.crs), ignore_axis_order=True):
        raise DataError(f"{file.name!r} says another system than the plan does; take `crs` out of it")
    return crs


def _geojson(path: Path, attribute: str) -> tuple[NDArray[np.object_], list[Any], str | None]:
    shapely = _shapely()
    try:
        whole = json.loads(path.read_bytes().decode("utf-8-sig"))
        features = whole["features"]
        if whole["type"] != "FeatureCollection" or not isinstance(features, list):
            raise KeyError
        texts = [json.dumps(feature["geometry"]) if feature["geometry"] else None for feature in features]
        shapes = shapely.from_geojson(np.array(texts, dtype=object))
        attributes = [{**(feature.get("properties") or {})} for feature in features]
        crs = whole.get("crs")
        told = None if crs is None else str(crs["properties"]["name"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, shapely.errors.ShapelyError):
        raise FileError(f"{path.name!r} is no GeoJSON with a collection of features") from None
    _refuse_unknown(path.name, attribute, list(dict.fromkeys(n for a in attributes for n in a)))
    if told is not None and not _CRS_NAME.fullmatch(told):  # other texts that name a system can name files
        raise DataError(f"{path.name!r} has coordinates in a system that is not known")
    values = [a.get(attribute) for a in attributes]
    return np.asarray(shapes, dtype=object), values, told


def _refuse_unknown(name: str, attribute: str, known: Sequence[str]) -> None:
    if attribute not in known:
        raise DataError(f"{name!r} has no attribute {attribute!r}; attributes: {', '.join(known) or 'none'}")


def _by_gdal(path: Path, layer: str | None, attribute: str) -> tuple[NDArray[np.object_], list[Any], str | None]:
    try:
        import pyogrio
    except ImportError:
        raise MissingExtra("Work with layers of a map", "geo") from None
    source = _in_zip(path) if path.suffix.lower() == ".zip" else str(path)
    try:
        layers = [str(name) for name in pyogrio.list_layers(source)[:, 0]]
        if layer is None and len(layers) != 1:
            raise DataError(f"{path.name!r} has several layers or none; name one (`layer`): {', '.join(layers)}")
        info = pyogrio.read_info(source, layer=layer)
        _refuse_unknown(path.name, attribute, [str(name) for name in info["fields"]])
        told, _, shapes, fields = pyogrio.raw.read(source, layer=layer, columns=[attribute])
    except pyogrio.errors.DataSourceError:
        raise FileError(f"{path.name!r} cannot be read as a layer") from None
    except pyogrio.errors.DataLayerError:
        raise DataError(f"{path.name!r} has no layer of that name; layers: {', '.join(layers)}") from None
    values = [None if v is None or v != v else v for v in fields[0].tolist()]
    return np.asarray(_shapely().from_wkb(shapes), dtype=object), values, told["crs"]


def _in_zip(path: Path) -> str:
    """The one shapefile of an archive, as GDAL names it."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            shapes = [entry.filename for entry in entries if entry.filename.lower().endswith(".shp")]
            heads = [archive.open(name).read(len(_SHAPEFILE)) for name in shapes]
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError):  # of archives with a password, too
        raise FileError(f"{path.name!r} is no zip archive that can be read") from None
    if sum(entry.file_size for entry in entries) > NamedFile.largest:
        raise FileError(f"{path.name!r} holds more than {NamedFile.largest >> 20} MB")
    if len(shapes) != 1:
        raise FileError(f"{path.name!r} must hold one shapefile (.shp)")
    if heads != [_SHAPEFILE]:  # a virtual layer, which GDAL knows by its content, would lead elsewhere
        raise FileError(f"{path.name!r} does not hold what its name says")
    return f"/vsizip/{{{path}}}/{shapes[0]}"


def _mended(name: str, shapes: Any, values: list[Any], kind: str) -> tuple[NDArray[np.object_], list[Any]]:
    """Shapes in two dimensions that are valid; those that are empty are left out."""
    shapely = _shapely()
    there = ~(shapely.is_missing(shapes) | shapely.is_empty(shapes))
    shapes = shapely.force_2d(shapes[there])
    values = [value for value, stays in zip(values, there, strict=True) if stays]
    dimension = {"polygons": 2, "lines": 1}[kind]
    if not len(shapes):
        raise DataError(f"{name!r} holds no shapes")
    if (shapely.get_dimensions(shapes) != dimension).any():
        raise DataError(f"{name!r} holds other shapes than {kind}")
    bad = ~shapely.is_valid(shapes)
    shapes[bad] = shapely.make_valid(shapes[bad], method="structure", keep_collapsed=False)
    if bad.any() and (shapely.is_empty(shapes) | (shapely.get_dimensions(shapes) != dimension)).any():
        raise DataError(f"{name!r} holds an invalid shape without any area left; correct it")
    if not np.isfinite(shapely.total_bounds(shapes)).all():
        raise DataError(f"{name!r} holds coordinates that are no numbers")
    return shapes, values


@dataclass(frozen=True)
class Raster:
    """A grid of values.

    Parameters
    ----------
    values
        First band, shape (rows, columns), NaN where there is no value.
    crs
        Its system.
    """

    values: NDArray[np.float64] = field(repr=False)
    crs: CRS
    _inverse: tuple[float, ...] = field(repr=False)

    def cell(self, x: Floats, y: Floats, crs: CRS) -> Ints:
        """Number of the cell that each point lies in, shape (n,); -1 outside."""
        x, y = moved(x, y, crs, self.crs)
        known = np.isfinite(x) & np.isfinite(y)
        x, y = np.where(known, x, 0), np.where(known, y, 0)
        a, b, c, d, e, f = self._inverse
        column, row = np.floor(a * x + b * y + c), np.floor(d * x + e * y + f)
        rows, columns = self.values.shape
        inside = known & (column >= 0) & (column < columns) & (row >= 0) & (row < rows)
        return np.where(inside, row * columns + column, -1).astype(np.int64)


def read_raster(file: LayerFile) -> Raster:
    """Read the first band of a GeoTIFF.

    Raises
    ------
    FileError, DataError, MissingExtra
        As in `read_shapes`; more than 250 million cells.
    """
    path = file.checked()
    if not file.raster:
        raise DataError(f"{file.name!r} is no raster")
    _refuse_disguised(path)
    try:
        import rasterio
    except ImportError:
        raise MissingExtra("Rasters", "geo") from None
    try:
        with rasterio.open(path, driver="GTiff") as raster:
            if raster.width * raster.height > _MOST_CELLS:
                raise FileError(f"{file.name!r} has more than {_MOST_CELLS:,} cells; cut it to the area of the data")
            band = raster.read(1, masked=True)
            told, transform = raster.crs.to_wkt() if raster.crs else None, raster.transform
    except rasterio.errors.RasterioError:
        raise FileError(f"{file.name!r} cannot be read as a raster") from None
    return Raster(band.astype(np.float64).filled(np.nan), _system(file, told), tuple((~transform)[:6]))
