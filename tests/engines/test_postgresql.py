"""A table of PostgreSQL is read as its types and rights say, and its faults are told in our words."""

import datetime as dt
import os
from dataclasses import replace
from importlib import import_module

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import Parted, ask_all
from sfumato.data.query import Classes, Counts, Folded, Largest, Moments, Quantiles
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.postgresql import open_table
from sfumato.engines.postgresql_session import Place
from sfumato.engines.postgresql_table import PostgresTable
from sfumato.errors import DataError, FileError, TooManyGroups

PLANTED = "geheimwert"
TYPES = """
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE DOMAIN age AS int2 CHECK (VALUE >= 0);
CREATE TABLE typed (
  id int8, "an ""old"" age" age, small int2, four float4, eight float8, whole numeric(9, 0), money numeric(10, 2),
  free numeric, yes bool, words text, short varchar(9), padded char(5), own uuid, plain json, parsed jsonb,
  feeling mood, day date,
  at timestamp, instant timestamptz, hour time
);
INSERT INTO typed VALUES
  (1, 30, 2, 0.1, 0.1, 123456789, 1234.56, 0.1, true, 'a', 'b', 'c', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
   '{"b": 1,  "a": 2}', '{"b": 1,  "a": 2}', 'low', '1900-02-28', '2020-01-01 10:00:00.123456',
   '2020-01-01 10:00:00+02', '23:59:59.000001'),
  (2, NULL, NULL, 'NaN', 'NaN', 'NaN', NULL, 'NaN', NULL, '', NULL, NULL, NULL, NULL,
   NULL, NULL, NULL, NULL, NULL, NULL);
"""
TABLES = f"""
CREATE TABLE parties (region text, value float8, code int4);
INSERT INTO parties VALUES
  ('a', 1, 1), ('a', 1, 1), ('a', 2, NULL), ('b', 2, 2), ('c', 'NaN', NULL), ('c', NULL, 3), ('a', 'NaN', 3);
CREATE TABLE nobody (region text, value float8);
CREATE TABLE endless (d date, t timestamp, z timestamptz, h time, f float8, r float4, n numeric);
INSERT INTO endless VALUES ('infinity', '-infinity', 'infinity', '24:00', '-Infinity', 'Infinity', 'Infinity');
CREATE TABLE large (n numeric, t text); INSERT INTO large VALUES (1, 'a'), ('1e400', '{PLANTED}');
CREATE TABLE listed (a text[], r int4range, x text);
INSERT INTO listed VALUES (ARRAY['{PLANTED}'], '[1,2)', '{PLANTED}');
CREATE TABLE folded (x text COLLATE "C", zero float8); INSERT INTO folded VALUES ('e', 0), ('E', '-0');
CREATE VIEW broken AS SELECT x::int4 AS x FROM (SELECT '{PLANTED}'::text AS x UNION ALL SELECT '1') AS s;
CREATE TABLE laws AS SELECT i::int4 AS id, CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN 'b' ELSE 'a' END AS g,
  CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN 0 ELSE 0.5 END::float8 AS h,
  CASE WHEN i % 7 = 0 THEN -9 WHEN i % 11 = 0 THEN NULL ELSE (i * 37 % 101) / 10::float8 END AS x,
  (i * i % 17)::numeric(5, 2) AS w, '1970-01-01'::date + i AS d FROM generate_series(1, 300) AS i;
CREATE TABLE many AS SELECT i AS id, i % 3 AS k, md5(i::text) AS t FROM generate_series(1, 300000) AS i;
CREATE ROLE reader LOGIN PASSWORD '{PLANTED}'; CREATE ROLE stranger LOGIN;
GRANT USAGE ON SCHEMA public TO reader; GRANT SELECT ON parties TO reader; GRANT SELECT (id) ON many TO reader;
"""


