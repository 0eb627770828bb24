"""What is written is there whole or not at all, and is read again as what it is."""

import json
import os

import polars as pl
import pytest
from pyarrow import fs

import sfumato as sf
import sfumato.data.files.address
import sfumato.engines.parts
from sfumato.data.codebook import Codebook
from sfumato.data.files.address import local_folder
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.errors import DataError, FileError, LimitExceeded, NotInMemory, ReleaseExists
from sfumato.plan.plan import Plan
from sfumato.release.package.analysis import open_releases
from sfumato.release.protect import protect
from sfumato.release.secret import Secret
from sfumato.render.html import render
from tests.methods.tables import people
from tests.release.scattered import Scattered

SECRET = Secret(bytes(range(32)))
VARIABLES = {"id": {"role": "record"}, "x": {"kind": "continuous", "role": "key"}, "house": {"role": "other"}}
STEPS = [{"do": "noise", "columns": ["x"], "by": ["g"], "share": 0.2}]
FRAME = people(200)


def made(data=None, **more):
    return protect(Plan(variables=VARIABLES, steps=STEPS, **more), data or Scattered.of(FRAME), SECRET, renderer=render)


@pytest.fixture(scope="module")
def done():
    """The release of FRAME, not written yet."""
    return made()


@pytest.fixture(scope="module")
def release(tmp_path_factory, done):
    folder = tmp_path_factory.mktemp("released") / "r"
    done.write(folder, force=True)
    return folder


def test_the_papers_name_the_parts_in_order_and_nothing_else_is_there(release):
    parts = [f"data/part-0000{i}.parquet" for i in range(3)]
    assert json.loads((release / "datapackage.json").read_text())["resources"][0]["path"] == parts
    found = sorted(str(path.relative_to(release)) for path in release.rglob("*") if path.is_file())
    assert found == sorted([*parts, "datapackage.json", "plan.yaml", "report.html"])


def test_an_analyst_reads_it_and_its_card_and_fits_models_to_it(release):
    table = sf.read(release, engine="memory")
    assert len(table) == 200
    assert table.codebook["id"].role == "record"
    assert sf.card(release).entries[0].reliability == pytest.approx(1 / 1.2, rel=0.1)
    fitted = sf.fit("y ~ x", release)
    assert fitted.tidy()["term"].to_list() == sf.fit("y ~ x", FRAME).tidy()["term"].to_list()


def test_of_a_release_in_parts_only_the_columns_that_a_model_needs_are_read(release):
    opened = open_releases([release], columns=["x", "y"])
    assert set(opened.frame.columns) == {"id", "x", "y", "g"}


def test_a_part_that_is_missing_or_too_many_is_no_release(release, tmp_path):
    import shutil

    fewer, more = tmp_path / "fewer", tmp_path / "more"
    shutil.copytree(release, fewer)
    shutil.copytree(release, more)
    (fewer / "data" / "part-00001.parquet").unlink()
    shutil.copy(more / "data" / "part-00001.parquet", more / "data" / "part-00009.parquet")
    for folder in (fewer, more):
        for reading in (sf.card, lambda f: sf.read(f, engine="memory"), lambda f: sf.fit("y ~ x", f)):
            with pytest.raises(FileError, match="parts that datapackage.json names"):
                reading(folder)


@pytest.mark.parametrize("path", ["../part-00000.parquet", "/data/part-00000.parquet", "data/../../part-00000.parquet"])
def test_papers_may_not_lead_out_of_the_release(release, tmp_path, path):
    package = json.loads((release / "datapackage.json").read_text())
    package["resources"][0]["path"] = [path]
    (tmp_path / "datapackage.json").write_text(json.dumps(package))
    with pytest.raises(FileError, match="not a description"):
        sf.card(tmp_path)


def test_a_release_is_replaced_only_where_that_is_said_and_other_files_never(done, tmp_path):
    target = tmp_path / "r"
    done.write(target, force=True)
    with pytest.raises(ReleaseExists, match="exists already"):
        done.write(target, force=True)
    done.write(target, force=True, overwrite=True)
    (target / "data" / "notes.txt").write_text("mine")
    with pytest.raises(ReleaseExists, match="not a release"):
        done.write(target, force=True, overwrite=True)
    assert (target / "data" / "notes.txt").read_text() == "mine"


def test_an_address_gets_parts_under_a_name_of_the_run_and_the_papers_last(done, tmp_path):
    target = f"file://{tmp_path}/r"
    done.write(target, force=True)
    folder = tmp_path / "r"
    (own,) = [path for path in folder.iterdir() if path.is_dir()]
    assert own.name.startswith("data-")
    assert sf.card(folder).entries
    with pytest.raises(ReleaseExists):
        done.write(target, force=True)
    done.write(target, force=True, overwrite=True)
    (again,) = [path for path in folder.iterdir() if path.is_dir()]
    assert again != own
    assert len(sf.read(folder, engine="memory")) == 200


class Killed(BaseException):
    """As if the process had been stopped."""


class Failing(Scattered):
    """Writes a part, and fails as it is told to."""

    fails = None

    def write_parts(self, folder, order=(), part_bytes=1):
        parts = super().write_parts(folder, order, part_bytes)
        if isinstance(self.fails, BaseException):
            raise self.fails
        if self.fails == "loses rows":
            os.unlink(os.path.join(folder.removeprefix("file://"), parts[-1].name))
        if self.fails == "elsewhere":
            for part in parts:
                os.unlink(os.path.join(folder.removeprefix("file://"), part.name))
        return parts


