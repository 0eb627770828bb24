"""The plan in the studio: stale edits, undo, and the file that it is kept in."""

import errno
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sfumato.errors import PlanError
from sfumato.plan.editing.history import etag
from sfumato.web.problems import Problem
from sfumato.web.studio.planned import Planned

TEXT = "sfumato: 1\ntitle: one\n"
OTHER = "sfumato: 1\ntitle: two\n"


@pytest.fixture
def planned(tmp_path):
    return Planned(TEXT, tmp_path)


def refused(status, act, *arguments):
    with pytest.raises(Problem) as raised:
        act(*arguments)
    assert raised.value.status == status
    return raised.value


def test_a_change_needs_the_tag_of_the_text(planned):
    refused(428, planned.change, None, lambda _: OTHER)
    assert planned.change(planned.etag, lambda _: OTHER) == etag(OTHER)
    assert planned.text == OTHER


def test_a_stale_change_is_refused_with_what_changed(planned):
    seen = planned.etag
    planned.change(seen, lambda _: OTHER)
    problem = refused(409, planned.change, seen, lambda text: text + "steps: []\n")
    assert problem.more["changed"] == ["-title: one", "+title: two"]
    assert problem.more["etag"] == etag(OTHER)
    assert planned.text == OTHER


def test_a_tag_that_was_never_given_is_stale(planned):
    assert "changed" not in refused(409, planned.change, '"none"', lambda _: OTHER).more


def test_what_is_no_plan_is_not_stored(planned):
    with pytest.raises(PlanError):
        planned.change(planned.etag, lambda _: "sfumato: 1\nsteps: [\n")
    assert planned.text == TEXT


def test_undo_and_redo(planned):
    refused(409, planned.undo)
    planned.change(planned.etag, lambda _: OTHER)
    assert planned.undo() == etag(TEXT)
    refused(409, planned.undo)
    assert planned.redo() == etag(OTHER)
    refused(409, planned.redo)


def test_it_is_kept_after_every_change(planned, tmp_path):
    file = tmp_path / "data.plan.yaml"
    planned.keep(file)
    assert file.read_text() == TEXT
    planned.change(planned.etag, lambda _: OTHER)
    assert file.read_text() == OTHER
    planned.undo()
    assert file.read_text() == TEXT


def test_what_it_neither_read_nor_wrote_is_left_alone(planned, tmp_path):
    file = tmp_path / "data.plan.yaml"
    file.write_text("sfumato: 1\ntitle: of somebody else\n")
    refused(409, planned.keep, file)
    assert planned.kept is None
    assert file.read_text().endswith("of somebody else\n")
    planned.read_from(file.read_bytes())
    planned.keep(file)
    assert file.read_text() == TEXT


def test_a_file_that_others_changed_is_not_written_over_and_the_change_counts(planned, tmp_path):
    file = tmp_path / "data.plan.yaml"
    planned.keep(file)
    planned.asked = True
    file.write_text("sfumato: 1\ntitle: mine now\n")
    assert planned.change(planned.etag, lambda _: OTHER) == etag(OTHER)
    assert file.read_text().endswith("mine now\n")
    assert planned.text == OTHER  # it stands in the browser, and is kept in no file any more
    assert (planned.kept, planned.asked) == (None, False)
    assert "neither read nor wrote" in planned.not_kept
    planned.undo()
    assert not planned.wrote(file)
    file.unlink()
    planned.keep(file)
    assert (planned.not_kept, file.read_text()) == ("", TEXT)


def test_a_full_disk_leaves_the_whole_file_of_before_and_the_change_counts(planned, tmp_path, monkeypatch):
    file = tmp_path / "data.plan.yaml"
    planned.keep(file)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_bytes", full)
        planned.change(planned.etag, lambda _: OTHER)
        refused(507, planned.keep, file)
    assert "cannot be written" in planned.not_kept
    assert (planned.text, planned.kept) == (OTHER, None)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {file.name: TEXT}
    assert planned.wrote(file)  # so it may be kept there again, once there is room
    planned.keep(file)
    assert file.read_text() == OTHER


def test_a_folder_in_the_place_of_the_file_is_told(planned, tmp_path):
    (tmp_path / "data.plan.yaml").mkdir()
    refused(507, planned.keep, tmp_path / "data.plan.yaml")


@pytest.mark.slow
def test_what_eight_write_at_once_is_all_there(planned):
    """Each reads the text, adds a line of its own, and begins again where another one was quicker."""

    def writing(name):
        for i in range(20):
            while True:
                text = planned.text
                try:
                    planned.change(etag(text), lambda now, i=i: f"{now}# {name} {i}\n")
                    break
                except Problem:  # stale
                    continue

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(writing, "abcdefgh"))
    written = planned.text.splitlines()[2:]
    assert sorted(written) == sorted(f"# {name} {i}" for name in "abcdefgh" for i in range(20))
    assert [line for line in written if line[2] == "c"] == [f"# c {i}" for i in range(20)]
    for _ in written:
        planned.undo()
    assert planned.text == TEXT
