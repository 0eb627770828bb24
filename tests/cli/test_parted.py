"""The command line on data that stay where they are."""

import json
import os

import polars as pl
import pytest

import sfumato.api.opening
from sfumato.data.codebook import Codebook
from tests.methods.tables import people
from tests.release.scattered import Scattered

PLAN = """sfumato: 1
variables:
  id: {role: record}
  x: {role: key, kind: continuous}
  house: {role: other}
steps:
  - {do: noise, columns: [x], by: [g], share: 0.1}
"""
FRAME = people(300).with_columns(town=pl.lit("Zebedee999"))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with parts, a plan and a key; folders are opened as scattered tables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for i in range(3):
        FRAME.slice(i * 100, 100).write_parquet(tmp_path / "parts" / f"{i}.parquet")
    (tmp_path / "plan.yaml").write_text(PLAN)
    (tmp_path / "key").write_bytes(bytes(range(32)))

    def opened(place, how):
        return Scattered.of(pl.read_parquet(f"{place}/*.parquet"), Codebook())

    monkeypatch.setattr(sfumato.api.opening, "_open_parted", opened)
    return tmp_path


def protected(sfumato, *more, data="parts", out="r", expect=0):
    done = sfumato("protect", "plan.yaml", data, "--out", out, "--secret-file", "key", "--force", "--json", *more)
    assert done.returncode == expect, done.stderr
    return done


@pytest.mark.slow
def test_a_folder_of_parts_is_protected_where_it_is_and_in_memory_alike(sfumato, here):
    there = json.loads(protected(sfumato).stdout)
    assert (there["engine"], there["parts"], there["release"]) == ("duckdb", 4, "r")  # 300 rows, 80 in a part
    memory = json.loads(protected(sfumato, "--engine", "memory", out="m").stdout)
    assert (memory["engine"], memory["parts"]) == ("memory", 1)
    one, two = pl.read_parquet("r/data/*.parquet"), pl.read_parquet("m/data.parquet")
    assert one.equals(two)


def test_a_dry_run_tells_how_steps_run_and_writes_nothing(sfumato, here):
    before = sorted(here.rglob("*"))
    for engine, more in (("duckdb", ()), ("memory", ("--engine", "memory"))):
        done = sfumato("protect", "plan.yaml", "parts", "--out", "r", "--dry-run", "--json", *more)
        steps = [{"do": "noise", "how": "batch", "passes": 1}]
        assert json.loads(done.stdout) == {"engine": engine, "steps": steps, "ok": True}
    assert (
        "noise: over batches, 1 pass over the rows"
        in sfumato("protect", "plan.yaml", "parts", "--out", "r", "--dry-run").stdout
    )
    assert sorted(here.rglob("*")) == before


def test_a_dry_run_refuses_large_strata_without_their_sizes(sfumato, here):
    (here / "plan.yaml").write_text(PLAN + "  - {do: centroids, columns: [y], by: [h], k: 3}\n")
    done = sfumato("protect", "plan.yaml", "parts", "--out", "r", "--dry-run", "--max-stratum", "7")
    assert done.returncode == 2
    assert "step 2 (centroids)" in done.stderr
    assert "stratum of h" in done.stderr


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (PLAN.replace("role: record", "role: other"), "there is no column with the record's id"),
        ("sfumato: 1\ntables: {a: {file: a.csv}}\n", "a plan of several tables runs in memory"),
    ],
)
def test_plans_that_cannot_run_there_are_refused_with_what_to_do(sfumato, here, plan, says):
    (here / "plan.yaml").write_text(plan)
    done = protected(sfumato, "--engine", "duckdb", expect=2)
    assert says in done.stderr
    assert not (here / "r").exists()


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        (FRAME.with_columns(id=pl.col("id") % 299), "holds an id more than once"),
        (FRAME.with_columns(id=pl.when(pl.col("id") != 7).then("id")), "missing ids"),
        (
            FRAME.with_columns(y=pl.when(pl.col("id") != 7).then("y").otherwise(float("inf"))),
            "Infinite values in column 'y'",
        ),
        (FRAME.with_columns(y=pl.struct("x")), "'y': lists, records"),
        (FRAME.clear(), "no rows"),
    ],
    ids=["twice", "missing", "infinite", "nested", "empty"],
)
def test_rows_that_are_not_fit_are_refused_without_a_value(sfumato, here, frame, says):
    for path in (here / "parts").iterdir():
        path.unlink()
    frame.write_parquet(here / "parts" / "0.parquet")
    done = protected(sfumato, expect=2)
    assert says in done.stderr
    assert "Zebedee999" not in done.stderr + done.stdout
    assert not (here / "r").exists()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:Secret77@host/study/public.cohort",
        "postgres://me:Secret77@host/study/public.cohort",
        "POSTGRESQL://me:Secret77@host/study/public.cohort",
        "postgresql:///study/public.cohort?password=Secret77",
        "postgresql://me:Sec%ret77@[bad/study/public.cohort",
    ],
    ids=range(5),
)
@pytest.mark.parametrize("command", ["protect", "risk", "init"])
def test_a_password_in_an_address_is_refused_and_not_repeated(sfumato, here, address, command):
    lines = {
        "protect": ["protect", "plan.yaml", address, "--out", "r"],
        "risk": ["risk", address, "--keys", "g"],
        "init": ["init", address, "--out", "p.yaml"],
    }
    done = sfumato(*lines[command])
    assert done.returncode == 2
    assert "PGPASSFILE" in done.stderr
    assert "ret77" not in done.stderr + done.stdout


