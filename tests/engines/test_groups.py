import polars as pl

from sfumato.engines.groups import Groups


def test_groups_stand_in_the_order_of_their_keys_and_may_be_empty():
    frame = pl.DataFrame({"g": ["b", "a", "b", None], "x": [2.0, None, 1.0, 5.0]})
    groups = Groups.of(frame, [pl.col("g")], pl.col("x"), order=True)
    assert [(key["g"], values.tolist()) for key, values in groups.each()] == [(None, [5]), ("a", []), ("b", [1, 2])]


def test_without_keys_all_rows_are_one_group():
    groups = Groups.of(pl.DataFrame({"x": [2.0, None]}), [], pl.col("x"))
    assert [(key, values.tolist()) for key, values in groups.each()] == [({}, [2])]


def test_no_rows_have_no_groups_but_the_one_of_all():
    empty = pl.DataFrame(schema={"g": pl.String, "x": pl.Float64})
    assert list(Groups.of(empty, [pl.col("g")], pl.col("x")).each()) == []
    assert [len(values) for _, values in Groups.of(empty, [], pl.col("x")).each()] == [0]


def test_several_columns_are_grouped_as_each_by_itself_and_have_their_ends():
    frame = pl.DataFrame({"g": ["b", "a", "b", None], "x": [2.0, None, 1.0, 5.0], "y": [None, 4.0, 3.0, -1.0]})
    for by in ([], [pl.col("g")]):
        both = Groups.of_several(frame, by, [pl.col("x"), pl.col("y")])
        for groups, n in zip(both, "xy", strict=True):
            alone = Groups.of(frame, by, pl.col(n))
            assert [x.tolist() for x in groups.lists()] == [x.tolist() for x in alone.lists()]
            ends = [(min(x), max(x)) if len(x) else (None, None) for x in groups.lists()]
            assert list(zip(*groups.ends(), strict=True)) == ends
