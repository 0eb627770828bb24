"""Rows off memory: waiting functions, whole strata, many groups, parts in order, and nothing left behind."""

import os
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import polars.selectors as cs
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import EachColumn, ask_all, with_codebook
from sfumato.data.dataset import rows as rows_of
from sfumato.data.query import Classes, Counts, Folded, Moments, Quantiles
from sfumato.engines import duckdb as engine
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.parts import Parts
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import BATCH, Spill
from sfumato.errors import DataError, FileError, TooManyGroups

BOOK = Codebook()


@pytest.fixture
def spill(tmp_path):
    made = Spill(temp=tmp_path)
    yield made
    made.close()


def table(n=1000):
    random = np.random.default_rng(1)
    keys = random.choice([0.0, -0.0, np.nan, 1.5], n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "key": pl.Series(keys),
            "big": pl.Series(np.where(random.random(n) < 0.9, "big", "small")),
            "x": random.normal(size=n),
        }
    ).with_columns(key=pl.when(pl.col("id") % 7 > 0).then("key"))


def of(frame, spill, part_rows=97):
    return DuckDBDataset.of(frame, BOOK, spill, part_rows)


def test_functions_wait_and_are_bound_when_mapped(spill):
    ran = []
    data = of(table(), spill)
    for step in (1, 2):

        def f(rows, step=step):
            ran.append(rows.height)
            return rows.with_columns(pl.lit(step).alias(f"s{step}"))

        data = data.map(f)
    assert ran == [0, 0]
    assert data.schema["s2"] == pl.Int32
    assert {tuple(row) for row in rows_of(data).select("s1", "s2").rows()} == {(1, 2)}


def test_another_type_in_a_batch_names_the_column(spill):
    wrong = of(table(), spill).map(lambda rows: rows.with_columns(x=pl.lit(1) if rows.height else pl.col("x")))
    for ask in (lambda: rows_of(wrong), lambda: wrong.ask(Counts(("big",))), lambda: wrong.ask(Classes(("big",)))):
        with pytest.raises(DataError, match="column 'x' of another type"):
            ask()


@pytest.mark.few(4)
@pytest.mark.parametrize("by", [["key"], ["key", "big"], ["big"], ["id"], []])
@pytest.mark.parametrize("batch", [13, 5000])
def test_strata_are_whole(spill, monkeypatch, by, batch):
    """One value of nine in ten, NaN with null, −0 with 0; strata that end where batches do, and do not."""
    monkeypatch.setattr("sfumato.engines.spill.BATCH", batch)
    frame = table()

    def f(rows):
        return rows.with_columns(n=pl.len(), low=pl.col("id").min())

    found = rows_of(of(frame, spill).map(f, by=by)).sort("id")
    assert_frame_equal(found, PolarsDataset(frame, BOOK).map(f, by=by).frame)


@pytest.mark.parametrize("by", [["big"], []])
def test_long_strata_are_refused_before_anything_is_moved(spill, by):
    data = engine.replace(of(table(), spill), max_stratum=850)
    with pytest.raises(DataError, match="850") as told:
        data.map(lambda rows: rows, by=by)
    assert all(repr(n) in str(told.value) for n in by)
    assert "900" not in str(told.value)
    assert data.map(lambda rows: rows, by=["key"]).ask(Counts(())).item() == 1000


def test_several_questions_take_one_pass(spill):
    looks = []

    def look(rows):
        looks.append(rows.height)
        return rows

    data = of(table(), spill).map(look)
    queries = [
        Moments(("x",), ("big",)),
        Counts(("key", "big")),
        Counts(("big",), "x"),
        Counts(()),
        Folded(("x",), lambda rows: rows.select(pl.col("x").max()), lambda rows: rows.select(pl.col("x").max())),
    ]
    looks.clear()
    memory = PolarsDataset(table(), BOOK)
    for found, query in zip(ask_all(data, queries), queries, strict=True):
        assert_frame_equal(found, memory.ask(query), check_exact=True)
    assert sum(looks) == 1000
    looks.clear()
    both = [Quantiles("x", (0.1, 0.5)), Quantiles("id", (0.5,), ("big",))]
    for found, query in zip(ask_all(data, both), both, strict=True):
        assert_frame_equal(found, memory.ask(query), check_exact=True)
    assert sum(looks) == 2000


@pytest.mark.parametrize("by", [("key",), ("id",), ("key", "big"), ()])
def test_many_groups_are_counted_by_the_database(spill, monkeypatch, by):
    monkeypatch.setattr(engine, "_FEW", 2)
    data, memory = of(table(), spill), PolarsDataset(table(), BOOK)
    for query in (Counts(by), Counts(by, "x"), Classes(by), Classes(by, "big"), Classes(by, "key")):
        assert_frame_equal(data.ask(query), memory.ask(query), check_exact=True)


