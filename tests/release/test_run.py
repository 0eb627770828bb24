import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.draws import PUBLIC
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import EmptyRelease
from sfumato.methods.complete_cases import CompleteCases
from sfumato.methods.drop import Drop
from sfumato.methods.suppress_strata import SuppressStrata
from sfumato.release.run import run_steps

BOOK = Codebook({"town": Variable(kind="categorical"), "age": Variable(kind="integer")})
FRAME = pl.DataFrame({"town": ["a", "b", "c", None], "age": [20, 30, 40, 50]})
ENGINES = [PolarsDataset, DuckDBDataset.of]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_record_left_is_refused_with_the_steps_that_left_them_out(engine):
    small = SuppressStrata(by=("town",), min_count=2, max_suppressed=1)
    steps = [Drop(columns=["age"]), CompleteCases(columns=["town"]), small, Drop(columns=["town"])]
    with pytest.raises(EmptyRelease, match="No record is left") as told:
        run_steps(steps, engine(FRAME, BOOK), PUBLIC)
    assert "step 2 (complete_cases) and step 3 (suppress_strata)" in str(told.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_column_left_is_refused_with_the_steps_that_dropped_them(engine):
    steps = [Drop(columns=["age"]), CompleteCases(columns=["town"]), Drop(columns=["town"])]
    with pytest.raises(EmptyRelease, match=r"No column is left .*step 1 \(drop\) and step 3 \(drop\)"):
        run_steps(steps, engine(FRAME, BOOK), PUBLIC)


def test_an_empty_table_may_stay_so():
    ran = run_steps([CompleteCases(columns=["town"])], PolarsDataset(FRAME.clear(), BOOK), PUBLIC)
    assert ran.after.frame.height == 0
