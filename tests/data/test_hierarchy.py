from datetime import date

import polars as pl
import pytest

from sfumato.data.codebook import Variable
from sfumato.data.hierarchy import Hierarchy, as_texts, category_ladder, text_of
from sfumato.errors import DataError
from tests.data.distance import category_distance

PLACE = Variable(
    hierarchy={
        "Leeds": ("Yorkshire", "North", "UK"),
        "York": ("Yorkshire", "North", "UK"),
        "Durham": ("Durham", "North", "UK"),
        "Bath": ("Somerset", "South", "UK"),
        "Mars": ("Mars",),
    }
)


def along(ladder):
    """Distance of the ladder's two: the first rung with one name for both."""
    return next(far for far, a, b in zip(ladder.far, *ladder.names, strict=True) if a == b)


@pytest.mark.parametrize(
    ("other", "distance"),
    [("Leeds", 0), ("York", 1 / 4), ("Durham", 2 / 4), ("Bath", 3 / 4), ("Mars", 1), ("Paris", 1), (None, 1)],
)
def test_the_first_common_broader_category_counts(other, distance):
    assert along(category_ladder(PLACE, ["Leeds", other])) == distance
    assert category_distance(PLACE, "Leeds", other) == distance


def test_what_the_hierarchy_does_not_list_is_near_itself_alone():
    assert along(category_ladder(PLACE, [None, None])) == 0
    assert along(category_ladder(PLACE, ["Paris", "Paris"])) == 0
    assert along(category_ladder(PLACE, ["Paris", "Rome"])) == 1
    assert along(category_ladder(Variable(), ["a", "b"])) == 1


TOWN = Hierarchy((("Leeds", "Yorkshire", "North"), ("Durham", "North"), ("Bath", "Somerset", "South")))


def test_levels_of_branches_of_any_depth():
    assert TOWN.height == 3
    assert TOWN.level(0) == {"Leeds": "Leeds", "Durham": "Durham", "Bath": "Bath"}
    assert TOWN.level(1) == {"Leeds": "Yorkshire", "Durham": "North", "Bath": "Somerset"}
    assert TOWN.level(2) == {"Leeds": "North", "Durham": "North", "Bath": "South"}
    assert set(TOWN.level(3).values()) == {"*"}
    with pytest.raises(DataError, match="levels 0 to 3; 4 is none"):
        TOWN.level(4)


def test_what_is_left_above_a_level():
    assert TOWN.above(1).paths == (("Yorkshire", "North"), ("North",), ("Somerset", "South"))
    assert TOWN.above(2) is None
    assert TOWN.above(0) == TOWN


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        ((), "lists no value"),
        ((("a", ""),), "empty category"),
        ((("a", "*"),), "always on top"),
        ((("a", "x"), ("a", "y")), "twice"),
        ((("a", "x", "1"), ("b", "x", "2")), "level 1 of a hierarchy lies under two"),
    ],
)
def test_what_is_no_hierarchy_is_refused(paths, says):
    with pytest.raises(DataError, match=says):
        Hierarchy(paths)


def test_categories_that_are_intervals_of_numbers_have_bands():
    age = Hierarchy.intervals(16, 25, [5, 10], start=1)
    assert age.bands(1, whole=True) == {"16-20": (16.0, 21.0), "21-25": (21.0, 26.0)}
    assert age.bands(1) == {"16-20": (16.0, 21.0), "21-25": (21.0, None)}
    assert age.bands(3) == {}  # everything is no band
    assert TOWN.bands(1) == {}
    odd = Hierarchy((("1", "odd"), ("2", "even"), ("3", "odd")))
    assert odd.bands(1) == {}


def test_builders():
    assert Hierarchy.intervals(0, 9, [5]).level(1)["7"] == "5-9"
    assert Hierarchy.prefixes(["A01", "A02", "B01"], [1]).level(1) == {"A01": "A", "A02": "A", "B01": "B"}
    assert Hierarchy.ordered(list("abcde"), [2, 4]).level(1)["e"] == "e"
    assert Hierarchy.dates([date(1999, 12, 31), date(2000, 1, 1)]).level(4) == {
        "1999-12-31": "1990s",
        "2000-01-01": "2000s",
    }
    for bad in (
        lambda: Hierarchy.intervals(0, 9, [5, 7]),
        lambda: Hierarchy.prefixes(["a"], [1, 2]),
        lambda: Hierarchy.ordered(["a"], [1]),
    ):
        with pytest.raises(DataError):
            bad()


def test_the_form_of_the_codebook_and_back():
    assert Hierarchy.of(Variable(hierarchy=TOWN.to_variable())) == TOWN
    assert Hierarchy.of(Variable()) is None
    assert Hierarchy.of(Variable(hierarchy={39: ("30-39", "*")})).paths == (("39", "30-39"),)


def test_numbers_are_texts_as_they_are_written():
    frame = pl.DataFrame({"f": [1.0, 2.5, float("nan")], "i": [1, 2, None], "b": [True, False, None]})
    texts = frame.select(as_texts(pl.col(n), frame.schema[n]).alias(n) for n in frame.columns)
    assert texts["f"].to_list() == ["1", "2.5", None]
    assert texts["i"].to_list() == ["1", "2", None]
    assert texts["b"].to_list() == ["true", "false", None]
    assert [text_of(v) for v in (1.0, 2.5, True, 7, "x")] == ["1", "2.5", "true", "7", "x"]
