"""How findings become a `Fit`, where there are none as well."""

import json

import numpy as np
import polars as pl

from sfumato.data.codebook import Codebook
from sfumato.data.formula import parse_formula
from sfumato.inference.columns import split_columns
from sfumato.inference.estimators.naive import naive_fit
from sfumato.inference.outcome import read_outcome
from sfumato.inference.problem import Problem
from sfumato.inference.work import Work


def work(family="probit"):
    table = pl.DataFrame({"y": [1.0] * 6 + [0.0] * 4})
    outcome = read_outcome(table, Codebook(), "y", family, [])
    problem = Problem(split_columns((), True, {}, []), {}, outcome, np.ones(10))
    return Work(parse_formula("y ~ 1"), family, problem, naive_fit(problem, family), None, 0.95, ("First.",))


def test_no_estimate_leaves_the_naive_fit():
    found = work().nothing("ml", "The noise is too strong.")
    told = json.loads(json.dumps(found.to_plain(), allow_nan=False))
    assert [told["terms"][0][key] for key in ("estimate", "se", "low", "high", "p")] == [None] * 5
    assert np.isclose(told["terms"][0]["naive"], 0.2533, atol=1e-4)  # the normal quantile of .6
    assert (told["converged"], told["se_rule"]) == (False, None)
    assert told["notes"] == ["The noise is too strong.", "First."]
    assert "0.2533" in found.summary()
