"""A cluster gives what memory gives, to the bit; and tells nothing of data or secret where it fails."""

import base64
import os
import threading
import time
from datetime import time as of_day

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfumato.data.codebook import Codebook
from sfumato.data.dataset import Parted
from sfumato.data.query import CLASSES, DISTINCT, SIZE, Classes, Counts, Folded, Largest, Moments, Quantiles, T
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError, FileError
from sfumato.methods.registry import methods
from sfumato.release.run import run_steps
from tests.e2e import spark_cluster
from tests.golden.paths.plans import names
from tests.golden.paths.plans import table as plans_table
from tests.golden.paths.recording import FEW, differing, outcome, recorded
from tests.laws import measured
from tests.methods.tables import PEOPLE_BOOK, lawful, people
from tests.parts import needs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.first,
    # Spark's own library leaves sockets to the collector of garbage
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    needs("java", "spark"),
]
SECRET = b"known to nobody, 4711 times over"
PLANS = "tests/e2e/test_spark.py::test_a_plan_does_there_what_it_does_in_parts"
CASE = "tests/e2e/test_spark.py::test_every_lawful_step_is_equal_to_memory_in_every_bit"
BY_DAY = {
    "noise": (0, 3),  # rows as they come; after medians and covariances of all
    "centroids": (0, 4, 5),  # whole strata; without some records; without some columns
    "suppress_cells": (0,),  # counts that are asked again and again
    "swap": (4,),  # ranks by strata
    "swap_households": (0,),  # who belongs together
    "synthesise": (0, 6),  # from all rows; whole households
    "sample": (0,),  # fewer rows
    "pseudonymise": (0,),  # other ids
    "to_grid": (0,),  # other columns
    "redact": (0,),  # texts
}
"""Steps that read in different ways, or leave rows or columns out."""


def steps():
    """Every lawful step; those that send what others send at night, for `tests/engines/test_sent.py` sends all."""
    for name in methods():
        for i, step in enumerate(lawful(name)):
            marks = () if i in BY_DAY.get(name, ()) else pytest.mark.nightly(of=f"{CASE}[noise-0]")
            yield pytest.param(step, id=f"{name}-{i}", marks=marks)


def table():
    """People, some with a missing code, some with nothing."""
    return people().with_columns(
        n=pl.when(pl.col("id") % 13 == 0).then(-9).otherwise("n"), h=pl.when(pl.col("id") % 17 != 0).then("h")
    )


def odd(n=3000):
    """Types that Spark lacks, NaN and −0."""
    random = np.random.default_rng(5)
    kinds = {
        "id": pl.Series(np.arange(n), dtype=pl.UInt64) + 2**63,
        "sex": pl.Series(random.choice(["f", "m"], n).tolist(), dtype=pl.Enum(["m", "f"])),
        "town": pl.Series(random.choice(["P", "Q", "R", "S"], n).tolist(), dtype=pl.Categorical),
        "zero": np.where(random.random(n) < 0.5, 0.0, -0.0),
        "seen": pl.Series(random.integers(0, 10**18, n), dtype=pl.Datetime("ns")),
        "at": pl.Series([of_day(8, i % 60) for i in range(n)]),
        "few": pl.Series(random.integers(0, 9, n), dtype=pl.UInt8),
        "bmi": random.normal(27, 4, n),
        "text": [None if i % 11 == 0 else f"Ü{i % 7}" for i in range(n)],
    }
    return pl.DataFrame(kinds).with_columns(bmi=pl.when(pl.col("few") > 0).then("bmi"))


def in_parts(frame, folder, rows, book=None):
    from sfumato.data.files.parquet import write_parquet
    from sfumato.data.files.table import Table

    folder.mkdir()
    for i, part in enumerate(frame.iter_slices(rows)):
        write_parquet(Table(part, book or Codebook(), ".parquet"), folder / f"p{i:03d}.parquet")
    frame.clear().write_parquet(folder / "p999.parquet")  # an empty one among them
    return str(folder)


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="module")
def machines(here):
    (here / "cluster").mkdir()
    (here / "conf").mkdir()
    (here / "events").mkdir()
    told = f"spark.eventLog.enabled true\nspark.eventLog.dir file://{here}/events\nspark.eventLog.compress false\n"
    told += "spark.task.maxFailures 2\n"  # a worker that fails begins anew, which takes longest
    (here / "conf" / "spark-defaults.conf").write_text(told)
    with spark_cluster.cluster(here / "cluster") as made:
        yield made


@pytest.fixture(scope="module")
def opened(here, machines):
    """The odd table in parts, in a session of our own; what it prints goes to a file."""
    from sfumato.engines.spark import open_parts

    with pytest.MonkeyPatch.context() as patch, spark_cluster.error_output(here / "driver.log"):
        patch.setenv("SPARK_CONF_DIR", str(here / "conf"))
        patch.setenv("SFUMATO_DEBUG", "1")  # so that Java is heard
        for name, value in spark_cluster.QUICK.items():
            patch.setenv(name, value)
        data = open_parts(in_parts(odd(), here / "odd", 700), machines.address, temp=str(here))
        yield data
        data.close()


