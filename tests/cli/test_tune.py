"""`sfumato tune`: once as a process, else in this one, which is as good and much faster."""

import json

import polars as pl
import pytest

from tests.e2e import command

PLAN = """sfumato: 1
title: a cohort
variables:
  id: {role: record}
  town: {role: key, kind: categorical}
  bmi: {role: key, kind: continuous}
steps:
  - {do: centroids, columns: [bmi], k: 3, grouping: mdav}
limits:
  - {measure: linkage_nearest, group: overall, at_most: 0.15}
"""
PLANTED = "Marrowby"
TUNE = ("tune", "plan.yaml", "data.csv", "--parameter", "steps.0.k")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_SECRET", raising=False)
    (tmp_path / "plan.yaml").write_text(PLAN)
    frame = pl.DataFrame(
        {
            "id": [7_000_001 + i for i in range(60)],
            "town": [PLANTED if i % 2 else "Other" for i in range(60)],
            "bmi": [20 + (i * 37 % 101) / 7 for i in range(60)],
        }
    )
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path


@pytest.mark.slow
def test_json_for_a_program(folder):
    out = command.output(*TUNE, "--range", "3:20", cwd=folder)
    assert set(out) == {"parameter", "value", "met", "limits", "kept", "path", "notes"}
    assert out["met"] is True
    assert out["limits"] == ["linkage_nearest[group=overall] <= 0.15"]
    point = {"value", "risk", "interval", "utility", "met", "limit", "replications", "kept"}
    assert all(set(p) == point for p in out["path"])
    values = [p["value"] for p in out["path"]]
    assert values == sorted(values)
    assert isinstance(out["value"], int)
    chosen = out["path"][values.index(out["value"])]
    assert chosen["met"]
    assert chosen["interval"][1] <= 0.15


@pytest.mark.slow
def test_it_needs_no_secret_and_is_repeatable(sfumato, folder, monkeypatch):
    one = sfumato(*TUNE, "--range", "3:6", "--json")
    monkeypatch.setenv("SFUMATO_SECRET", "ab" * 16)
    other = sfumato(*TUNE, "--range", "3:6", "--json")
    assert one.stdout == other.stdout


@pytest.mark.slow
def test_for_a_person(sfumato, folder):
    done = sfumato(*TUNE, "--range", "3:20", "--limit", "linkage_nearest[group=overall] < 0.2")
    assert done.returncode == 0
    assert "Limit 1: linkage_nearest[group=overall] < 0.2" in done.stdout
    assert "is the least of the range that meets the limits" in done.stdout


@pytest.mark.slow
def test_unmet_limits_leave_with_1_and_say_what_to_try(sfumato, folder):
    done = sfumato(*TUNE, "--range", "3:5", "--limit", "linkage_nearest < 0.00001", "--json")
    assert done.returncode == 1
    out = json.loads(done.stdout)
    assert (out["met"], out["value"]) == (False, 5)
    assert "Not even steps.0.k = 5" in done.stderr
    assert "linkage_nearest is exceeded" in done.stderr


@pytest.mark.slow
def test_picture_and_report(sfumato, folder):
    arguments = ("--range", "3:20", "--utility", "delta[variable=bmi]", "--report", "tuned.html")
    done = sfumato(*TUNE, *arguments, "--picture", "frontier.png")
    assert done.returncode == 0, done.stderr
    assert (folder / "frontier.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "tuned.html").read_text()
    assert "INTERNAL" in page
    assert "delta[variable=bmi]" in page
    first = (folder / "tuned.html").read_bytes()
    assert sfumato(*TUNE, *arguments, "--picture", "f.SVG", "--grid", "3").returncode == 0
    assert b"<svg" in (folder / "f.SVG").read_bytes()
    assert (folder / "tuned.html").read_bytes() != first  # replaced, with fewer values
    assert not [p for p in folder.iterdir() if p.suffix == ".tmp"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--range", "3"), "is no range"),
        (("--range", "3:x"), "is no range"),
        (("--range", "20:3"), "lower number first"),
        (("--range", "3:4.5"), "whole numbers only"),
        (("--range", "3:20", "--limit", "risk9 < 1"), "no measure"),
        (("--range", "3:20", "--limit", "risk1"), "a comparison"),
        (("--range", "3:20", "--limit", "linkage_nearest[group=nobody] < 1"), "speaks of nothing"),
        (("--range", "3:20", "--utility", "mean[variable=bmi"), "is needed here"),
        (("--range", "3:50"), "give a narrower range"),
        (("--range", "3:20", "--picture", "f.pdf"), ".png or .svg"),
        (("--range", "3:20", "--picture", "nowhere/f.png"), "no folder"),
        (("--range", "3:20", "--report", "plan.yaml"), "not written over"),
        (("--range", "3:20", "--grid", "-1"), "grid must lie"),
    ],
)
def test_misuse_leaves_with_2_and_no_file(sfumato, folder, arguments, complaint):
    before = set(folder.iterdir())
    done = sfumato(*TUNE, *arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert not done.stdout
    assert set(folder.iterdir()) == before
    assert PLANTED not in done.stderr
    assert "700000" not in done.stderr


def test_nothing_is_written_into_a_release(sfumato, folder):
    assert sfumato("protect", "plan.yaml", "data.csv", "--out", "r", "--force").returncode == 0
    done = sfumato(*TUNE, "--range", "3:20", "--report", "r/tuned.html")
    assert done.returncode == 2
    assert "custodian" in done.stderr


def test_help_has_an_example(sfumato, folder):
    assert "Example: sfumato tune" in sfumato("tune", "--help").stdout
