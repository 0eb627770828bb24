import pytest

from sfumato.data.hierarchy import Hierarchy
from sfumato.errors import DataError
from sfumato.tables.axis import Axis, qualified


def sums(axis):
    return {(axis.codes[total], tuple(axis.codes[i] for i in parts)) for total, parts in axis.relations}


def test_branches_may_be_of_any_depth():
    axis = Axis("town", (Hierarchy((("a1", "a", "A"), ("a2", "a", "A"), ("b", "A"), ("C",))),))
    assert axis.codes == ("Total", "A", "a", "a1", "a2", "b", "C")
    assert sums(axis) == {("Total", ("A", "C")), ("A", ("a", "b")), ("a", ("a1", "a2"))}
    assert [axis.codes[i] for i in axis.finest] == ["a1", "a2", "b", "C"]
    assert axis.depth.tolist() == [0, 1, 2, 3, 3, 2, 1]


def test_a_top_named_total_is_the_total():
    assert Axis("x", (Hierarchy((("a", "Total"), ("b", "Total"))),)).codes == ("Total", "a", "b")


def test_other_groupings_share_their_finest_codes():
    axis = Axis("r", (Hierarchy((("a", "1"), ("b", "1"), ("c", "2"))), Hierarchy((("a", "big"), ("c", "big")))))
    assert sums(axis) == {
        ("Total", ("1", "2")),
        ("1", ("a", "b")),
        ("2", ("c",)),
        ("Total", ("b", "big")),
        ("big", ("a", "c")),
    }
    assert [axis.codes[i] for i in axis.above[axis.place["a"]]] == ["Total", "1", "a", "big"]


def test_a_grouping_may_stop_where_another_goes_on():
    axis = Axis("r", (Hierarchy((("1", "N"), ("2", "S"))), Hierarchy((("a", "1"), ("b", "1"), ("2",)))))
    held = {frozenset(parts) for _, parts in sums(axis)}
    assert held == {frozenset(one) for one in (("N", "S"), ("1",), ("2",), ("1", "2"), ("a", "b"))}


def test_a_code_in_two_places_is_refused():
    with pytest.raises(DataError, match="two places"):
        Axis("r", (Hierarchy((("a", "X"), ("b", "Y", "X"), ("X", "Z"))),))


def test_a_code_that_groups_otherwise_in_another_tree_is_refused():
    with pytest.raises(DataError, match="other codes in one grouping"):
        Axis("r", (Hierarchy((("a", "1"), ("b", "2"))), Hierarchy((("b", "1"), ("a", "2")))))


def test_total_is_no_code():
    with pytest.raises(DataError, match="Total"):
        Axis.flat("r", ["Total", "a"])


def test_nested_codes_are_told_apart_by_their_parent():
    names = qualified("x", [("A", "1", "z"), ("A", "2", "z"), ("B", "3", "3"), ("C", "4", "4"), ("C", "4", "5")])
    assert list(names.values()) == [
        ("A", "1", "1/z"),
        ("A", "2", "2/z"),
        ("B", "3", "3"),
        ("C", "C/4", "C/4/4"),
        ("C", "C/4", "5"),
    ]


def test_names_that_clash_with_a_slash_are_refused():
    with pytest.raises(DataError, match="cannot be told apart"):
        qualified("x", [("1", "z"), ("2", "z"), ("3", "1/z")])
