"""Every engine finds the same of the same rows: all figures, intervals, limits and notes.

Up to so many records everything is measured as in memory, wherever the rows are. On a Spark cluster the law is held to
in `tests/e2e/test_spark.py`, which has a session.
"""

from functools import cache
from importlib import import_module

import pytest

from sfumato.engines.opening import open_parted
from tests.laws.measured import PLANS, differing, in_memory, off_memory, table


@cache
def expected(name):
    return in_memory(name)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """A folder of short parts, one of them empty, in another order than the table."""
    folder = tmp_path_factory.mktemp("parts")
    frame = table().sample(fraction=1, shuffle=True, seed=2)
    for i, part in enumerate([*frame.iter_slices(70), frame.clear()]):
        part.write_parquet(folder / f"p{i}.parquet")
    return str(folder)


@pytest.fixture(scope="module")
def address(server):
    """The table in a database."""
    psycopg = import_module("psycopg")
    url, frame = server.database(), table()
    types = ["bigint" if t.is_integer() else "float8" if t.is_float() else "text" for t in frame.schema.values()]
    made = ", ".join(f'"{n}" {t}' for n, t in zip(frame.columns, types, strict=True))
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE people ({made})")
        with cursor.copy("COPY people FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGHOST", str(server.folder))
        patch.setenv("PGUSER", "postgres")
        yield f"postgresql:///{psycopg.conninfo.conninfo_to_dict(url)['dbname']}/public.people"


ENGINES = {"duckdb": "parts", "postgresql": "address"}
"""Where each has the table."""
CASES = [
    pytest.param(name, engine, id=f"{name}-{engine}", marks=[pytest.mark.slow] if engine == "postgresql" and i else [])
    for i, name in enumerate(PLANS)
    for engine in ENGINES
]


@pytest.mark.few(2)
@pytest.mark.parametrize(("name", "engine"), CASES)
def test_every_engine_gives_the_same_findings(name, engine, request):
    with open_parted(request.getfixturevalue(ENGINES[engine])) as data:
        told = off_memory(name, data)
    assert expected(name)
    assert differing(told, expected(name)) == []
