"""Who stands out, against counts by hand and by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.api.standing_out import RARE, standing_out
from sfumato.errors import DataError


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    rng = np.random.default_rng(11)
    n = 300
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m", None], n, p=[0.5, 0.45, 0.05]),
            "age": rng.integers(20, 80, n),
            "town": rng.choice(list("ABCDE"), n),
            "ill": rng.choice(["yes", "no"], n, p=[0.1, 0.9]),
            "w": rng.uniform(1, 9, n),
        }
    )


KEYS = ("sex", "age", "town")


def test_alone_and_rare_by_every_key_and_pair(people):
    found = standing_out(people, KEYS)
    sets = [KEYS, *((key,) for key in KEYS), *itertools.combinations(KEYS, 2)]
    for keys, told in zip(sets, (found.together, *found.singles, *found.pairs), strict=True):
        sizes = people.group_by(keys).len()["len"]
        assert told.keys == keys
        assert (told.classes, told.smallest) == (len(sizes), sizes.min())
        assert told.alone == (sizes == 1).sum()
        assert told.rare == sizes.filter(sizes < RARE).sum()


def test_sizes_hold_every_class_and_record_once(people):
    found = standing_out(people, KEYS)
    sizes = people.group_by(KEYS).len()["len"].to_numpy()
    assert sum(size.classes for size in found.sizes) == len(sizes)
    assert sum(size.records for size in found.sizes) == len(people)
    three = next(size for size in found.sizes if size.low == 3)
    assert (three.high, three.classes) == (4, int(((sizes >= 3) & (sizes <= 4)).sum()))


def test_expected_is_that_of_the_measure(people):
    found = standing_out(people, KEYS, weight="w")
    told = sf.risk(people, keys=KEYS, weight="w").of("expected_reidentifications").value
    assert found.expected == people.select(KEYS).n_unique()
    assert found.expected_population == pytest.approx(told, rel=1e-12)


def test_a_fraction_is_a_weight_that_all_share(people):
    by_weight = standing_out(people.with_columns(w=pl.lit(4.0)), KEYS, weight="w").expected_population
    assert standing_out(people, KEYS, fraction=0.25).expected_population == pytest.approx(by_weight, rel=1e-12)
    assert standing_out(people, KEYS).expected_population is None
    assert standing_out(people, KEYS, fraction=1).expected_population == pytest.approx(found_classes(people))


def found_classes(people: pl.DataFrame) -> float:
    return float(people.select(KEYS).n_unique())


def test_what_whole_classes_share():
    table = pl.DataFrame({"k": list("aaabbcdd"), "ill": ["y", "y", "y", "n", "y", "n", None, None]})
    (shared,) = standing_out(table, ["k"], sensitive=["ill"]).shared
    assert (shared.classes, shared.records, shared.lonely) == (2, 5, 1)  # a is all y, d all missing; c is alone


def test_many_values_are_counted_without_a_table_of_all_combinations():
    n = 5000
    table = pl.DataFrame({"a": np.arange(n), "b": np.arange(n)[::-1].copy()})
    (pair,) = standing_out(table, ["a", "b"]).pairs
    assert (pair.classes, pair.alone) == (n, n)


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"keys": []}, "at least one key"),
        ({"keys": ["shoe"]}, "no column 'shoe'"),
        ({"keys": ["sex"], "sensitive": ["sex"]}, "named as keys and as sensitive"),
        ({"keys": ["sex"], "fraction": 2}, "above 0 and at most 1"),
        ({"keys": ["sex"], "weight": "town"}, "not numeric"),
    ],
)
def test_what_cannot_be_is_said(people, how, said):
    with pytest.raises(DataError, match=said):
        standing_out(people, **how)
