"""A plan runs on a table of PostgreSQL as on a file, and no value of the data gets into a statement."""

import gc
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from types import SimpleNamespace

import polars as pl
import pytest

from sfumato.cli import main
from sfumato.examples import cohort

PLANTED = "Quennell-Featherstonehaugh"
PLAN = f"""
sfumato: 1
title: A cohort in a database
variables:
  id: {{role: record, kind: integer}}
  sex: {{role: key, kind: categorical}}
  region: {{role: key, kind: categorical}}
  smoker: {{role: sensitive, kind: categorical}}
  bmi: {{kind: continuous, missing: [-9]}}
  height: {{kind: continuous}}
  asthma: {{role: other, kind: categorical}}
  school: {{role: other, kind: categorical}}
steps:
  - {{do: suppress_strata, by: [sex, region], min_count: 20, max_suppressed: 0.5}}
  - {{do: recode, columns: [school], map: {{"{PLANTED}": "one"}}, other: missing}}
  - {{do: impute, columns: [bmi], method: mean}}
  - {{do: noise, columns: [bmi], by: [sex], share: 0.1}}
  - {{do: centroids, columns: [height], by: [region], k: 5, grouping: mdav}}
  - {{do: pram, columns: [asthma], retention: 0.9}}
unknown:
  - {{columns: [id], because: "numbers of this database alone, given to nobody"}}
  - {{columns: others, because: "asked for this test alone and told to nobody else"}}
limits: [{{measure: k_anonymity, at_least: 5}}]
"""
COLUMNS = ["id", "sex", "region", "smoker", "bmi", "height", "asthma"]


@pytest.fixture(scope="module")
def study(server, tmp_path_factory):
    """A folder with plan, key and a file, a database that holds the same rows, and what its server writes down."""
    psycopg = import_module("psycopg")
    folder = tmp_path_factory.mktemp("study")
    names = pl.Series("school", [PLANTED, "Another"])
    frame = cohort(600).select(COLUMNS).with_columns(pl.col("id").cast(pl.Int64))
    frame = frame.with_columns(names[(frame["id"] % 2).cast(pl.Int64)].alias("school"))
    frame = frame.with_columns(pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String))
    frame.write_parquet(folder / "cohort.parquet")
    (folder / "plan.yaml").write_text(PLAN)
    (folder / "key").write_bytes(bytes(range(32)))
    url = server.database()
    types = {pl.String: "text", pl.Int64: "bigint", pl.Float64: "float8", pl.Boolean: "boolean"}
    made = ", ".join(f'"{n}" {types[t.base_type()]}' for n, t in frame.schema.items())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE cohort ({made})")
        with connection.cursor() as cursor, cursor.copy("COPY cohort FROM STDIN") as copy:
            for row in frame.iter_rows():
                copy.write_row(row)
        connection.execute("ALTER DATABASE " + url.split("?")[0].rsplit("/", 1)[1] + " SET log_statement = 'all'")
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
    server.reload()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGHOST", str(server.folder))
        patch.setenv("PGUSER", "postgres")
        name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
        yield folder, f"postgresql:///{name}/public.cohort", server.folder
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM RESET log_statement")
    server.reload()


def run(*arguments):
    """What the command prints, and how it ends."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sfumato", *map(str, arguments)])
        for name in ("catch", "over"):  # signals stay those of this process
            patch.setattr(f"sfumato.cli.stopping.Stopping.{name}", lambda self: None)
        patch.setattr("sys.unraisablehook", lambda told: None)  # connections that the end of a process closes
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as end:
                code = end.code or 0
            gc.collect()
    return SimpleNamespace(
        exit_code=code, stdout=out.getvalue(), stderr=err.getvalue(), output=out.getvalue() + err.getvalue()
    )


@pytest.mark.slow
def test_a_table_is_protected_as_a_file_is(study):
    folder, address, logs = study
    asked = ["--secret-file", folder / "key", "--json"]
    there = run("protect", folder / "plan.yaml", address, "--out", folder / "there", *asked)
    assert there.exit_code == 0, there.output
    here = run("protect", folder / "plan.yaml", folder / "cohort.parquet", "--out", folder / "here", *asked)
    assert here.exit_code == 0, here.output
    told = json.loads(there.stdout)
    assert (told["engine"], told["parts"]) == ("duckdb", 1)
    parts = pl.concat([pl.read_parquet(part) for part in sorted((folder / "there/data").iterdir())])
    expected = pl.read_parquet(folder / "here/data.parquet")
    assert parts.equals(expected.select(parts.columns).cast(dict(parts.schema)))
    assert PLANTED not in there.output
    written = [
        path.read_text(errors="replace") for path in logs.rglob("*") if path.suffix == ".log" or path.name == "log"
    ]
    statements = "\n".join(written)
    assert "SELECT" in statements  # the server did write them down
    assert "cohort" in statements
    assert PLANTED not in statements.split("ALTER SYSTEM SET", 1)[-1]


@pytest.mark.slow
def test_a_role_that_could_write_is_warned_of(study):
    folder, address, _ = study
    done = run("protect", folder / "plan.yaml", address, "--out", folder / "noted", "--secret-file", folder / "key")
    assert done.exit_code == 0, done.output
    assert "may change the table" in done.stderr


@pytest.mark.parametrize("command", ["risk", "init", "dry run"])
def test_other_commands_take_the_address(study, command, tmp_path):
    folder, address, _ = study
    arguments = {
        "risk": ["risk", address, "--by", "sex,region", "--json"],
        "init": ["init", address, "--out", tmp_path / "drafted.yaml"],
        "dry run": ["protect", folder / "plan.yaml", address, "--out", tmp_path / "no", "--dry-run", "--json"],
    }[command]
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    assert not (tmp_path / "no").exists()
    assert (tmp_path / "drafted.yaml").exists() is (command == "init")


def test_a_password_in_the_address_is_refused(study):
    folder, address, _ = study
    said = run("protect", folder / "plan.yaml", address.replace("///", f"//me:{PLANTED}@localhost/"), "--out", "no")
    assert said.exit_code == 2
    assert PLANTED not in said.output
