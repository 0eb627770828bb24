"""How small cells fare, by hand on a table of two by two."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.tables.bounds.bound import bounds
from sfumato.tables.bounds.judged import judged
from sfumato.tables.table import Table

TRUE = pl.DataFrame({"a": ["1", "1", "2", "2"], "b": ["x", "y", "x", "y"], "count": [5, 1, 4, 0]})


def ends():
    return bounds([Table.of(TRUE.group_by(n).agg(pl.col("count").sum())) for n in "ba"])


def test_small_cells() -> None:
    told = judged(ends(), Table.of(TRUE), small=4)
    # rows 6 and 4, columns 9 and 1: (1, y) lies in [0, 1], (2, x) in [3, 4]
    assert told == {"small": {"at_most": 4, "cells": 2, "exact": 0, "narrowest": 1.0, "outside": 0}}


def test_attribution_beside_it() -> None:
    told = judged(ends(), Table.of(TRUE), known=1)["attribution"]
    assert told["label"] == "reconstructed"
    assert told["sap"]["before"] == 1  # there is a zero
    assert told["sap"]["after"] == pytest.approx(1 / 10)  # (1, y) is one of ten people, and at most one


def test_another_table_is_refused() -> None:
    with pytest.raises(DataError, match="other variables"):
        judged(ends(), Table.of(TRUE.rename({"a": "z"})))
    with pytest.raises(DataError, match="codes of 'a'"):
        judged(ends(), Table.of(TRUE.with_columns(a=pl.Series(["1", "1", "9", "9"]))))
    other = Table.of(TRUE.with_columns(count=pl.Series([90, 1, 4, 0])))
    assert judged(ends(), other)["small"]["outside"] == 1
    with pytest.raises(DataError, match="not the one"):
        judged(ends(), other, known=1)
