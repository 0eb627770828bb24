import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.engines.polars import PolarsDataset
from sfumato.measures.measuring import Measuring
from sfumato.measures.subject import Subject
from sfumato.measures.utility.moved import MEASURE, NOT_FITTED
from tests.measures.utility.lost import lost

N = 40
rng = np.random.default_rng(8)
X, W = rng.normal(size=N), rng.normal(size=N)
TABLE = pl.DataFrame({"x": X, "w": W, "y": 1 + 2 * X - W + rng.normal(size=N)})
HOW = Measuring(model="y ~ x + w", family="linear")


def found(before, after, how=HOW, book=None):
    book = book or Codebook()
    subject = Subject(
        PolarsDataset(after, book.only(after.columns)),
        entering=PolarsDataset(before, book.only(before.columns)),
        how=how,
    )
    return MEASURE.compute(subject)


def share(*tables, **how):
    (line,) = found(*tables, **how)
    return line.value, line.at


def se_of_x():
    """The standard error of x's coefficient, by the textbook's formula."""
    design = np.column_stack([np.ones(N), X, W])
    y = TABLE["y"].to_numpy()
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    s2 = ((y - design @ beta) ** 2).sum() / (N - 3)
    return float(np.sqrt(s2 * np.linalg.inv(design.T @ design)[1, 1]))


@pytest.mark.parametrize(("moves", "expected"), [(0.0, 0.0), (0.9, 0.0), (1.1, 0.5)])
def test_a_coefficient_leaves_one_standard_error(moves, expected):
    """Adding c·x to the response moves the coefficient of x by c, and no other one."""
    after = TABLE.with_columns(y=pl.col("y") + moves * se_of_x() * pl.col("x"))
    assert share(TABLE, after) == (expected, 2.0)


def test_a_column_that_is_gone_or_holds_categories_has_moved():
    assert share(TABLE, TABLE.drop("w")).__getitem__(1) == 2.0
    assert share(TABLE, TABLE.drop("w"))[0] >= 0.5
    bands = TABLE.with_columns(w=pl.when(pl.col("w") > 0).then(pl.lit("above")).otherwise(pl.lit("below")))
    assert share(TABLE, bands)[0] >= 0.5
    assert share(TABLE, TABLE.drop("y")) == (1.0, 2.0)
    assert share(TABLE, TABLE.drop("x", "w").with_columns(z=1)) == (1.0, 2.0)


def test_the_release_has_a_category_less():
    """Its coefficient is gone; the other one stays to the last digit, for nobody else was changed."""
    towns = TABLE.with_columns(town=pl.Series(["a", "b", "c", "c"] * (N // 4)))
    how = Measuring(model="y ~ C(town)", family="linear")
    without = towns.with_columns(town=pl.when(pl.col("town") != "c").then("town"))
    assert share(towns, without, how=how) == (0.5, 2.0)


def test_without_a_model_and_an_outcome_there_is_none():
    assert found(TABLE, TABLE, how=Measuring()) == Findings()
    assert found(TABLE.drop("x"), TABLE).notes == (NOT_FITTED,)


STEPS = [{"do": "drop", "columns": ["w"]}]


def test_the_default_model_is_of_the_input():
    """The outcome on all others: a predictor that a step drops before anything else has moved."""
    frame = TABLE.with_row_index("id")
    lines = lost(STEPS, frame, y={"role": "outcome", "kind": "continuous"})
    assert lines.of("coefficients_moved").at == 2
    assert lines.of("coefficients_moved").value >= 0.5
    (same,) = lost([], frame, y={"role": "outcome", "kind": "continuous"}).select("coefficients_moved")
    assert same.value == 0.0


def test_a_model_of_a_column_that_a_step_prepares_is_compared_with_the_table_before_masking():
    frame = TABLE.with_row_index("id")
    plan = sf.Plan(
        variables={"id": {"role": "record"}},
        steps=[
            {"do": "derive", "column": "z", "formula": "x + w"},
            {"do": "noise", "columns": ["x"], "sd": 0.1},
        ],
    )
    report = sf.protect(plan, frame, secret=bytes(16), model="y ~ z", family="linear").report
    (line,) = report.findings.select("coefficients_moved")
    assert (line.value, line.at) == (0.0, 1.0)


def test_of_a_large_table_a_sample_is_looked_at():
    assert set(MEASURE.forms) == {"sample"}
