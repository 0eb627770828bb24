"""The laws that every method keeps, run over the whole registry.

Each method's own test file lists, as `LAWFUL`, the steps that are run here, on the table `people`. What a step makes of
it is made once and looked at by all laws; what is compared with that is made anew each time.
"""

import contextlib
import json
from functools import cache

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from ruamel.yaml import YAML

from sfumato.data.dataset import rows as rows_of
from sfumato.data.disclosure import Coarsened, Disclosure
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.engines.spill import Spill
from sfumato.errors import DataError, PlanError
from sfumato.methods.registry import methods
from sfumato.plan.plan import Plan
from sfumato.release.run import run_steps
from tests.laws.steps import TELLING, cases, each_step, each_step_with, telling
from tests.methods.tables import PEOPLE_BOOK, lawful, people

HERE = "tests/laws/test_methods.py"
SECRET = bytes(range(16))
BANDING = [name for name, method in methods().items() if "band" in method.model_fields]


def table():
    """People, some with a missing code, some with nothing."""
    return people().with_columns(
        n=pl.when(pl.col("id") % 13 == 0).then(-9).otherwise("n"), h=pl.when(pl.col("id") % 17 != 0).then("h")
    )


@pytest.fixture(scope="module")
def spill():
    with contextlib.closing(Spill()) as opened:
        yield opened


def by_id(ran):
    return ran.after.frame.sort("id") if "id" in ran.after.columns else ran.after.frame


def released(step, frame, batch_rows=None):
    return by_id(run_steps([step], PolarsDataset(frame, PEOPLE_BOOK, batch_rows=batch_rows), Draws(SECRET)))


@cache
def ran_plainly(do, number):
    """What a step makes of the table, for whoever only looks at it."""
    return run_steps([lawful(do)[number]], PolarsDataset(table(), PEOPLE_BOOK), Draws(SECRET))


@cache
def as_it_is(do, number):
    return by_id(ran_plainly(do, number))


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
    shuffled = table().sample(fraction=1, shuffle=True, seed=seed)
    assert_frame_equal(as_it_is(do, number), released(lawful(do)[number], shuffled), rel_tol=1e-9)


@each_step_with("rows", (7, 1, 50), f"{HERE}::test_law_1_partition_changes_nothing")
def test_law_1_partition_changes_nothing(do, number, rows):
    assert_frame_equal(as_it_is(do, number), released(lawful(do)[number], table(), batch_rows=rows), rel_tol=1e-9)


@each_step()
def test_law_2_every_engine_gives_the_same_release(do, number, spill):
    """To the bit, with parts so short that batches divide whatever may be divided."""
    ran = run_steps([lawful(do)[number]], DuckDBDataset.of(table(), PEOPLE_BOOK, spill, part_rows=23), Draws(SECRET))
    found = rows_of(ran.after)
    assert_frame_equal(as_it_is(do, number), found.sort("id") if "id" in found.columns else found, check_exact=True)


def with_given_ids(do, number):
    """The table with the ids that a step gives, which are those of its own table: rows keep their order."""
    given = "id" in lawful(do)[number].changes
    return table().with_columns(ran_plainly(do, number).after.frame["id"]) if given else table()


@each_step()
def test_law_3_ids_and_untouched_columns_survive(do, number):
    """Where a step gives other ids, one for each, the rows of these have what the old ids' had."""
    step = lawful(do)[number]
    before, after = with_given_ids(do, number).sort("id"), as_it_is(do, number)
    strata = step.strata if getattr(step, "on_small", None) in ("merge", "drop_variable") else ()
    kept = [n for n in before.columns if n not in set(step.changes) - {"id"} and n not in strata]
    assert not after["id"].is_duplicated().any()
    assert_frame_equal(before.filter(pl.col("id").is_in(after["id"].implode())).select(kept), after.select(kept))


@each_step(every=True)
def test_law_4_a_step_reads_back_from_yaml_as_itself(do, number):
    step = lawful(do)[number]
    plan = Plan(title="t", steps=[step])
    again = Plan.from_yaml(plan.to_yaml())
    assert again.steps[0].model_dump() == step.model_dump()
    assert again.digest == plan.digest


