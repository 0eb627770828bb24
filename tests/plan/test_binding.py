"""A table is checked before a plan runs on it, and stays as it is."""

import polars as pl

from sfumato.data.query import Counts, Moments
from sfumato.engines.opening import open_parted
from sfumato.engines.parts import Parts
from sfumato.plan.binding import entered
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
