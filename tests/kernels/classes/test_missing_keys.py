import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import DataError
from sfumato.kernels.classes.missing_keys import count_with_missing, packed_rows, relying_on_wildcards


def pair_by_pair(codes, values, alpha):
    """The rule as it is stated, over all pairs of patterns."""
    out = []
    for i, a in enumerate(codes):
        if all(x < 0 for x in a):
            out.append(sum(values))
            continue
        total = values[i]
        for j, b in enumerate(codes):
            if i == j or any(x >= 0 and y >= 0 and x != y for x, y in zip(a, b, strict=True)):
                continue
            if all(y >= 0 for y in b):
                total += values[j]
            elif any(x < 0 for x in a) or any(y >= 0 for y in b):
                total += alpha * values[j]
        out.append(total)
    return out


def distinct(rows):
    codes, counts = np.unique(np.asarray(rows, dtype=np.int64), axis=0, return_counts=True)
    return codes, counts


@settings(max_examples=80, deadline=None)
@given(
    rows=st.integers(1, 4).flatmap(
        lambda m: st.lists(st.lists(st.integers(-1, 2), min_size=m, max_size=m), min_size=1, max_size=40)
    ),
    alpha=st.sampled_from([0.0, 0.3, 0.5, 1.0]),
    seed=st.integers(0, 5),
)
def test_it_is_what_all_pairs_give(rows, alpha, seed):
    codes, counts = distinct(rows)
    weights = np.random.default_rng(seed).uniform(1, 50, len(counts))
    found = count_with_missing(codes, counts, weights, alpha)
    np.testing.assert_allclose(found.f, pair_by_pair(codes, counts, alpha), rtol=1e-12)
    np.testing.assert_allclose(found.population, pair_by_pair(codes, weights, alpha), rtol=1e-12)


def test_as_a_category_every_pattern_stands_alone():
    codes, counts = distinct([[0, -1], [0, 1], [0, 1], [-1, -1]])
    found = count_with_missing(codes, counts, counts * 2.5)
    assert found.f.tolist() == counts.tolist()
    assert found.population.tolist() == (counts * 2.5).tolist()


def test_a_pattern_without_known_parts_counts_all_and_adds_to_no_complete_one():
    found = count_with_missing(np.array([[-1, -1], [0, 0], [0, -1]]), np.array([4, 2, 1]), alpha=0.5)
    assert found.f.tolist() == [7.0, 2.5, 5.0]


def test_there_may_be_no_pattern():
    assert len(count_with_missing(np.empty((0, 3), dtype=np.int64), np.empty(0, dtype=np.int64), alpha=1.0).f) == 0


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_alpha_is_a_share(alpha):
    with pytest.raises(DataError, match="alpha"):
        count_with_missing(np.array([[0]]), np.array([1]), alpha=alpha)


def test_rows_are_packed_in_their_order_however_wide_they_are():
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, 10**6, (200, 7))
    codes[100:] = codes[:100]
    codes[50:100, :4] = codes[:50, :4]
    packed = packed_rows(codes)
    assert packed[np.lexsort(codes.T[::-1])].tolist() == sorted(packed)
    assert len(set(packed.tolist())) == len(np.unique(codes, axis=0))


def test_who_relies_on_the_wildcard_reading():
    """At k = 2: (0, 0) has a gap to lean on, (0, 1) does not need one, (1, 1) has nobody; the gap itself leans too."""
    codes = np.array([[0, 0], [0, 1], [1, 1], [0, -1]])
    assert relying_on_wildcards(codes, np.array([1, 2, 1, 1]), 2) == 2


@pytest.mark.parametrize(
    ("file", "keys", "below"),
    [
        ("francdat", ["Key1", "Key2", "Key3", "Key4"], [4, 8, 8]),
        ("testdata", ["urbrur", "roof", "walls", "water", "sex"], [12, 24, 79]),
        ("free1", ["SEX", "MARSTAT", "EDUC1", "ETNI"], [91, 145, 235]),
    ],
)
def test_records_at_risk_as_the_field_counts_them(shared_data, file, keys, below):
    """Records with f < 2, 3, 5: figures of the R package sdcMicro 5.8.1."""
    rows = (
        pl.read_csv(shared_data / "sdcmicro" / f"{file}.csv", infer_schema_length=None)
        .select(keys)
        .to_numpy()
        .astype(np.int64)
    )
    codes, counts = distinct(rows)
    f = count_with_missing(codes, counts, alpha=1.0).f
    assert [int(counts[f < k].sum()) for k in (2, 3, 5)] == below
