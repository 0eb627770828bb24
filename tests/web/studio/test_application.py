"""The application: what is told of errors, and how large a body may be."""

import errno

import polars as pl
import pytest
from starlette.testclient import TestClient

from sfumato.errors import DataError, FileError
from sfumato.release.secret import Secret
from sfumato.web.problems import Problem
from sfumato.web.studio import application
from sfumato.web.studio.application import _largest, serve
from sfumato.web.studio.routes import data
from sfumato.web.studio.source import Source
from sfumato.web.studio.studio import Studio
from tests.parts import needs
from tests.web.studio.entered import entered

VALUE = "Braund, Mr. Owen"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with entered(tmp_path_factory.mktemp("application")) as (studio, client):
        client.headers.pop("accept", None)
        yield studio, type(client)(client.app, client.base_url, False, headers=client.headers, cookies=client.cookies)


CASES = [
    (MemoryError(), 507, "The memory of this machine"),
    (OSError(errno.ENOSPC, VALUE), 507, "The disk of this machine is full"),
    (OSError(errno.EIO, VALUE), 500, "A fault of its own (OSError)."),
    (ValueError(VALUE), 500, "A fault of its own (ValueError)."),
    (FileError("It cannot be read."), 422, "It cannot be read."),
    (DataError("No such column."), 422, "No such column."),
    (Problem(409, "Something else."), 409, "Something else."),
]


@pytest.mark.parametrize(("error", "status", "said"), CASES)
def test_an_error_is_a_sentence_without_values(world, monkeypatch, error, status, said):
    def raising(_):
        raise error

    monkeypatch.setattr(data, "described", raising)
    answer = world[1].get("/api/data")
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"].startswith(said)
    assert VALUE not in answer.text


@pytest.mark.parametrize(("error", "status", "said"), CASES)
def test_a_part_of_a_page_says_at_its_head_what_can_be_mended(world, monkeypatch, error, status, said):
    def raising(*_):
        raise error

    monkeypatch.setattr("sfumato.web.studio.pages.data._one", raising)
    answer = world[1].get("/pages/data/picture?name=age", headers={"HX-Request": "true"})
    assert said in answer.text
    assert VALUE not in answer.text
    assert answer.status_code == (500 if status == 500 else 200)
    assert answer.headers.get("HX-Retarget") == (None if status == 500 else "#alarm")


def test_a_sentence_names_no_private_folder(world):
    studio = world[0]
    path = studio.uploads / "abc"
    path.mkdir(parents=True)
    told = application._problem(studio, FileError(f"'{path}/sent.csv' is empty."))
    assert told.detail == "'sent.csv' is empty."


def test_who_lost_the_cookie_is_told_so_in_parts_of_pages_too(world):
    stranger = type(world[1])(world[1].app, world[1].base_url, False)
    answer = stranger.get("/pages/plan", headers={"HX-Request": "true", "X-Sfumato": "1"})
    assert answer.status_code == 403
    assert "Open the studio by the address in its terminal" in answer.json()["detail"]


@pytest.mark.parametrize("content", [b"", b"null", b"[" * 60_000, b'{"op": "set", "path": [' + b"[" * 5_000, b"\xff"])
@pytest.mark.parametrize("path", ["/api/edit", "/api/protect", "/api/tune"])
def test_bodies_that_are_no_json_or_lead_too_deep(world, content, path):
    answer = world[1].post(path, content=content, headers={"Content-Type": "application/json", "If-Match": "*"})
    assert answer.status_code in (400, 422)


def test_bodies_are_bounded_but_those_of_files():
    assert _largest("POST", "/api/fit") is None
    assert _largest("PUT", "/api/plan") == 1 << 20
    assert _largest("POST", "/api/protect") == 64 << 10


@pytest.mark.slow
@needs("vendor")
def test_a_page_of_a_thousand_variables_is_packed_and_what_is_saved_is_not(tmp_path):
    names = [f"answer_{i}" for i in range(1000)]
    pl.DataFrame({name: [1, 2, 2, 3] for name in names}).write_csv(tmp_path / "broad.csv")
    said = "".join(f"  {name}: {{role: key, kind: integer, range: [0, null]}}  # perhaps\n" for name in names)
    (tmp_path / "plan.yaml").write_text(f"sfumato: 1\nvariables:\n{said}steps: []\n")
    studio = Studio(tmp_path, Source(tmp_path / "broad.csv"), tmp_path / "plan.yaml", Secret(bytes(range(32))))
    client = TestClient(serve(studio, 8765), base_url="http://127.0.0.1:8765", headers={"X-Sfumato": "1"})
    try:
        client.get(f"/?token={studio.keys.token()}")
        first = [client.get(path) for path in ("/data", "/pages/data/variables", "/pages/data/tables", "/pages/plan")]
        plain = client.get("/pages/plan", headers={"Accept-Encoding": "identity"})
        text = client.get("/api/plan")
    finally:
        studio.close()
    assert all(answer.status_code == 200 for answer in (*first, plain, text))
    assert sum(int(answer.headers["content-length"]) for answer in first) < 100_000  # of 300 kB, the rest is scripts
    assert first[-1].headers["content-encoding"] == "gzip"
    assert first[-1].text == plain.text
    assert "content-encoding" not in plain.headers
    assert len(text.content) == int(text.headers["content-length"]) > 16 << 10
    assert "content-encoding" not in text.headers
