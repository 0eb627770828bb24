"""Invented layers of a map, for the tests of steps that take points."""

import atexit
import hashlib
import json
import shutil
import tempfile
from pathlib import Path

from sfumato.data.files.layers import LayerFile

FOLDER = Path(tempfile.mkdtemp(prefix="sfumato-layers-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
_LAWFUL = {}


def ring(west, south, east, north):
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]


def square(west, south, east, north, **attributes):
    """A polygon, as a feature."""
    return feature("Polygon", [ring(west, south, east, north)], attributes)


def line(*places, **attributes):
    return feature("LineString", [list(place) for place in places], attributes)


def feature(kind, coordinates, attributes):
    return {"type": "Feature", "properties": attributes, "geometry": {"type": kind, "coordinates": coordinates}}


def write(path, *features, crs=None):
    """Write features as GeoJSON; `crs` as older files have it."""
    Path(path).write_text(_text(features, crs), encoding="utf-8", newline="\n")
    return str(path)


def _text(features, crs=None):
    whole = {"type": "FeatureCollection", "features": list(features)}
    if crs is not None:
        whole["crs"] = {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{crs}"}}
    return json.dumps(whole)


def lawful_layer(name, *features, kind=LayerFile, **more):
    """A layer that is named as a plan as run names it, so that such a plan reads back as itself.

    Modules name theirs while they are imported; the files are there once `lawful_layers_lie_there` was called.
    """
    _LAWFUL[name] = features
    file = kind(path=name, sha256=hashlib.sha256(_text(features).encode()).hexdigest(), **more)
    file.lies_beside(FOLDER)
    return file


def lawful_layers_lie_there():
    """Write the layers that no file holds yet."""
    while _LAWFUL:
        name, features = _LAWFUL.popitem()
        write(FOLDER / name, *features)


def write_raster(path, values, west=0.0, north=2.0, width=1.0, crs=4326):
    """Write a GeoTIFF of one band."""
    import numpy as np
    import rasterio

    values = np.asarray(values, dtype="float32")
    rows, columns = values.shape
    transform = rasterio.Affine(width, 0, west, 0, -width, north)
    shape = {"height": rows, "width": columns, "count": 1, "dtype": "float32", "nodata": -9999.0}
    with rasterio.open(path, "w", driver="GTiff", crs=crs and f"EPSG:{crs}", transform=transform, **shape) as raster:
        raster.write(values, 1)
    return str(path)
