import itertools

import polars as pl
import pytest

from sfumato.data.files.decimals import Decimals, is_grouped, plain, sniff_decimal, unread


def test_which_decimal_sign():
    comma, point = pl.Series(["1,5", None, "2"]), pl.Series(["1.5", "2"])
    whole, text = pl.Series(["1", "2"]), pl.Series(["a,b", "c.d"])
    assert sniff_decimal([comma, whole, text]) == Decimals(",", True)
    assert sniff_decimal([point, whole, text]) == Decimals(".", True)
    assert sniff_decimal([whole, text]) == Decimals(".", False)
    assert sniff_decimal([comma, comma, point]).sign == ","
    assert sniff_decimal([comma, point]).sign == "."


def test_separators_of_thousands_tell_the_sign():
    assert sniff_decimal([pl.Series(["1.234,50", "7"])]) == Decimals(",", True)
    assert sniff_decimal([pl.Series(["1.234.567", "1.000"])]) == Decimals(",", True)
    assert sniff_decimal([pl.Series(["1,234.50"])]) == Decimals(".", True)


@pytest.mark.parametrize(("cells", "sign"), [(["1,234", "20,500"], ","), (["1.234", "20.500", "7"], ".")])
def test_a_sign_before_three_digits_is_uncertain_until_another_column_tells(cells, sign):
    column = pl.Series("income", cells)
    assert sniff_decimal([column]) == Decimals(sign, False, ("income",))
    other = {",": ".", ".": ","}[sign]
    assert sniff_decimal([column, pl.Series([f"1{other}5"])]) == Decimals(other, True)
    assert sniff_decimal([column, pl.Series([f"1{sign}5"])]) == Decimals(sign, True)
    assert sniff_decimal([pl.Series(["0.123", "1.234"])]) == Decimals(".", True)


def test_groups_are_whole_and_alike():
    for cells in (["12.34"], ["1.2345"], ["1234.567"], ["1.234 567"], ["0.123.456"], ["007"], ["1.234a"]):
        assert not is_grouped(pl.Series(cells), ",", certain=True), cells


def test_plain_numbers():
    cells = ["-1.234,5", "1'000", "2\u00a0000", None]
    assert plain(pl.Series(cells), ",").to_list() == ["-1234.5", "1000", "2000", None]
    assert plain(pl.Series(["1,234.5"]), ".").to_list() == ["1234.5"]


def test_what_is_said_of_numbers_that_are_read_as_text():
    assert unread("x", pl.Series(["a", "1"])) == unread("x", pl.Series(["1", "2"])) == ()
    assert "blanks" in unread("x", pl.Series(["612 345 678"]))[0]
    assert "blanks" not in unread("x", pl.Series(["1 234,5"]))[0]


def test_columns_of_one_table_are_told_as_each_alone():
    cells = [
        ["1.5", "2", None],
        ["1,5", "2", "3"],
        ["1.234", "2.345", "3.456"],
        ["a", "b.", "c"],
        ["1.234,5", "2", "3"],
        [" 1.5", "2.25 ", "3"],
        [None, None, None],
        ["12", "13", "14"],
    ]
    for chosen in itertools.combinations(cells, 2):
        columns = [pl.Series(f"c{j}", values, dtype=pl.String) for j, values in enumerate(chosen)]
        uneven = [columns[0], columns[1].append(pl.Series([None], dtype=pl.String))]  # which is looked at one by one
        assert sniff_decimal(columns) == sniff_decimal(uneven)
