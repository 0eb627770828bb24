"""The file that is looked at: read with the command line's sentences, known when it changes, drafted once."""

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

from sfumato.cli.app import app
from sfumato.errors import FileError, SfumatoError
from sfumato.web.studio.source import Opened, Source
from tests.e2e.test_bad_input import DATA, changed
from tests.web.studio.entered import entered

BAD = {
    "none.csv": None,
    "empty.csv": b"",
    "header.csv": b"id,age,sex\n",
    "twice.csv": b"id,age,age\n1,2,3\n",
    "short.csv": changed(7, "7,30").encode(),
    "long.csv": changed(7, "7,30,m,extra").encode(),
    "binary.csv": b"\x00\x01\x02\x03PNG\xff\xfe",
    "text.docx": DATA.encode(),
    **{f"text{suffix}": DATA.encode() for suffix in (".parquet", ".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt")},
}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", BAD)
def test_a_file_that_cannot_be_read_has_the_sentence_of_the_command_line(tmp_path, name):
    path = tmp_path / name
    if BAD[name] is not None:
        path.write_bytes(BAD[name])
    with pytest.raises(SfumatoError) as raised:
        _ = Opened(Source(path)).table
    said = CliRunner().invoke(app, ["risk", str(path), "--keys", "age"])
    assert str(said.exception) == str(raised.value)  # which `main` prints, with status 2


@pytest.fixture
def opened(tmp_path):
    (tmp_path / "data.csv").write_text(DATA)
    return Opened(Source(tmp_path / "data.csv"))


def test_it_is_read_and_drafted(opened):
    assert opened.table.columns == ["id", "age", "sex"]
    assert [guess.name for guess in opened.draft.guesses] == ["id", "age", "sex"]
    assert (opened.read, opened.drafted) == (True, True)


def test_a_change_on_disk_is_known(opened):
    path = opened.source.path
    assert opened.table.frame.height == 40
    assert not opened.changed
    path.write_text(DATA + "99,1,m\n")
    assert opened.changed
    assert opened.table.frame.height == 40  # as it was read
    path.unlink()
    assert opened.changed
    with pytest.raises(FileError, match="no file"):
        _ = opened.source.stamp


def test_a_file_that_is_put_in_its_place_is_another_one(opened, tmp_path):
    (tmp_path / "other").write_text(DATA)
    (tmp_path / "other").replace(opened.source.path)
    assert opened.changed


def test_no_memory_is_told(opened, monkeypatch):
    def none(*_, **__):
        raise MemoryError

    monkeypatch.setattr("sfumato.api.read.read", none)
    with pytest.raises(FileError, match="too large for the memory"):
        opened.source.read()


def test_what_was_worked_out_is_kept_and_errors_are_not(opened):
    calls = []

    def make():
        calls.append(1)
        if len(calls) == 1:
            raise ValueError
        return object()

    with pytest.raises(ValueError):  # noqa: PT011 - its own
        opened.remember("a", make)
    assert opened.remember("a", make) is opened.remember("a", make)
    assert len(calls) == 2


@pytest.mark.slow
def test_a_file_that_was_left_is_held_by_nothing(tmp_path):
    """What pages worked out of it is kept with it: a table in memory for each file that was ever open would be much."""
    with entered(tmp_path) as (studio, client):
        for path in ("/pages/risk/look?keys=sex&asked=1", "/pages/protect/steps?step=1", "/pages/data/variables"):
            assert client.get(path).status_code == 200
        client.post("/pages/protect/preview", data={"step": "0"})
        gone = threading.Event()
        left = weakref.ref(studio.opened, lambda _: gone.set())
        studio.open(Source(studio.opened.source.path), keep=True, wait=True)
        gc.collect()
        while not gone.wait(0.1):  # a thread that was still at work on it lets go of it at its end
            gc.collect()
        assert left() is None


def test_many_may_ask_at_once(opened):
    gate = threading.Barrier(8)

    def ask(i):
        gate.wait()
        return [opened.remember((i + j) % 50, lambda: "x") for j in range(200)]

    with ThreadPoolExecutor(8) as pool:
        assert {one for some in pool.map(ask, range(8)) for one in some} == {"x"}
