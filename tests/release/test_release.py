"""A release as it is written."""

import json
import pickle

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import LimitExceeded
from sfumato.plan.plan import Plan
from sfumato.release.package.analysis import open_releases
from sfumato.release.protect import protect
from sfumato.release.release import Release
from sfumato.release.secret import Secret
from tests.reasons import nobody_knows
from tests.release.test_protect import FRAME, SECRET, plan


@pytest.fixture(scope="module")
def release():
    return sf.protect(plan(), FRAME, secret=SECRET)


@pytest.mark.usefixtures("few_measures")
def test_a_limit_that_does_not_hold_stops_the_writing(tmp_path):
    strict = plan(limits=[{"measure": "k_anonymity", "at_least": 10_000}])
    release = sf.protect(strict, FRAME, secret=SECRET)
    assert not release.ok
    with pytest.raises(LimitExceeded, match="k_anonymity.*What to try"):
        release.write(tmp_path / "r")
    assert not (tmp_path / "r").exists()
    release.write(tmp_path / "r", force=True, internal_report=tmp_path / "internal.html")
    assert (tmp_path / "internal.html").exists()
    assert not (tmp_path / "r" / "internal.html").exists()


def test_the_folder_reads_back(release, tmp_path):
    release.write(tmp_path / "r")
    again = sf.read(next((tmp_path / "r").glob("data.*")))
    assert again.frame.equals(release.frame)
    assert Plan.load(tmp_path / "r" / "plan.yaml") == plan()
    package = json.loads((tmp_path / "r" / "datapackage.json").read_text())
    assert package["sfumato"]["plan"] == plan().digest


@pytest.mark.usefixtures("few_measures")
def test_a_refused_release_is_written_only_by_force_and_says_why(tmp_path):
    refused = sf.protect(plan(limits=()), FRAME, secret=SECRET)
    with pytest.raises(LimitExceeded, match="nothing protects smoker"):
        refused.write(tmp_path / "r")
    refused.write(tmp_path / "r", force=True)
    assert "Nothing protects smoker" in (tmp_path / "r" / "report.html").read_text()


def test_a_release_in_memory_does_not_carry_the_secret():
    frame = pl.DataFrame({"id": range(40), "x": [i % 7 + 0.5 for i in range(40)]})
    plan = Plan(variables={"id": {"role": "record"}}, steps=[{"do": "noise", "columns": ["x"], "sd": 1}])
    secret = b"known to nobody, 4711 times over"
    release = protect(plan, PolarsDataset(frame, Codebook()), Secret(secret))
    assert secret not in pickle.dumps(release)
    assert pickle.loads(pickle.dumps(release)).frame.equals(release.frame)


def test_the_old_name_of_releases_in_parts_is_kept_for_a_version():
    with pytest.warns(DeprecationWarning, match="PartedRelease is Release"):
        from sfumato.release.release import PartedRelease
    assert PartedRelease is Release
    with pytest.raises(ImportError):
        from sfumato.release.release import AnotherRelease  # noqa: F401


GERMAN = pl.DataFrame(
    {
        "id": range(60),
        "alter": [20 + i % 17 for i in range(60)],
        "größe": [1.5 + i % 7 / 10 for i in range(60)],
        "ort": ["Köln", "Jülich", "Düren"] * 20,
    }
)


def german(folder, encoding, **steps):
    path = folder / "daten.csv"
    path.write_bytes(GERMAN.write_csv(separator=";", decimal_comma=True).encode(encoding))
    made = sf.Plan(
        variables={"id": {"role": "record"}, "größe": {"kind": "continuous"}, "alter": {"kind": "continuous"}},
        steps=[sf.steps.Noise(columns=["größe"], sd=0.5), *steps.values()],
        unknown=nobody_knows("id"),
    )
    release = sf.protect(made, path, secret=SECRET)
    return release, release.write(folder / "r", force=True)


@pytest.mark.usefixtures("few_measures")
def test_a_csv_leaves_in_what_it_came_in(tmp_path):
    release, notes = german(tmp_path, "latin-1")
    assert not any("UTF-8" in note for note in notes)
    first, second = (tmp_path / "r" / "data.csv").read_bytes().decode("latin-1").splitlines()[:2]
    assert first == "id;alter;größe;ort"
    assert second.count(",") == 1
    (resource,) = json.loads((tmp_path / "r" / "datapackage.json").read_text("utf-8"))["resources"]
    assert resource["dialect"] == {"delimiter": ";"}
    assert resource["encoding"] == "windows-1252", "which has the same bytes for these letters"
    fields = {field["name"]: field for field in resource["schema"]["fields"]}
    assert fields["größe"]["decimalChar"] == ","
    assert not any("decimalChar" in fields[name] for name in ("alter", "ort"))
    for read in (sf.read(tmp_path / "r" / "data.csv"), sf.read(tmp_path / "r")):
        assert read.frame.equals(release.frame)
    assert open_releases([tmp_path / "r"]).frame.equals(release.frame)


@pytest.mark.usefixtures("few_measures")
def test_a_release_with_letters_that_its_encoding_lacks_is_in_utf_8_in_its_papers_too(tmp_path):
    above = sf.steps.Recode(columns=["ort"], map={"Köln": "≥ 1", "Jülich": "≥ 1"}, other="keep")
    release, notes = german(tmp_path, "latin-1", above=above)
    assert any("UTF-8" in note for note in notes)
    (resource,) = json.loads((tmp_path / "r" / "datapackage.json").read_text("utf-8"))["resources"]
    assert (resource["encoding"], resource["dialect"]) == ("utf-8", {"delimiter": ";"})
    assert sf.read(tmp_path / "r").frame.equals(release.frame)
