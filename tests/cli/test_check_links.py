import json

import polars as pl
import pytest


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"farm": ["a", "b", "c"], "parish": ["Ash", "Ash", "Elm"], "herd": [10, 20, 20]}).write_csv("a.csv")
    pl.DataFrame({"parish": ["Elm", "Ash", "Ash"], "herd": [20, 20, 10], "lat": [1.5, 2.5, 3.5]}).write_csv("b.csv")
    pl.DataFrame({"parish": ["Oak", "Yew"], "lat": [1.5, 7.5]}).write_csv("c.csv")


def test_links_in_json(sfumato, files):
    done = sfumato("check-links", "a.csv", "b.csv", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "links": [
            {"tables": ["a.csv", "b.csv"], "columns": [name], "share": 1 / 3, "row_order": False}
            for name in ("herd", "parish")
        ],
        "notes": [],
    }


def test_every_pair_of_several_files(sfumato, files):
    done = sfumato("check-links", "a.csv", "b.csv", "c.csv", "--json")
    found = [(link["tables"], link["columns"]) for link in json.loads(done.stdout)["links"]]
    assert found[-1] == (["b.csv", "c.csv"], ["lat"])
    assert len(found) == 3


def test_no_link(sfumato, files):
    done = sfumato("check-links", "a.csv", "c.csv")
    assert done.returncode == 0
    assert "Nothing was found" in done.stdout
    assert json.loads(sfumato("check-links", "a.csv", "c.csv", "--json").stdout) == {"links": [], "notes": []}


def test_links_for_people_hold_no_value(sfumato, files):
    done = sfumato("check-links", "a.csv", "b.csv")
    assert done.returncode == 1
    assert "herd" in done.stdout
    assert "33.3%" in done.stdout
    assert "pseudonymise" in done.stdout
    assert not any(value in done.stdout + done.stderr for value in ("Ash", "Elm", "20"))


def test_what_is_linked_openly_and_codes_of_two_scopes(sfumato, files):
    pl.DataFrame({"farm": ["a", "b", "c"], "day": [1, 1, 1]}).write_csv("visits.csv")
    assert sfumato("check-links", "a.csv", "visits.csv").returncode == 1
    assert sfumato("check-links", "a.csv", "visits.csv", "--declared", "farm").returncode == 0
    assert sfumato("check-links", "a.csv", "visits.csv", "--unlinkable", "farm").returncode == 0
    strange = sfumato("check-links", "a.csv", "visits.csv", "--unlinkable", "nowhere")
    assert (strange.returncode, "nowhere" in strange.stderr) == (2, True)
    unknown = sfumato("check-links", "a.csv", "visits.csv", "--declared", "plot")
    assert unknown.returncode == 2
    assert "'plot'" in unknown.stderr


def test_files_of_one_name_in_two_folders(sfumato, files, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "b.csv").rename(tmp_path / "other" / "a.csv")
    done = sfumato("check-links", "a.csv", "other/a.csv", "--json")
    assert json.loads(done.stdout)["links"][0]["tables"] == ["a.csv", "other/a.csv"]


def test_one_file_is_too_few(sfumato, files):
    done = sfumato("check-links", "a.csv")
    assert done.returncode == 2
    assert "two data files" in done.stderr


def test_where_the_search_gives_up_it_says_so(sfumato, files, monkeypatch):
    monkeypatch.setattr("sfumato.kernels.links._A_SET", 3e9)
    done = sfumato("check-links", "a.csv", "b.csv")
    assert "Not all sets" in done.stderr
