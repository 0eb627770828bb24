import datetime

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.files.infer import MISSING_MARKS, infer, infer_columns, mixed
from sfumato.errors import DataError


def typed(cells, decimal="."):
    return infer(pl.Series("x", cells, dtype=pl.String), decimal)


@pytest.mark.parametrize(
    ("cells", "dtype", "values"),
    [
        (["1", "-2", None, "0"], pl.Int64, [1, -2, None, 0]),
        ([" 1", "2 ", "  "], pl.Int64, [1, 2, None]),
        (["9223372036854775807", "-9223372036854775808"], pl.Int64, [2**63 - 1, -(2**63)]),
        (["1", "2.5", "1e3", ".5", "5.", "-1E-2"], pl.Float64, [1.0, 2.5, 1000.0, 0.5, 5.0, -0.01]),
        (["5e-324", "1.7976931348623157e308"], pl.Float64, [5e-324, 1.7976931348623157e308]),
        (["true", "False", None, "TRUE"], pl.Boolean, [True, False, None, True]),
        (["2020-02-29", None], pl.Date, [datetime.date(2020, 2, 29), None]),
        (
            ["2020-01-01T10:00:00.123456", "2020-01-01 10:00", "2020-01-01T10:00:05"],
            pl.Datetime("us"),
            [datetime.datetime(2020, 1, 1, 10, 0, s, u) for s, u in ((0, 123456), (0, 0), (5, 0))],
        ),
    ],
)
def test_types(cells, dtype, values):
    column, notes = typed(cells)
    assert column.dtype == dtype
    assert column.to_list() == values
    assert notes == ()


@pytest.mark.parametrize(
    "cells",
    [
        ["007", "12"],
        ["00", "01"],
        ["+441632960961", "+441632960962"],
        ["99999999999999999999", "1"],
        ["2020-02-30", "2020-01-01"],
        ["2020-1-1"],
        ["01/02/2020"],
        ["1 000"],
        ["1,000"],
        ["0x10"],
        ["yes", "no"],
        ["T", "F"],
        ["1_000"],
        ["2020-01-01T10:00:00+01:00"],
        [None, None],
        ["NA", None],
        ["-", "."],
        ["e5"],
    ],
)
def test_what_stays_text_stays_as_it_is(cells):
    column, _ = typed(cells)
    assert column.dtype == pl.String
    assert column.to_list() == cells


@pytest.mark.parametrize("cells", [["1", "abc"], ["1.5", "2020-01-01"], ["true", "1"], ["NA", "5", "five"]])
def test_mixed_types_are_text_with_a_note(cells):
    column, notes = typed(cells)
    assert column.dtype == pl.String
    assert notes == mixed(column) == ("Column 'x' holds numbers and text; it is read as text.",)


@pytest.mark.parametrize("cells", [["007", "008"], ["+4470", "+4471"], ["99999999999999999999"]])
def test_codes_are_told(cells):
    assert "'x'" in typed(cells)[1][0]


@pytest.mark.parametrize("mark", MISSING_MARKS)
def test_marks_of_missing_are_told(mark):
    column, notes = typed(["1.5", mark, None])
    assert column.to_list() == [1.5, None, None]
    assert notes == (f"{mark!r} is read as missing in column 'x'.",)
    assert typed(["2020-02-29", mark])[0].to_list() == [datetime.date(2020, 2, 29), None]
    assert typed(["f", mark])[0].to_list() == ["f", mark]


@pytest.mark.parametrize(
    ("cells", "decimal", "values"),
    [
        (["1.234,50", "999,00", "12", None], ",", [1234.5, 999.0, 12.0, None]),
        (["1,234.50", "999.00"], ".", [1234.5, 999.0]),
        (["-1.234.567", "1.000"], ",", [-1234567, 1000]),
        (["1 234,5", "2 000"], ",", [1234.5, 2000.0]),
        (["1\u202f234,5"], ",", [1234.5]),
        (["1'234.5", "7"], ".", [1234.5, 7.0]),
        (["1.234,50", "n/a"], ",", [1234.5, None]),
    ],
)
def test_separators_of_thousands_that_tell_themselves(cells, decimal, values):
    column, notes = typed(cells, decimal)
    assert column.to_list() == values
    assert "separators of thousands" in " ".join(notes)


