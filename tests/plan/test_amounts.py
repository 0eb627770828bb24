"""Whole numbers that look like dates or codes are masked and smoothed only where somebody says what they are."""

import numpy as np
import polars as pl
import pytest

from sfumato.api.draft import draft
from sfumato.data.codebook import Codebook, Variable
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import PlanError
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from tests.release.scattered import Scattered

pytestmark = pytest.mark.usefixtures("one_draw")

N = 200
RNG = np.random.default_rng(4)
FRAME = pl.DataFrame(
    {
        "id": range(N),
        "seen": pl.Series([19500101 + 10000 * (i % 60) + 100 * (i % 12) + i % 28 for i in range(N)]),
        "region": RNG.integers(1, 150, N),
        "grade": RNG.choice([*range(11, 40), *range(51, 60)], N * 10)[:N],
        "income": RNG.integers(18_000_000, 21_000_000, N),
        "visits": RNG.integers(0, 60, N),
    }
)
STEPS = [
    {"do": "noise", "sd": 1},
    {"do": "swap", "window": 0.1, "perturb": 0.1},
    {"do": "top_code", "quantile": 0.9},
    {"do": "impute", "method": "median"},
    {"do": "synthesise", "smooth": True},
]


def enter(step, data=None, **variables):
    plan = Plan(variables={"id": {"role": "record"}, **variables}, steps=[step])
    return entered(plan, PolarsDataset(FRAME, Codebook()) if data is None else data)


@pytest.mark.parametrize("step", STEPS, ids=[step["do"] for step in STEPS])
@pytest.mark.parametrize(("column", "kind"), [("seen", "date"), ("region", "categorical")])
def test_dates_and_codes_need_a_kind(step, column, kind):
    """The message names the column and both lines that could be meant; with one of them the plan may run."""
    says = rf"step 1 \({step['do']}\) .*'{column}' .*{column}: {{kind: {kind}}}, or {column}: {{kind: integer}}"
    with pytest.raises(PlanError, match=says):
        enter({**step, "columns": [column]}, **{column: {"role": "other"}})
    enter({**step, "columns": [column]}, **{column: {"role": "other", "kind": "integer"}})


@pytest.mark.parametrize("column", ["income", "visits"])
def test_amounts_do_not(column):
    """Neither a large income nor a number of visits, whose digits may be those of days here and there."""
    for step in STEPS:
        enter({**step, "columns": [column]}, **{column: {"role": "other"}})


def test_what_the_file_says_and_what_does_not_average_is_let_be():
    noise = {"do": "noise", "sd": 1, "columns": ["region"]}
    for known in (Variable(kind="integer"), Variable(measure="scale")):
        book = Codebook({"region": known})
        enter(noise, PolarsDataset(FRAME, book), region={"role": "other"})
    enter({"do": "swap", "window": 0.1, "columns": ["region"]}, region={"role": "other"})  # values stay values
    steps = [{"do": "derive", "column": "region", "formula": "region * 2"}, noise]
    entered(Plan(variables={"id": {"role": "record"}}, steps=steps), PolarsDataset(FRAME, Codebook()))


def test_all_are_told_at_once_and_off_memory_too():
    step = {"do": "noise", "sd": 1, "columns": ["seen", "region", "visits"]}
    said = {n: {"role": "other"} for n in step["columns"]}
    for data in (None, Scattered.of(FRAME, Codebook())):
        with pytest.raises(PlanError) as caught:
            enter(step, data, **said)
        assert len(caught.value.problems) == 2
        assert not any(str(value) in str(caught.value) for value in FRAME["seen"].to_list())


def test_what_init_writes_is_never_refused_for_it():
    drafted = Plan.from_yaml(draft(FRAME, "people").text)
    assert drafted.variables["seen"].kind == "date"
    noisy = Plan(variables=drafted.variables, steps=[{"do": "noise", "sd": 1, "columns": ["seen", "region", "visits"]}])
    noisy.check_amounts(FRAME, Codebook())
