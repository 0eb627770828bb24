"""Noise from the command line, as a user does it: protect, card, attack, tune; and what is refused."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from tests.e2e.command import output, sfumato

PLAN = """sfumato: 1
title: Noisy
variables:
  id: {role: record}
  bmi: {role: key, kind: continuous, unit: kg/m²}
  sex: {role: key, kind: categorical}
  smoke: {role: key, kind: categorical}
  region: {role: key, kind: categorical}
  born: {role: key, kind: date}
  asthma: {role: outcome, kind: categorical}
steps:
  - STEP
"""
UNKNOWN = """\
unknown:
  - {columns: [id], because: "asked for this test alone and told to nobody else"}
  - {columns: others, because: "asked for this test alone and told to nobody else"}
"""
LIMIT = "  - {measure: k_anonymity, group: keys, at_least: 5}\n"
NOISE = "{do: noise, columns: [bmi, sex, smoke], share: 0.1}"
KEYS = {"measure", "variable", "group", "at", "attack", "value", "interval", "baseline", "limit", "ok"}
RISK = ("risk", "data.csv", "--protected", "release/data.csv", "--columns", "bmi,sex,smoke", "--record", "id")


def people(n=400):
    random = np.random.default_rng(4)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "bmi": random.normal(25, 4, n).round(2),
            "sex": random.integers(0, 2, n),
            "smoke": random.integers(0, 2, n),
            "region": random.choice(["A", "B", "C"], n),
            "born": ["1980-01-01", "1990-06-30"] * (n // 2),
            "asthma": random.integers(0, 2, n),
        }
    )


def furnish(place):
    (place / "plan.yaml").write_text(plan(NOISE))
    (place / "key").write_bytes(bytes(range(32)))
    people().write_csv(place / "data.csv")
    return place


@pytest.fixture
def folder(tmp_path):
    return furnish(tmp_path)


@pytest.fixture(scope="module")
def protected(tmp_path_factory):
    """A folder in which `protect` has run."""
    place = furnish(tmp_path_factory.mktemp("noise"))
    done = protect(place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def released(protected, tmp_path):
    """The same in a folder of the test's own."""
    shutil.copytree(protected, tmp_path, dirs_exist_ok=True)
    return tmp_path


def plan(step):
    """A plan with a step, after which further limits may stand, and with the limit that untouched keys need."""
    text = PLAN.replace("STEP", step)
    return (text + LIMIT if "\nlimits:" in text else f"{text}limits:\n{LIMIT}") + UNKNOWN


def protect(folder, step=NOISE, *more, data="data.csv"):
    (folder / "plan.yaml").write_text(plan(step))
    line = ("protect", "plan.yaml", data, "--out", "release", "--secret-file", "key", *more)
    return sfumato(*line, cwd=folder, before="tests.e2e.sketching:sketch")  # no test here looks at pictures


@pytest.mark.slow
def test_the_whole_way(released):
    package = json.loads((released / "release" / "datapackage.json").read_text())
    (noise,) = package["sfumato"]["disclosure"]
    assert noise["what"] == "additive"
    assert noise["values"] == {"sex": [0, 1], "smoke": [0, 1]}
    assert bytes(range(32)).hex() not in (released / "release" / "datapackage.json").read_text()
    card = sfumato("card", "release", cwd=released)
    assert card.returncode == 0
    assert "bmi" in card.stdout
    assert output("card", "release", cwd=released)["disclosure"] == package["sfumato"]["disclosure"]
    rows = output(*RISK, "--attack", "nearest,predicted", "--cap", "100", cwd=released)["findings"]
    assert all(set(row) == KEYS for row in rows)
    found = {(r["attack"], r["group"], r["at"]): r["value"] for r in rows if r["measure"] == "h_rank"}
    assert found["worst", "all", 0] == max(found["nearest", "all", 0], found["predicted", "all", 0])
    assert found["worst", "all", 0] <= found["worst", "all", 10]
    first = output(*RISK, "--attack", "nearest", "--file-order", cwd=released)["findings"]
    assert {r["group"] for r in first if r["group"] and r["group"].startswith("first")} == {
        "first 10%",
        "first 50%",
        "first 90%",
    }


@pytest.mark.slow
def test_equal_secrets_repeat_and_row_order_changes_nothing(released):
    one = pl.read_csv(released / "release" / "data.csv")
    people().sample(fraction=1, shuffle=True, seed=1).write_csv(released / "data.csv")
    assert protect(released, NOISE, "--overwrite").returncode == 0
    assert pl.read_csv(released / "release" / "data.csv").equals(one)


