"""From a configuration to records."""

import sqlite3

import pytest

from sfumato.errors import DataError, FileError
from sfumato.gate.config import read_config
from sfumato.gate.opening import records_from


def config(folder, datasets):
    path = folder / "gate.yaml"
    policies = "policies: {research: {interval: {count: 2, width: 4}}}"
    path.write_text(f"gate: 1\nstore: sqlite:///gate.db\nsecret_file: key\ndatasets: {datasets}\n{policies}\n")
    return read_config(path)


def test_files_levels_and_versions(tmp_path):
    (tmp_path / "a.csv").write_text("id,town\n1,Bath\n2,York\n")
    (tmp_path / "b.csv").write_text("id,town\n1,Bath\n2,York\n3,York\n")
    (tmp_path / "areas.csv").write_text("code,group\nBath,S\nYork,N\n")
    ward = "{ward: {versions: {old: a.csv, new: b.csv}, record: id, levels: {town: {area: areas.csv}}}}"
    found = records_from(config(tmp_path, ward))
    assert found.versions == ("old", "new")
    assert (found.scope(["old"]).total, found.scope(["new"]).total) == (2, 3)
    assert found.structure.levels["town", "area"] == ("S", "N")


def test_a_table_of_a_database(tmp_path):
    with sqlite3.connect(tmp_path / "w.db") as there:
        there.execute("CREATE TABLE ward (town TEXT)")
        there.executemany("INSERT INTO ward VALUES (?)", [("Bath",), ("York",)])
    source = "{{ward: {{versions: {{v1: {{url: 'sqlite:///{}', table: {}}}}}}}}}"
    found = records_from(config(tmp_path, source.format(tmp_path / "w.db", "ward")))
    assert found.structure.codes["town"] == ("Bath", "York")
    with pytest.raises((DataError, FileError), match="nosuch"):
        records_from(config(tmp_path, source.format(tmp_path / "w.db", "nosuch")))


def test_which_data_set(tmp_path):
    (tmp_path / "a.csv").write_text("town\nBath\nYork\n")
    two = config(tmp_path, "{a: {versions: {v1: a.csv}}, b: {versions: {v1: a.csv}}}")
    with pytest.raises(DataError, match="a, b"):
        records_from(two)
    with pytest.raises(DataError, match="'c'"):
        records_from(two, "c")
    assert records_from(two, "b").structure.variables == ("town",)
