"""What is told of how steps run is how they run."""

import pytest

from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.plan.passes import check_strata
from sfumato.plan.plan import Plan
from tests.methods.tables import PEOPLE_BOOK, people


@pytest.mark.parametrize(
    ("step", "names"),
    [
        ({"do": "swap", "columns": ["y"], "by": ["g"], "random": True}, ["stratum of g", "finer columns in `by`"]),
        ({"do": "shuffle", "columns": ["x"], "given": ["y"]}, ["the table, which is one stratum"]),
    ],
)
def test_a_stratum_that_is_too_large_is_refused_without_its_size_or_category(step, names):
    data = PolarsDataset(people(), PEOPLE_BOOK)
    plan = Plan(steps=[step])
    check_strata(plan, data, 120)
    with pytest.raises(DataError) as told:
        check_strata(plan, data, 20)
    assert all(name in str(told.value) for name in names)
    assert not any(str(size) in str(told.value) for size in (*people()["g"].value_counts()["count"], 120))


def test_strata_of_columns_that_a_step_changes_are_not_told_before_it_ran():
    recode = {"do": "recode", "columns": ["g"], "map": {"a": "b"}}
    plan = Plan(steps=[recode, {"do": "swap", "columns": ["y"], "by": ["g"], "random": True}])
    check_strata(plan, PolarsDataset(people(), PEOPLE_BOOK), 20)
