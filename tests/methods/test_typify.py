import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files.layers import Layer
from sfumato.errors import DataError
from sfumato.methods.to_polygon import ToPolygon
from sfumato.methods.typify import Typify
from sfumato.plan.plan import Plan
from tests.methods.tables import run
from tests.places import lawful_layer, square, write, write_raster

STRIPS = [square(i, -20, i + 1, 60, poor=i % 3, soil="clay" if i % 2 else "sand") for i in range(-10, 40)]
POOR = lawful_layer("strips.geojson", *STRIPS, kind=Layer, attribute="poor")
SOIL = lawful_layer("strips.geojson", *STRIPS, kind=Layer, attribute="soil")
LAWFUL = [
    Typify(x="x", y="y", crs=4326, layers={"poverty": POOR}),
    Typify(x="x", y="y", crs=4326, layers={"poverty": POOR, "soil": SOIL}, k=3, drop=False),
]
BOOK = Codebook({"lon": Variable(role="key", missing=[-9]), "lat": Variable(role="key"), "sex": Variable()})
# ten fields in a row, each a degree wide: index 1 to 10, soil clay but for the last
FIELDS = [square(i, 50, i + 1, 51, index=i + 1, soil="peat" if i == 9 else "clay") for i in range(10)]


@pytest.fixture
def fields(tmp_path):
    return write(tmp_path / "fields.geojson", *FIELDS)


@pytest.fixture
def altitude(tmp_path):
    """Ten cells in a row: 0 to 9 times 100 m, the last without a value."""
    values = [[0, 100, 100, 200, 200, 200, 300, 300, 900, -9999]]
    return write_raster(tmp_path / "altitude.tif", values, north=51)


def table(*lon):
    return pl.DataFrame(
        {"lon": lon, "lat": [50.5] * len(lon), "sex": ["f"] * len(lon)}, schema_overrides={"lon": pl.Float64}
    )


def typified(layers, *lon, frame=None, **more):
    step = Typify(**{"x": "lon", "y": "lat", "crs": 4326, "layers": layers} | more)
    return run(step, table(*lon) if frame is None else frame, BOOK)


def test_values_of_polygons_that_enough_of_them_have(fields):
    lon = [i + 0.5 for i in range(10)]
    ran = typified({"soil": {"path": fields, "attribute": "soil"}}, *lon, 20.0, None, -9)
    assert ran.after.frame["soil"].to_list() == ["clay"] * 9 + [None, None, None, "-9"]  # peat is in one field alone
    soil = ran.after.codebook["soil"]
    assert (soil.role, soil.kind, soil.missing[0].code) == ("key", "categorical", "-9")
    assert ran.after.columns == ["soil", "sex"]
    assert ran.disclosure.sentences() == (
        "soil: recoded from the coordinates lon and lat to the value of fields.geojson there; values that fewer than 5 "
        "areas share are missing.",
        "lon, lat: left out of the release.",
    )
    assert ran.steps[0].notes[0].startswith("2 records have no point; 2 have no value")


def test_an_exact_value_of_one_place_does_not_leave(fields):
    layer = {"index": {"path": fields, "attribute": "index"}}
    assert typified(layer, 0.5, 1.5).after.frame["index"].to_list() == [None, None]
    all_ = typified(layer, 0.5, 1.5, None, -9, k=1)
    assert all_.after.frame["index"].to_list() == [1, 2, None, None]
    assert all_.after.codebook["index"].kind == "continuous"


def test_bands_hold_enough_areas(fields):
    ran = typified(
        {"index": {"path": fields, "attribute": "index"}}, *(i + 0.5 for i in range(10)), band={"index": [6, 10]}
    )
    assert ran.after.frame["index"].to_list() == ["below 6"] * 5 + [None] * 5  # four fields from 6 on, one from 10 on
    more = typified({"index": {"path": fields, "attribute": "index"}}, 0.5, 5.5, 9.5, -9, band={"index": [6]})
    assert more.after.frame["index"].to_list() == ["below 6", "6 and over", "6 and over", "-9"]
    index = more.after.codebook["index"]
    assert (index.kind, index.order) == ("ordinal", ("below 6", "6 and over", "-9"))
    assert more.disclosure.parts[0].bands == {"below 6": (None, 6), "6 and over": (6, None)}


def test_values_of_a_raster(altitude):
    lon = [i + 0.5 for i in range(10)]
    layer = {"altitude": {"path": altitude}}
    ran = typified(layer, *lon, 30.0, k=2)
    assert ran.after.frame["altitude"].to_list() == [None, 100, 100, 200, 200, 200, 300, 300, None, None, None]
    banded = typified(layer, *lon, band={"altitude": [150]}, k=3)
    assert banded.after.frame["altitude"].to_list() == ["below 150"] * 3 + ["150 and over"] * 6 + [None]


def test_a_raster_in_another_system(tmp_path):
    """Leeds lies about 430 km east and 434 km north on the British grid, York 460 and 452."""
    path = write_raster(tmp_path / "a.tif", [[5, 6], [7, 8]], west=420_000, north=460_000, width=25_000, crs=27700)
    frame = pl.DataFrame({"lon": [-1.549, -1.08], "lat": [53.80, 53.96], "sex": ["f", "f"]})
    assert typified({"a": {"path": path}}, frame=frame, k=1).after.frame["a"].to_list() == [7, 6]
    bare = write_raster(tmp_path / "bare.tif", [[5]], crs=None)
    with pytest.raises(DataError, match="'bare.tif' does not say in which system"):
        typified({"a": {"path": bare}}, 0.5)


