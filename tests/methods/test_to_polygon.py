import json
import zipfile

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.errors import DataError, PlanError
from sfumato.methods.to_polygon import ToPolygon
from sfumato.plan.plan import Plan
from tests.methods.tables import run
from tests.places import feature, lawful_layer, line, ring, square, write

QUARTERS = [
    square(-20, -20, 10, 1, name="south-west"),
    square(10, -20, 40, 1, name="south-east"),
    square(-20, 1, 10, 60, name="north-west"),
    square(10, 1, 40, 60, name="north-east"),
]
LAWFUL = [
    ToPolygon(x="x", y="y", crs=4326, polygons=lawful_layer("quarters.geojson", *QUARTERS), column="name"),
    ToPolygon(
        x="x",
        y="y",
        crs=4326,
        column="part",
        attribute="name",
        outside="nearest",
        polygons=lawful_layer("one.geojson", *QUARTERS[:2]),
    ),
]
BOOK = Codebook({"lon": Variable(role="identifier", missing=[-9]), "lat": Variable(role="key"), "sex": Variable()})
TOWNS = [square(-2, 53, -1.5, 54, town="West"), square(-1.5, 53, -1, 54, town="East")]


@pytest.fixture
def towns(tmp_path):
    return write(tmp_path / "towns.geojson", *TOWNS)


def table(*places):
    lon, lat = ([p[i] for p in places] for i in (0, 1))
    return pl.DataFrame({"lon": lon, "lat": lat, "sex": "f"}, schema_overrides={"lon": pl.Float64, "lat": pl.Float64})


def areas(polygons, *places, **more):
    step = ToPolygon(**{"x": "lon", "y": "lat", "crs": 4326, "polygons": polygons, "column": "town"} | more)
    ran = run(step, table(*places), BOOK)
    return ran, ran.after.frame[step.column].to_list()


def test_points_become_the_names_of_polygons(towns):
    ran, found = areas(towns, (-1.6, 53.5), (-1.4, 53.5), (0.0, 53.5), (None, 53.0), (-9, 53.0))
    assert found == ["West", "East", None, None, "-9"]
    assert ran.after.columns == ["town", "sex"]
    town = ran.after.codebook["town"]
    assert (town.role, town.kind, town.missing[0].code) == ("key", "categorical", "-9")
    assert ran.steps[0].notes == ("2 records have no point, 1 lie in no polygon, 0 in several.",)
    assert ran.disclosure.sentences()[0] == (
        "town: recoded from the coordinates lon and lat to the polygons of towns.geojson."
    )


def test_a_point_on_a_border_lies_in_two(towns):
    border = [(-1.5, 53.5)] * 2
    ran, found = areas(towns, *border)
    assert found == ["East", "East"]  # the first by name, one row for each record
    assert "2 in several" in ran.steps[0].notes[0]
    with pytest.raises(DataError, match=r"some points lie in several polygons of 'towns.geojson'.*`tie: first`"):
        areas(towns, *border, tie="error")


def test_parts_of_one_name_are_one_area(tmp_path):
    parts = [square(0, 50, 1, 51, town="Isles"), square(1, 50, 2, 51, town="Isles")]
    assert areas(write(tmp_path / "a.geojson", *parts), (1.0, 50.5), tie="error")[1] == ["Isles"]
    numbers = [square(0, 50, 1, 51, town=7), square(1, 50, 2, 51, town=8.0)]
    assert areas(write(tmp_path / "n.geojson", *numbers), (0.5, 50.5), (1.5, 50.5))[1] == ["7", "8"]


def test_points_outside(towns):
    places = (-1.6, 53.5), (-0.9, 53.5), (-3.0, 53.5)
    assert areas(towns, *places, outside="nearest")[1] == ["West", "East", "West"]
    with pytest.raises(DataError, match=r"some points lie in no polygon .*`outside: missing`"):
        areas(towns, *places, outside="error")
    with pytest.raises(DataError, match="all points lie outside the polygons of 'towns.geojson'; is `crs` the system"):
        areas(towns, (10.0, 10.0))


