"""The page Analyse: an archive goes in, estimates come out, without a file or a plan."""

from __future__ import annotations

import io
import json
import zipfile
from html import unescape
from urllib.parse import urlencode

import polars as pl
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import steps
from sfumato.cli.app import app
from sfumato.web.studio.archive import packed
from tests.web.studio.pages.opened import looking, words

MODEL = {"response": "y", "by": "x", "family": "linear"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("receiver")
    rows = pl.DataFrame(
        {"id": range(80), "x": [float(i % 13) for i in range(80)], "y": [i % 13 + i % 5 for i in range(80)]}
    )
    plan = sf.Plan(title="<b>odd</b>", variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["x"], sd=1)])
    sf.protect(plan, rows, secret=bytes(16)).write(folder / "release", force=True)
    return folder


@pytest.fixture(scope="module")
def someone(home):
    with looking(home, None) as one:
        yield one


@pytest.fixture(scope="module")
def sent(someone, home):
    """The address of the archive once it was sent."""
    answer = someone.client.post("/pages/analyse/upload", files={"release": ("r.zip", packed(home / "release", {}))})
    assert answer.status_code == 204
    return answer.headers["hx-redirect"].partition("?")[2]


def test_an_archive_is_kept_and_its_card_is_shown(someone, sent):
    assert f"/pages/analyse/card?{sent}" in someone.see(f"/analyse?{sent}")
    part = someone.see(f"/pages/analyse/card?{sent}")
    assert "sd of the noise" in words(part)
    assert "<b>odd" not in part
    assert 'value="id"' not in part.partition("Explained by")[2].partition("</fieldset>")[0]


@pytest.mark.slow
def test_a_model_is_what_the_command_line_prints(someone, sent, home):
    part = someone.see(f"/pages/analyse/fit?{sent}&{urlencode(MODEL)}")
    line = ["fit", str(home / "release"), "--formula", "y ~ x", "--family", "linear", "--json"]
    told = json.loads(CliRunner().invoke(app, line).stdout)
    for term in told["terms"]:
        assert f"{term['estimate']:.4g}" in part
        assert f"{term['naive']:.4g}" in part
    assert "--formula 'y ~ x' --family linear" in unescape(part)
    assert f"Standard errors: {told['se_rule']}" in part
    assert "<svg" in part
    assert " style=" not in part
    table = pl.read_csv(someone.client.get(f"/pages/analyse/fit.csv?{sent}&{urlencode(MODEL)}").content)
    assert table["term"].to_list() == [term["term"] for term in told["terms"]]


def test_an_open_interval_without_an_estimate(home):
    """Separated responses: everybody with g responds."""
    folder = home / "separated"
    folder.mkdir()
    rows = pl.DataFrame({"id": range(80), "g": [i % 2 for i in range(80)], "x": [float(i % 13) for i in range(80)]})
    rows = rows.with_columns(y=pl.when(pl.col("g") == 1).then(1).otherwise(pl.col("id") // 7 % 2))
    plan = sf.Plan(variables={"id": {"role": "record"}}, steps=[steps.Noise(columns=["x"], sd=1)])
    sf.protect(plan, rows, secret=bytes(16)).write(folder / "release", force=True)
    with looking(folder, None) as one:
        part = words(one.see("/pages/analyse/fit?folder=release&formula=y+~+g&family=logit"))
    assert "to ∞" in part
    assert "inf" not in part.replace("information", "")
    assert "separated" in part


def test_the_address_holds_the_model(someone, sent):
    part = someone.see(f"/pages/analyse/card?{sent}&{urlencode(MODEL)}")
    assert '<option value="y" selected>' in part
    assert 'value="x" checked' in part


def test_a_folder_of_this_machine_does_as_well(someone):
    assert "sd of the noise" in words(someone.see("/pages/analyse/card?folder=release"))
    assert "y ~ x" in someone.see("/pages/analyse/fit?folder=release&formula=y+~+x")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("folder=none", "is no release"),
        ("id=abc", "not here any more"),
        ("id=..%2F..", "not here any more"),
        ("folder=release", "Choose an outcome"),
        ("folder=release&formula=y+~+nothing", "nothing"),
        ("folder=release&formula=y+~+x&family=odd", "one of the families"),
    ],
)
def test_what_cannot_be_fitted_is_told_at_the_head_of_the_page(someone, query, said):
    answer = someone.client.get(f"/pages/analyse/fit?{query}")
    assert answer.status_code == 200
    assert answer.headers["hx-retarget"] == "#alarm"
    assert said in answer.text


def files(folder):
    """Every file below a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}


def test_an_archive_that_is_none_or_climbs_out_leaves_nothing(someone):
    evil = io.BytesIO()
    with zipfile.ZipFile(evil, "w") as archive:
        archive.writestr("../datapackage.json", "{}")
    before = files(someone.studio.temporary)
    for content in (b"no zip", evil.getvalue()):
        answer = someone.client.post("/pages/analyse/upload", files={"release": ("r.zip", content)})
        assert answer.headers["hx-retarget"] == "#alarm"
    assert files(someone.studio.temporary) == before
