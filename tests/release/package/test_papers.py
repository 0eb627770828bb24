import json
import shutil

import polars as pl
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError
from sfumato.release.package.card import read_card
from sfumato.release.package.papers import papers_beside, read_papers
from tests.reasons import nobody_knows


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with a file of rows and its release."""
    folder = tmp_path_factory.mktemp("papers")
    rows = pl.DataFrame(
        {
            "id": range(200),
            "age": [20.0 + i % 50 for i in range(200)],
            "income": [float(i * i % 977) for i in range(200)],
            "smoke": [i % 2 for i in range(200)],
            "sex": ["f", "m"] * 100,
        }
    )
    plan = sf.Plan(
        title="Papers",
        variables={
            "id": {"role": "record"},
            "age": {"kind": "continuous", "unit": "years"},
            "income": {"kind": "continuous"},
            "smoke": {"role": "key", "kind": "categorical", "labels": {0: "no", 1: "yes"}},
        },
        steps=[
            sf.steps.Noise(columns=["age", "smoke"], variance={"age": 4, "smoke": 0.2}),
            sf.steps.Noise(columns=["income"], share=0.5, by=["sex"], clip={"income": [0, None]}),
        ],
        unknown=nobody_knows("id"),
    )
    rows.write_csv(folder / "rows.csv")
    sf.protect(plan, folder / "rows.csv", secret=bytes(16)).write(folder / "release")
    return folder


@pytest.fixture
def release(written, tmp_path):
    """The release in a folder of the test's own, to spoil."""
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path / "release"


def test_a_release_is_read_back(release):
    papers = read_papers(release)
    assert (papers.title, papers.data.name) == ("Papers", "data.csv")
    assert papers.columns == ("id", "age", "income", "smoke", "sex")
    assert papers.disclosure.of("smoke")[0].values == {"smoke": (0, 1)}
    assert papers.codebook["age"].unit == "years"
    assert papers_beside(release / "data.csv") == papers
    assert papers_beside(release / "plan.yaml") is None
    assert papers_beside(release.parent / "rows.csv") is None


def spoil(release, change):
    path = release / "datapackage.json"
    package = json.loads(path.read_text())
    change(package)
    path.write_text(json.dumps(package))


@pytest.mark.parametrize(
    "change",
    [
        lambda p: p.pop("sfumato"),
        lambda p: p.pop("resources"),
        lambda p: p["resources"].clear(),
        lambda p: p["resources"][0].update(path="../rows.csv"),
        lambda p: p["resources"][0].update(schema=3),
        lambda p: p["sfumato"].update(disclosure=[{"what": "additive"}]),
        lambda p: p["sfumato"].update(codebook={"age": {"role": "king"}}),
    ],
)
def test_papers_that_are_not_ours_are_refused(release, change):
    spoil(release, change)
    with pytest.raises(FileError, match="not a description"):
        read_papers(release)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000])
def test_papers_that_are_no_json_are_refused(release, content):
    (release / "datapackage.json").write_bytes(content)
    with pytest.raises(FileError, match="not a description"):
        read_papers(release)


def test_a_folder_without_papers_is_no_release(tmp_path):
    with pytest.raises(FileError, match="no release"):
        read_papers(tmp_path)


def test_the_card_tells_strength_and_reliability(release):
    card = read_card(release)
    entries = {e.variable: e for e in card.entries if not e.where}
    data = pl.read_csv(release / "data.csv")
    assert entries["age"].noise_sd == 2
    assert entries["age"].reliability == pytest.approx(1 - 4 / data["age"].var(), abs=0.001)
    assert entries["smoke"].noise_sd == 0.447
    by_stratum = [e for e in card.entries if e.variable == "income"]
    assert sorted(e.where["sex"] for e in by_stratum) == ["f", "m"]
    assert all(e.reliability is None for e in by_stratum), "clipped: the released variance is not a sum"
    assert card.tidy()["variable"].to_list() == ["age", "smoke", "income", "income"]
    plain = card.to_plain()
    assert plain["unchanged"] == ["id", "sex"]
    assert json.loads(json.dumps(plain)) == plain
    assert sf.Disclosure.from_plain(plain["disclosure"]) == card.papers.disclosure


def test_the_card_refuses_data_that_are_not_described(release):
    pl.read_csv(release / "data.csv").drop("age").write_csv(release / "data.csv")
    with pytest.raises(DataError, match="does not have the columns"):
        read_card(release)


@pytest.mark.parametrize(
    "part",
    [
        '{"what": "misclassified", "column": "smoke", "matrix": [[1]], "levels": [HUGE]}',
        '{"what": "additive", "columns": ["age"], "covariance": [[1]], "where": {"smoke": HUGE}}',
        '{"what": "additive", "columns": ["age"], "covariance": [[1]], "values": {"age": [HUGE]}}',
    ],
)
@pytest.mark.parametrize("huge", ["1" + "0" * 400, "NaN", "-Infinity"])
def test_numbers_that_no_table_holds_are_refused(release, part, huge):
    spoil(release, lambda p: p["sfumato"].update(disclosure=["PART"]))
    path = release / "datapackage.json"
    path.write_text(path.read_text().replace('"PART"', part.replace("HUGE", "3")))
    read_papers(release)
    path.write_text(path.read_text().replace("3]", f"{huge}]").replace('"smoke": 3}', f'"smoke": {huge}}}'))
    with pytest.raises(FileError, match="not a description"):
        read_papers(release)


def test_a_stratum_of_a_column_that_is_not_there_does_not_break_the_card(release):
    def change(package):
        package["sfumato"]["disclosure"] = [
            {"what": "additive", "columns": ["age"], "covariance": [[1]], "where": {"nope": 1}}
        ]

    spoil(release, change)
    assert [e.reliability for e in read_card(release).entries] == [None]
