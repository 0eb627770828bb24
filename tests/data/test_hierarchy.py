import pytest

from sfumato.data.codebook import Variable
from sfumato.data.hierarchy import category_ladder
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
