"""A protected table by any method: what is lost, what is known, what is written."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.api import protect_table
from sfumato.api.protect_table import METHODS, WAYS, Making, TableAsked, audit_of, told_by_rounding
from sfumato.errors import DataError
from sfumato.release.secret import Secret
from sfumato.tables.round.round import round as rounded
from sfumato.tables.table import Table

SIXTEEN = Secret(bytes(16))


def people(**counts: int) -> pl.DataFrame:
    """So many records of each pair of codes, such as `f_a`."""
    pairs = [name.split("_") for name, many in counts.items() for _ in range(many)]
    return pl.DataFrame({"id": range(len(pairs)), "sex": [a for a, _ in pairs], "town": [b for _, b in pairs]})


def making(frame, folder, **more):
    return Making(sf.read(frame), TableAsked(**more), folder, SIXTEEN)


def test_what_hiding_loses_is_counted_by_hand(tmp_path):
    made = making(people(f_a=5, m_a=1), tmp_path, by=("sex",)).made("suppress", "auto", "t.csv")
    assert made.told["primary"] == 1
    assert made.told["secondary"] == 1
    loss = made.loss()
    assert (loss["cells"], loss["hidden"], loss["hidden_value"], loss["changed"]) == (3, 2, 6, 0)
    assert loss["narrowest"] == loss["widest"] == 4  # 6 in all, and either is 1 to 5
    assert made.file == tmp_path / "t.csv"
    assert made.file.read_text().startswith("sex,count,status,lower,upper\nTotal,6,s,,\n")


def test_what_rounding_loses_is_counted_by_hand(tmp_path):
    made = making(people(f_a=7, m_a=1), tmp_path, by=("sex",), base=5).made("round", "conventional", "t.csv")
    loss = made.loss()
    assert (loss["hidden"], loss["changed"], loss["change"]) == (0, 3, 2 + 1 + 2)  # 7, 1, 8 become 5, 0, 10
    assert (tmp_path / "t.csv").read_text() == "sex,count\nTotal,10\nf,5\nm,0\n"
    assert made.ends is not None
    ends = {code: (low, high) for code, low, high in made.ends.rows()}
    # f is 3 to 7 and m 0 to 2 by themselves, and they are 8 to 12 together: no f below 6, no m below 1
    assert (ends["f"], ends["m"]) == ((6, 7), (1, 2))
    assert made.told["audit"] == audit_of(told_by_rounding(made.done))


def test_a_variable_that_is_left_out_counts_as_not_told(tmp_path):
    frame = people(f_a=5, m_a=5, f_b=1, m_b=5)
    made = making(frame, tmp_path, by=("sex", "town"), rules=("n(2)",)).made("recode", "branches", "t.csv")
    assert len(made.table.variables) == 1
    loss = made.loss()
    assert loss["cells"] == 9
    assert loss["hidden"] == 9 - len(made.table)
    assert loss["hidden_value"] == 4 * 16 - made.table.values.sum()  # each margin, and the cells, sum to 16


def test_hidden_cells_are_marked_for_the_custodian_alone(tmp_path):
    made = making(people(f_a=5, m_a=1), tmp_path, by=("sex",)).made("suppress", "auto", "t.csv")
    assert made.table.cells["status"].to_list() == ["s", "x", "x"]
    assert made.shown.cells["status"].to_list() == ["s", "x", "u"]
    assert made.shown.cells["count"].to_list() == [6, None, None]
    assert made.true["sfumato:true"].to_list() == [6, 5, 1]


def test_nothing_is_written_where_the_audit_fails(tmp_path, monkeypatch):
    real = protect_table.protect

    def failing(*given, **more):
        done = real(*given, **more)
        return replace(done, audit=replace(done.audit, exact=1))

    monkeypatch.setattr(protect_table, "protect", failing)
    made = making(people(f_a=5, m_a=1), tmp_path, by=("sex",)).made("suppress", "auto", "t.csv")
    assert made.file is None
    assert not (tmp_path / "t.csv").exists()


def test_noise_needs_the_ids_of_records_and_hangs_on_the_secret(tmp_path):
    frame = people(f_a=30, m_a=40, f_b=25, m_b=35)
    with pytest.raises(DataError, match="column of the records' ids"):
        making(frame, tmp_path, by=("sex",)).made("perturb", "auto", "t.csv")
    told = [
        Making(sf.read(rows), TableAsked(("sex", "town"), record="id"), tmp_path / name, Secret(bytes([key] * 16)))
        .made("perturb", "auto", "t.csv")
        .table.values.tolist()
        for name, rows, key in (("a", frame, 1), ("b", frame.reverse(), 1), ("c", frame, 2))
    ]
    assert told[0] == told[1]
    assert told[0] != told[2]


@pytest.mark.parametrize("method", ["adjust", "recode"])
def test_without_a_rule_nothing_is_judged(tmp_path, method):
    with pytest.raises(DataError, match="at least one rule"):
        making(people(f_a=5, m_a=1), tmp_path, by=("sex",), rules=()).made(method, WAYS[method][0], "t.csv")


@pytest.mark.parametrize("method", ["adjust", "recode"])
def test_tables_judged_quickly_are_adjusted_and_recoded_alike(tmp_path, method):
    frame = people(f_a=5, m_a=9, f_b=2, m_b=5, f_c=7, m_c=1)
    (tmp_path / "town.csv").write_text("a,North\nb,North\nc,South\n")
    asked = TableAsked(("sex", "town"), hierarchies=(("town", str(tmp_path / "town.csv")),))
    for name, quick in (("a", False), ("b", True)):
        one = Making(sf.read(frame), asked, tmp_path / name, SIXTEEN, quick=quick)
        one.folder.mkdir()
        one.made(method, WAYS[method][0], "t.csv")
    assert (tmp_path / "a" / "t.csv").read_bytes() == (tmp_path / "b" / "t.csv").read_bytes()


@pytest.mark.parametrize(("more", "said"), [({"method": "hide"}, "no method"), ({"way": "odd"}, "takes auto, optimal")])
def test_other_methods_and_ways_are_refused(more, said):
    with pytest.raises(DataError, match=said):
        TableAsked(("sex",), **more)


def test_every_method_has_ways_and_goes_there_and_back_as_plain_values():
    assert set(METHODS) == set(WAYS)
    for method in METHODS:
        asked = TableAsked(("sex",), method=method, hierarchies=(("sex", "x.csv"),), lower=1.0)
        assert TableAsked.of(asked.to_plain()) == asked


def test_large_tables_and_sums_are_not_worked_out():
    rows = pl.DataFrame({"a": [f"c{i}" for i in range(301)], "count": [5] * 301})
    assert told_by_rounding(rounded(Table.of(rows), 5, "conventional")) is None
    sums = pl.DataFrame({"a": ["x", "y"], "sales": [5.0, 6.0]})
    assert told_by_rounding(rounded(Table.of(sums, "sales"), 5, "conventional")) is None
