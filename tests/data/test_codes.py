"""What tells codes from amounts."""

from __future__ import annotations

import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.codes import why_codes
from sfumato.data.kinds import facts_of


def why(name, values, **known):
    book = Codebook({name: Variable.model_validate(known)})
    return why_codes(facts_of(pl.DataFrame({name: values}), name, book))


DIVISIONS = [11, 12, 13, 14, 21, 22, 23, 31, 32, 33, 41, 42] * 5


@pytest.mark.parametrize(
    ("name", "values", "known"),
    [
        ("region", [*range(50)] * 3, {}),
        ("OCCUCODE", [*range(200)], {}),
        ("educ2", [*range(12)] * 9, {}),
        ("x", DIVISIONS, {}),
        ("x", [float(v) for v in DIVISIONS], {}),
        ("x", [1.0, 2.0] * 5, {}),
        ("x", [*range(20)] * 2, {"labels": {v: f"class {v}" for v in range(15)}}),
    ],
)
def test_codes(name, values, known):
    assert why(name, values, **known)


@pytest.mark.parametrize(
    ("name", "values", "known"),
    [
        ("meal.cal", [96, 131, 238, 280, 288, 338, 350, 375, 384, 413, 425, 463] * 6, {}),
        ("x", [*range(12)] * 9, {}),
        ("x", [10 * v for v in range(12)] * 9, {}),  # rounded, and no gap
        ("age", DIVISIONS, {}),
        ("state_tax", [*range(50)] * 3, {}),
        ("education_years", [*range(20)] * 3, {}),
        ("x", [*range(30), 35, 41, 60] * 2, {}),  # the thin end of amounts
        ("x", [*range(18, 90)] * 2, {"labels": {89: "89 or more"}}),
        ("region", [0.5, 1.5], {}),
        ("region", ["a", "b"], {}),
        ("region", [None, None], {}),
    ],
)
def test_amounts(name, values, known):
    assert why(name, values, **known) is None


def test_reasons_hold_no_values():
    assert not any(digit in why("x", DIVISIONS) for digit in "0123456789")