def test_a_combination_of_one_place_does_not_leave(fields, altitude):
    """Clay is common, and so is each band of altitude; but clay below 100 m is one cell."""
    layers = {"soil": {"path": fields, "attribute": "soil"}, "altitude": {"path": altitude}}
    lon = [i + 0.5 for i in range(9)]
    ran = typified(layers, *lon, band={"altitude": [250]}, k=3)
    both = list(zip(ran.after.frame["soil"], ran.after.frame["altitude"], strict=True))
    assert both == [("clay", "below 250")] * 6 + [("clay", "250 and over")] * 3
    few = typified(layers, *lon[:5], *[lon[6]] * 50, band={"altitude": [250]}, k=3)
    both = list(zip(few.after.frame["soil"], few.after.frame["altitude"], strict=True))
    assert both == [("clay", "below 250")] * 5 + [(None, None)] * 50  # fifty records in one place
    assert "50 no combination that enough areas share" in few.steps[0].notes[0]


def test_the_point_may_stay_for_another_step(fields):
    step = Typify(x="lon", y="lat", crs=4326, layers={"soil": {"path": fields, "attribute": "soil"}}, drop=False)
    ran = run(step, table(0.5), BOOK)
    assert ran.after.columns == ["soil", "lon", "lat", "sex"]
    assert list(ran.after.codebook) == ran.after.columns
    after = ToPolygon(x="lon", y="lat", crs=4326, polygons=fields, column="index")
    plan = Plan(steps=[step, after])
    plan.check(BOOK)
    assert step.changes == ("soil",)


@pytest.mark.filterwarnings("error")
def test_without_any_point_all_are_missing(fields):
    ran = typified({"soil": {"path": fields, "attribute": "soil"}}, None, None)
    assert ran.after.frame["soil"].to_list() == [None, None]


def test_a_point_on_a_border_takes_the_first(fields):
    found = typified({"index": {"path": fields, "attribute": "index"}}, 1.0, 1.0, k=1).after.frame["index"].to_list()
    assert found == [1, 1]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"layers": {"a": {"path": "a.geojson"}}}, r"say which attribute of the polygons a gets"),
        ({"band": {"b": [1]}}, "`band` names b, not among `layers`"),
        ({"band": {"a": [2, 1]}}, "cut points in rising order"),
        ({"layers": {}}, "at least 1"),
        ({"layers": {"a": {"path": "http://a/b.tif"}}}, "a file on this machine"),
    ],
)
def test_parameters_that_do_not_go_together(wrong, says):
    with pytest.raises(ValidationError, match=says):
        Typify(**{"x": "lon", "y": "lat", "crs": 4326, "layers": {"a": {"path": "a.tif"}}} | wrong)


def test_what_is_wrong_with_layers(tmp_path, fields, altitude):
    with pytest.raises(DataError, match="`band` needs numbers, and soil gets text"):
        typified({"soil": {"path": fields, "attribute": "soil"}}, 0.5, band={"soil": [1]})
    mixed = write(tmp_path / "mixed.geojson", square(0, 50, 1, 51, a=1), square(1, 50, 2, 51, a="x"))
    with pytest.raises(DataError, match="holds numbers and texts"):
        typified({"a": {"path": mixed, "attribute": "a"}}, 0.5)
    (tmp_path / "fake.tif").write_text("<VRTDataset/>")
    with pytest.raises(DataError, match="does not hold what its name says"):
        typified({"a": {"path": str(tmp_path / "fake.tif")}}, 0.5)
    (tmp_path / "broken.tif").write_bytes(b"II*\0")
    with pytest.raises(DataError, match="cannot be read as a raster"):
        typified({"a": {"path": str(tmp_path / "broken.tif")}}, 0.5)
    step = Typify(
        x="lon", y="lat", crs=4326, layers={"sex": {"path": altitude}, "b": {"path": str(tmp_path / "no.tif")}}
    )
    assert [p[:28] for p in step.check(BOOK)] == [
        "there is a column 'sex' alre"[:28],
        f"there is no file {str(tmp_path)!r}"[:28],
    ]
    with pytest.raises(DataError, match="look swapped"):
        typified(
            {"soil": {"path": fields, "attribute": "soil"}},
            frame=pl.DataFrame({"lon": [50.5], "lat": [0.5], "sex": ["f"]}),
        )


def test_ends_of_a_raster_belong_to_it_once(altitude):
    edge = typified({"altitude": {"path": altitude}}, 0.0, 1.0, k=1).after.frame["altitude"].to_list()
    assert edge == [0, 100]
    assert np.isfinite(edge).all()


def test_few_values_that_were_made_missing_are_warned_of(fields):
    def said(*lon):
        ran = typified({"soil": {"path": fields, "attribute": "soil"}}, *[0.5] * 9, *lon)
        return ran.steps[0].warnings

    (warned,) = said(9.5, 9.5)
    assert warned.startswith("soil: fewer records than `k`")
    assert said(*[9.5] * 5) == said() == ()