def test_swapped_coordinates_and_the_wrong_system(towns):
    with pytest.raises(DataError, match="look swapped"):
        areas(towns, (53.5, -1.6), (53.5, -1.4))
    with pytest.raises(DataError, match="look like degrees"):
        areas(towns, (-1.6, 53.5), crs=27700)


def test_a_layer_in_another_system_is_transformed(tmp_path):
    """Leeds lies about 430 km east and 434 km north on the British grid, York 460 and 452."""
    metres = [square(420_000, 425_000, 440_000, 445_000, town="Leeds"), square(450e3, 445e3, 470e3, 460e3, town="York")]
    path = write(tmp_path / "grid.geojson", *metres, crs=27700)
    assert areas(path, (-1.549, 53.80), (-1.08, 53.96))[1] == ["Leeds", "York"]
    assert areas(path, (-1.549, 53.80), (-1.7, 54.2), outside="nearest")[1] == ["Leeds", "Leeds"]
    bare = write(tmp_path / "bare.geojson", *metres)
    with pytest.raises(DataError, match=r"'bare.geojson' has coordinates that are no degrees; say their system"):
        areas(bare, (-1.549, 53.80))
    assert areas({"path": bare, "crs": 27700}, (-1.549, 53.80))[1] == ["Leeds"]
    with pytest.raises(DataError, match=r"'grid.geojson' says another system than the plan does"):
        areas({"path": path, "crs": 3035}, (-1.549, 53.80))


def geopandas_of(features, crs):
    import geopandas

    return geopandas.GeoDataFrame.from_features(features, crs=crs)


@pytest.mark.slow
def test_geopackages_and_zipped_shapefiles(tmp_path):
    frame = geopandas_of(TOWNS, 4326).to_crs(27700)
    frame.to_file(tmp_path / "towns.gpkg", layer="towns", engine="pyogrio")
    places = (-1.6, 53.5), (-1.4, 53.5)
    assert areas(str(tmp_path / "towns.gpkg"), *places)[1] == ["West", "East"]
    frame.to_file(tmp_path / "towns.gpkg", layer="more", mode="a", engine="pyogrio")
    with pytest.raises(DataError, match=r"'towns.gpkg' has several layers or none; name one \(`layer`\): towns, more"):
        areas(str(tmp_path / "towns.gpkg"), *places)
    assert areas({"path": str(tmp_path / "towns.gpkg"), "layer": "more"}, *places)[1] == ["West", "East"]
    with pytest.raises(DataError, match="has no layer of that name; layers: towns, more"):
        areas({"path": str(tmp_path / "towns.gpkg"), "layer": "less"}, *places)

    (tmp_path / "shape").mkdir()
    frame.to_file(tmp_path / "shape" / "towns.shp", engine="pyogrio")
    with zipfile.ZipFile(tmp_path / "towns.zip", "w") as archive:
        for part in (tmp_path / "shape").iterdir():
            archive.write(part, part.name)
    assert areas(str(tmp_path / "towns.zip"), *places)[1] == ["West", "East"]
    with zipfile.ZipFile(tmp_path / "bare.zip", "w") as archive:
        for part in (p for p in (tmp_path / "shape").iterdir() if p.suffix != ".prj"):
            archive.write(part, part.name)
    with pytest.raises(DataError, match=r"'bare.zip' does not say in which system .* crs: 27700"):
        areas(str(tmp_path / "bare.zip"), *places)
    assert areas({"path": str(tmp_path / "bare.zip"), "crs": 27700}, *places)[1] == ["West", "East"]
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("a.txt", "a")
    with pytest.raises(DataError, match="must hold one shapefile"):
        areas(str(tmp_path / "none.zip"), *places)


def test_an_archive_leads_to_no_other_file(tmp_path):
    """GDAL tells a virtual layer by its content, whatever it is called, and follows it to any file or address."""
    source = write(tmp_path / "else.geojson", square(-2, 53, -1, 54, town="Elsewhere"))
    layer = f'<OGRVRTLayer name="a"><SrcDataSource>{source}</SrcDataSource><SrcLayer>else</SrcLayer></OGRVRTLayer>'
    with zipfile.ZipFile(tmp_path / "towns.zip", "w") as archive:
        archive.writestr("a.shp", f"<OGRVRTDataSource>{layer}</OGRVRTDataSource>")
    with pytest.raises(DataError, match="'towns.zip' does not hold what its name says"):
        areas(str(tmp_path / "towns.zip"), (-1.5, 53.5))


