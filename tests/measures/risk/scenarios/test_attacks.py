"""What intruders reach, from what linkers found."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.measures.confidence import wilson
from sfumato.measures.known import Known
from sfumato.measures.risk.linkers.coding import coded
from sfumato.measures.risk.scenarios.attacks import Attacked, reached

BOOK = Codebook({"a": Variable(kind="categorical"), "x": Variable(kind="continuous")})


def unique(n):
    return pl.DataFrame({"a": [f"t{i % 7}" for i in range(n)], "x": [10.0 * i for i in range(n)]})


def of(figures, measure, linker):
    return next(f for f in figures if (f.measure, f.linker) == (measure, linker))


def test_unmasked_uniques_are_all_found_claimed_and_right():
    field = coded(Known(unique(60), unique(60), BOOK, ("a", "x")), ("a", "x"))
    found = reached("neighbour", Attacked(field, 1.0, 10**9))
    assert of(found, "match_correct", "nearest").value == 1.0
    assert of(found, "match_correct", "nearest").interval == wilson(60, 60)
    for linker in ("fellegi_sunter", "fellegi_sunter_best"):
        assert of(found, "match_correct", linker).at is None
        assert of(found, "match_precision", linker).value in (None, 1.0)
        assert of(found, "match_claims", linker).at == 0.9
    assert not any(f.measure == "match_on_control" for f in found)


def test_no_claim_leaves_no_precision():
    same = pl.DataFrame({"a": ["u"] * 20, "x": [1.0] * 20})
    found = reached("neighbour", Attacked(coded(Known(same, same, BOOK, ("a", "x")), ("a", "x")), 1.0, 10**9))
    assert of(found, "match_correct", "nearest").value == pytest.approx(1 / 20)
    assert of(found, "match_claims", "fellegi_sunter").value == 0.0
    assert of(found, "match_precision", "fellegi_sunter").value is None


def test_a_file_with_strangers_makes_claims_on_them():
    rng = np.random.default_rng(3)
    names = ["a", "b", "c", "d", "e"]

    def table(n):
        return pl.DataFrame({k: rng.choice([f"v{i}" for i in range(6)], n) for k in names})

    people, others = table(300), table(300)
    field = coded(Known(people, people, Codebook(), tuple(names), control=others), names)
    sure, unsure = (reached("cross_match", Attacked(field, s, 10**9)) for s in (1.0, 0.05))
    claims = of(sure, "match_claims", "fellegi_sunter_best").value
    assert claims >= of(sure, "match_on_control", "fellegi_sunter_best").value > 0
    assert of(unsure, "match_claims", "fellegi_sunter_best").value < claims  # who expects few to be there claims less


def test_the_ten_most_certain_are_ten():
    field = coded(Known(unique(60), unique(60), BOOK, ("a", "x")), ("a", "x"))
    found = reached("claim", Attacked(field, 1.0, 10**9))
    assert {f.linker for f in found} == {"fellegi_sunter", "fellegi_sunter_best"}
    assert of(found, "match_correct", "fellegi_sunter").value == 1.0
    assert of(found, "match_correct", "fellegi_sunter").interval == wilson(10, 10)
