"""What contributors have in the finest cells: written, read again, and under coarser codes."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.hierarchy import Hierarchy
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.kernels.tabular.rollup import together
from sfumato.tables.build import build
from sfumato.tables.equations import equations
from sfumato.tables.judge import judge
from sfumato.tables.recode import recode
from sfumato.tables.rules import read_rules
from sfumato.tables.unions import Unions
from sfumato.tables.whose import FIGURES, lines, with_lines
from tests.tables.unions.auditor import PATHS, firms

TREE = {"act": Hierarchy(tuple(PATHS["act"]))}


def built(records, **options):
    return build(PolarsDataset(records, Codebook()), ["act", "geo"], "val", hierarchies=TREE, **options)


def test_a_table_of_a_value_knows_whose_it_is():
    records = firms(1, True)
    table = built(records, contributors="firm", holdings="owner")
    held = lines(table)
    sums = records.group_by("act", "geo").agg(pl.col("val").sum(), pl.coalesce("owner", "firm").n_unique())
    told = held.group_by("act", "geo").agg(pl.col("sfumato:amount").sum(), pl.col("sfumato:who").n_unique())
    both = sums.join(told, on=["act", "geo"], validate="1:1")
    assert both.height == sums.height == told.height
    assert both["val"].to_list() == pytest.approx(both["sfumato:amount"].to_list())
    assert both["owner"].to_list() == both["sfumato:who"].to_list()
    assert held["sfumato:who"].n_unique() == records.select(pl.coalesce("owner", "firm")).n_unique()


def test_lines_do_not_hang_on_the_order_of_the_records():
    records = firms(2, False)
    for options in ({}, {"contributors": "firm"}):
        assert lines(built(records, **options)).equals(lines(built(records[::-1], **options)))


def test_lines_are_read_again():
    table = built(firms(3, True), contributors="firm", holdings="owner")
    again = with_lines(built(firms(3, True)), lines(table)).contributions
    once = together(table.contributions)
    order = np.lexsort((once.size, once.key)), np.lexsort((again.size, again.key))
    for name in ("key", "amount", "size", "heads", "units", "asked"):
        assert getattr(once, name)[order[0]].tolist() == getattr(again, name)[order[1]].tolist()
    for contributor in np.unique(once.who):  # the same have the same number
        own = np.unique(
            again.who[np.isin(again.key * 1e6 + again.size, (once.key * 1e6 + once.size)[once.who == contributor])]
        )
        assert len(own) == 1


@pytest.mark.parametrize("name", ["act", "sfumato:units"])
def test_a_file_that_lacks_something_is_refused(name):
    table = built(firms(3, False))
    with pytest.raises(DataError, match=name):
        with_lines(table, lines(table).drop(name))
    with pytest.raises(DataError, match=name):
        with_lines(table, lines(table).with_columns(pl.lit(None).alias(name)))


def test_unknown_codes_are_refused():
    table = built(firms(3, False))
    with pytest.raises(DataError, match="'geo'") as error:
        with_lines(table, lines(table).with_columns(geo=pl.lit("secret")))
    assert "secret" not in str(error.value)


def test_counts_have_none():
    table = build(PolarsDataset(firms(1, False), Codebook()), ["geo"])
    assert table.contributions is None
    assert lines(table) is None
    assert len(FIGURES) == 6


def test_coarser_codes_keep_them():
    """Unions of a recoded table are those of the table that is built of its codes."""
    records = firms(5, False).with_columns(geo=pl.lit("g1"))
    coarse = recode(judge(built(records, contributors="firm"), "n(6)")).table
    direct = build(
        PolarsDataset(records.with_columns(act=pl.col("act").str.to_uppercase().str.slice(0, 1)), Codebook()),
        ["act"],
        "val",
        contributors="firm",
    )
    assert set(coarse.cells["act"]) == set(direct.cells["act"])
    told = []
    for table in (coarse, direct):
        rest = judge(direct, "n(6)").cells.select("act", "contributors", "status")
        table = table.with_columns(
            status=table.cells.select("act").join(rest, on="act", maintain_order="left")["status"]
        )
        merged = equations(table)
        unions = Unions.of(table, merged, read_rules("n(100)"))
        found = unions.judge(table.cells["act"].is_in(["A", "B"]).to_numpy(), contributor=False)
        told.append([(union.value, union.upper_level, unions.shares.local.key.tolist()) for union in found.unsafe])
    assert told[0]
    assert told[0] == told[1]