def test_separators_that_could_be_decimal_signs_are_taken_where_the_sign_is_known():
    cells = ["1.234", "20.500"]
    assert typed(cells, ",")[0].to_list() == cells
    assert "--decimal" in typed(cells, ",")[1][0]
    column, _ = infer(pl.Series("x", cells), ",", certain=True)
    assert column.to_list() == [1234, 20500]
    assert infer(pl.Series("x", ["0.234"]), ",", certain=True)[0].dtype == pl.String


@pytest.mark.parametrize("cells", [["612 345 678"], ["020 123 456"], ["192.168.100.200", "10.0.0.1"], ["01.02.2020"]])
def test_numbers_that_are_no_amounts_stay_text(cells):
    assert infer(pl.Series("x", cells), ",", certain=True)[0].to_list() == cells


def test_numbers_of_the_other_sign_are_said():
    """Without a word, `1.234,50` was a category."""
    assert typed(["1.234,50", "999,00"])[1] == (
        'Column \'x\' is read as text. If it holds numbers, state --decimal "," (in Python decimal=",").',
    )
    assert '"." or --decimal ","' in typed(["1,234", "2,500"])[1][0].replace('--decimal "."', '"."')


@pytest.mark.parametrize("bad", ["inf", "-inf", "Infinity", "+INF", "1e999"])
@pytest.mark.parametrize("others", [["123456.75"], []])
def test_infinite_values_are_refused(bad, others):
    with pytest.raises(DataError, match="'x'") as caught:
        typed([*others, bad])
    assert "123456" not in str(caught.value)


def test_decimal_commas():
    column, _ = typed(["1,5", "-2", ",25", "1,5e3"], ",")
    assert column.to_list() == [1.5, -2.0, 0.25, 1500.0]
    assert typed(["1.5", "2"], ",")[0].dtype == pl.String
    assert typed(["1", "2"], ",")[0].dtype == pl.Int64


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_python_writes_floats_that_read_exactly(values):
    column, _ = typed([repr(v) for v in values])
    assert column.to_list() == values


@pytest.mark.parametrize("decimal", [".", ","])
def test_many_columns_at_once_are_typed_as_each_alone(decimal):
    cells = [
        ["1", "2", None],
        ["1.5", "-.5", "2e3"],
        ["1,5", "2", "3"],
        ["007", "1", "2"],
        [" 1", "2 ", "3"],
        ["1", "NA", "2"],
        [None, None, None],
        ["9223372036854775808", "1", "2"],
        ["-0", "0", "1"],
        ["true", "false", None],
        ["2020-01-01", None, "2020-02-01"],
        ["a", "1", None],
        ["+1", "2", "3"],
        ["", "1", "2"],
        ["1_0", "2", "3"],
        ["a", "b.", None],
        ["a", " TRUE", None],
        ["inf", "x", None],
        ["-", "--", "?"],
        ["1.234.567", "2", "3"],
        ["(1)", "b", "c"],
    ]
    columns = [pl.Series(f"c{j}", values) for j, values in enumerate(cells)]
    columns = [c.cast(pl.String) for c in columns]
    together = infer_columns(columns, decimal)
    alone = [infer(c, decimal) for c in columns]
    assert [t.dtype for t, _ in together] == [t.dtype for t, _ in alone]
    assert [(t.name, t.to_list(), notes) for t, notes in together] == [(t.name, t.to_list(), n) for t, n in alone]


def test_an_infinite_number_among_plain_ones_is_refused_by_name():
    with pytest.raises(DataError, match="'x'"):
        infer_columns([pl.Series("y", ["1"]), pl.Series("x", ["1e999"])])
