"""The plan in the studio: stale edits, undo, and the file that it is kept in."""

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
    file.write_text("sfumato: 1\ntitle: mine now\n")
    refused(409, planned.change, planned.etag, lambda _: OTHER)
    assert file.read_text().endswith("mine now\n")
    assert planned.text == OTHER  # it stands in the browser, and is kept in no file any more
    assert planned.kept is None
    planned.undo()
