"""What readers know of hidden cells, from what is published alone."""

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.tables.judge import judge
from sfumato.tables.reader import Reader, reader_of_all, reader_of_file, reader_of_judged
from sfumato.tables.rules import read_rules
from sfumato.tables.settle import published
from sfumato.tables.table import Table

COUNTS = pl.DataFrame({"v": ["Total", *"abcd"], "count": [20, 1, 2, 8, 9]})


def reader(rows, rules="n(3)", value="count", **more):
    return reader_of_judged(judge(Table.of(rows, value), rules), read_rules(rules), **more)


def test_hidden_counts_are_whole_and_one_or_more():
    assert reader(COUNTS) == Reader(1, whole=True)
    assert reader(COUNTS, contributor=True).contributor is False  # whoever is in a cell knows no more of it


def test_a_rule_that_makes_zeros_unsafe_hides_zeros():
    rows = pl.DataFrame({"v": ["Total", *"abc"], "count": [12, 0, 4, 8], "contributors": [12, 0, 4, 8]})
    assert reader(rows, "zero(2)").least == 0


def test_letters_tell_on_which_side_of_the_threshold_a_count_is():
    told = reader(COUNTS, letters=True)
    assert (told.of_letter("u"), told.of_letter("x")) == ((1, 2), (3, np.inf))
    assert reader(COUNTS, ["n(3)", "n(2)"], letters=True).threshold == 3


@pytest.mark.parametrize("rules", ["attribute", "n(3) and n(2)"])
def test_letters_without_a_threshold_bound_nothing(rules):
    told = reader(COUNTS, rules, letters=True)
    assert told.letters
    assert told.of_letter("u") == told.of_letter("x") == (1, np.inf)


def test_an_unsafe_cell_may_have_another_reason_than_the_threshold():
    told = reader(COUNTS, ["n(3)", "attribute"], letters=True)
    assert (told.of_letter("u"), told.of_letter("x")) == ((1, np.inf), (3, np.inf))


def test_a_threshold_of_contributors_says_nothing_of_a_count_of_records():
    rows = COUNTS.with_columns(contributors=pl.Series([5, 1, 1, 3, 3]))
    told = reader(rows, letters=True)
    assert (told.of_letter("u"), told.of_letter("x")) == ((1, np.inf), (3, np.inf))


def test_weighted_counts_are_zero_or_more_and_not_whole():
    people = pl.DataFrame({"v": [*"aabbb"], "w": [0.5, 0.5, 2.5, 1.0, 1.0]})
    table = judge(sf.tables.build(sf.read(people), "v", weight="w"), "n(3)")
    assert reader_of_judged(table, read_rules("n(3)"), letters=True) == Reader(0, letters=True)


def test_whole_weights_are_seen_to_be_whole_but_may_be_zero():
    people = pl.DataFrame({"v": [*"aabbb"], "w": [0, 2, 2, 1, 1]})
    told = reader_of_judged(judge(sf.tables.build(sf.read(people), "v", weight="w"), "n(3)"), None)
    assert (told.least, told.whole) == (0, True)


def test_sums_are_zero_or_more_unless_a_record_is_below():
    firms = pl.DataFrame({"v": [*"aabb"], "x": [5.0, 2, 3, 4]})
    whole = judge(sf.tables.build(sf.read(firms), "v", "x"), "n(3)")
    assert reader_of_judged(whole, None) == Reader(0, contributor=True)
    loss = firms.with_columns(x=pl.Series([5.0, -2, 3, 4]))  # every cell is positive, but one record is not
    assert reader_of_judged(judge(sf.tables.build(sf.read(loss), "v", "x"), "n(3)"), None).least == -np.inf


def test_a_file_without_documentation_shows_the_same():
    for rules, letters in (("n(3)", False), ("n(3)", True)):
        table = judge(Table.of(COUNTS), rules)
        out = published(table, letters)
        ends = {"lower": [None, 1.0, 1.0, None, None], "upper": [None, 2.0, 2.0, None, None]}
        assert reader_of_file(out.with_columns(**ends)) == reader_of_judged(table, read_rules(rules), letters=letters)


def test_more_may_be_known_but_not_less():
    assert reader(COUNTS).with_least(2).least == 2
    with pytest.raises(DataError, match="no hidden cell is below 1"):
        reader(COUNTS).with_least(0)
    undocumented = published(judge(Table.of(COUNTS), "n(3)"))
    assert reader_of_all([undocumented], 0)[0].least == 0  # a file alone does not say whether zeros are hidden


def test_it_comes_back_from_plain_values():
    for one in (Reader(), Reader(-np.inf, contributor=True), Reader(1, True, True, 4, True)):
        assert Reader.of(one.to_plain() | ({"threshold": 4, "below": True} if one.threshold else {})) == one
