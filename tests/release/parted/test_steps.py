"""What is told of how steps run is how they run."""

from dataclasses import dataclass, field

import pytest

from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import DataError
from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan
from sfumato.release.parted.steps import check_strata, how_steps_run
from sfumato.release.run import run_step
from tests.methods.tables import PEOPLE_BOOK, lawful, people

STEPS = [pytest.param(step, id=f"{name}-{i}") for name in methods() for i, step in enumerate(lawful(name))]


@dataclass(frozen=True)
class Watching(PolarsDataset):
    """Remembers over what it was mapped and how often it was asked."""

    seen: list = field(default_factory=list)

    def ask_all(self, queries):
        self.seen.append("asked" if queries else "")
        return [self.ask(query) for query in queries]

    def map(self, f, by=None, codebook=None):
        if by is not None:
            self.seen.append("stratum")
        return super().map(f, by, codebook)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_runs_as_it_is_said_to(step):
    data = Watching(people(), PEOPLE_BOOK)
    run_step(step, data, Draws(bytes(16)))
    (told,) = how_steps_run(Plan(steps=[step]), PEOPLE_BOOK)
    assert told.how == ("stratum" if "stratum" in data.seen else "batch")
    assert told.passes >= max(1, data.seen.count("asked"))
    assert told.passes <= max(1, data.seen.count("asked")) + 1, "at most a look more, that some parameters need"


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
