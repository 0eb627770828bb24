import datetime
from decimal import Decimal

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.files import read_table, write_table
from sfumato.errors import DataError, FileError

from .tables import INTEGER, MICROSECONDS, assert_same, frames, round_trip, table


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(frames(integers=INTEGER, datetimes=MICROSECONDS))
def test_round_trip(tmp_path, frame):
    """All comes back: types, nulls, empty text, every bit of a number."""
    back, notes = round_trip(frame, tmp_path / "a.parquet")
    assert_same(back, frame)
    assert notes == ()


def test_types_of_polars_are_kept(tmp_path):
    frame = pl.DataFrame(
        {
            "u8": pl.Series([1], dtype=pl.UInt8),
            "f32": pl.Series([0.1], dtype=pl.Float32),
            "dec": pl.Series([Decimal("1.25")]),
            "cat": pl.Series(["x"], dtype=pl.Categorical),
            "enum": pl.Series(["x"], dtype=pl.Enum(["x", "y"])),
            "zone": pl.Series([datetime.datetime(2020, 1, 1)]).dt.replace_time_zone("Europe/London"),
            "time": [datetime.time(10)],
            "long": [datetime.timedelta(1)],
        }
    )
    assert_same(round_trip(frame, tmp_path / "a.parquet")[0], frame)


def test_the_whole_codebook_is_kept(tmp_path):
    book = Codebook(
        {
            "age": Variable(
                role="key",
                kind="continuous",
                label="Age, größer",
                labels={1: "one", -9: "refused"},
                missing=[-9, {"low": -5, "high": -1, "label": "other"}],
                unit="years",
                range=(0, None),
                order=(1, 2),
                hierarchy={1: (10, 100), 2: (10, 100)},
                measure="scale",
                format="F8.0",
            ),
            "height": Variable(labels={1.5: "short", 2.0: "tall"}, missing=[2.0**1023 * (1 + 1 / 4096)]),
            "ill": Variable(labels={True: "yes", False: "no"}),
            "town": Variable(labels={"1": "one", "x": "ex"}, hierarchy={"1": ("North",)}),
        }
    )
    frame = pl.DataFrame({"age": [1, 2], "height": [1.5, 2.0], "ill": [True, False], "town": ["1", "x"]})
    write_table(table(frame, book), tmp_path / "a.parquet")
    back = read_table(tmp_path / "a.parquet").codebook
    assert back == book
    for name in book:  # Equal keys may be of different types (1 == 1.0 == True).
        assert [type(k) for k in back[name].labels] == [type(k) for k in book[name].labels]


def test_the_key_is_one_that_others_can_read(tmp_path):
    write_table(table(pl.DataFrame({"a": [1]}), Codebook({"a": Variable(unit="cm")})), tmp_path / "a.parquet")
    metadata = pq.read_metadata(tmp_path / "a.parquet").metadata
    assert metadata[b"sfumato"] == b'{"a": {"unit": "cm"}}'


def test_a_foreign_file_has_an_empty_codebook(tmp_path):
    pl.DataFrame({"a": [1.0, float("nan")]}).write_parquet(tmp_path / "a.parquet")
    found = read_table(tmp_path / "a.parquet")
    assert found.frame["a"].to_list() == [1.0, None]
    assert dict(found.codebook) == {"a": Variable()}


@pytest.mark.parametrize("stored", ["PLANTED", "[]", '{"a": {"colour": "PLANTED"}}', '{"a": {"role": "PLANTED"}}'])
def test_a_damaged_codebook_is_refused(tmp_path, stored):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet", metadata={"sfumato": stored})
    with pytest.raises(FileError, match="codebook within") as caught:
        read_table(tmp_path / "a.parquet")
    assert "PLANTED" not in str(caught.value)


@pytest.mark.parametrize("cells", [[[1], [2]], [{"x": 1}, {"x": 2}], [b"a", b"b"], [float("inf"), 1.0]])
def test_columns_that_are_refused(tmp_path, cells):
    pl.DataFrame({"bad": cells}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="'bad'"):
        read_table(tmp_path / "a.parquet")


def test_a_cut_off_file(tmp_path):
    pl.DataFrame({"a": list(range(1000))}).write_parquet(tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "a.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(FileError, match="Parquet"):
        read_table(tmp_path / "a.parquet")
