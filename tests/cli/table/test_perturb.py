"""`sfumato table build --cell-keys` and `sfumato table perturb` as a user runs them."""

import json

import polars as pl
import pytest
from tests.e2e.command import sfumato


@pytest.fixture
def folder(tmp_path):
    towns = ["a"] * 30 + ["b"] * 9 + ["c"] * 2
    pl.DataFrame({"id": range(41), "town": towns, "pay": [10.5 + i for i in range(41)]}).write_csv(tmp_path / "p.csv")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


def run(folder, *arguments, status=0):
    done = sfumato("table", *arguments, cwd=folder)
    assert done.returncode == status, done.stderr
    return done


KEYS = ("--cell-keys", "--record", "id", "--secret-file", "key")


@pytest.mark.slow
@pytest.mark.parametrize("keyed", ["keyed.csv", "keyed"])
@pytest.mark.parametrize("value", [(), ("--value", "pay")])
def test_files_and_folders_are_perturbed_alike(folder, keyed, value):
    run(folder, "build", "p.csv", "--by", "town", *value, *KEYS, "--out", keyed)
    told = json.loads(run(folder, "perturb", keyed, *value, "--out", "out.csv", "--json").stdout)
    assert told["cells"] == 4
    assert told["method"] == ("cell_key_magnitude" if value else "cell_key")
    assert pl.read_csv(folder / "out.csv").columns == ["town", "pay" if value else "count"]
    run(folder, "perturb", keyed, *value, "--out", "released")
    papers = json.loads((folder / "released" / "datapackage.json").read_text())["sfumato"]["table"]
    assert papers["internal"] is False
    assert any("same noise in every table" in sentence for sentence in papers["must_know"])
    assert (folder / "released" / "data.csv").read_text() == (folder / "out.csv").read_text()


def test_it_is_said_in_words(folder):
    run(folder, "build", "p.csv", "--by", "town", *KEYS, "--out", "keyed.csv")
    told = run(folder, "perturb", "keyed.csv", "--largest", "2", "--variance", "1", "--forbidden", "0").stdout
    assert "4 cells were changed" in told


@pytest.mark.slow
def test_wrong_input_is_refused_and_nothing_is_written(folder):
    run(folder, "build", "p.csv", "--by", "town", *KEYS, "--out", "keyed.csv")
    run(folder, "build", "p.csv", "--by", "town", "--out", "plain.csv")
    for arguments, said in [
        (("build", "p.csv", "--by", "town", "--cell-keys", "--out", "out.csv"), "--record"),
        (("build", "p.csv", "--by", "town", "--record", "id", "--out", "out.csv"), "--cell-keys"),
        (("build", "p.csv", "--by", "town", "--cell-keys", "--record", "id", "--out", "out.csv"), "--secret-file"),
        (("build", "p.csv", "--by", "pay", *KEYS[:2], "town", *KEYS[3:], "--out", "out.csv"), "several rows"),
        (("perturb", "plain.csv", "--out", "out.csv"), "--cell-keys"),
        (("perturb", "keyed.csv", "--variance", "1.9", "--largest", "4", "--out", "out.csv"), "row 1 can have"),
        (("perturb", "keyed.csv", "--contributions", "a", "--out", "out.csv"), "--contributions"),
        (("perturb", "keyed.csv", "--out", "keyed.csv"), "reads or writes"),
    ]:
        assert said in run(folder, *arguments, status=2).stderr
    assert not (folder / "out.csv").exists()
