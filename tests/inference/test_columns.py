"""Split columns multiplied together must be the design that `build_design` writes."""

import numpy as np
import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.design import build_design
from sfumato.data.formula import parse_formula
from sfumato.inference.columns import split_columns

FRAME = pl.DataFrame(
    {"a": [0.5, -1.0, 2.0, 3.0], "b": [1.0, 2.0, 0.0, -1.0], "s": ["f", "m", "f", "m"], "t": ["x", "y", "z", "z"]}
)
LEVELS = {"s": ("f", "m"), "t": ("x", "y", "z")}
CODES = {"s": np.array([0, 1, 0, 1]), "t": np.array([0, 1, 2, 2])}


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ a + s",
        "y ~ a*s + t",
        "y ~ 0 + s:t + a:b",
        "y ~ s*t*a",
        "y ~ 0 + a:t",
        "y ~ 1",
        "y ~ C(s):a",
        "y ~ a + I(a^2)",
        "y ~ s*I(a^3) + b:I(b^2)",
        "y ~ 0 + I(a^2):b:t",
    ],
)
@pytest.mark.parametrize("hidden", [(), ("a",), ("s", "b"), ("a", "b", "s", "t")])
def test_the_parts_multiply_to_the_design(formula, hidden):
    parsed = parse_formula(formula)
    design = build_design(FRAME, Codebook(), parsed.terms, intercept=parsed.intercept)
    used = {f.name for term in parsed.terms for f in term}
    columns = split_columns(
        parsed.terms, parsed.intercept, {n: v for n, v in LEVELS.items() if n in used}, used & {"a", "b"}
    )
    values = {n: CODES[n] if n in CODES else FRAME[n].to_numpy() for n in used}
    known = columns.product({n: v for n, v in values.items() if n not in hidden}, 4)
    rest = columns.product({n: v for n, v in values.items() if n in hidden}, 4)
    assert columns.labels == design.labels
    np.testing.assert_allclose(known * rest, design.matrix())


def test_a_power_is_the_variable_several_times():
    columns = split_columns(parse_formula("y ~ I(a^2) + C(s):I(a^3) + a:I(a^2)").terms, False, {"s": ("f", "m")}, ["a"])
    assert columns.labels == ("I(a^2)", "C(s)[f]:I(a^3)", "C(s)[m]:I(a^3)", "a:I(a^2)")
    assert columns.parts == (
        (("a", None),) * 2,
        (*(("a", None),) * 3, ("s", 0)),
        (*(("a", None),) * 3, ("s", 1)),
        (("a", None),) * 3,
    )
    assert columns.product({"a": np.array([2.0, -3.0]), "s": np.array([0, 1])}, 2).tolist() == [
        [4, 8, 0, 8],
        [9, 0, -27, -27],
    ]


def test_columns_tell_whose_they_are():
    columns = split_columns(parse_formula("y ~ a*b + s").terms, True, {"s": ("f", "m")}, ["a", "b"])
    assert columns.with_any({"a", "b"}) == ((), ("a",), ("b",), (), ("a", "b"))


def test_a_message_names_variables_and_no_category():
    columns = split_columns(parse_formula("y ~ a + I(a^2) + s*a + t").terms, True, LEVELS, ["a"])
    assert any("[T.m]" in label for label in columns.labels)
    assert columns.public(columns.labels) == "Intercept, a, I(a^2), s, t, a:s"
