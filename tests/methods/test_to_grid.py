import socket

import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.coordinates import a_crs
from sfumato.errors import DataError, PlanError
from sfumato.methods.to_grid import ToGrid
from sfumato.plan.plan import Plan
from tests.methods.tables import run

LAWFUL = [
    ToGrid(x="x", y="y", crs=4326, system="h3", resolution=3, min_population=4),
    ToGrid(x="x", y="y", crs=4326, system="square", into=6933, size=100_000, column="y"),
]
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "lon": Variable(role="identifier", kind="continuous", missing=[{"code": -9, "label": "refused"}]),
        "sex": Variable(kind="categorical"),
        "lat": Variable(role="key", kind="continuous", missing=[-9, -8]),
    }
)
# Nelson's column, the Ordnance Survey's office, St Kilda, Unst
LONDON, SOUTHAMPTON, KILDA, UNST = (-0.1279, 51.5077), (-1.4707, 50.9379), (-8.58, 57.81), (-0.87, 60.80)


def table(*places):
    return pl.DataFrame(
        {
            "id": range(len(places)),
            "lon": [p[0] for p in places],
            "sex": ["f"] * len(places),
            "lat": [p[1] for p in places],
        },
        schema_overrides={"lon": pl.Float64, "lat": pl.Float64},
    )


def cells(*places, book=BOOK, **more):
    given = {"x": "lon", "y": "lat", "crs": 4326, "min_population": 1} | more
    return run(ToGrid(**given), table(*places), book)


def test_squares_of_the_british_grid_have_their_usual_names():
    """As gazetteers have these places: Nelson's column TQ300804, the Ordnance Survey's office SU373155."""
    for size, names in ((1000, ["TQ3080", "SU3715"]), (10_000, ["TQ38", "SU31"]), (100_000, ["TQ", "SU"])):
        assert cells(LONDON, SOUTHAMPTON, size=size).after.frame["cell"].to_list() == names
    assert [cell[:2] for cell in cells(KILDA, UNST).after.frame["cell"]] == ["NF", "HP"]


def test_the_example_of_the_ordnance_survey():
    """A guide to coordinate systems in Great Britain, annexe C: 651,409.903 m east, 313,177.270 m north, in TG."""
    place = (1 + 43 / 60 + 4.5177 / 3600, 52 + 39 / 60 + 27.2531 / 3600)
    for size, name in ((10, "TG51401317"), (1000, "TG5113")):
        assert cells(place, crs=4277, size=size).after.frame["cell"].to_list() == [name]


def test_the_cell_stands_where_the_first_coordinate_stood_and_is_a_key():
    ran = cells(LONDON)
    assert ran.after.columns == ["id", "cell", "sex"]
    cell = ran.after.codebook["cell"]
    assert (cell.role, cell.kind) == ("key", "categorical")
    assert list(ran.after.codebook) == ran.after.columns
    assert ran.disclosure.sentences() == (
        "cell: recoded from the coordinates lon and lat to squares of 1,000 m of the British National Grid.",
        "lon, lat: left out of the release.",
    )


def test_missing_coordinates_and_codes_stay_missing():
    ran = cells(LONDON, (None, 51.5), (-0.1, float("nan")), (-9, -9), (-0.1, -8), (-9, -8))
    assert ran.after.frame["cell"].to_list() == ["TQ3080", None, None, "-9", "-8", "-9"]
    assert [(m.code, m.label) for m in ran.after.codebook["cell"].missing] == [("-9", "refused"), ("-8", None)]
    assert ran.steps[0].notes[0].startswith("5 records have no point, 0 lie outside")
    assert cells((-9, -9), (None, None)).after.frame["cell"].to_list() == ["-9", None]


