import sys

import numpy as np
import pytest

from sfumato.data.coordinates import a_crs, in_area, metric, moved
from sfumato.data.files.layers import LayerFile, read_raster, read_shapes
from sfumato.data.grids import Hexagons
from sfumato.errors import DataError, MissingExtra
from tests.places import square, write

PLACE = (np.array([-0.1]), np.array([51.5]))


@pytest.mark.parametrize("package", ["pyproj", "shapely", "h3", "rasterio", "pyogrio"])
def test_without_the_extra_the_line_that_installs_it_is_given(package, monkeypatch, tmp_path):
    (tmp_path / "a.tif").write_bytes(b"II*\0")
    (tmp_path / "a.gpkg").write_bytes(b"SQLite format 3\0")
    write(tmp_path / "a.geojson", square(0, 0, 1, 1, a=1))
    work = {
        "pyproj": lambda: a_crs(4326),
        "shapely": lambda: read_shapes(LayerFile(path=str(tmp_path / "a.geojson")), "a", "polygons"),
        "h3": lambda: Hexagons(5).names(*PLACE),
        "rasterio": lambda: read_raster(LayerFile(path=str(tmp_path / "a.tif"))),
        "pyogrio": lambda: read_shapes(LayerFile(path=str(tmp_path / "a.gpkg")), "a", "polygons"),
    }[package]
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'sfumato\[geo\]'"):
        work()


def test_systems_that_are_no_maps():
    for wrong, says in (
        (999_999, "there is no coordinate reference system"),
        (4978, "no system of degrees or of metres"),
    ):
        with pytest.raises(DataError, match=says):
            a_crs(wrong)


def test_a_system_in_metres_about_a_place_has_true_distances_from_it():
    """A degree of latitude at 50 degrees north is 111.2 km long."""
    crs = metric(a_crs(4326), 10.0, 50.0)
    _, north = moved(np.array([10.0]), np.array([51.0]), a_crs(4326), crs)
    assert abs(north[0] - 111_200) < 100
    assert metric(a_crs(27700), 0, 0) == a_crs(27700)


def test_where_a_system_holds():
    east, north = moved(*PLACE, a_crs(4326), a_crs(27700))
    assert in_area(east, north, a_crs(27700)).all()
    assert not in_area(-east * 9, north, a_crs(27700)).any()
    assert in_area(np.array([179.9]), np.array([-40.0]), a_crs(4326)).all()
