import csv
import itertools

import polars as pl
import pytest

from sfumato.data.files.csv import _alone_quoted
from sfumato.data.files.header import holds_names, looks_like_a_record
from sfumato.data.files.sniff import sniff_delimiter


def record(first, *rows, quoted=False):
    cells = [[cell or None for cell in row.split(",")] for row in rows]
    body = pl.DataFrame({str(j): column for j, column in enumerate(zip(*cells, strict=True))}, schema_overrides=None)
    return looks_like_a_record(first.split(","), body.cast(pl.String), quoted)


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        ("1000,Ann Smith,20", ["1001,Bob Roe,21", "1002,Joe Poe,35"]),
        ("1,5", ["2,6.5"]),
        ("Ann,2019-05-01", ["Bob,2020-06-01", "Joe,2018-01-31"]),
        ("Ann,31.12.1990", ["Bob,1.1.1991", "Joe,2.12.1970"]),
        ("Ann,a@example.org", ["Bob,b@example.org", "Joe,c@example.org"]),
        ("Ann,020 7946 0001", ["Bob,020 7946 0002", "Joe,020 7946 0003"]),
        ("Ann,AB1234", ["Bob,CD5678", "Joe,EF9012"]),
        ("f,Leeds", ["m,York", "f,York", "m,Leeds", "f,Leeds"]),
        ("n/a,34", ["Bob,45", "Joe,51"]),
        (",34", ["Bob,45", "Joe,51"]),
        ("Ann,1.234", ["Bob,2.345", "Joe,3.100"]),
        ("refused,Ann", [*["31,Bob", "45,Joe"] * 20, "refused,Tom"]),
        ("f", ["m", "f", "f", "m"]),
        ("1990,34", ["1985,45", "2001,23"]),
        ("true,x", ["false,y", "true,z"]),
    ],
)
def test_a_record(first, rows):
    assert record(first, *rows)


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        ("id,name,age", ["1,Ann Smith,20", "2,Bob Roe,21"]),
        ("id,2020,name", ["2,3.5,Bob"]),
        ("country,2020", ["Chad,1.5", "Mali,2.5"]),
        ("country,2019,2020,2021", ["Chad,15.1,16.2,17", "Mali,1,2.5,3"]),
        ("name,1,2,3", ["Ann,4,5,2", "Bob,1,1,9"]),
        ("V1,V2,V3", ["x,y,x", "y,y,x"]),
        ("Q001,Q002", ["A101,B107", "A102,B205"]),
        ("region,0-4,5-9", ["York,12,15", "Leeds,99,81"]),
        ("country,2020-01-01,2020-01-02", ["Chad,12,15", "Mali,99,81"]),
        ("sex,town", ["f,Leeds", "m,York", "f,York"]),
        ("name,code", ["Ann,AB1234", "Bob,CD5678"]),
        ("name,email", ["Ann,a@example.org", "Bob,b@example.org"]),
        ("age,sex", ["31,f", "45,m", "age,sex", "29,f"]),
        ("name", ["Ann", "Bob"]),
        ("x,y", [","]),
        ("a", []),
    ],
)
def test_names(first, rows):
    assert not record(first, *rows)


@pytest.mark.slow
def test_wide_tables():
    """One column of many that tells is enough, wherever it stands."""
    rows = [[f"{i}{'xyz'[(i + j) % 3]}{j % 7}" for j in range(500)] for i in range(30)]
    names = [f"v{j}_name" for j in range(500)]
    assert not looks_like_a_record(names, below(rows))
    for at in (0, 3, 499):
        numbered = [[*row[:at], str(i), *row[at + 1 :]] for i, row in enumerate(rows)]
        assert not looks_like_a_record([*rows[0][:at], "age", *rows[0][at + 1 :]], below(numbered[1:]))
        assert looks_like_a_record(numbered[0], below(numbered[1:]))


def test_names_in_quotes_above_numbers_without():
    assert not record("3,2", "10,4", "7,9", quoted=True)
    assert record("3,2", "10,4", "7,9")


def test_names_where_none_were_said_to_be():
    body = pl.DataFrame({"0": ["1", "2"], "1": ["x", "y"]})
    assert holds_names(["id", "sex"], body)
    assert not holds_names(["3", "sex"], body)


WITHOUT = ("hierarchies", "tauargus_ckm", "tauargus_pp")
"""Files that have no names, as their descriptions say."""


def files(folder):
    for path in sorted(folder.rglob("*.csv")):
        text = path.read_text(encoding="utf-8")
        sign = sniff_delimiter(text[:20_000].rpartition("\n")[0])
        rows = [row for row in itertools.islice(csv.reader(text.splitlines(), delimiter=sign), 400) if row]
        yield path, rows, _alone_quoted(path.read_bytes(), sign)


def below(rows):
    columns = {str(j): [row[j] or None for row in rows] for j in range(len(rows[0]))}
    return pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))


REAL = "tests/data/files/test_header.py::test_real_files_with_and_without_their_names"


@pytest.mark.parametrize(
    "step", [pytest.param(100, marks=pytest.mark.slow), pytest.param(30, marks=pytest.mark.nightly(of=f"{REAL}[100]"))]
)
def test_real_files_with_and_without_their_names(shared_data, step):
    """Each file's first line is names, but for those that have none; some records in its place are records."""
    for path, rows, quoted in files(shared_data):
        named = not any(word in str(path) for word in WITHOUT)
        assert looks_like_a_record(rows[0], below(rows[1:]), quoted) != named, path
        for t in range(1, len(rows) if len(rows) > 3 else 0, step):
            assert looks_like_a_record(rows[t], below(rows[1:t] + rows[t + 1 :])), path