@pytest.fixture(scope="module")
def failing():
    """The release of FRAME, which fails to be written where `Failing.fails` says so."""
    return made(Failing.of(FRAME))


@pytest.mark.parametrize("address", [False, True], ids=["folder", "address"])
@pytest.mark.parametrize(
    ("fails", "raised", "said"),
    [
        (OSError(28, "No space left on device"), FileError, "No space left"),
        (Killed(), Killed, None),
        (DataError("the data changed"), DataError, "changed"),
        ("loses rows", DataError, "do not hold the rows that were made"),
        ("elsewhere", DataError, "workers write where this machine cannot see"),
    ],
    ids=["full", "killed", "changed", "loses", "elsewhere"],
)
def test_where_writing_fails_nothing_is_left(failing, tmp_path, monkeypatch, fails, raised, said, address):
    monkeypatch.setattr(Failing, "fails", fails)
    target = f"file://{tmp_path}/r" if address else tmp_path / "r"
    with pytest.raises(raised, match=said):
        failing.write(target, force=True)
    assert list(tmp_path.iterdir()) == []


def test_where_replacing_fails_the_old_release_stays(failing, tmp_path, monkeypatch):
    failing.write(tmp_path / "r", force=True)
    failing.write(f"file://{tmp_path}/a", force=True)
    monkeypatch.setattr(Failing, "fails", OSError(28, "No space left on device"))
    for target in (tmp_path / "r", f"file://{tmp_path}/a"):
        with pytest.raises(FileError):
            failing.write(target, force=True, overwrite=True)
    assert {len(sf.read(tmp_path / name, engine="memory")) for name in ("r", "a")} == {200}


def test_what_a_killed_run_left_is_swept_by_the_next(done, tmp_path):
    (tmp_path / ".sfumato-r-999999-0123abcd.tmp" / "data").mkdir(parents=True)
    (tmp_path / "a" / "data-0123456789abcdef").mkdir(parents=True)
    done.write(tmp_path / "r", force=True)
    done.write(f"file://{tmp_path}/a", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "r"]
    assert not (tmp_path / "a" / "data-0123456789abcdef").exists()


def test_without_papers_there_is_no_release(release, tmp_path):
    import shutil

    shutil.copytree(release, tmp_path / "r")
    (tmp_path / "r" / "datapackage.json").unlink()
    with pytest.raises(FileError, match="no release"):
        sf.card(tmp_path / "r")
    with pytest.raises(FileError, match="no Parquet files and no release"):
        sf.read(tmp_path / "r", engine="memory")


def test_a_limit_that_was_not_measured_is_not_met(tmp_path):
    done = made(limits=[{"measure": "differencing", "at_most": 0.1}])
    assert not done.ok
    with pytest.raises(LimitExceeded, match="could not be measured"):
        done.write(tmp_path / "r", internal_report=tmp_path / "why.html")
    assert [path.name for path in tmp_path.iterdir()] == ["why.html"]


def elsewhere(address):
    """A file system that many machines see, as far as a test needs one."""
    folder = local_folder(address)
    if folder is not None:
        return fs.LocalFileSystem(), str(folder)
    return fs.SubTreeFileSystem(os.environ["ELSEWHERE"], fs.LocalFileSystem()), address.partition("://")[2]


@pytest.mark.slow
def test_a_release_goes_to_a_file_system_elsewhere(done, tmp_path, monkeypatch):
    monkeypatch.setenv("ELSEWHERE", str(tmp_path))
    for module in (sfumato.data.files.address, sfumato.engines.parts):
        monkeypatch.setattr(module, "reached", elsewhere)
    (tmp_path / "bucket").mkdir()
    target = "s3a://bucket/study/r"
    with DuckDBDataset.of(FRAME, Codebook(), part_rows=70) as data:
        there = made(data)
        there.write(target, force=True)
        with pytest.raises(ReleaseExists):
            there.write(target, force=True)
        there.write(target, force=True, overwrite=True)
    there = tmp_path / "bucket" / "study" / "r"
    assert len(list(there.iterdir())) == 4
    ids = pl.read_parquet(sorted(there.glob("data-*/*.parquet")))["id"]
    done.write(tmp_path / "here", force=True)
    assert ids.equals(pl.read_parquet(sorted((tmp_path / "here" / "data").glob("*.parquet")))["id"])
    assert sf.card(there).entries


def test_addresses_that_nobody_reaches_are_refused(done):
    with pytest.raises(FileError, match="nosuch:// cannot be reached"):
        done.write("nosuch://host/r", force=True)


def test_one_row_order_for_all_who_ask(release):
    ids = pl.read_parquet(sorted((release / "data").glob("*.parquet")))["id"]
    assert not ids.is_sorted()
    assert sorted(ids) == FRAME["id"].to_list()


def test_there_is_no_frame_of_it_and_that_says_what_to_do():
    with DuckDBDataset.of(FRAME, Codebook(), part_rows=70) as data:
        done = made(data)
        with pytest.raises(NotInMemory, match=r"\.write\(\"release/\"\)"):
            _ = done.data.frame
        assert not hasattr(data, "frame")