@pytest.fixture(scope="module")
def people_there(opened, here):
    return elsewhere(opened, in_parts(table(), here / "people", 30, PEOPLE_BOOK))


def elsewhere(opened, folder):
    """Another folder in the same session."""
    from sfumato.engines.spark.opening import of_folder

    return of_folder(folder, opened.home)


def all_rows(data):
    return pl.concat(list(data.batches()))


def test_a_cluster_is_an_engine(opened):
    assert isinstance(opened, Parted)
    assert opened.schema == odd().schema


QUERIES = [
    Counts(()),
    Counts(("sex", "zero")),
    Counts(("town", "bmi")),
    Counts(("at",), "bmi"),
    Moments(("bmi", "few"), ("sex",)),
    Quantiles("bmi", (0.05, 0.5), ("town",)),
    Largest("bmi", ("text",), 2),
    Folded(
        ("sex",), lambda b: b.group_by("sex").len(), lambda p: p.group_by("sex").agg(pl.col("len").sum()).sort("sex")
    ),
]


def test_answers_are_those_of_memory(opened):
    for query, answer in zip(QUERIES, opened.ask_all(QUERIES), strict=True):
        assert_frame_equal(answer, PolarsDataset(odd(), Codebook()).ask(query), check_exact=True, check_row_order=True)


def test_classes_are_those_that_counts_tell(opened):
    counts = odd().group_by("sex", "few", "text").len()["len"].value_counts().sort("len")
    found = opened.ask(Classes(("sex", "few", "text")))
    assert found[SIZE].to_list() == counts["len"].to_list()
    assert found[CLASSES].to_list() == counts["count"].to_list()
    # by hand: shares of the towns within each sex and in the whole table
    whole = odd()["town"].value_counts()
    told = {}
    for (_,), some in odd().group_by("sex"):
        shares = whole.join(some["town"].value_counts(), on="town", how="left", suffix="_here").fill_null(0)
        apart = (shares["count"] / 3000 - shares["count_here"] / some.height).abs().sum() / 2
        told[some.height] = (4, apart)
    for row in opened.ask(Classes(("sex",), "town")).iter_rows(named=True):
        assert row[DISTINCT] == 4
        assert 0 <= row[T] - told[row[SIZE]][1] < 0.001


def test_rows_come_back_and_are_written_in_order_as_they_were(opened, here):
    assert all_rows(opened).sort("id").equals(odd().sort("id"))
    for name, order in (("plain", ()), ("sorted", ("text", "seen"))):
        folder = here / name
        folder.mkdir()
        parts = opened.write_parts(f"file://{folder}" if order else str(folder), order, 20_000)
        assert sorted(os.listdir(folder)) == [f"part-{i:05d}.parquet" for i in range(len(parts))]
        back = pl.concat([pl.read_parquet(folder / part.name) for part in parts])
        assert [part.rows for part in parts] == [pl.read_parquet(folder / part.name).height for part in parts]
        assert len(parts) > 2
        wanted = odd().sort("text", "seen", nulls_last=False)
        assert (back if order else back.sort("text", "seen", nulls_last=False)).equals(wanted)


def test_a_frame_of_somebodys_session_is_taken_as_it_is(opened):
    from sfumato.engines.spark import open_parts

    frame = opened.home.session.createDataFrame(
        [(1, "a", 2.5), (2, None, float("nan"))], "Id long, `t.x` string, x double"
    )
    data = open_parts(frame)
    assert all_rows(data).sort("Id").rows() == [(1, "a", 2.5), (2, None, None)]
    assert data.ask(Counts(("t.x",))).rows() == [(None, 1), ("a", 1)]
    data.close()
    assert frame.count() == 2


@pytest.mark.parametrize("step", [*steps()])
def test_every_lawful_step_is_equal_to_memory_in_every_bit(step, people_there):
    memory = run_steps([step], PolarsDataset(table(), PEOPLE_BOOK), Draws(SECRET)).after
    cluster = run_steps([step], people_there, Draws(SECRET)).after
    assert_frame_equal(all_rows(cluster).sort("id"), memory.frame.sort("id"), check_exact=True)
    assert cluster.codebook == memory.codebook


def test_findings_are_those_of_memory(opened, here):
    """As `tests/laws/test_findings.py` has it of the other engines."""
    data = elsewhere(opened, in_parts(measured.table(), here / "measured", 70))
    name = "noise by region"
    assert measured.differing(measured.off_memory(name, data), measured.in_memory(name)) == []


