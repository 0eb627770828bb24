import polars as pl
import pytest
from pydantic import ValidationError

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, PlanError
from sfumato.methods.to_line import ToLine
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.methods.tables import run
from tests.places import lawful_layer, line, square, write

ROADS = [
    line((0, -20), (0, 80), road="A0"),
    line((12, -20), (12, 80), road="A12"),
    line((30, -20), (30, 80), road="A30"),
]
LAYER = lawful_layer("roads.geojson", *ROADS)
LAWFUL = [
    ToLine(x="x", y="y", crs=4326, lines=LAYER, column="road"),
    ToLine(x="x", y="y", crs=4326, lines=LAYER, column="road", mode="random", among=2),
    ToLine(x="x", y="y", crs=4326, lines=LAYER, column="y", attribute="road", mode="random", within=1_000_000),
]
BOOK = Codebook(
    {
        "id": Variable(role="record", kind="integer"),
        "east": Variable(role="identifier", missing=[-9]),
        "north": Variable(role="identifier"),
    }
)
# three rivers that run from west to east on the British grid, at 100, 110 and 130 km; one of two parts
RIVERS = [
    line((400_000, 100_000), (420_000, 100_000), river="Aire"),
    line((400_000, 110_000), (410_000, 110_000), river="Beck"),
    line((410_000, 110_000), (420_000, 110_000), river="Beck"),
    line((400_000, 130_000), (420_000, 130_000), river="Calder"),
]


@pytest.fixture
def rivers(tmp_path):
    return write(tmp_path / "rivers.geojson", *RIVERS, crs=27700)


def table(*north, east=405_000.0):
    return pl.DataFrame(
        {"id": range(len(north)), "east": [east] * len(north), "north": north}, schema_overrides={"north": pl.Float64}
    )


def lines(rivers, *north, frame=None, book=BOOK, secret=bytes(16), **more):
    given = {"x": "east", "y": "north", "crs": 27700, "lines": rivers, "column": "river", "min_count": 1}
    step = ToLine(**given | more)
    assert step.check(book) == []
    ran = run_steps([step], PolarsDataset(table(*north) if frame is None else frame, book), Draws(secret))
    return ran, ran.after.frame["river"].to_list()


def test_the_nearest_line(rivers):
    ran, found = lines(rivers, 101_000.0, 109_000.0, 119_000.0, 121_000.0, None)
    assert found == ["Aire", "Beck", "Beck", "Calder", None]
    assert ran.after.columns == ["id", "river"]
    assert ran.after.codebook["river"].role == "key"
    assert "the nearest line of a house can name it" in ran.steps[0].warnings[0]
    assert ran.disclosure.sentences()[0] == (
        "river: recoded from the coordinates east and north to the nearest line of rivers.geojson."
    )


def test_ties_go_by_name(rivers):
    assert lines(rivers, 105_000.0, 120_000.0)[1] == ["Aire", "Beck"]


def test_lines_too_far_away_are_missing(rivers):
    ran, found = lines(rivers, 101_000.0, 116_000.0, within=3000)
    assert found == ["Aire", None]
    assert "1 no line near" in ran.steps[0].notes[0]
    with pytest.raises(DataError, match="all points lie outside the reach of 'rivers.geojson'"):
        lines(rivers, 160_000.0, within=3000)


def test_lines_with_few_records_are_missing(rivers):
    ran, found = lines(rivers, *[101_000.0] * 5, 111_000.0, 112_000.0, min_count=3)
    assert found == ["Aire"] * 5 + [None] * 2
    assert "2 had a line with few records" in ran.steps[0].notes[0]
    assert "lines with fewer than 3 records are missing" in ran.disclosure.sentences()[0]
    assert ToLine(x="a", y="b", crs=4326, lines="r.geojson", column="r").min_count == 5


