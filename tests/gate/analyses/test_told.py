import json

import numpy as np
import pytest

from sfumato.data.disclosure import Disclosure, Protected
from sfumato.draws import Draws
from sfumato.gate.analyses.fitting import exact_fit, protected_fit
from sfumato.gate.analyses.problem import problem_of
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.analyses.told import COLUMNS, content_of_fit
from sfumato.gate.margin import canonical_json
from tests.gate.analyses.people import SECRET, records

DATA = records()


def content(kind="logistic", formula="died ~ age + sex", protected=True, **more):
    problem = problem_of(DATA, read_analysis(DATA, kind, formula, **more))
    if not protected:
        return content_of_fit("ward", problem, exact_fit(problem), None)
    fit = protected_fit(problem, Draws(SECRET), 4)
    return content_of_fit("ward", problem, fit.told, fit)


def test_figures_are_kept_as_texts():
    told = content()
    assert told["columns"] == list(COLUMNS)
    assert [row[0] for row in told["rows"]] == ["Intercept", "age", "sex[T.M]"]
    assert json.loads(canonical_json(told)) == told
    assert not told["exact"]


def test_protected_figures_have_two_digits():
    for row in content()["rows"]:
        for figure in (row[2], row[3], row[6]):
            assert float(f"{float(figure):.1e}") == float(figure)


def test_exact_figures_are_whole():
    told = content(formula="died ~ sex", protected=False)
    fit = exact_fit(problem_of(DATA, read_analysis(DATA, "logistic", "died ~ sex")))
    np.testing.assert_allclose([float(row[1]) for row in told["rows"]], fit.estimate, rtol=1e-11)
    assert told["exact"]
    assert {float(row[3]) for row in told["rows"]} == {0.0}


def test_the_disclosure_is_a_part_that_can_be_read():
    kept = content()["disclosure"]
    sentence = kept.pop("sentence")
    part = Protected.model_validate(
        {k: float(v) if k in ("tau", "widening", "subsample") else v for k, v in kept.items()}
    )
    assert Disclosure([part]).sentences() == (sentence,)
    assert f"{part.widening:g} times as wide" in sentence
    assert part.n % 10 == 0


@pytest.mark.parametrize(
    ("kind", "formula", "labels"),
    [
        ("mean", "cost ~ 1", ["mean of cost"]),
        ("mean", "cost ~ sex", ["sex[F]", "sex[M]"]),
        ("quantile", "cost ~ 1", ["0.5 quantile of cost"]),
        ("correlation", "cost ~ age", ["cost:age"]),
        ("t", "cost ~ sex", ["Intercept", "sex[T.M]"]),
    ],
)
def test_estimates_are_named(kind, formula, labels):
    assert [row[0] for row in content(kind, formula)["rows"]] == labels