def plans():
    """The plan that goes most ways; the others at night, for what they do in parts is looked at by day."""
    for name in names():
        marks = () if name == "masked twice" else pytest.mark.nightly(of=f"{PLANS}[masked twice]")
        yield pytest.param(name, marks=marks)


@pytest.mark.parametrize("name", [*plans()])
def test_a_plan_does_there_what_it_does_in_parts(name, opened, here):
    """Released values, figures, what is said, and files, as they were recorded."""
    if not (here / "paths").exists():
        in_parts(plans_table(), here / "paths", 200)
    told = outcome(name, elsewhere(opened, str(here / "paths")), FEW)
    assert differing(told, recorded(name)["parts"]) == []


def test_strata_have_a_bound_and_the_message_names_the_columns_alone(opened):
    from dataclasses import replace

    with pytest.raises(DataError, match="'sex'") as caught:
        replace(opened, max_stratum=100).map(lambda batch: batch, ["sex"])
    assert not any(letter in str(caught.value) for letter in "0123456789")


def test_an_executor_killed_while_parts_are_written_changes_nothing(opened, machines, here):
    begun = here / "begun"

    def slow(batch):
        if batch.height:
            begun.touch()
            time.sleep(0.5)
        return batch

    folder = here / "killed"
    folder.mkdir()
    done = []
    run = threading.Thread(target=lambda: done.append(opened.map(slow).write_parts(str(folder), ("id",), 20_000)))
    run.start()
    while run.is_alive() and not begun.exists():
        time.sleep(0.02)
    machines.executors()[0].kill()
    run.join(120)
    assert done
    back = pl.concat([pl.read_parquet(folder / part.name) for part in done[0]])
    assert back.equals(odd().sort("id"))
    assert sorted(os.listdir(folder)) == [part.name for part in done[0]]


def test_folders_are_named_from_where_the_command_runs(opened, here, monkeypatch):
    in_parts(table(), here / "near", 60)
    (here / "written").mkdir()
    monkeypatch.chdir(here)
    parts = elsewhere(opened, "near").write_parts("written", ("id",))
    assert pl.concat([pl.read_parquet(here / "written" / part.name) for part in parts]).height == table().height


def test_a_part_that_changed_or_is_no_parquet_is_named(opened, here):
    data = elsewhere(opened, in_parts(table(), here / "changing", 60))
    table().write_parquet(here / "changing" / "p001.parquet")
    with pytest.raises(FileError, match=r"p001\.parquet"):
        data.ask(Counts(("g",)))
    (here / "changing" / "p001.parquet").write_bytes(b"PAR1 no more")
    with pytest.raises(FileError, match=r"p001\.parquet"):
        elsewhere(opened, str(here / "changing"))


def test_errors_tell_nothing_of_the_data_and_nothing_tells_the_secret(opened, people_there, machines, here):
    """What a cell holds, and the secret, are in nothing that driver, workers and the event log say."""
    cell = "PLANTED-7f3a"
    opened.home.session.sparkContext.setLogLevel("INFO")

    def converts(batch):
        if batch.height:
            pl.Series([cell + "-polars"]).cast(pl.Int64)
        return batch

    def counts(batch):
        if batch.height:
            int(cell + "-python")
        return batch

    def ours(batch):
        if batch.height:
            raise DataError("Column 'x' is not what it must be.")
        return batch

    for f, says in ((converts, "InvalidOperationError"), (counts, "ValueError"), (ours, "'x' is not what")):
        with pytest.raises(DataError, match=says) as caught:
            opened.map(f).ask(Counts(()))
        assert cell not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
    step = lawful("noise")[0]
    all_rows(run_steps([step], people_there, Draws(SECRET)).after)
    while not any(path.stat().st_size for path in (here / "events").rglob("*") if path.is_file()):
        time.sleep(0.02)
    files = [*machines.said(), *(p for p in (here / "events").rglob("*") if p.is_file()), here / "driver.log"]
    hidden = [SECRET, SECRET.hex().encode(), base64.b64encode(SECRET), cell.encode()]
    for path in files:
        said = path.read_bytes()
        assert not [i for i, what in enumerate(hidden) if what in said], path.name


@pytest.mark.parametrize("what", ["polars", "sfumato", "draws"])
def test_workers_of_other_versions_are_refused(opened, monkeypatch, what):
    """Here the driver is the one that differs; workers tell what they have."""
    from sfumato.engines.spark import opening

    there = opening.known_draw()
    opening._probe(opened)
    monkeypatch.setattr(opening, "known_draw", lambda: there | {what: "another"})
    with pytest.raises(FileError, match=f"have another {what} than this machine"):
        opening._probe(opened)


def test_sessions_of_our_own_show_no_page_and_encrypt_what_they_spill(opened):
    told = opened.home.session.sparkContext.getConf()
    assert told.get("spark.ui.enabled") == "false"
    assert told.get("spark.io.encryption.enabled") == "true"
    assert opened.home.session.sparkContext.uiWebUrl is None
