"""The laws that every method keeps (`sfumato.testing`), run over the whole registry.

Each method's own test file lists, as `LAWFUL`, the steps that are run here, on the table `with_missing`.
"""

import contextlib
from functools import cache

import polars as pl
import pytest

from sfumato.data.disclosure import Coarsened
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import Spill
from sfumato.methods.registry import methods
from sfumato.plan.passes import how_steps_run
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from sfumato.testing.methods import SECRET, StepLaws
from sfumato.testing.tables import PEOPLE, people, with_missing
from tests.laws.steps import TELLING, cases, each_step, each_step_with, telling
from tests.methods.tables import lawful

HERE = "tests/laws/test_methods.py"
BANDING = [name for name, method in methods().items() if "band" in method.model_fields]


@pytest.fixture(scope="module")
def spill():
    with contextlib.closing(Spill()) as opened:
        yield opened


@cache
def held(do, number):
    """A step and what it makes of the table, made once for all laws."""
    return StepLaws(lawful(do)[number], with_missing(), PEOPLE)


def unmarked(params):
    return {p.values for p in params if not p.marks}


def test_every_method_is_held_to_the_laws():
    """One that is brought tomorrow too, by one of its steps at each change; the others are slow."""
    assert all(lawful(name) for name in methods())
    assert any(step.band for name in BANDING for step in lawful(name))
    assert {do for do, _ in unmarked(cases())} == set(methods())
    assert unmarked(cases()) == {(do, i) for do in methods() for i in telling(do)}
    assert TELLING.keys() <= methods().keys()
    assert {p.values for p in cases()} == {(do, i) for do in methods() for i in range(len(lawful(do)))}


@each_step_with("seed", (1, 2), f"{HERE}::test_law_1_order_changes_nothing")
def test_law_1_order_changes_nothing(do, number, seed):
    held(do, number).order_changes_nothing(seed)


@each_step_with("rows", (7, 1, 50), f"{HERE}::test_law_1_partition_changes_nothing")
def test_law_1_partition_changes_nothing(do, number, rows):
    held(do, number).partition_changes_nothing(rows)


@each_step()
def test_law_2_every_engine_gives_the_same_release(do, number, spill):
    """To the bit, with parts so short that batches divide whatever may be divided."""
    held(do, number).every_engine_gives_the_same(spill)


@each_step()
def test_law_3_ids_and_untouched_columns_survive(do, number):
    """Where a step gives other ids, one for each, the rows of these have what the old ids' had."""
    held(do, number).ids_and_other_columns_survive()


@each_step(every=True)
def test_law_4_a_step_reads_back_from_yaml_as_itself(do, number):
    held(do, number).reads_back_from_yaml_as_itself()


@each_step(every=True)
def test_law_4_any_parameter_changes_the_hash(do, number):
    held(do, number).any_parameter_changes_the_hash()


@each_step()
def test_law_5_same_secret_same_output(do, number):
    held(do, number).same_secret_same_release()


@each_step()
def test_steps_leave_the_input_alone_and_no_hidden_columns(do, number):
    held(do, number).input_stays_and_nothing_hidden_leaves()


@each_step()
def test_law_5_another_secret_changes_draws_and_nothing_that_is_told(do, number):
    held(do, number).another_secret_changes_only_draws()


@each_step()
def test_law_6_a_disclosure_speaks_of_released_columns_or_of_ones_that_went(do, number):
    held(do, number).disclosure_speaks_of_known_columns()


@each_step(*BANDING, every=True)
def test_law_6_every_value_lies_in_the_interval_that_its_band_tells(do, number):
    """Values on cut points too; a label that is no band stands for no value."""
    step = lawful(do)[number]
    if not step.band:
        return
    cuts = pl.Series("n", [*range(-9, 60), -9, None], dtype=pl.Int64)
    frame = people(cuts.len()).with_columns(n=cuts, x=cuts.cast(pl.Float64) / 4, y=cuts.cast(pl.Float64) / 5)
    ran = run_steps([step], PolarsDataset(frame, PEOPLE), Draws(SECRET))
    told = [part for part in ran.disclosure if isinstance(part, Coarsened) and part.bands]
    assert {n for part in told for n in part.columns} == set(step.columns)
    for part in told:
        for name in part.columns:
            true = frame.select(value=pl.col(name), missing=PEOPLE.missing(name, frame.schema[name]))
            labels = ran.after.frame[name]
            assert set(part.bands) <= set(labels)
            for value, missing, label in zip(true["value"], true["missing"], labels, strict=True):
                assert missing == (label not in part.bands)
                low, high = part.bands.get(label, (None, None))
                assert missing or ((low is None or low <= value) and (high is None or value < high))


@each_step(every=True)
def test_law_7_no_data_value_is_in_a_disclosed_sentence(do, number):
    held(do, number).no_value_is_in_a_sentence()


@each_step(every=True)
def test_law_8_a_column_that_is_not_there_is_refused_before_data_are_touched(do, number):
    held(do, number).a_missing_column_is_refused()


@each_step(every=True)
def test_law_9_it_asks_and_gathers_as_it_says(do, number):
    """Where rows are not in memory, at most a look more than is needed is told, that some parameters take."""
    held(do, number).it_asks_and_gathers_as_it_says()
    (told,) = how_steps_run(Plan(steps=[lawful(do)[number]]), PEOPLE)
    assert told.how == ("stratum" if methods()[do].whole_strata else "batch")
    assert 1 <= told.passes <= methods()[do].passes


def test_of_every_method_some_step_takes_all_passes():
    """So that `passes` is no more than the most."""
    most = {do: max(step.later_passes + 1 for step in lawful(do)) for do in methods()}
    assert most == {do: method.passes for do, method in methods().items()}
