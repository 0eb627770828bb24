import hashlib
import os
from importlib import import_module

import polars as pl
import pytest

from sfumato.errors import DataError, DataStopped, FileError
from sfumato.gate.config import TableSource
from sfumato.gate.derived import Described, Version
from sfumato.gate.sources import Sources, codebook_hashes, copied, sha256_of
from tests.gate.conftest import SEED, made_config


@pytest.fixture
def config(tmp_path):
    return made_config(tmp_path, "sqlite:///gate.db", said="count: n, levels: {A: {all: {'1': x, '2': x}}}")


def described(config):
    path, sha256 = copied(config, "ward", "v1", "ward.csv")
    return Described(codebook_hashes(config, config.datasets["ward"]), (Version("v1", path, sha256),))


def test_the_hash_is_that_of_the_bytes(config):
    assert sha256_of(config.path("ward.csv")) == hashlib.sha256(SEED.encode()).hexdigest()


def test_records_are_read_once(config):
    sources = Sources(config)
    known = described(config)
    first = sources.records("ward", known)
    assert first.structure.codes == {"A": ("1", "2"), "B": ("1", "2")}
    assert sources.records("ward", known) is first


def test_a_file_of_the_same_length_and_time_that_changed_is_seen(config):
    """As a copy with its old time: its inode, or the time of the change, gives it away."""
    sources = Sources(config)
    known = described(config)
    sources.records("ward", known)
    path = config.path("ward.csv")
    stat = path.stat()
    path.write_text(SEED.replace("2,1,3", "2,1,4"))
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DataStopped, match="changed or is gone"):
        sources.records("ward", known)
    path.unlink()
    with pytest.raises(DataStopped):
        sources.records("ward", known)


def test_a_codebook_that_changed_stops_the_data_set(tmp_path, config):
    known = described(config)
    other = made_config(tmp_path, "sqlite:///gate.db", said="count: n, levels: {A: {all: {'1': y, '2': x}}}")
    with pytest.raises(DataStopped, match="sfumato gate init"):
        Sources(other).records("ward", known)


def test_what_is_not_there_is_told(config):
    with pytest.raises(FileError, match="none.csv"):
        copied(config, "ward", "v1", "none.csv")
    with pytest.raises(FileError, match=r"none\.db"):
        copied(config, "ward", "v1", TableSource(url="sqlite:///none.db", table="t"))
    with pytest.raises(DataError, match="no data set"):
        Sources(config).records("other", described(config))


def test_a_table_of_postgresql_is_copied_with_its_types(config, server):
    psycopg = import_module("psycopg")
    url = server.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE ward (town char(6), cost numeric(8, 2))")
        connection.execute("INSERT INTO ward VALUES ('York', 1.5)")
    path, _ = copied(config, "ward", "v1", TableSource(url=url, table="ward"))
    frame = pl.read_parquet(config.path(path))
    assert frame.rows() == [("York", 1.5)]
    assert frame.schema == {"town": pl.String, "cost": pl.Float64}
    with pytest.raises(FileError, match="'nosuch'"):
        copied(config, "ward", "v1", TableSource(url=url, table="public.nosuch"))
