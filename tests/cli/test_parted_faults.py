"""Faults of disks and of parts, on the engine for folders: a clear error, exit status 2, and nothing left."""

import errno
import os

import polars as pl
import pytest

import sfumato.release.large as protecting
from sfumato.engines.parts import PartsWriter
from tests.methods.tables import people

PLAN = """sfumato: 1
variables:
  id: {role: record}
  x: {role: key, kind: continuous}
  house: {role: other}
steps:
  - {do: noise, columns: [x], by: [g], share: 0.1}
  - {do: centroids, columns: [y], by: [g], k: 3}
"""
FRAME = people(120).with_columns(town=pl.lit("Zebedee999"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("parts", "spilled"):
        (tmp_path / name).mkdir()
    for i, rows in enumerate(FRAME.iter_slices(30)):
        rows.write_parquet(tmp_path / "parts" / f"{i}.parquet")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


@pytest.fixture
def refused(sfumato, here):
    """Runs the command, and sees that it refuses and leaves nothing."""

    def run(*says, out="r", more=()):
        done = sfumato("protect", "plan.yaml", "parts", "--out", out, *LINE, *more)
        assert done.returncode == 2, done.stderr
        assert all(what in done.stderr for what in says), done.stderr
        assert "Zebedee999" not in done.stderr + done.stdout
        assert {path.name for path in here.iterdir()} == {"parts", "spilled", "plan.yaml", "key"}
        assert not list((here / "spilled").iterdir())
        return done

    return run


LINE = ("--secret-file", "key", "--temp", "spilled", "--force", "--json")


def full(monkeypatch, where):
    """A disk is full where rows are spilled, or where parts are written."""
    flush = PartsWriter.flush

    def flushed(self):
        if ("sfumato-spill-" in str(self.folder)) == (where == "spilled"):
            raise OSError(errno.ENOSPC, "Error writing Zebedee999")
        flush(self)

    monkeypatch.setattr(PartsWriter, "flush", flushed)


@pytest.mark.slow
@pytest.mark.parametrize("out", ["r", "address"])
def test_no_room_for_parts(refused, here, monkeypatch, out):
    full(monkeypatch, "parts")
    refused("cannot be written: No space left on device", out=f"file://{here}/r" if out == "address" else "r")


def test_no_room_for_strata(refused, monkeypatch):
    full(monkeypatch, "spilled")
    refused("Rows cannot be spilled into 'spilled': No space left on device", "--temp")


def of_parts(frame):
    """Makes a folder's parts anew."""

    def spoil(parts):
        for path in parts.iterdir():
            path.unlink()
        for i, rows in enumerate(frame.iter_slices(30)):
            rows.write_parquet(parts / f"{i}.parquet")

    return spoil


def broken(parts):
    """The footer is whole, what stands before it is not."""
    content = bytearray((parts / "1.parquet").read_bytes())
    content[4:900] = bytes(896)
    (parts / "1.parquet").write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda at: FRAME.with_columns(y=pl.lit("Zebedee999")).write_parquet(at / "1.parquet"), "differ in column 'y'"),
        (broken, "'1.parquet' cannot be read"),
        (lambda at: (at / "1.parquet").write_bytes(b"PAR1 Zebedee999"), "'1.parquet' cannot be read"),
        (lambda at: FRAME.tail(1).write_parquet(at / "9.parquet"), "holds an id more than once"),
        (of_parts(FRAME.clear()), "no Parquet files"),
    ],
    ids=["schema", "broken", "cut", "an id in two", "none"],
)
def test_parts_that_are_no_table(refused, here, spoil, says):
    spoil(here / "parts")
    refused(says)


def test_a_part_that_changes_while_it_is_measured(refused, here, monkeypatch):
    measured = protecting.measure_few

    def meanwhile(*given, **how):
        os.utime(here / "parts" / "1.parquet", (0, 0))
        return measured(*given, **how)

    monkeypatch.setattr(protecting, "measure_few", meanwhile)
    refused("'1.parquet' was changed while it was read")


@pytest.mark.slow
def test_a_stratum_of_most_rows(refused, sfumato, here):
    """Its bound is told with the columns, neither its size nor its category; with a larger one it is worked on."""
    most = pl.when(pl.col("id") % 10 > 0).then(pl.lit("Zebedee999")).otherwise(pl.lit("b"))
    of_parts(FRAME.with_columns(g=most))(here / "parts")
    done = refused("Strata of column 'g' hold more than 60 rows", more=("--max-stratum", "60"))
    assert "108" not in done.stderr
    done = sfumato("protect", "plan.yaml", "parts", "--out", "r", *LINE, "--max-stratum", "108")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_types_and_odd_keys_leave_as_from_memory(sfumato, here):
    """NaN and -0 as keys, unsigned whole numbers, nanoseconds, categories: values and types are those of memory."""
    n = FRAME.height
    odd = FRAME.with_columns(
        id=pl.Series(range(n), dtype=pl.UInt64) + 2**63,
        g=pl.Series([(0.0, -0.0, float("nan"), None, 2.5)[i % 5] for i in range(n)]),
        seen=pl.Series(range(n), dtype=pl.Datetime("ns")),
        few=pl.Series([i % 7 for i in range(n)], dtype=pl.UInt8),
        kind=pl.Series(["pqr"[i % 3] for i in range(n)], dtype=pl.Categorical),
        sex=pl.Series(["fm"[i % 2] for i in range(n)], dtype=pl.Enum(["m", "f"])),
        at=pl.Series([i * 10**9 for i in range(n)], dtype=pl.Time),
    )
    (here / "plan.yaml").write_text(PLAN.replace("  x:", "  g: {role: key, kind: categorical}\n  x:"))
    of_parts(odd)(here / "parts")
    for engine in ("duckdb", "memory"):
        done = sfumato("protect", "plan.yaml", "parts", "--out", engine, *LINE, "--engine", engine)
        assert done.returncode == 0, done.stderr
    there, memory = pl.read_parquet("duckdb/data/*.parquet"), pl.read_parquet("memory/data.parquet")
    assert there.schema == memory.schema == odd.schema
    assert there.equals(memory)
