"""Counted margins of versions, against pandas."""

import numpy as np
import polars as pl
import pytest

from sfumato.errors import DataError
from sfumato.gate import records as module
from sfumato.gate.margin import Node
from sfumato.gate.reading import records_of
from sfumato.gate.structure import LIFE
from tests.late import late

pd = late("pandas")

FIRST = {"id": [1, 2, 3, 4], "A": ["x", "x", "y", "y"], "B": [1, 2, 1, 1]}
SECOND = {"id": [2, 3, 4, 5], "A": ["x", "y", "x", "z"], "B": [2, 1, 1, 2]}  # 4 is corrected


@pytest.fixture
def both():
    return records_of(pl.DataFrame(FIRST), record="id", versions=[("v2", pl.DataFrame(SECOND))])


def test_the_rows_of_one_version_are_its_records(both):
    for version, rows in (("v1", FIRST), ("v2", SECOND)):
        frame = pd.DataFrame(rows)
        scope = both.scope([version])
        assert scope.total == len(frame)
        told = scope.margin([Node("A"), Node("B")])
        assert sorted(told.count[told.count > 0]) == sorted(frame.groupby(["A", "B"]).size())


def test_a_corrected_record_has_two_states(both):
    scope = both.scope(["v2", "v1"])
    assert scope.total == 6  # 1; 2 and 3 in both; 4 twice; 5
    lives = np.asarray(scope.structure.codes[LIFE])[scope.codes[LIFE]]
    assert sorted(lives.tolist()) == ["1", "1", "2", "2", "3", "3"]
    assert both.arrivals.tolist() == [[0, 1], [1, 0]]  # 4 neither came nor left


def test_a_version_that_there_is_not(both):
    with pytest.raises(DataError, match="version"):
        both.scope(["v9"])


def test_small_cells_and_kept_margins(both, monkeypatch):
    scope = both.scope(["v1"])
    assert scope.small([Node("A")], 3).tolist() == [0, 1, 2, 3]
    assert scope.small([Node("A")], 2).tolist() == []
    kept = scope.margin([Node("A")])
    assert scope.margin([Node("A")]) is kept
    monkeypatch.setattr(module, "_KEPT", 0)  # too little room: counted again, the same
    assert (scope.margin([Node("B")]).count == [3, 1]).all()
    assert (scope.margin([Node("A")]).count == kept.count).all()


@pytest.mark.parametrize(("values", "many"), [([1, 2, 2, None], 2), ([1, 2, 3, 4], 4)])
def test_different_values_are_counted_without_the_missing_one(values, many):
    assert records_of(pl.DataFrame({"v": values})).distinct("v") == many


def test_values_too_many_for_codes_are_endless():
    told = records_of(pl.DataFrame({"v": np.arange(100_001), "A": ["x"] * 100_001}))
    assert told.distinct("v") == float("inf")
    assert told.structure.variables == ("A",)