def test_cells_with_few_records_become_larger_ones_and_a_lone_one_missing():
    east = (LONDON[0] + 0.03, LONDON[1])
    ran = cells(*[LONDON] * 5, *[east] * 3, (LONDON[0], LONDON[1] + 0.02), SOUTHAMPTON, min_population=4)
    assert ran.after.frame["cell"].to_list()[:5] == ["TQ3080"] * 5
    assert ran.after.frame["cell"].to_list()[9] is None
    counts = dict(ran.after.frame["cell"].value_counts().iter_rows())
    assert all(count >= 4 for cell, count in counts.items() if cell is not None)
    near = cells(*[LONDON] * 5, *[(LONDON[0] + 0.001 * i, LONDON[1] + 0.009 * i) for i in (1, 2, 3)], min_population=3)
    assert set(near.after.frame["cell"]) == {"TQ3080", "TQ38"}
    assert "3 were in cells with few records, 0 of which are missing now" in near.steps[0].notes[0]
    assert "cells with fewer than 3 records became larger ones, or missing" in near.disclosure.sentences()[0]


def test_a_manager_who_says_nothing_gets_no_lone_cell():
    ran = run(ToGrid(x="lon", y="lat", crs=4326), table(*[LONDON] * 6, UNST), BOOK)
    assert ran.after.frame["cell"].to_list() == ["TQ3080"] * 6 + [None]
    (warned,) = ran.steps[0].warnings
    assert "made missing" in warned
    assert "cells with a single record stay" in cells(LONDON).steps[0].warnings[0]
    assert "may hold one house" in cells(LONDON, size=10).steps[0].warnings[0]


def test_hexagons():
    ran = cells(LONDON, system="h3", resolution=7)
    assert ran.after.frame["cell"].to_list() == ["87195da49ffffff"]  # h3geo.org
    far = cells(*[LONDON] * 3, SOUTHAMPTON, system="h3", resolution=7, min_population=3)
    assert far.after.frame["cell"].to_list() == ["87195da49ffffff"] * 3 + [None]


def test_plain_squares_are_named_by_their_lower_left_corner():
    ran = cells((530_034.0, 180_381.0), (430_000.0, 99_999.0), crs=27700, system="square", size=1000)
    assert ran.after.frame["cell"].to_list() == ["1000mE530000N180000", "1000mE430000N99000"]
    few = cells((530_034.0, 180_381.0), (530_934.0, 189_381.0), crs=27700, system="square", size=2000, min_population=2)
    assert set(few.after.frame["cell"]) == {"20000mE520000N180000"}
    step = ToGrid(x="lon", y="lat", crs=4326, system="square")
    assert step.check(BOOK) == [
        "squares are cut in metres, and system 4326 has none: say `into`, such as 27700 (Britain) or 3035 (Europe)"
    ]
    assert cells(LONDON, system="square", into=27700).after.frame["cell"].to_list() == ["1000mE530000N180000"]


def swap(*places):
    return [(y, x) for x, y in places]


@pytest.mark.parametrize(
    ("places", "more", "says"),
    [
        (swap(LONDON, SOUTHAMPTON), {}, "look swapped: with x and y in each other's place nearly all points lie in"),
        ([(100.0, 20.0), (110.0, 30.0)], {}, "all points lie outside the British National Grid; is `crs` the system"),
        ([LONDON, (2.35, 48.85)], {}, "some points lie outside the British National Grid; `outside: missing`"),
        ([*((-0.1, 51.5 + i / 99) for i in range(20)), (-0.1, 151.5)], {}, "lie outside the degrees that there are"),
        (swap((151.5, -33.0)), {"system": "h3", "resolution": 5}, "look swapped: x is the longitude, y the latitude"),
        ([(530_034.0, 180_381.0)], {}, "look like metres, and the system given has degrees"),
        ([LONDON], {"crs": 27700}, "look like degrees .longitude and latitude., and the system given has metres"),
        (swap(LONDON), {"crs": 27700, "system": "square"}, "look like degrees"),
        (
            [(5e6, 2e5), (53_000.0, 18_000.0)],
            {"crs": 27700, "system": "square"},
            "outside the area that crs 27700 is for",
        ),
        (swap((600_000.0, 5_000_000.0)), {"crs": 32632, "system": "square"}, "look swapped"),
    ],
)
def test_points_that_cannot_be_are_refused_with_the_reason(places, more, says):
    with pytest.raises(DataError, match=says) as told:
        cells(*places, **more)
    assert not any(f"{abs(c):.4g}" in str(told.value) for p in places for c in p if abs(c) > 1)