def test_risk_of_a_folder_is_that_of_its_rows(sfumato, here):
    of_parts = json.loads(sfumato("risk", "parts", "--by", "g,h", "--json").stdout)
    in_memory = json.loads(sfumato("risk", "parts", "--by", "g,h", "--json", "--engine", "memory").stdout)

    def sizes(told):
        return [row for row in told["findings"] if row["measure"] in ("k_anonymity", "uniques_sample")]

    assert sizes(of_parts) == sizes(in_memory) != []


def test_comparing_is_refused_with_what_to_do(sfumato, here):
    FRAME.write_parquet("all.parquet")
    for line in (["risk", "parts", "--protected", "all.parquet"], ["compare", "parts", "all.parquet"]):
        done = sfumato(*line, "--record", "id")
        assert done.returncode == 2
        assert "--engine memory" in done.stderr


def test_a_plan_is_drafted_from_a_folder_as_from_its_rows(sfumato, here, one_draw):
    FRAME.write_parquet("parts.parquet")
    drafts = [json.loads(sfumato("init", where, "--json").stdout) for where in ("parts", "parts.parquet")]
    tried = [each["draft"].pop("tried") for each in drafts]  # with a secret that is thrown away
    after = [each["draft"].pop("next") for each in drafts]
    assert [each.pop("next") for each in drafts] == after
    assert drafts[0] == drafts[1]
    assert [[text.replace("parts.parquet", "parts") for text in texts] for texts in after] == [after[0]] * 2
    assert tried[0].keys() == tried[1].keys()
    assert tried[0]["records"] == tried[1]["records"] == FRAME.height


def test_one_file_is_worked_on_in_memory_or_not_at_all(sfumato, here):
    FRAME.write_parquet("one.parquet")
    assert json.loads(protected(sfumato, data="one.parquet").stdout)["engine"] == "memory"
    done = protected(sfumato, "--engine", "duckdb", "--overwrite", data="one.parquet", expect=2)
    assert "one file, which is worked on in memory" in done.stderr
    assert "python -c" in done.stderr


def test_a_folder_without_parts_is_refused(sfumato, here):
    os.mkdir("empty")
    for line in (["protect", "plan.yaml", "empty", "--out", "r"], ["risk", "nowhere/", "--by", "g"]):
        done = sfumato(*line)
        assert done.returncode == 2
    assert "holds no Parquet files" in sfumato("init", "empty").stderr


@pytest.mark.slow
def test_addresses_of_files_are_their_paths(sfumato, here):
    FRAME.write_csv("one.csv")
    for place in ("parts", "one.csv"):
        out = f"r-{place}"
        told = json.loads(protected(sfumato, data=f"file://{here}/{place}", out=out).stdout)
        assert told["engine"] == ("duckdb" if place == "parts" else "memory")


def test_addresses_of_other_files_are_for_clusters(sfumato):
    done = sfumato("risk", "s3a://bucket/parts", "--by", "g")
    assert done.returncode == 2
    assert "read by Spark: give --engine" in done.stderr


def test_memory_takes_the_parts_that_other_engines_take(sfumato, here):
    """Parts without rows, links to parts, columns in another order; no part of a folder that is refused elsewhere."""
    FRAME.clear().write_parquet("parts/empty.parquet")
    FRAME.select(reversed(FRAME.columns)).slice(0, 50).write_parquet("elsewhere.parquet")
    os.unlink("parts/0.parquet")
    os.symlink(here / "elsewhere.parquet", "parts/0.parquet")
    assert json.loads(protected(sfumato, "--engine", "memory").stdout)["engine"] == "memory"
    assert pl.read_parquet("r/data.parquet").height == 250
    (here / "parts" / "notes.txt").write_text("mine")
    done = sfumato("risk", "parts", "--by", "g", "--engine", "memory")
    assert (done.returncode, "'notes.txt'" in done.stderr) == (2, True)
