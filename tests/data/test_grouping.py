"""Categories put together by hand: groups, names, what is taken apart, rare ones together."""

import random

import pytest

from sfumato.data.grouping import apart, category, rare_together, renamed, together
from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError

TOWNS = {
    "Leeds": ("North", "England"),
    "York": ("North", "England"),
    "Bath": ("South", "England"),
    "Leith": ("Lothian", "Scotland"),
}


def test_values_move_to_another_category_and_go_with_it():
    moved = together(TOWNS, ["York"], 1, "South")
    assert moved["York"] == ("South", "England")
    assert together(TOWNS, ["York"], 1, "Lothian")["York"] == ("Lothian", "Scotland")
    assert together(TOWNS, ["York", "Bath"], 1, "Old")["York"] == ("Old", "England")  # they share what is above
    assert together(TOWNS, ["York", "Leith"], 1, "Both")["York"] == ("Both",)  # they share nothing


def test_groups_are_grouped_one_level_up():
    new = together(TOWNS, ["Leeds", "York", "Leith"], 2, "Cold")
    assert new["Leith"] == ("Lothian", "Cold")
    assert new["Bath"] == ("South", "England")
    lone = together({"a": ("x",), "b": ("x",)}, ["a", "b", "c"], 2, "all")
    assert lone["c"] == ("c", "all")  # a value that is in no group is itself on every level below


def test_half_a_category_cannot_lie_elsewhere():
    with pytest.raises(DataError, match="two broader"):
        together(TOWNS, ["York"], 2, "Scotland")


def test_a_new_name_and_one_that_is_there():
    assert renamed(TOWNS, 1, "North", "Up")["Leeds"] == ("Up", "England")
    assert renamed(TOWNS, 1, "North", "South")["Leeds"] == ("South", "England")
    assert renamed({"a": ("x", "x", "z"), "b": ("y", "z")}, 1, "x", "w")["a"] == ("w", "z")


def test_what_is_taken_apart_is_itself():
    assert apart(TOWNS, [(1, "North")])["York"] == ("York", "England")
    assert apart(TOWNS, [(0, "York")])["York"] == ("York", "England")
    assert apart(TOWNS, [(2, "England")])["York"] == ("North",)
    assert apart({"a": ("x",)}, [(1, "x")]) == {"a": ()}
    with pytest.raises(DataError, match="hold others"):
        apart({"a": ("x",), "b": ()}, [(0, "b")])


def test_rare_categories_of_a_level_together():
    records = {"Leeds": 9, "York": 3, "Bath": 2, "Leith": 1}
    new = rare_together(TOWNS, records, 1, 5, "Other")
    assert {value: category(value, above, 1) for value, above in new.items()} == {
        "Leeds": "North",
        "York": "North",
        "Bath": "Other",
        "Leith": "Other",
    }
    with pytest.raises(DataError, match="No category"):
        rare_together(TOWNS, records, 1, 1, "Other")


@pytest.mark.parametrize("name", ["", "  ", "*", "a\nb", "x" * 201])
def test_what_is_no_name(name):
    with pytest.raises(DataError):
        together({}, ["a"], 1, name)


def test_nothing_chosen():
    with pytest.raises(DataError, match="Choose"):
        together({}, [], 1, "x")


def test_any_edits_leave_a_hierarchy_that_lists_all_values():
    drawn = random.Random(5)
    tree = {f"v{i}": () for i in range(12)}
    for _ in range(400):
        level = drawn.randint(1, 3)
        below = sorted({category(v, above, level - 1) for v, above in tree.items()})
        chosen = drawn.sample(below, min(len(below), 3))
        try:
            if drawn.random() < 0.6:
                values = [v for v, above in tree.items() if category(v, above, level - 1) in chosen]
                tree = together(tree, values, level, f"g{drawn.randint(0, 9)}")
                assert len({category(v, tree[v], level) for v in values}) == 1
            else:
                tree = apart(tree, [(level, drawn.choice(below))])
        except DataError:
            continue
        assert set(Hierarchy.mapping(tree).leaves) == {f"v{i}" for i in range(12)}