def test_invalid_shapes_are_mended(tmp_path):
    bow_tie = feature("Polygon", [[[0, 50], [2, 52], [2, 50], [0, 52], [0, 50]]], {"town": "Bow"})
    path = write(tmp_path / "bow.geojson", bow_tie, square(3, 50, 4, 51, town="Box"))
    assert areas(path, (0.2, 51.0), (1.8, 51.0), (1.0, 50.2), (3.5, 50.5))[1] == ["Bow", "Bow", None, "Box"]
    flat = feature("Polygon", [[[0, 50], [1, 51], [0, 50], [0, 50]]], {"town": "Flat"})
    with pytest.raises(DataError, match="an invalid shape without any area left; correct it"):
        areas(write(tmp_path / "flat.geojson", flat), (0.2, 51.0))
    height = feature("Polygon", [[[*place, 5.0] for place in ring(0, 50, 1, 51)]], {"town": "Hill"})
    nothing = {"type": "Feature", "properties": {"town": "none"}, "geometry": None}
    assert areas(write(tmp_path / "hill.geojson", height, nothing), (0.5, 50.5))[1] == ["Hill"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "is no GeoJSON with a collection of features"),
        ("[1]", "is no GeoJSON"),
        ("<OGRVRTDataSource/>", "is no GeoJSON"),
        ("[" * 100_000, "is no GeoJSON"),
        (
            '{"type": "FeatureCollection", "features": [{"geometry": {"type": "Polygon", "coordinates": [[1]]}}]}',
            "is no",
        ),
        ('{"type": "FeatureCollection", "features": []}', "has no attribute 'town'; attributes: none"),
        ('{"type": "FeatureCollection", "features": [{"geometry": null, "properties": [1]}]}', "is no GeoJSON"),
        ('{"type": "FeatureCollection", "features": [], "crs": {"properties": []}}', "is no GeoJSON"),
    ],
)
def test_files_that_are_no_layers(tmp_path, text, says):
    (tmp_path / "bad.geojson").write_text(text)
    with pytest.raises(DataError, match=says):
        areas(str(tmp_path / "bad.geojson"), (0.0, 50.0))


def test_the_system_of_a_layer_is_a_name_that_leads_to_no_file(tmp_path):
    path = write(tmp_path / "towns.geojson", square(-2, 53, -1, 54, town="East"), crs=4326)
    assert areas(path, (-1.5, 53.5))[1] == ["East"]
    whole = json.loads((tmp_path / "towns.geojson").read_text())
    whole["crs"]["properties"]["name"] = f"+proj=longlat +nadgrids={tmp_path / 'shifts.gsb'}"
    (tmp_path / "towns.geojson").write_text(json.dumps(whole))
    with pytest.raises(DataError, match="in a system that is not known"):
        areas(path, (-1.5, 53.5))


def test_what_is_no_number_is_no_name(tmp_path):
    path = write(tmp_path / "towns.geojson", square(-2, 53, -1, 54, town=float("nan")))
    with pytest.raises(DataError, match="polygons whose 'town' is empty"):
        areas(path, (-1.5, 53.5))


def test_layers_of_another_kind(tmp_path, towns):
    rivers = write(tmp_path / "rivers.geojson", line((0, 50), (1, 51), town="Aire"))
    with pytest.raises(DataError, match=r"'rivers.geojson' holds other shapes than polygons"):
        areas(rivers, (0.0, 50.0))
    with pytest.raises(DataError, match=r"'towns.geojson' has no attribute 'name'; attributes: town"):
        areas(towns, (-1.6, 53.5), attribute="name")
    unnamed = write(tmp_path / "unnamed.geojson", *TOWNS, square(0, 50, 1, 51, town=None))
    with pytest.raises(DataError, match=r"has polygons whose 'town' is empty; give each a name"):
        areas(unnamed, (-1.6, 53.5))
    for name in ("fake.gpkg", "fake.zip"):
        (tmp_path / name).write_text("<VRTDataset/>")
        with pytest.raises(DataError, match="does not hold what its name says"):
            areas(str(tmp_path / name), (-1.6, 53.5))


