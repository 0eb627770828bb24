from sfumato.data.codebook import Variable
from sfumato.data.hierarchy import category_distance

PLACE = Variable(
    hierarchy={
        "Leeds": ("Yorkshire", "North", "UK"),
        "York": ("Yorkshire", "North", "UK"),
        "Durham": ("Durham", "North", "UK"),
        "Bath": ("Somerset", "South", "UK"),
    }
)


def test_the_lowest_level_in_common_counts():
    distances = [category_distance(PLACE, "Leeds", other) for other in ("Leeds", "York", "Durham", "Bath")]
    assert distances == [0, 1 / 4, 2 / 4, 3 / 4]


def test_what_the_hierarchy_does_not_know_is_farthest():
    assert category_distance(PLACE, "Leeds", "Paris") == 1
    assert category_distance(PLACE, None, "Leeds") == 1
    assert category_distance(PLACE, None, None) == 0
    assert category_distance(Variable(), "a", "b") == 1
