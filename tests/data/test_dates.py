import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.dates import DAY, MONTH, NOTHING, YEAR, excel_dates, read_dates, refuse_format
from sfumato.errors import DataError

DAY_ = datetime.date(1958, 4, 3)


def read(text, **how):
    (row,) = read_dates(pl.Series([text]), **how).rows()
    return row


@pytest.mark.parametrize(
    "text",
    ["1958-04-03", " 1958-04-03 ", "1958-4-3", "1958/04/03", "1958-04-03T10:30:00", "1958-04-03 10:30", "19580403",
     "3 April 1958", "3rd of April 1958", "April 3, 1958", "03-Apr-1958", "Thu, 3 Apr 1958 10:30"],
)  # fmt: skip
def test_texts_that_can_be_read_in_one_way(text):
    assert read(text) == (DAY_, None, DAY)


@pytest.mark.parametrize("text", ["03/04/1958", "3.4.1958", "03-04-1958", "3 4 1958", "03/04/1958 10:30"])
def test_numbers_with_the_year_last_have_both_readings(text):
    assert read(text) == (DAY_, datetime.date(1958, 3, 4), DAY)
    assert read(text, day_first=True) == (DAY_, None, DAY)
    assert read(text, day_first=False) == (datetime.date(1958, 3, 4), None, DAY)


def test_where_only_one_reading_is_a_date_it_is_that():
    assert read("25/04/1958")[:2] == (datetime.date(1958, 4, 25), None)
    assert read("04/25/1958")[:2] == (datetime.date(1958, 4, 25), None)
    assert read("04/04/1958")[:2] == (datetime.date(1958, 4, 4), None)
    assert read("04/25/1958", day_first=True)[2] == NOTHING


def test_partial_dates_are_known_as_finely_as_they_are_told():
    assert [read(t)[2] for t in ("1958", "1958-04", "1958/4", "April 1958")] == [YEAR, MONTH, MONTH, MONTH]
    assert read("1958", format="%d/%m/%Y")[2] == YEAR


@pytest.mark.parametrize(
    "text", ["", "?", "1958-13", "1958-02-30", "30/02/1958", "3 Apr 58", "03/04/58", "April", "Friday", "0000", "now",
             "1958-04-03-04", "13 13 1958", "\u0661\u0669\u0665\u0668"]
)  # fmt: skip
def test_what_is_no_date_or_a_guess(text):
    assert read(text) == (None, None, NOTHING)


@pytest.mark.parametrize(
    ("text", "format", "grain"),
    [
        ("03/04/1958", "%d/%m/%Y", DAY),
        ("04/03/1958", "%m/%d/%Y", DAY),
        ("19580403", "%Y%m%d", DAY),
        ("Apr 1958", "%b %Y", MONTH),
        ("in 1958", "in %Y", YEAR),
        ("1958-04-03 23:59", "%Y-%m-%d %H:%M", DAY),
        ("1958-093", "%Y-%j", DAY),
    ],
)
def test_stated_formats(text, format, grain):
    one, other, known = read(text, format=format)
    assert (one.year, other, known) == (1958, None, grain)
    assert one == DAY_ or grain < DAY


@pytest.mark.parametrize("format", ["%d/%m", "x", "", "%", "%Q", "%H:%M"])
def test_formats_that_tell_no_date_are_refused(format):
    with pytest.raises(DataError, match="with the year"):
        refuse_format(format)


def test_two_digits_of_a_year_are_of_1970_to_2069_where_a_format_says_so():
    assert [read(f"03/04/{yy}", format="%d/%m/%y")[0].year for yy in ("69", "70")] == [2069, 1970]


# Excel's own documentation of its two day counts; 60 is its 29 February 1900
@pytest.mark.parametrize(
    ("serial", "day", "grain"),
    [
        (1, (1900, 1, 1), DAY),
        (59, (1900, 2, 28), DAY),
        (60, (1900, 2, 1), MONTH),
        (61, (1900, 3, 1), DAY),
        (21278, (1958, 4, 3), DAY),
        (44196.99, (2020, 12, 31), DAY),
        (2958465, (9999, 12, 31), DAY),
    ],
)
def test_serial_numbers_of_excel(serial, day, grain):
    assert excel_dates(pl.Series([serial])).rows() == [(datetime.date(*day), None, grain)]


@pytest.mark.parametrize("serial", [0, -1, 0.5, 2958466, float("inf")])
def test_numbers_that_are_none_of_excels(serial):
    assert excel_dates(pl.Series([serial]))["grain"].to_list() == [NOTHING]


@pytest.mark.slow
@given(st.dates(min_value=datetime.date(1000, 1, 1), max_value=datetime.date(2199, 12, 31)))
def test_what_was_written_is_read(day):
    for format in ("%Y-%m-%d", "%d.%m.%Y", "%B %d, %Y"):
        assert read(day.strftime(format), format=format)[0] == day
    assert read(day.isoformat()) == (day, None, DAY)
    assert day in read(day.strftime("%d/%m/%Y"))[:2]
