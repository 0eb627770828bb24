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
    with pytest.raises(DataError, match="'g' holds text"):
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


TRUE = pl.DataFrame({"g": ["a", "a", "b", "b", "c", None], "h": [1, 2, 1, 2, 1, 1]})


@pytest.mark.parametrize(
    ("released", "known"),
    [
        (["a", "a", "b", "b", "c", None], ("g", "h")),
        (["a", "a", "b+c", "b+c", "b+c", None], ("g", "h")),  # merged
        (["a", "b+c", "b+c", "b+c", "b+c", None], ("g", "h")),  # merged within h
        (["c", "a", "b", "b", "a", None], ("h",)),  # drawn at random; every true stratum but (c, 1) would do
        ([0.1, 0.2, 1.3, 1.2, 2.1, None], ("h",)),  # noise
    ],
)
def test_only_strata_that_follow_from_true_ones_are_known(released, known):
    before = pl.concat([TRUE, TRUE])
    after = before.with_columns(
        pl.Series("g", [*TRUE["g"], *released][6:] + (released[::-1] if known == ("h",) else released))
    )
    pair = Pair(before, after, BOOK, (), ("g", "h"), aligned=True)
    assert pair.known_by == known
    assert len(set(pair.stratum)) == after.select(known).n_unique()


def test_noise_on_unique_strata_is_not_known():
    before = pl.DataFrame({"sex": [0, 0, 0, 1]})
    after = pl.DataFrame({"sex": [0.1, -0.2, 0.3, 1.2]})
    pair = Pair(before, after, BOOK, (), ("sex",), aligned=True)
    assert pair.known_by == ()
    assert pair.stratum.tolist() == [0, 0, 0, 0]


def test_a_stratum_that_masking_made_is_not_known():
    pair = Pair(BEFORE.drop("g"), AFTER, BOOK, ("a",), ("g",), aligned=True)
    assert pair.known_by == ()
    assert Pair(BEFORE, AFTER, BOOK, ("a",), ("g",)).known_by == ("g",)
