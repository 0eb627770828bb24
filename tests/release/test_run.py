import polars as pl
import pytest

from sfumato.data.codebook import Codebook, Variable
from sfumato.data.dataset import rows as rows_of
from sfumato.draws import PUBLIC
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import EmptyRelease
from sfumato.methods.centroids import Centroids
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
    assert rows_of(ran.after).height == 0


def test_progress_tells_each_step_and_the_share_of_the_work_before_it():
    told = []
    people = pl.DataFrame({"id": range(40), "age": [20 + i % 31 for i in range(40)]})
    book = Codebook({"id": Variable(role="record"), "age": Variable(kind="integer")})
    steps = [CompleteCases(columns=["age"]), Centroids(columns=["age"], k=5), CompleteCases(columns=["age"])]
    run_steps(steps, PolarsDataset(people, book), PUBLIC, lambda what, share: told.append((what, share)))
    assert [what for what, _ in told] == [
        "step 1 of 3: complete_cases",
        "step 2 of 3: centroids",
        "step 3 of 3: complete_cases",
    ]
    assert [share for _, share in told] == pytest.approx([0, 1 / 52, 51 / 52])  # efforts 1, 50, 1