def test_too_many_groups_are_refused_by_name(spill, monkeypatch):
    monkeypatch.setattr(engine, "_FEW", 2)
    monkeypatch.setattr(engine, "MOST_GROUPS", 999)
    data = of(table(), spill)
    for query in (Counts(("id",)), Counts(("id",), "x")):
        with pytest.raises(TooManyGroups, match="groups of 'id'"):
            data.ask(query)
    assert data.ask(Classes(("id",))).rows() == [(1, 1000)]


def test_parts_in_order_without_hidden_columns(spill, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    data = of(table(), spill).map(lambda rows: rows.with_columns(pl.col("x").alias("sfumato:x")))
    parts = data.write_parts(str(out), ["big", "sfumato:x"], part_bytes=1)
    assert [part.name for part in parts] == sorted(path.name for path in out.iterdir())
    assert [pl.read_parquet(out / part.name).height for part in parts] == [part.rows for part in parts]
    found = pl.concat(pl.read_parquet(out / part.name) for part in parts)
    assert found.equals(table().sort("big", "x"))


def test_missing_values_come_first(spill, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    of(table(20), spill).write_parts(str(out), ["key", "id"])
    keys = pl.read_parquet(out / "part-00000.parquet")["key"]
    assert keys[: keys.null_count()].null_count() == keys.null_count() > 0


def test_spilled_rows_are_for_us_alone_and_go_when_closed(tmp_path):
    with DuckDBDataset.of(table(), BOOK, Spill(temp=tmp_path)) as data:
        data.map(lambda rows: rows, by=["big"])
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not list(tmp_path.iterdir())
    with pytest.raises((DataError, FileError)):
        data.ask(Counts(("key",)))


@pytest.mark.slow
def test_what_a_killed_process_left_is_swept_and_what_lives_is_not(tmp_path, spill):
    left = f"spill = Spill(temp={os.fspath(tmp_path)!r})"
    code = f"from sfumato.engines.spill import Spill; import os; {left}; os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(list(tmp_path.iterdir())) == 2
    Spill(temp=tmp_path).close()
    assert len(list(tmp_path.iterdir())) == 1


def test_no_room_to_spill(tmp_path):
    with pytest.raises(FileError, match="nowhere"):
        Spill(temp=tmp_path / "nowhere")


def test_only_the_columns_that_a_question_is_about_are_read(monkeypatch):
    """Another codebook, and what looks at each column by itself, read no others; any other function may look at all."""
    looked = []
    reading = Parts.batches

    def batches(self, columns=None, most=BATCH):
        looked.append(columns)
        return reading(self, columns, most)

    monkeypatch.setattr(Parts, "batches", batches)
    data = DuckDBDataset.of(pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, float("nan")], "c": ["x", "y"]}), Codebook())
    data = with_codebook(data, Codebook({"b": Variable(missing=[3])}))
    assert data.ask(Moments(("b",)))["n"].to_list() == [0]
    each = data.map(EachColumn(lambda batch: batch.with_columns(cs.float() + 1)))
    assert each.ask(Moments(("a",)))["mean"].to_list() == [2.5]
    assert each.ask(Counts(()))["sfumato:count"].to_list() == [2]
    assert each.map(lambda batch: batch).ask(Moments(("a",)))["mean"].to_list() == [2.5]
    assert looked == [["b"], ["a"], [], None]


@pytest.mark.parametrize("n", [0, 1000])
def test_moments_of_a_whole_are_told_by_those_of_its_parts(n):
    data, memory = (make(table().head(n), BOOK) for make in (DuckDBDataset.of, PolarsDataset))
    queries = [Moments(("x",)), Moments(("id", "x"), ("big",)), Moments(("x", "id"), ("key", "big")), Moments(())]
    for found, query in zip(ask_all(data, queries), queries, strict=True):
        assert_frame_equal(found, memory.ask(query), check_exact=True)


def test_no_room_for_what_the_database_spills(tmp_path):
    """It stops at the bound of its own folder, in our words, and nothing is left."""
    spill = Spill("40MB", tmp_path)
    spill._database().execute("SET max_temp_directory_size = '1MB'")
    random = np.random.default_rng(1)
    batches = (pl.DataFrame({f"c{j}": random.normal(size=100_000) for j in range(6)}) for _ in range(20))
    with pytest.raises(DataError, match="more than 40MB of memory or more room for its files"):
        list(spill.sorted(batches, pl.Schema({f"c{j}": pl.Float64() for j in range(6)}), ["c0"]))
    spill.close()
    assert not list(tmp_path.iterdir())
