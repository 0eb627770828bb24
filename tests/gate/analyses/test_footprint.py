import itertools

import numpy as np
import polars as pl
import pytest

from sfumato.gate.analyses.fitting import exact_fit
from sfumato.gate.analyses.footprint import footprint
from sfumato.gate.analyses.problem import problem_of
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.margin import Node
from sfumato.gate.reading import records_of
from tests.gate.analyses.people import records

DATA = records()


def labels(kind, formula, data=DATA, **more):
    found = footprint(data, read_analysis(data, kind, formula, **more))
    return None if found is None else {margin.label for margin in found}


@pytest.mark.parametrize(
    ("kind", "formula", "wanted"),
    [
        ("logistic", "died ~ sex + ward", {"died,sex", "died,ward", "sex,ward"}),
        ("logistic", "died ~ sex*ward", {"died,sex,ward"}),
        ("logistic", "died ~ sex:ward", {"died,sex,ward"}),
        ("logistic", "died ~ sex", {"died,sex"}),
        ("probit", "died ~ sex + ward", {"died,sex,ward"}),
        ("logistic", "died ~ `age@band` + sex", {"age@band,died", "died,sex", "age@band,sex"}),
        ("poisson", "visits ~ sex + ward", {"sex,visits", "visits,ward", "sex,ward"}),
        ("linear", "cost ~ sex", {"cost|sex", "squares of cost|"}),
        ("linear", "cost ~ sex + ward", {"cost|sex", "cost|ward", "sex,ward", "squares of cost|"}),
        ("linear", "cost ~ sex*ward", {"cost|sex,ward", "squares of cost|"}),
        ("mean", "cost ~ 1", {"cost|", "squares of cost|"}),
        ("t", "age ~ sex", {"age|sex", "squares of age|"}),
        ("correlation", "cost ~ visits", {"cost|visits", "squares of cost|"}),
        ("quantile", "age ~ 1", {"age"}),
    ],
)
def test_the_tables_that_a_fit_follows_from(kind, formula, wanted):
    assert labels(kind, formula) == wanted


def test_what_cuts_the_scope_is_in_every_table():
    got = labels("logistic", "died ~ sex", where={Node("ward"): ["a"]})
    assert got == {"died,sex,ward"}
    assert labels("logistic", "died ~ smoker + sex") == {"died,sex,smoker@(known)", "died,smoker", "sex,smoker"}


def test_too_large_a_table_is_none():
    assert labels("poisson", "visits ~ age*gp*ward*weeks*sex*stay") is None


def test_tables_are_cut_by_who_lacks_a_number():
    """Numbers of which there are too many to be codes as well."""
    many = 100_002
    rows = pl.DataFrame({"a": ["x", "y"] * (many // 2), "y": np.arange(many) / 7})
    assert labels("linear", "y ~ a", records_of(rows)) == {"y|a", "squares of y|"}
    gaps = rows.with_columns(y=pl.when(pl.col("a") != pl.col("a").shift(1)).then("y"))
    assert labels("linear", "y ~ a", records_of(gaps)) == {"y|@known of y,a", "squares of y|@known of y"}


def test_linear_fits_are_equal_where_the_sums_are():
    """Within cells of both factors three people exchange what leaves sum and squares: 1, 5, 6 are 2, 3, 7."""
    rng = np.random.default_rng(4)
    frame = pl.DataFrame({"a": rng.choice(["x", "y"], 600), "b": rng.choice(["p", "q", "r"], 600)})
    frame = frame.with_columns(y=pl.Series(rng.normal(50, 9, 600)))
    rows = np.flatnonzero((frame["a"] == "x").to_numpy() & (frame["b"] == "q").to_numpy())[:3]
    fits = []
    for triple in ([1, 5, 6], [2, 3, 7]):
        y = frame["y"].to_numpy().copy()
        y[rows] = triple
        data = records_of(frame.with_columns(y=pl.Series(y)))
        fits.append(exact_fit(problem_of(data, read_analysis(data, "linear", "y ~ a + b"))))
    np.testing.assert_allclose(fits[0].estimate, fits[1].estimate, rtol=1e-9)
    np.testing.assert_allclose(fits[0].se, fits[1].se, rtol=1e-9)


def pattern(count, seed):
    """People of a 2 x 2 x 2 table, all cells well filled."""
    rng = np.random.default_rng(seed)
    cells = list(itertools.product("01", repeat=3))
    return {cell: int(many) for cell, many in zip(cells, rng.integers(20, 60, 8) + count, strict=True)}


def fitted(kind, table):
    frame = pl.DataFrame([{"y": y, "a": a, "b": b, "n": n} for (y, a, b), n in table.items()])
    data = records_of(frame, count="n")
    return exact_fit(problem_of(data, read_analysis(data, kind, "y ~ a + b"))).estimate


@pytest.mark.parametrize("seed", range(5))
def test_fits_are_equal_where_the_tables_are(seed):
    """A move that changes no two-way table changes no logit of main effects; it changes the saturated one."""
    one = pattern(0, seed)
    other = {cell: many + (-1) ** cell.count("1") * 7 for cell, many in one.items()}
    np.testing.assert_allclose(fitted("logistic", one), fitted("logistic", other), atol=1e-8)
    assert np.abs(fitted("probit", one) - fitted("probit", other)).max() > 1e-4