@pytest.mark.slow
def test_a_limit_on_the_h_rank_stops_a_release(folder):
    limit = "\nlimits:\n  - {measure: h_rank, at: 2, group: all, attack: worst, at_most: AT_MOST}"
    done = protect(folder, NOISE + limit.replace("AT_MOST", "0.0001"))
    assert done.returncode == 1
    assert "sfumato tune" in done.stdout
    assert not (folder / "release").exists()
    assert protect(folder, NOISE + limit.replace("AT_MOST", "0.99")).returncode == 0


TUNED = "tests/e2e/test_noise.py::test_tuning_needs_no_secret_and_finds_what_protect_then_keeps"


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(("--replications", "3", "--tolerance", "0.3"), id="few", marks=pytest.mark.slow),
        pytest.param((), id="usual", marks=pytest.mark.nightly(of=f"{TUNED}[few]")),
    ],
)
def test_tuning_needs_no_secret_and_finds_what_protect_then_keeps(folder, runs):
    (folder / "key").unlink()
    limit = "h_rank[h<3] < 0.1"
    step = "{do: noise, columns: [bmi], share: 0.1}"
    (folder / "plan.yaml").write_text(PLAN.replace("STEP", step))
    found = output(
        "tune",
        "plan.yaml",
        "data.csv",
        "--parameter",
        "steps.0.share",
        "--range",
        "0.001:0.5",
        "--limit",
        limit,
        *runs,
        cwd=folder,
    )
    assert found["met"] is True
    assert 0.001 <= found["value"] <= 0.5
    assert all({"value", "risk", "interval", "utility"} <= set(point) for point in found["path"])
    (chosen,) = (p for p in found["path"] if p["value"] == found["value"])
    assert chosen["interval"][1] < 0.1


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{do: noise, columns: [bmi], variance: -1}", "above 0"),
        ("{do: noise, columns: [bmi, sex], covariance: [[1, 2], [2, 1]]}", "positive semi-definite"),
        ("{do: pram, columns: [sex], matrix: [[0.9, 0.2], [0.1, 0.9]]}", "sum to 1"),
        ("{do: noise, columns: [region], sd: 1}", "pram"),
        ("{do: noise, columns: [born], sd: 1}", "derive"),
        ("{do: swap, columns: [bmi], window: 10}", "window"),
        ("{do: sample, fraction: 0}", "fraction"),
        ("{do: noise, columns: [bmi], sd: 1, strength: 2}", "no such key"),
    ],
)
def test_steps_that_are_refused(folder, step, says):
    done = protect(folder, step)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "release").exists()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.with_columns(bmi=pl.when(pl.col("id") == 3).then(float("inf")).otherwise("bmi")), "infinite"),
        (lambda t: t.head(1), "does not vary"),
        (lambda t: t.with_columns(bmi=pl.lit(20.5)), "does not vary"),
        (lambda t: t.drop("id"), "'id'"),
    ],
)
def test_data_that_are_refused(folder, change, says):
    change(people()).write_csv(folder / "data.csv")
    done = protect(folder)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert not (folder / "release").exists()


@pytest.mark.slow
def test_one_record_takes_noise_of_a_given_strength(folder):
    people().head(1).write_csv(folder / "data.csv")
    assert protect(folder, "{do: noise, columns: [bmi], sd: 1}", "--force").returncode == 0  # one record is alone


def test_a_short_secret_is_refused(folder):
    (folder / "key").write_bytes(b"fifteen bytes..")
    done = protect(folder)
    assert done.returncode == 2
    assert "16 bytes" in done.stderr


@pytest.mark.slow
def test_tables_with_other_rows_are_joined_or_refused(released):
    pl.read_csv(released / "release" / "data.csv").tail(300).write_csv(released / "some.csv")
    some = ("risk", "data.csv", "--protected", "some.csv", "--columns", "bmi,sex,smoke")
    assert sfumato(*some, "--attack", "nearest", cwd=released).returncode == 2
    assert "equal numbers of rows" in sfumato(*some, "--align", "row-order", cwd=released).stderr
    joined = output(*some, "--record", "id", "--attack", "nearest", cwd=released)
    assert any(r["measure"] == "h_rank" for r in joined["findings"])
    assert any("one of the tables only" in note for note in joined["notes"])


@pytest.mark.slow
def test_the_papers_of_a_release_name_the_record_id(released):
    assert RISK[-2:] == ("--record", "id")
    told, found = (output(*a, "--attack", "nearest", cwd=released) for a in (RISK, RISK[:-2]))
    assert "--record id" in told.pop("next")[0]
    assert "--record" not in found.pop("next")[0]
    assert found == told


def test_an_unknown_attack_is_named_with_those_there_are(released):
    done = sfumato(*RISK, "--attack", "nearest,guess", cwd=released)
    assert done.returncode == 2
    assert "predicted" in done.stderr
