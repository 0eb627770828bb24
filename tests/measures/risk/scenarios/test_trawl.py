"""Trawling against its definition."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.kernels.classes.special_uniques import special_uniques
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers.coding import coded
from sfumato.measures.risk.linkers.linkers import scorings
from sfumato.measures.risk.scenarios.attacks import Attacked, reached
from sfumato.measures.risk.scenarios.trawl import fit, oddest

KEYS = ("a", "b", "c", "d")


def table(n, seed):
    rng = np.random.default_rng(seed)
    p = np.array([0.5, 0.3, 0.15, 0.05])
    return pl.DataFrame(
        {k: rng.choice([0, 1, 2, None], n, p=p).tolist() for k in KEYS}, schema=dict.fromkeys(KEYS, pl.Int64)
    )


PEOPLE, OTHERS = table(400, 1), table(200, 2)
FIELD = coded(Known(PEOPLE, PEOPLE, Codebook(), KEYS, control=OTHERS), KEYS)


def test_the_oddest_are_those_with_the_highest_scores():
    codes = PEOPLE.select(pl.all().fill_null(-1)).to_numpy()  # a missing key makes nobody odd
    score = special_uniques(codes).score
    rows = oddest(FIELD)
    assert len(rows) == min(4, int((score > 0).sum()))
    assert sorted(score[rows]) == sorted(np.sort(score)[-len(rows) :])


def test_nobody_is_odd_among_people_alike():
    same = pl.DataFrame({k: ["u"] * 50 for k in KEYS})
    field = coded(Known(same, same, Codebook(), KEYS), KEYS)
    assert not len(oddest(field))
    assert reached("trawl", Attacked(field, 1.0, 10**9)) == []


def test_a_record_fits_whom_it_is_nearest_to():
    rows = np.arange(400)
    known = pl.concat([PEOPLE, OTHERS]).select(pl.all().fill_null(-1)).to_numpy()
    d = (known[:400, None, :] != known[None]).sum(axis=2)
    ring = d == d.min(axis=1, keepdims=True)
    found = fit(FIELD, rows, scorings(FIELD, rows).of["nearest"], 1.0, sure=False)
    assert found.right == pytest.approx(np.diag(ring[:, :400]) / ring.sum(axis=1))
    assert ring[rows, found.person].all()


def test_claims_are_sure_of_persons_and_some_are_of_the_control():
    found = reached("trawl", Attacked(FIELD, 400 / 600, 10**9))
    told = {(f.measure, f.linker): f.value for f in found}
    for linker in ("fellegi_sunter", "fellegi_sunter_best"):
        claims, wrong = told["match_claims", linker], told["match_on_control", linker]
        assert 0 <= wrong <= claims <= 4


def test_more_than_twelve_keys_are_searched_in_small_sets():
    rng = np.random.default_rng(4)
    wide = pl.DataFrame({f"k{i}": rng.integers(0, 2, 100) for i in range(14)})
    field = coded(Known(wide, wide, Codebook(), tuple(wide.columns)), wide.columns)
    assert len(oddest(field)) <= 1
