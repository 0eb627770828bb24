"""A folder of parts is read as one table, or refused with the name of the part."""

import datetime as dt
import os

import polars as pl
import pyarrow.parquet as pq
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Parted
from sfumato.data.dataset import rows as rows_of
from sfumato.data.files import Table, write_table
from sfumato.data.query import Counts
from sfumato.engines.opening import open_parted
from sfumato.engines.parts import PartsWriter
from sfumato.errors import DataError, FileError

FRAME = pl.DataFrame({"id": range(10), "x": [0.5, None, float("nan"), *[1.0] * 7]})


def parts(folder, frame=FRAME, n=3):
    for i, rows in enumerate(frame.iter_slices(n)):
        rows.write_parquet(folder / f"p{i:04d}.parquet")
    return folder


def opened(folder, **how):
    return open_parted(str(folder), "duckdb", **how)


def test_parts_are_one_table(tmp_path):
    frame = FRAME.clear()
    frame.write_parquet(parts(tmp_path) / "a-empty.parquet")
    (tmp_path / "_SUCCESS").touch()
    with opened(tmp_path) as data:
        assert isinstance(data, Parted)
        assert rows_of(data).sort("id").equals(FRAME.with_columns(pl.col("x").fill_nan(None)))
        assert data.ask(Counts(())).item() == 10


def test_types_come_back_as_they_were(tmp_path):
    frame = pl.DataFrame(
        {
            "enum": pl.Series(["b", "a", None], dtype=pl.Enum(["b", "a"])),
            "category": pl.Series(["b", None, "a"], dtype=pl.Categorical),
            "time": [dt.time(1, 2, 3, 4), None, dt.time(0)],
            "span": pl.Series([3, 2, 1]).cast(pl.Duration("ns")),
            "at": pl.Series([3, 2, 1]).cast(pl.Datetime("ns", "Europe/London")),
            "word": pl.Series([2**64 - 1, 0, 7], dtype=pl.UInt64),
            "cost": pl.Series(["1.5", None, "2.5"]).str.to_decimal(scale=2),
            "small": pl.Series([1, 2, 3], dtype=pl.UInt8),
        }
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "in").mkdir()
    with opened(parts(tmp_path / "in", frame, 2)) as data:
        assert rows_of(data).equals(frame)
        strata = data.map(lambda rows: rows, by=["enum", "at", "time"])
        strata.write_parts(str(tmp_path / "out"), order=["word"])
    again = pl.read_parquet(tmp_path / "out" / "*.parquet")
    assert again.schema == frame.schema
    assert again.equals(frame.sort("word"))


def test_the_codebook_of_the_parts(tmp_path):
    book = Codebook({"id": Variable(role="record"), "x": Variable(unit="cm")})
    write_table(Table(FRAME.with_columns(pl.col("x").fill_nan(None)), book, ".parquet"), tmp_path / "a.parquet")
    with opened(tmp_path) as data:
        assert data.codebook["x"].unit == "cm"


@pytest.mark.slow
def test_many_small_parts_become_one(tmp_path, tmp_path_factory):
    written = tmp_path_factory.mktemp("out")
    parts(tmp_path, pl.DataFrame({"id": range(400)}), 1)
    pl.DataFrame(schema={"id": pl.Int64}).write_parquet(tmp_path / "p0007-empty.parquet")
    with opened(tmp_path) as data:
        assert [batch.height for batch in data.batches()] == [400]
        assert [part.rows for part in data.write_parts(str(written))] == [400]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (
            lambda at: FRAME.with_columns(x=pl.lit(1)).write_parquet(at / "z.parquet"),
            "'z.parquet' differ in column 'x'",
        ),
        (lambda at: FRAME.drop("x").write_parquet(at / "z.parquet"), "'z.parquet' differ in column 'x'"),
        (lambda at: (at / "z.parquet").write_bytes(b"PAR1 and no more"), "'z.parquet' cannot be read"),
        (lambda at: (at / "z.csv").write_text("id"), "'z.csv'"),
        (lambda at: (at / "deep").mkdir(), "'deep'"),
        (lambda at: (at / "z.parquet").symlink_to(at / "nowhere"), "'z.parquet' cannot be read"),
    ],
)
def test_folders_that_are_no_table(tmp_path, spoil, says):
    spoil(parts(tmp_path))
    with pytest.raises(FileError, match=says):
        opened(tmp_path)


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileError, match="no Parquet parts"):
        opened(tmp_path)
    with pytest.raises(FileError, match="nowhere"):
        opened(tmp_path / "nowhere")
    FRAME.clear().write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="no rows"):
        opened(tmp_path)


def test_unfit_columns_and_amounts(tmp_path):
    FRAME.with_columns(many=pl.lit([1, 2])).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="'many'"):
        opened(tmp_path)
    FRAME.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="memory"):
        opened(tmp_path, memory="lots")


def test_a_part_that_changes_during_the_run(tmp_path):
    with opened(parts(tmp_path)) as data:
        data.unchanged()
        os.utime(tmp_path / "p0001.parquet", (0, 0))
        with pytest.raises(FileError, match=r"'p0001\.parquet' was changed"):
            data.unchanged()
        with pytest.raises(FileError, match=r"'p0001\.parquet' was changed"):
            data.ask(Counts(("x",)))


def test_a_part_that_is_cut(tmp_path):
    """The footer is whole, what stands before it is not; the library's words are not passed on."""
    path = tmp_path / "a.parquet"
    pl.DataFrame({"x": [f"secret {i}" for i in range(5000)]}).write_parquet(path)
    content = bytearray(path.read_bytes())
    content[4:400] = b"\xff" * 396
    path.write_bytes(content)
    with opened(tmp_path) as data, pytest.raises(FileError, match=r"^The part 'a\.parquet' cannot be read"):
        data.ask(Counts(("x",)))


def test_what_is_written_hangs_on_the_rows_alone(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.engines.parts.BATCH", 100)
    frame = pl.DataFrame({"id": range(1050), "often": ["a", None] * 525, "x": [i * 0.1 for i in range(1050)]})
    written = []
    for size in (7, 100, 999, 2000):
        folder = tmp_path / str(size)
        folder.mkdir()
        with PartsWriter(folder, frame.schema, part_bytes=3000) as writer:
            for rows in frame.iter_slices(size):
                writer.write(rows)
        assert sum(part.rows for part in writer.parts) == 1050
        assert pl.read_parquet(folder / "*.parquet").equals(frame)
        written.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert len(written[0]) > 1
    assert all(parts == written[0] for parts in written)
    groups = pq.ParquetFile(tmp_path / "7" / "part-00000.parquet").metadata
    assert groups.row_group(0).num_rows == 100
    assert [groups.row_group(0).column(i).has_dictionary_page for i in range(3)] == [False, True, False]
