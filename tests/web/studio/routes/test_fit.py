"""A model over REST."""

import io
import json
import zipfile

import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import steps
from sfumato.cli.app import app
from sfumato.web.studio.archive import packed
from tests.web.studio.pages.opened import looking

MODEL = {"formula": "y ~ x", "family": "linear"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("receiver")
    rows = {"id": range(80), "x": [float(i % 13) for i in range(80)], "y": [i % 13 + i % 5 for i in range(80)]}
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["x"], sd=1)])
    sf.protect(plan, pl.DataFrame(rows), secret=bytes(16)).write(folder / "release", force=True)
    return folder


@pytest.fixture(scope="module")
def someone(home):
    with looking(home, None) as one:
        yield one


def asked(someone, archive, **fields):
    return someone.client.post("/api/fit", data=MODEL | fields, files={"release": ("r.zip", archive)})


def left(someone):
    return [path for path in someone.studio.temporary.rglob("*") if path.is_file() and path.name != "lock"]


@pytest.mark.slow
def test_it_is_what_the_command_prints_and_nothing_is_left(someone, home):
    answer = asked(someone, packed(home / "release", {}))
    line = ["fit", str(home / "release"), "--formula", MODEL["formula"], "--json"]
    assert answer.json() == json.loads(CliRunner().invoke(app, line).stdout)
    assert left(someone) == []


def test_what_cannot_be_fitted_is_told(someone, home):
    archive = packed(home / "release", {})
    evil = io.BytesIO()
    with zipfile.ZipFile(evil, "w") as file:
        file.writestr("../datapackage.json", "{}")
    for content, fields, said in (
        (b"no zip", {}, "choose the zip of a release"),
        (evil.getvalue(), {}, "leads out"),
        (archive, {"formula": "y ~ nobody"}, "nobody"),
        (archive, {"formula": ""}, "`formula`"),
        (archive, {"family": "odd"}, "`family` is one of linear"),
    ):
        answer = asked(someone, content, **fields)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert said in answer.json()["detail"]
    assert someone.client.post("/api/fit", data=MODEL).status_code == 422
    assert someone.client.post("/api/fit", json=MODEL).status_code == 422
    assert left(someone) == []


def test_a_disk_without_room_is_told_and_nothing_is_left(someone, home, monkeypatch):
    room = type("Room", (), {"free": 1 << 20})
    monkeypatch.setattr("sfumato.web.studio.uploads.shutil.disk_usage", lambda _: room)
    answer = asked(someone, packed(home / "release", {}))
    assert (answer.status_code, "not enough room" in answer.json()["detail"]) == (507, True)
    assert left(someone) == []
