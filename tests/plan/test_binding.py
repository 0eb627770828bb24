"""A table is checked before a plan runs on it, and stays as it is."""

from pathlib import Path

import polars as pl
import pytest

import sfumato as sf
from sfumato.cli.protect import protect
from sfumato.data.query import Counts, Moments
from sfumato.engines.opening import open_parted
from sfumato.engines.parts import Parts
from sfumato.errors import PlanError
from sfumato.plan.binding import entered, loaded
from sfumato.plan.plan import Plan


def test_a_question_after_the_check_reads_only_its_columns(tmp_path, monkeypatch):
    read = []
    batches = Parts.batches

    def watched(self, columns=None, *more):
        read.append(columns)
        return batches(self, columns, *more)

    pl.DataFrame({"id": [1, 2], "x": [0.5, float("nan")], "g": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    with open_parted(str(tmp_path)) as data:
        checked = entered(Plan(variables={"id": {"role": "record"}}), data)
        monkeypatch.setattr(Parts, "batches", watched)
        assert checked.ask(Counts(("g",))).height == 2
        assert checked.ask(Moments(("x",)))["n"].to_list() == [1]
        assert read == [["g"], ["x"]]


def test_a_plan_and_its_data_in_the_other_order_are_told(tmp_path):
    plan, data, odd = tmp_path / "p.yaml", tmp_path / "d.csv", tmp_path / "plan.txt"
    data.write_bytes("größe;ort\n1,5;Köln\n".encode("latin-1"))
    for path in (plan, odd):
        path.write_text("# a plan\nsfumato: 1\ntitle: A\n")
        with pytest.raises(PlanError, match=f"are swapped: the plan comes first .*{path.name}.*, then .*d.csv"):
            loaded(data, str(path))
    assert loaded(plan, data).title == loaded(str(odd), data).title == "A"
    assert loaded(made := Plan(), plan) is made
    with pytest.raises(PlanError, match="is not a text file"):
        loaded(data, data)
    plan.write_text("title: A\n")
    with pytest.raises(PlanError, match="`sfumato: 1`"):
        loaded(plan, odd)


def test_the_command_line_says_so_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.yaml").write_text("sfumato: 1\n")
    (tmp_path / "d.csv").write_text("age,sex\n1,f\n2,m\n")
    with pytest.raises(PlanError, match="are swapped"):
        protect(plan=Path("d.csv"), data="p.yaml", out="r")
    with pytest.raises(PlanError, match="are swapped"):
        sf.protect("d.csv", "p.yaml", secret=bytes(16))