@each_step(every=True)
def test_law_4_any_parameter_changes_the_hash(do, number):
    plan = Plan(title="t", steps=[lawful(do)[number]])
    plain = YAML(typ="safe").load(plan.to_yaml())["steps"][0]
    for name in plain:
        if name in ("do", "columns", "column", "formula", "by", "map", "band", "labels", "clip", "preset", "method"):
            continue
        other = {**plain, name: _other(plain[name])}
        try:
            changed = Plan.model_validate({"title": "t", "steps": [other]})
        except ValueError:
            continue
        assert changed.digest != plan.digest, name


def _other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return "other" if isinstance(value, str) else 1


@each_step()
def test_law_5_same_secret_same_output(do, number):
    assert as_it_is(do, number).equals(released(lawful(do)[number], table()))


@each_step()
def test_steps_leave_the_input_alone_and_no_hidden_columns(do, number):
    frame = table()
    copy = frame.clone()
    assert not [n for n in released(lawful(do)[number], frame).columns if n.startswith("sfumato:")]
    assert frame.equals(copy)


@each_step()
def test_law_5_another_secret_changes_draws_and_nothing_that_is_told(do, number):
    step, one = lawful(do)[number], ran_plainly(do, number)
    two = run_steps([step], PolarsDataset(table(), PEOPLE_BOOK), Draws(b"another secret, 24 bytes"))
    assert one.disclosure == two.disclosure
    assert one.after.frame.schema == two.after.frame.schema
    if step.name != "sample":  # how many of a stratum stay is rounded by a draw
        assert one.after.frame.height == two.after.frame.height
    assert one.after.codebook == two.after.codebook


@each_step()
def test_law_6_a_disclosure_speaks_of_released_columns_or_of_ones_that_went(do, number):
    ran = ran_plainly(do, number)
    known = {*table().columns, *ran.after.columns}
    assert all(set(part.columns) <= known for part in ran.disclosure)
    assert Disclosure.from_plain(json.loads(json.dumps(ran.disclosure.to_plain()))) == ran.disclosure


@each_step(*BANDING, every=True)
def test_law_6_every_value_lies_in_the_interval_that_its_band_tells(do, number):
    """Values on cut points too; a label that is no band stands for no value."""
    step = lawful(do)[number]
    if not step.band:
        return
    cuts = pl.Series("n", [*range(-9, 60), -9, None], dtype=pl.Int64)
    frame = people(cuts.len()).with_columns(n=cuts, x=cuts.cast(pl.Float64) / 4, y=cuts.cast(pl.Float64) / 5)
    ran = run_steps([step], PolarsDataset(frame, PEOPLE_BOOK), Draws(SECRET))
    told = [part for part in ran.disclosure if isinstance(part, Coarsened) and part.bands]
    assert {n for part in told for n in part.columns} == set(step.columns)
    for part in told:
        for name in part.columns:
            true = frame.select(value=pl.col(name), missing=PEOPLE_BOOK.missing(name, frame.schema[name]))
            labels = ran.after.frame[name]
            assert set(part.bands) <= set(labels)
            for value, missing, label in zip(true["value"], true["missing"], labels, strict=True):
                assert missing == (label not in part.bands)
                low, high = part.bands.get(label, (None, None))
                assert missing or ((low is None or low <= value) and (high is None or value < high))


@each_step(every=True)
def test_law_7_no_data_value_is_in_a_disclosed_sentence(do, number):
    """Ids, and numbers of the data that are not parameters, never stand in what is published in words."""
    step = lawful(do)[number]
    marked = table().with_columns(x=pl.when(pl.col("id") == 40).then(987_654.321).otherwise("x"))
    try:
        told = run_steps([step], PolarsDataset(marked, PEOPLE_BOOK), Draws(SECRET)).disclosure.sentences()
    except DataError as error:  # one value that makes most of a variance is refused
        told = (str(error),)
    assert not [s for s in (*told, step.sentence()) if "987654" in s or "987,654" in s]


@each_step(every=True)
def test_law_8_a_column_that_is_not_there_is_refused_before_data_are_touched(do, number):
    step = lawful(do)[number]
    needed = [n for n in (*step.changes, *step.strata) if n in PEOPLE_BOOK]
    if not needed:
        return
    with pytest.raises(PlanError):
        Plan(steps=[step]).check(PEOPLE_BOOK.without(needed[0]))