def test_a_line_is_drawn_among_several_by_the_record_and_the_secret(rivers):
    north = [101_000.0] * 300
    _, found = lines(rivers, *north, mode="random", within=10_000)
    assert {"Aire", "Beck"} == set(found)
    assert 120 <= found.count("Aire") <= 180  # 150 expected, standard deviation 8.7
    again = lines(rivers, *north, mode="random", within=10_000)[1]
    other = lines(rivers, *north, mode="random", within=10_000, secret=bytes(range(16)))[1]
    assert found == again != other
    shuffled = table(*north).sample(fraction=1, shuffle=True, seed=1)
    ran, _ = lines(rivers, frame=shuffled, mode="random", within=10_000)
    assert ran.after.frame.sort("id")["river"].to_list() == found
    assert ran.steps[0].warnings == ()


def test_a_line_is_drawn_among_the_nearest_few(rivers):
    _, found = lines(rivers, *[101_000.0] * 200, *[125_000.0] * 200, mode="random", among=2)
    assert set(found[:200]) == {"Aire", "Beck"}
    assert set(found[200:]) == {"Beck", "Calder"}
    _, all_three = lines(rivers, *[101_000.0] * 200, mode="random")
    assert set(all_three) == {"Aire", "Beck", "Calder"}
    codes = lines(rivers, frame=table(101_000.0, None).with_columns(east=pl.lit(-9.0)), mode="random")[1]
    assert codes == ["-9", "-9"]


def test_degrees_are_measured_in_metres(tmp_path):
    """At 60 degrees north a degree of longitude is half as long as one of latitude."""
    path = write(
        tmp_path / "r.geojson", line((0, 60), (0, 60.001), river="east"), line((1, 60.7), (1, 60.701), river="north")
    )
    frame = pl.DataFrame({"id": [1, 2], "east": [1.0, 0.9], "north": [60.0, 60.3]})
    assert lines(path, frame=frame, crs=4326)[1] == ["east", "north"]


def test_what_a_draw_needs(rivers, tmp_path):
    book = BOOK.replace(id=Variable())
    step = ToLine(x="east", y="north", crs=27700, lines=rivers, column="river", mode="random")
    assert "needs a column with the record's id" in step.check(book)[0]
    with pytest.raises(PlanError):
        Plan(steps=[step]).check(book)
    for wrong in ({"among": 3}, {"among": 3, "mode": "random", "within": 5}):
        with pytest.raises(ValidationError, match="`among` goes with `mode: random`, and in place of `within`"):
            ToLine(x="east", y="north", crs=27700, lines=rivers, column="river", **wrong)
    with pytest.raises(DataError, match="holds other shapes than lines"):
        lines(write(tmp_path / "p.geojson", square(0, 0, 1, 1, river="a")), 101_000.0)


def test_swapped_coordinates(rivers):
    frame = table(401_000.0, 402_000.0, east=101_000.0)
    with pytest.raises(DataError, match=r"look swapped|all points lie outside"):
        lines(rivers, frame=frame.with_columns(pl.col("north") + 1e6), within=5000)


def test_a_run_with_no_point_at_all(rivers):
    assert run(
        ToLine(x="east", y="north", crs=27700, lines=rivers, column="river", mode="random"), table(None), BOOK
    ).after.frame["river"].to_list() == [None]


@pytest.mark.parametrize("mode", ["nearest", "random"])
def test_few_lines_that_were_made_missing_are_warned_of(rivers, mode):
    def said(*north):
        ran, _ = lines(rivers, *north, mode=mode, within=1_000, min_count=3)
        return [each for each in ran.steps[0].warnings if "made missing" in each]

    (warned,) = said(*[100_000.0] * 4, 130_000.0)
    assert warned.startswith("river: fewer records than `min_count`")
    assert len(said(*[100_000.0] * 4, 160_000.0, 160_000.0)) == 1  # far from every line
    assert said(*[100_000.0] * 4, 130_000.0, 160_000.0, 160_000.0) == []
    assert said(*[100_000.0] * 4) == []
