import math

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.pair import Pair, numbers
from sfumato.errors import DataError

BOOK = Codebook({"a": Variable(kind="integer", missing=[-9]), "s": Variable(role="sensitive", kind="categorical")})
BEFORE = pl.DataFrame({"a": [1, -9, 3], "b": [1.5, 2.5, math.nan], "g": ["x", None, "x"], "s": ["p", "q", "p"]})
AFTER = BEFORE.with_columns(a=pl.Series([2, -9, 2]))
PAIR = Pair(BEFORE, AFTER, BOOK, ("a", "b"), ("g",), aligned=True)


def test_codes_null_and_nan_are_nan():
    assert [math.isnan(v) for v in numbers(BEFORE, ["a"], BOOK)[:, 0]] == [False, True, False]
    assert numbers(pl.DataFrame({"yes": [True, None]}), ["yes"], BOOK)[0, 0] == 1
    with pytest.raises(DataError, match="'g' holds String"):
        numbers(BEFORE, ["g"], BOOK)


def test_only_whole_rows_are_complete():
    assert PAIR.whole.tolist() == [True, False, False]
    assert [t.tolist() for t in PAIR.complete()] == [[[1, 1.5]], [[2, 1.5]]]


def test_strata_are_numbered_and_missing_is_one_of_them():
    assert PAIR.stratum[0] == PAIR.stratum[2] != PAIR.stratum[1]
    assert Pair(BEFORE, AFTER, BOOK).stratum.tolist() == [0, 0, 0]


def test_unequal_tables_cannot_be_aligned():
    with pytest.raises(DataError, match="equal numbers of rows"):
        Pair(BEFORE, AFTER.head(2), BOOK, aligned=True)


def test_costly_things_are_worked_out_once():
    calls = []
    assert [PAIR.once("x", lambda: calls.append(1) or 7) for _ in range(2)] == [7, 7]
    assert calls == [1]