@pytest.fixture(scope="module")
def address(server):
    """A database with tables, which libpq's own settings lead to."""
    psycopg = import_module("psycopg")
    url = server.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(TYPES + TABLES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGHOST", str(server.folder))
        patch.setenv("PGUSER", "postgres")
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        yield f"postgresql:///{name}/public."


@pytest.fixture
def other(address, server):
    """Somebody else, who writes."""
    import psycopg

    with psycopg.connect(dbname=address.split("/")[3], host=str(server.folder), autocommit=True) as connection:
        yield connection


@pytest.fixture
def opened(address):
    tables = []

    def open_(name):
        tables.append(PostgresTable.open(Place.of(address + name)))
        return tables[-1]

    yield open_
    for table in tables:
        table.close()


def collected(table, columns=None):
    return pl.concat(list(table.batches(columns)))


def test_every_type_has_one_here(opened):
    table = opened("typed")
    frame = collected(table)
    assert frame.schema == table.schema
    instant = dt.datetime(2020, 1, 1, 8, tzinfo=dt.UTC)
    assert frame.filter(id=1).row(0) == (
        *(1, 30, 2, pl.Series([0.1], dtype=pl.Float32)[0], 0.1, 123456789, 1234.56, 0.1, True, "a", "b", "c"),
        *("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", '{"b": 1,  "a": 2}', '{"a": 2, "b": 1}', "low"),
        *(dt.date(1900, 2, 28), dt.datetime(2020, 1, 1, 10, 0, 0, 123456), instant, dt.time(23, 59, 59, 1)),
    )
    assert frame.filter(id=2).row(0) == (2, *[None] * 8, "", *[None] * 10)
    numbers = {"whole": pl.Int64(), "money": pl.Float64(), "free": pl.Float64(), 'an "old" age': pl.Int16()}
    assert {n: table.schema[n] for n in numbers} == numbers
    assert any("15 digits: column 'free'" in note for note in table.table.notes)


def test_the_address_has_no_password_and_is_not_repeated():
    for bad in (
        f"postgresql://anna:{PLANTED}@host/db/public.t",
        f"postgresql://anna:@host/{PLANTED}/public.t",
        f"postgresql://anna:{PLANTED[:4]}/{PLANTED}@host/db/public.t",
        f"postgresql:///db/public.t?password={PLANTED}",
        f"postgresql:///db/public.t#{PLANTED}",
    ):
        with pytest.raises(FileError, match="PGPASSWORD") as error:
            Place.of(bad)
        assert PLANTED[:4] not in str(error.value)
    for bad in (f"postgresql:///{PLANTED}", f"postgresql:///db/{PLANTED}", f"postgresql://h:x{PLANTED}/db/s.t"):
        with pytest.raises(FileError, match="database/schema.table") as error:
            Place.of(bad)
        assert PLANTED not in str(error.value)
    assert Place.of("postgresql:///d/s.a%2Eb%22").name == '"s"."a.b"""'
    assert "anna" not in repr(Place.of("postgresql://anna@host/db/s.t"))


@pytest.mark.slow
def test_groups_and_classes_by_hand(opened):
    """As the engine in memory: of five values three are 1 and 2, 2; NaN is missing, and −0 is 0."""
    table = opened("parties")
    assert table.counts(["region"]).rows() == [("a", 4), ("b", 1), ("c", 2)]
    assert table.counts(["value"]).rows() == [(None, 3), (1.0, 2), (2.0, 2)]
    assert table.counts([]).rows() == [(7,)]
    assert table.classes(["region"], None).rows() == [(1, 1), (2, 1), (4, 1)]
    # the whole has 1/2 and 1/2; a has 2/3 and 1/3, b only 2, c none
    assert table.classes(["region"], "value").rows() == [(1, 1, 0.5, 1), (2, 0, 0.0, 1), (4, 2, 0.167, 1)]
    assert table.classes([], "value").rows() == [(7, 2, 0.0, 1)]
    empty = opened("nobody")
    assert empty.counts([]).rows() == [(0,)]
    assert [len(empty.classes(by, v)) for by in ([], ["region"]) for v in (None, "value")] == [0] * 4
    assert collected(empty).schema == empty.schema
    folded = opened("folded")
    assert folded.counts(["x"]).rows() == [("E", 1), ("e", 1)]
    assert folded.counts(["zero"]).rows() == [(0.0, 2)]
    assert str(folded.counts(["zero"])["zero"][0]) == "0.0"


def test_too_many_groups_are_not_fetched(opened, monkeypatch):
    monkeypatch.setattr("sfumato.engines.postgresql_table.MOST_GROUPS", 2)
    with pytest.raises(TooManyGroups, match="'k'"):
        opened("many").counts(["k"])


@pytest.mark.parametrize("column", ["d", "t", "z", "h", "f", "r", "n"])
def test_what_is_infinite_is_refused_by_name(opened, column):
    table = opened("endless")
    for ask in (lambda: collected(table, [column]), lambda: table.counts([column])):
        with pytest.raises(DataError, match=f"column '{column}'"):
            ask()


def test_arrays_and_ranges_are_refused_by_name(opened):
    with pytest.raises(DataError, match="columns 'a', 'r' are not read") as error:
        opened("listed")
    assert PLANTED not in str(error.value)


@pytest.mark.parametrize(("name", "says"), [("large", "cannot be read"), ("broken", "cannot be read")])
def test_values_that_fit_no_type_are_not_quoted(opened, name, says):
    table = opened(name)
    with pytest.raises(FileError, match=says) as error:
        collected(table)
    assert PLANTED not in f"{error.value!r}{error.value.__cause__!r}"
    assert error.value.__suppress_context__


def test_a_table_that_is_not_there(opened):
    for name in ("Parties", "none", "typed_pkey"):
        with pytest.raises(FileError, match="no table or view"):
            opened(name)
    with pytest.raises(FileError, match="no such database"):
        PostgresTable.open(Place.of("postgresql:///nowhere/public.t"))


@pytest.mark.slow
def test_a_role_without_a_right_and_one_with_too_many(opened, monkeypatch):
    assert any("may change the table 'parties'" in note for note in opened("parties").table.notes)
    monkeypatch.setenv("PGUSER", "reader")
    assert opened("parties").table.notes == ()
    for name in ("typed", "many"):
        with pytest.raises(FileError, match="Grant it SELECT"):
            opened(name)


def test_no_server_and_no_role(opened, monkeypatch, tmp_path):
    monkeypatch.setenv("PGUSER", "unknown")
    with pytest.raises(FileError, match="refuses the role or its password"):
        opened("parties")
    monkeypatch.setenv("PGHOST", str(tmp_path))
    monkeypatch.setenv("PGPASSWORD", PLANTED)
    with pytest.raises(FileError, match="No connection") as error:
        opened("parties")
    assert PLANTED not in str(error.value)
    monkeypatch.setenv("PGSERVICE", PLANTED)
    with pytest.raises(FileError, match="PGSERVICE") as error:
        opened("parties")
    assert PLANTED not in str(error.value)


def test_what_others_write_meanwhile_is_not_seen(opened, other):
    other.execute("CREATE TABLE changing AS SELECT i AS id FROM generate_series(1, 10) AS i")
    table = opened("changing")
    rows = table.batches(["id"])
    next(rows)
    other.execute("DELETE FROM changing WHERE id > 5; INSERT INTO changing VALUES (100)")
    assert table.counts([]).item() == 10
    assert sorted(pl.concat(list(rows))["id"].to_list()) == list(range(1, 11))
    assert sorted(collected(table)["id"].to_list()) == list(range(1, 11))
    assert opened("changing").counts([]).item() == 6


def test_nothing_can_be_written(opened):
    table = opened("parties")
    with pytest.raises(FileError):
        table.session.table("INSERT INTO public.parties VALUES ('x') RETURNING region")


@pytest.mark.slow
def test_streams_may_be_left_and_cross(opened):
    table = opened("many")
    first, second = table.batches(["id", "t"]), table.batches(["t"])
    sizes = [next(first).height, next(second).height, next(first).height]
    assert sizes[0] == sizes[1] == 0 < sizes[2] < 300_000  # batches are bounded
    second.close()
    assert table.counts([]).item() == 300_000
    assert sizes[2] + sum(batch.height for batch in first) == 300_000
    assert sum(batch.height for batch in table.batches([])) == 300_000


def test_a_connection_that_is_lost(opened, other):
    table = opened("many")
    rows = table.batches(["id", "t"])
    next(rows)
    other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sfumato'")
    with pytest.raises(FileError, match="lost"):
        list(rows)
    with pytest.raises(FileError, match="lost"):
        table.counts([])
    table.close()
    with pytest.raises(FileError, match="closed"):
        table.counts([])


def test_a_wrong_password_is_not_told(server, address, monkeypatch, tmp_path):
    """The file of passwords is read, and what it holds is not in any message."""
    hba = server.folder / "pg_hba.conf"
    before = hba.read_text()
    hba.write_text("local all reader scram-sha-256\n" + before)
    server.reload()
    try:
        monkeypatch.setenv("PGUSER", "reader")
        monkeypatch.setenv("PGPASSWORD", PLANTED[::-1])
        with pytest.raises(FileError, match="PGPASSWORD or PGPASSFILE") as error:
            PostgresTable.open(Place.of(address + "parties"))
        assert PLANTED[::-1] not in str(error.value)
        monkeypatch.delenv("PGPASSWORD")
        passwords = tmp_path / "passwords"
        passwords.touch(mode=0o600)
        passwords.write_text(f"*:*:*:reader:{PLANTED}\n")
        monkeypatch.setenv("PGPASSFILE", os.fspath(passwords))
        with PostgresTable.open(Place.of(address + "parties")).session:
            pass
    finally:
        hba.write_text(before)
        server.reload()


BOOK = Codebook({"x": Variable(missing=[-9])})
QUERIES = [
    Counts(()),
    Counts(("g", "h")),
    Counts(("g",), "x"),
    Moments(("x", "w"), ("g",)),
    Quantiles("x", (0.05, 0.5), ("g", "h")),
    Largest("x", ("g",), 3),
    Classes(("g", "h")),
    Classes(("g", "h"), "w"),
    Classes(("h",), "g"),
    Classes(("h",), "x"),
    Folded(("d",), lambda batch: batch.select(pl.col("d").max()), lambda frames: frames.select(pl.col("d").max())),
]


def fewer(batch):
    return batch.filter(pl.col("id") > 40).with_columns(w=pl.col("w") * 3, new=pl.col("g"))


@pytest.mark.slow
@pytest.mark.parametrize("mapped", [False, True])
def test_answers_equal_those_of_memory_to_the_bit(address, opened, mapped):
    memory = PolarsDataset(collected(opened("laws")), BOOK.only(opened("laws").schema))
    with open_table(address + "laws") as data:
        data = replace(data, codebook=memory.codebook)
        if mapped:
            data, memory = data.map(fewer), memory.map(fewer)
        for ours, theirs in zip(ask_all(data, QUERIES), ask_all(memory, QUERIES), strict=True):
            assert_frame_equal(ours, theirs, check_exact=True)


def numbered(stratum):
    """Whatever looks at a whole stratum."""
    return stratum.with_columns(rank=pl.col("id").rank().cast(pl.Int64), size=pl.lit(stratum.height, pl.Int64))


@pytest.mark.slow
def test_strata_and_parts_equal_those_of_memory(address, opened, tmp_path):
    memory = PolarsDataset(collected(opened("laws")), Codebook()).map(fewer).map(numbered, ["g", "h"])
    with open_table(address + "laws", temp=str(tmp_path)) as data:
        assert isinstance(data, Parted)
        made = data.map(fewer).map(numbered, ["g", "h"])
        assert_frame_equal(pl.concat(made.batches()).sort("id"), memory.frame.sort("id"), check_exact=True)
        for name, some in (("made", made), ("given", data)):
            (tmp_path / name).mkdir()
            parts = some.write_parts(str(tmp_path / name), ["id"])
            written = pl.read_parquet([tmp_path / name / part.name for part in parts])
            assert written.height == sum(part.rows for part in parts)
            assert written["id"].is_sorted()
        assert_frame_equal(written, collected(opened("laws")).sort("id"), check_exact=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["given", "made"]


def test_strata_of_too_many_rows_are_refused_before_rows_are_read(address, monkeypatch):
    with open_table(address + "laws", max_stratum=100) as data:
        monkeypatch.setattr(PostgresTable, "batches", None)
        with pytest.raises(DataError, match="'g'") as error:
            data.map(numbered, ["g"])
    assert "300" not in str(error.value)


def test_a_table_without_rows_is_refused_as_a_file_is(address):
    with pytest.raises(DataError, match="no rows"):
        open_table(address + "nobody")
