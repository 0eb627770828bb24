from collections import Counter
from itertools import combinations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.kernels.classes import special_uniques as module
from sfumato.kernels.classes.special_uniques import dis_suda, special_uniques

cells = st.integers(-1, 3)
tables = st.integers(1, 5).flatmap(
    lambda m: st.lists(st.tuples(*[cells] * m), min_size=1, max_size=25).map(lambda rows: np.array(rows))
)


def minimal_sets(codes, largest):
    """Every minimal set of every row, by counting every set of keys from the small to the large."""
    found = [[] for _ in codes]
    for size in range(1, largest + 1):
        for keys in combinations(range(codes.shape[1]), size):
            rows = [tuple(row) for row in codes[:, keys].tolist()]
            alike = Counter(rows)
            for i, row in enumerate(rows):
                known = min(row) >= 0
                if known and alike[row] == 1 and not any(set(part) <= set(keys) for part in found[i]):
                    found[i].append(keys)
    return found


def check(codes, found, wanted, weight):
    m = codes.shape[1]
    assert found.score.tolist() == pytest.approx([sum(weight(m, len(s)) for s in sets) for sets in wanted])
    assert found.smallest.tolist() == [min(map(len, sets), default=0) for sets in wanted]
    every = [s for sets in wanted for s in sets]
    assert found.by_size.tolist() == [sum(len(s) == k for s in every) for k in range(1, found.max_size + 1)]
    total = sum(weight(m, len(s)) for s in every)
    if total > 0:
        shares = [sum(weight(m, len(s)) for s in every if j in s) / total for j in range(m)]
        assert found.contribution.tolist() == pytest.approx(shares)
    else:
        assert found.contribution is None


@settings(deadline=None)
@given(codes=tables, largest=st.integers(1, 5))
def test_every_minimal_set_is_found(codes, largest):
    m = codes.shape[1]
    wanted = minimal_sets(codes, min(m, largest))
    found = special_uniques(codes, max_size=largest, smallest_sets=True)
    check(codes, found, wanted, lambda m, s: factorial(m - s))
    smallest = {(i, s) for i, sets in enumerate(wanted) for s in sets if len(s) == min(map(len, sets))}
    assert {(i, tuple(np.flatnonzero(s).tolist())) for i, s in zip(found.row, found.sets, strict=True)} == smallest
    assert len(found.row) == len(smallest)
    assert (np.diff(found.row) >= 0).all()


@settings(deadline=None)
@given(codes=tables)
def test_the_other_score(codes):
    wanted = minimal_sets(codes, codes.shape[1])
    check(codes, special_uniques(codes, score="shares"), wanted, lambda m, s: (2 ** (m - s) - 1) / comb(m, s))


@settings(deadline=None)
@given(codes=tables)
def test_counted_patterns_give_what_their_records_do(codes):
    patterns, first, counts = np.unique(codes, axis=0, return_index=True, return_counts=True)
    of_records, of_patterns = special_uniques(codes), special_uniques(patterns, counts)
    assert of_patterns.score.tolist() == of_records.score[first].tolist()
    assert of_patterns.holding.tolist() == of_records.holding.tolist()


def test_records_in_parts(monkeypatch):
    codes = np.random.default_rng(4).integers(-1, 5, (300, 5))
    whole = special_uniques(codes, smallest_sets=True)
    monkeypatch.setattr(module, "_MEMORY", 8 * 37)
    parts = special_uniques(codes, smallest_sets=True)
    for name in ("score", "smallest", "holding", "row", "sets"):
        assert getattr(parts, name).tolist() == getattr(whole, name).tolist()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint64, np.bool_])
def test_codes_of_any_type(dtype):
    codes = np.array([[0, 1], [1, 1], [1, 0]])
    was = codes.astype(dtype)
    assert special_uniques(was).score.tolist() == special_uniques(codes).score.tolist() == [1, 1, 1]
    assert (was == codes).all()


def test_large_codes():
    codes = np.random.default_rng(5).integers(-1, 4, (60, 3))
    assert special_uniques(codes * 10**12).score.tolist() == special_uniques(codes).score.tolist()


def test_nothing_there():
    assert special_uniques(np.zeros((0, 3), dtype=int)).score.tolist() == []
    assert special_uniques(np.zeros((2, 0), dtype=int)).score.tolist() == [0, 0]
    assert special_uniques(np.full((3, 2), -1)).by_size.tolist() == [0, 0]


@pytest.mark.slow
def test_many_keys_need_a_size():
    codes = np.random.default_rng(6).integers(0, 3, (40, 20))
    with pytest.raises(DataError, match="max_size"):
        special_uniques(codes)
    check(
        codes,
        special_uniques(codes, max_size=3, smallest_sets=True),
        minimal_sets(codes, 3),
        lambda m, s: factorial(m - s),
    )
    with pytest.raises(DataError, match="too many"):
        special_uniques(np.zeros((2, 40), dtype=int), max_size=20)
    with pytest.raises(DataError, match="at least 1"):
        special_uniques(codes, max_size=0)
    with pytest.raises(DataError, match="63"):
        special_uniques(np.zeros((2, 64), dtype=int), max_size=1)


def test_scaled_scores():
    score = np.array([0.0, 1.0, 4.0])
    wanted = [0, *(1 / (1 + 6 * 0.9 / (0.1 * s**1.25 * (1 + 4**-1.25))) for s in (1, 4))]
    assert dis_suda(score, 3, 6, 0.1).tolist() == pytest.approx(wanted, rel=1e-7)
    assert dis_suda(score, 3, 0, 0.1) is None
    assert dis_suda(score, 28, 6, 0.1) is None
    few, many = dis_suda(score, 27, 6, 0.1)[1:]
    assert few < many
    assert dis_suda(score, 3, 6, 1.0).tolist() == [0, 1, 1]
    for fraction in (0.0, 1.1, float("nan")):
        with pytest.raises(DataError, match="fraction"):
            dis_suda(score, 3, 6, fraction)
