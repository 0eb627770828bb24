"""What an engine on a cluster needs no cluster for: blobs, places, cuts, errors, addresses, settings."""

import datetime

import polars as pl
import pyarrow as pa
import pytest

from sfumato.engines.spark import blobs, guard, reading, session, writing
from sfumato.engines.spark.work import by_bounds, by_strata
from sfumato.errors import DataError, FileError


def odd():
    return pl.DataFrame(
        {
            "u": pl.Series([2**64 - 1, None], dtype=pl.UInt64),
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "e": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
            "ns": pl.Series([1, None], dtype=pl.Datetime("ns")),
            "t": [datetime.time(1, 2), None],
            "x": [float("nan"), -0.0],
        }
    )


def test_every_type_comes_back_as_it_was():
    ((place, back),) = blobs.frames(blobs.packed(3, odd()))
    assert place == 3
    assert back.schema == odd().schema
    assert back.equals(odd(), null_equal=True)
    assert list(blobs.packed(0, odd().clear())) == []


def test_rows_of_a_place_lie_together():
    found = dict(blobs.frames(blobs.bucketed(pl.DataFrame({"a": [1, 2, 3]}), pl.Series([7, 5, 7]))))
    assert {place: frame["a"].to_list() for place, frame in found.items()} == {5: [2], 7: [1, 3]}


def test_places_take_null_and_nan_as_one_and_minus_0_as_0():
    frame = pl.DataFrame({"x": [0.0, -0.0, None, float("nan"), 1.5]})
    strata = pl.DataFrame({"x": [0.0, None, 1.5]})
    assert by_strata(strata, ["x"])(frame).to_list() == [0, 0, 1, 1, 2]
    hashed = blobs.hashed(frame, ["x"], 10**6).to_list()
    assert hashed[0] == hashed[1]
    assert hashed[2] == hashed[3]
    assert len(set(hashed)) == 3


def test_bounds_divide_rows_as_sorting_them_would():
    frame = pl.DataFrame({"a": [3, None, 1, 2, 2], "b": ["x", "y", None, "a", "b"]})
    bounds = pl.DataFrame({"a": [2, 3], "b": ["b", None]}, schema_overrides={"b": pl.String})
    assert by_bounds(bounds, ["a", "b"])(frame).to_list() == [2, 0, 0, 0, 1]


def test_cuts_hold_the_size_of_parts():
    rows = pl.DataFrame({"a": list(range(1000))})
    found = writing.sample(["a"]).f(rows)
    weight = pl.DataFrame({"rows": [1000], "some": [1000], "held": [8000], "written": [5000]})
    assert writing.cuts(found, weight, ["a"], 1000, 10**9)["a"].to_list() == [200, 400, 600, 800]
    assert writing.cuts(found, weight, ["a"], 10**6, 10**9).height == 0
    assert writing.cuts(found, weight, ["a"], 10**6, 8000)["a"].to_list() == [250, 500, 750]


@pytest.mark.parametrize("error", [ValueError("a cell"), KeyError("a cell"), pl.exceptions.ComputeError("a cell")])
def test_an_error_of_a_library_is_told_by_its_class_alone(error):
    def fails():
        yield 1
        raise error

    with pytest.raises(guard.StoppedOnWorker) as caught:
        list(guard.guarded(fails))
    assert "a cell" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    told = guard.told(RuntimeError(f"Job aborted: {caught.value} at org.apache"))
    assert isinstance(told, DataError)
    assert type(error).__name__ in str(told)


def test_a_sentence_of_ours_comes_back_as_it_was():
    def fails():
        yield from ()
        raise FileError("'p1.parquet' changed.")

    with pytest.raises(guard.StoppedOnWorker) as caught:
        list(guard.guarded(fails))
    told = guard.told(caught.value)
    assert type(told) is FileError
    assert str(told) == "'p1.parquet' changed."


@pytest.mark.parametrize(
    "master", ["spark://cluster:7077", "spark://127.0.0.1:7077,host:7077", "yarn", "k8s://https://h"]
)
def test_a_cluster_on_the_network_must_authenticate_and_encrypt(master):
    for given in ({}, {"spark.authenticate": "true"}, {"spark.network.crypto.enabled": "true"}):
        with pytest.raises(FileError, match=r"spark\.authenticate +true(.|\n)*spark\.network\.crypto\.enabled"):
            session.refuse_open(master, given)
    session.refuse_open(master, {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"})


class Session:
    """Somebody's session, as far as its settings go."""

    def __init__(self, **told):
        self.conf = {name.replace("_", "."): value for name, value in told.items()}


def test_a_session_of_somebody_on_the_network_must_too():
    with pytest.raises(FileError, match="spark.authenticate"):
        session.refuse_open_session(Session(spark_master="spark://host:7077"))
    safe = {"spark_authenticate": "true", "spark_ssl_rpc_enabled": "true"}
    session.refuse_open_session(Session(spark_master="yarn", **safe))
    session.refuse_open_session(Session(spark_master="local[2]"))


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "spark://127.0.0.1:7077", "spark://[::1]:7077", "spark://localhost:1"]
)
def test_a_cluster_of_this_machine_may_be_open(master):
    session.refuse_open(master, {})
    assert session.settings(master, "1GB", "/tmp/x")["spark.driver.bindAddress"] == "127.0.0.1"


@pytest.mark.parametrize("master", ["duckdb", "local[x]", "spark:7077", "http://a"])
def test_what_is_no_cluster_is_refused(master):
    with pytest.raises(FileError, match="spark://HOST:PORT"):
        session.known_master(master)


def test_parts_have_one_schema_and_are_parquet(tmp_path):
    with pytest.raises(FileError, match="no folder"):
        reading.parts(str(tmp_path / "nowhere"))
    with pytest.raises(FileError, match="no Parquet files"):
        reading.parts(str(tmp_path))
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(FileError, match=r"'b\.parquet' has other columns"):
        reading.parts(str(tmp_path))
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileError, match=r"'b\.parquet' could not be read"):
        reading.parts(f"file://{tmp_path}")


def test_parts_are_read_as_they_are_and_in_tasks_that_hold_all_rows(tmp_path):
    frame = odd().drop("x")
    for i in range(5):
        frame.write_parquet(tmp_path / f"{i}.parquet", row_group_size=1)
    found = [part for part, _, _ in reading.parts(str(tmp_path))]
    tasks = reading.tasks(found, 2, 10**9)
    source = reading.Files(str(tmp_path), frame.schema, tasks)
    records = [pa.record_batch([[i]], names=["id"]) for i in range(len(tasks))]
    assert pl.concat(source.rows(records)).sort("u").equals(pl.concat([frame] * 5).sort("u"))
    assert sum(batch.height for batch in source.only([]).rows(records)) == 10


def test_infinite_values_are_refused_and_name_the_column():
    with pytest.raises(DataError, match="'x'"):
        reading.as_read(pl.DataFrame({"x": [float("inf")]}), pl.Schema({"x": pl.Float64()}))
