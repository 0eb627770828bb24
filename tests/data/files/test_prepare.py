import datetime
from decimal import Decimal

import polars as pl
import pytest

from sfumato.data.files.prepare import plain
from sfumato.errors import DataError, FileError

FINE = datetime.datetime(2020, 1, 1, 10, 0, 0, 1)
COARSE = datetime.datetime(2020, 1, 1, 10, 0, 0, 1000)


def test_types_afterwards():
    frame = pl.DataFrame(
        {
            "u8": pl.Series([1], dtype=pl.UInt8),
            "u64": pl.Series([1], dtype=pl.UInt64),
            "f32": pl.Series([0.5], dtype=pl.Float32),
            "dec": pl.Series([Decimal("1.25")]),
            "cat": pl.Series(["x"], dtype=pl.Categorical),
            "enum": pl.Series(["x"], dtype=pl.Enum(["x", "y"])),
            "bool": [True],
            "date": [datetime.date(2020, 1, 1)],
            "ns": pl.Series([COARSE], dtype=pl.Datetime("ns")),
            "time": [datetime.time(10)],
            "null": [None],
        }
    )
    expected = [pl.Int64, pl.Int64, pl.Float64, pl.Float64, pl.String, pl.String, pl.Int64, pl.Date]
    assert plain(frame, ".x")[0].dtypes == [*expected, pl.Datetime("us"), pl.Time, pl.String]
    assert plain(frame, ".x", booleans=True)[0]["bool"].dtype == pl.Boolean


def test_time_zones_become_utc():
    berlin = pl.Series("t", [datetime.datetime(2020, 7, 1, 12)]).dt.replace_time_zone("Europe/Berlin")
    frame, notes = plain(berlin.to_frame(), ".x")
    assert frame["t"].to_list() == [datetime.datetime(2020, 7, 1, 10)]
    assert any("UTC" in note and "'t'" in note for note in notes)


@pytest.mark.parametrize(("time", "told"), [(FINE, True), (COARSE, False)])
def test_times_finer_than_milliseconds_are_told(time, told):
    notes = plain(pl.DataFrame({"t": [time]}), ".x")[1]
    assert any("millisecond" in note for note in notes) == told
    notes = plain(pl.DataFrame({"t": [time.time()]}), ".x")[1]
    assert any("millisecond" in note for note in notes) == told


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        ([2**53 + 1, 5], FileError),
        ([-(2**53) - 1, 5], FileError),
        (pl.Series([2**64 - 1, 5], dtype=pl.UInt64), FileError),
        ([datetime.timedelta(1), None], FileError),
        (["PLANTED\0", None], FileError),
        ([float("inf"), 1.0], DataError),
    ],
)
def test_what_would_be_lost_is_refused(column, fault):
    with pytest.raises(fault, match="'bad'") as caught:
        plain(pl.DataFrame({"bad": column, "fine": [1, 2]}), ".x")
    assert "fine" not in str(caught.value)
    assert "PLANTED" not in str(caught.value)
    assert "9007199254740993" not in str(caught.value)


def test_the_limits_themselves_pass():
    assert plain(pl.DataFrame({"a": [2**53, -(2**53), None]}), ".x")[0]["a"].to_list() == [2**53, -(2**53), None]


def test_every_change_is_told():
    frame = pl.DataFrame({"yes": [True], "dec": pl.Series([Decimal("1.25")]), "blank": [""]})
    notes = plain(frame, ".x")[1]
    for name in frame.columns:
        assert sum(repr(name) in note for note in notes) == 1