def test_points_outside_can_be_missing():
    ran = cells(LONDON, LONDON, (2.35, 48.85), outside="missing")
    assert ran.after.frame["cell"].to_list() == ["TQ3080", "TQ3080", None]
    assert "1 lie outside" in ran.steps[0].notes[0]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"size": 500}, "have a `size` of 10, 100, 1000, 10000, 100000"),
        ({"system": "h3"}, "h3 takes `resolution`"),
        ({"system": "h3", "resolution": 5, "size": 10}, "and no `size`"),
        ({"resolution": 5}, "goes with `system: h3`"),
        ({"into": 3035}, "goes with `system: square`"),
        ({"crs": "+proj=longlat"}, "EPSG number is needed"),
        ({"crs": "http://example.org/4326"}, "EPSG number is needed"),
        ({"crs": "/etc/passwd"}, "EPSG number is needed"),
        ({"crs": True}, "not true or false"),
    ],
)
def test_parameters_that_do_not_go_together(wrong, says):
    with pytest.raises(ValidationError, match=says):
        ToGrid(**({"x": "lon", "y": "lat", "crs": 4326} | wrong))


def test_what_is_wrong_with_columns_is_found_before_the_run():
    step = ToGrid(x="id", y="sex", crs=999_999, column="lat")
    problems = ToGrid(x="id", y="id", crs=4326).check(BOOK)
    assert problems == ["x and y are one column; a point has two coordinates"] + [
        "column 'id' has role record, which this step must not change"
    ] * (len(problems) - 1)
    assert [p[:40] for p in step.check(BOOK.replace(sex=Variable(kind="text")))] == [
        "column 'id' has role record, which this "[:40],
        "column 'sex' is text; coordinates are nu"[:40],
        "there is a column 'lat' already; give th"[:40],
        "crs: there is no coordinate reference sy"[:40],
    ]
    frame = table(LONDON).with_columns(lon=pl.lit("51 30 N"))
    with pytest.raises(DataError, match="Column 'lon' holds text; to_grid needs coordinates, which are numbers"):
        run(ToGrid(x="lon", y="lat", crs=4326), frame, BOOK)


def test_an_identifier_is_a_key_afterwards_so_that_the_plan_runs():
    Plan(steps=[ToGrid(x="lon", y="lat", crs=4326)]).check(BOOK)
    with pytest.raises(PlanError, match="there is no column 'east'"):
        Plan(steps=[ToGrid(x="east", y="lat", crs=4326)]).check(BOOK)


def test_no_socket_is_opened_and_no_warning_given(monkeypatch):
    def refuse(*args, **more):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("PROJ_NETWORK", "ON")
    import pyproj

    assert cells(LONDON).after.frame["cell"].to_list() == ["TQ3080"]  # warnings are errors in the tests
    assert not pyproj.network.is_network_enabled()


def test_systems_are_kept_as_they_are_named():
    assert ToGrid(x="a", y="b", crs="epsg:27700").crs == "EPSG:27700"
    assert ToGrid(x="a", y="b", crs="27700").crs == 27700
    assert a_crs("EPSG:27700") == a_crs(27700)


def test_few_cells_that_were_made_missing_are_warned_of():
    def said(*places):
        ran = cells(*places, min_population=3, system="square", into=27700, size=1000)
        return [each for each in ran.steps[0].warnings if "made missing" in each]

    (warned,) = said(*[LONDON] * 5, (-8.58, 57.81))
    assert warned.startswith("cell: fewer records than `min_population`")
    assert not any(c.isdigit() for c in warned)
    assert said(*[LONDON] * 5) == []
    few = cells(*[LONDON] * 5, (2.35, 48.85), outside="missing", min_population=2)
    assert any("made missing" in each for each in few.steps[0].warnings)
    many = cells(*[LONDON] * 5, *[(2.35, 48.85)] * 2, outside="missing", min_population=2)
    assert many.steps[0].warnings == ()