@pytest.mark.parametrize(
    "path",
    [
        "http://example.org/towns.geojson",
        "https://example.org/towns.zip",
        "/vsicurl/http://example.org/towns.gpkg",
        "/vsizip/towns.zip",
        "//vsis3/towns.gpkg",
        "WFS:http://example.org/a.geojson",
        "GPKG:towns.gpkg",
        "towns.vrt",
        "towns.csv",
        "",
    ],
)
def test_only_files_on_this_machine_are_named(path):
    with pytest.raises(ValidationError):
        ToPolygon(x="lon", y="lat", crs=4326, polygons=path, column="town")


def test_files_that_are_missing_or_too_large_are_found_before_the_run(tmp_path, towns, monkeypatch):
    step = ToPolygon(x="lon", y="lat", crs=4326, polygons=str(tmp_path / "none.geojson"), column="town")
    assert "there is no file" in step.check(BOOK)[0]
    monkeypatch.setattr("sfumato.data.files.named.NamedFile.largest", 10)
    assert "is larger than" in ToPolygon(x="lon", y="lat", crs=4326, polygons=towns, column="town").check(BOOK)[0]


PLAN = """sfumato: 1
steps:
  - {do: to_polygon, x: lon, y: lat, crs: 4326, polygons: maps/towns.geojson, column: town}
"""


def test_a_plan_as_run_names_the_file_and_its_digest(tmp_path):
    (tmp_path / "maps").mkdir()
    write(tmp_path / "maps" / "towns.geojson", *TOWNS)
    (tmp_path / "plan.yaml").write_text(PLAN)
    plan = Plan.load(tmp_path / "plan.yaml")
    plan.check(BOOK)
    text = plan.to_yaml()
    assert "sha256" in text
    assert "maps" not in text
    elsewhere = {**plan.steps[0].model_dump(), "polygons": str(tmp_path / "maps" / "towns.geojson")}
    assert Plan(steps=[elsewhere]).digest == plan.digest
    (tmp_path / "maps" / "plan.yaml").write_text(text)
    again = Plan.load(tmp_path / "maps" / "plan.yaml")
    again.check(BOOK)
    assert again.to_yaml() == text
    write(tmp_path / "maps" / "towns.geojson", *TOWNS[:1])
    with pytest.raises(PlanError, match=r"'towns.geojson' is not the file that the plan was run with \(sha256\)"):
        Plan.load(tmp_path / "maps" / "plan.yaml").check(BOOK)
    assert Plan.load(tmp_path / "plan.yaml").digest != plan.digest
    (tmp_path / "alone.yaml").write_text(text)
    assert Plan.load(tmp_path / "alone.yaml").to_yaml() == text  # without the file it can be read, not run
    with pytest.raises(PlanError, match=r"there is no file 'towns.geojson' beside the plan"):
        Plan.load(tmp_path / "alone.yaml").check(BOOK)


def test_round_districts_hold_their_share_of_points(tmp_path):
    """A hundred districts of a hundred corners each and 20,000 points: .02 is six standard errors."""
    angle = np.linspace(0, 2 * np.pi, 100)[:-1]
    districts = []
    for i in range(100):
        east, north = 0.5 + i % 10, 45.5 + i // 10
        corners = np.column_stack([east + 0.5 * np.cos(angle), north + 0.5 * np.sin(angle)]).round(6).tolist()
        districts.append(feature("Polygon", [[*corners, corners[0]]], {"town": f"D{i}"}))
    path = write(tmp_path / "many.geojson", *districts)
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"lon": rng.uniform(0, 10, 20_000), "lat": rng.uniform(45, 55, 20_000)})
    ran = run(ToPolygon(x="lon", y="lat", crs=4326, polygons=path, column="town"), frame, BOOK)
    assert abs(ran.after.frame["town"].null_count() / 20_000 - (1 - np.pi / 4)) < 0.02
    assert json.loads((tmp_path / "many.geojson").read_text())["type"] == "FeatureCollection"
