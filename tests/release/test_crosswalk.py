"""Old and new ids, for the custodian alone."""

import json

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError
from sfumato.plan.plan import Plan
from tests.reasons import nobody_knows

FRAME = pl.DataFrame(
    {"id": [f"p{i:03}" for i in range(60)], "sex": ["f", "m"] * 30, "age": [20.0 + i % 31 for i in range(60)]}
)
VARIABLES = {"id": {"role": "record"}, "sex": {"role": "key"}, "age": {"kind": "continuous"}}
NUMBERED = Plan(
    variables=VARIABLES,
    steps=[
        {"do": "noise", "columns": ["age"], "by": ["sex"], "share": 0.05},
        {"do": "pseudonymise", "columns": ["id"], "scope": "table", "format": "number"},
    ],
    limits=[{"measure": "k_anonymity", "at_least": 5}],
)


@pytest.fixture(scope="module")
def release():
    return sf.protect(NUMBERED, FRAME, secret=b"k" * 32)


def test_it_has_two_columns_and_only_its_owner_may_read_it(release, tmp_path):
    release.write(tmp_path / "r", crosswalk=tmp_path / "ids.csv")
    told = pl.read_csv(tmp_path / "ids.csv")
    assert told.columns == ["id", "released"]
    assert sorted(told["id"]) == FRAME["id"].to_list()
    assert (tmp_path / "ids.csv").stat().st_mode & 0o077 == 0
    assert not any("p000" in path.read_text(errors="replace") for path in (tmp_path / "r").iterdir())


def test_it_names_the_right_records(release):
    told = release.crosswalk.join(release.frame, left_on="released", right_on="id").join(FRAME, on="id", suffix=" true")
    assert (told["sex"] == told["sex true"]).all()
    assert (told["age"] - told["age true"]).abs().max() < 12  # six standard deviations of the noise


def test_risk_and_compare_take_it_in_place_of_the_secret(release, tmp_path):
    release.write(tmp_path / "r", crosswalk=tmp_path / "ids.csv")
    with pytest.raises(DataError, match="pseudonymises"):
        sf.risk(FRAME, tmp_path / "r" / "data.parquet", plan=NUMBERED, record="id")
    by_ids = sf.risk(FRAME, tmp_path / "r" / "data.parquet", plan=NUMBERED, crosswalk=tmp_path / "ids.csv")
    whole = release.report.findings
    for group in ("overall", "stratum"):
        assert by_ids.of("linkage_nearest", group=group).value == whole.of("linkage_nearest", group=group).value
    told = sf.compare(
        FRAME, tmp_path / "r" / "data.parquet", plan=NUMBERED, record="id", crosswalk=tmp_path / "ids.csv"
    )
    assert told.of("unchanged", variable="age").value == whole.of("unchanged", variable="age").value


@pytest.mark.parametrize("inside", ["r/ids.csv", "r/deep/ids.csv", "older/ids.csv"])
def test_it_is_never_written_into_a_release(release, tmp_path, inside):
    (tmp_path / "older").mkdir()
    (tmp_path / "older" / "datapackage.json").write_text(json.dumps({}))
    with pytest.raises(FileError, match="must not be in a release"):
        release.write(tmp_path / "r", crosswalk=tmp_path / inside)
    assert not (tmp_path / "r").exists()


def test_an_old_one_is_not_lost(release, tmp_path):
    (tmp_path / "ids.csv").write_text("id,released\n")
    with pytest.raises(FileError, match="is there already"):
        release.write(tmp_path / "r", crosswalk=tmp_path / "ids.csv")
    release.write(tmp_path / "r", crosswalk=tmp_path / "ids.csv", overwrite=True)
    assert pl.read_csv(tmp_path / "ids.csv").height == 60


def test_without_new_ids_there_is_none(tmp_path):
    plan = Plan(variables=VARIABLES, steps=NUMBERED.steps[:1], limits=NUMBERED.limits, unknown=nobody_knows("id"))
    plain = sf.protect(plan, FRAME, secret=b"k" * 32)
    with pytest.raises(FileError, match="no step replaces"):
        plain.write(tmp_path / "r", crosswalk=tmp_path / "ids.csv")
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "columns", [{"a": [1], "b": [2], "c": [3]}, {"a": [1, 1], "b": [2, 3]}, {"a": [1, 2], "b": [3, None]}]
)
def test_what_is_no_crosswalk_is_refused(release, columns):
    with pytest.raises(DataError, match="two columns"):
        sf.risk(FRAME, release.data, plan=NUMBERED, record="id", crosswalk=pl.DataFrame(columns))
