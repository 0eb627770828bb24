"""Unions of a published table, judged by the custodian's."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.engines.polars import PolarsDataset
from sfumato.tables.build import build
from sfumato.tables.judge import judge
from sfumato.tables.settle import published
from sfumato.tables.table import Released
from sfumato.tables.unions.published import unions_of_published

ROWS = [("x", "a", 5.0), ("x", "b", 6.0), ("y", "a", 7.0), ("y", "b", 1.0), *[("w", firm, 9.0) for firm in "defg"]]


@pytest.fixture
def judged():
    records = pl.DataFrame(ROWS, schema=["town", "firm", "val"], orient="row")
    table = judge(build(PolarsDataset(records, Codebook()), ["town"], "val", contributors="firm"), "n(3)")
    return replace(table, released=Released(rule="n(3)"))


def test_what_has_no_value_is_hidden(judged):
    out = published(judged)
    assert out.released.rule is None
    assert out.contributions is None
    assert unions_of_published(out, judged).to_plain() == {"judged": 1, "unsafe": 1, "left": 0}
    assert unions_of_published(judged, judged).to_plain() == {"judged": 0, "unsafe": 0, "left": 0}


def test_what_is_not_listed_is_hidden(judged):
    """The sum of x and y is told by the total and by w, whether the file has lines for them or not."""
    cells = judged.cells.filter(pl.col("town").is_in(["Total", "w"])).select("town", "val")
    found = unions_of_published(replace(judged, cells=cells), judged)
    assert [union.value for union in found.unsafe] == [19.0]


def test_without_rules_or_contributions_nothing_is_judged(judged):
    assert unions_of_published(published(judged), replace(judged, released=Released())) is None
    assert unions_of_published(published(judged), replace(judged, contributions=None)) is None


def test_lines_in_another_order(judged):
    out = published(judged)
    turned = replace(out, cells=out.cells[np.arange(len(out))[::-1]])
    assert unions_of_published(turned, judged).to_plain()["unsafe"] == 1
