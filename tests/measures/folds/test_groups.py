"""What counts of groups tell off memory is what the measures tell of the same rows in memory."""

import polars as pl
import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.finding import Findings
from sfumato.data.query import COUNT, Counts
from sfumato.data.roles import Role
from sfumato.draws import Draws
from sfumato.engines.duckdb import DuckDBDataset
from sfumato.engines.polars import PolarsDataset
from sfumato.errors import TooManyGroups
from sfumato.measures.measuring import Measuring
from sfumato.measures.registry import measure_of
from sfumato.measures.utility import cells_folded, table_ratio
from sfumato.measures.utility.table_ratio_folded import TOO_MANY_CELLS
from sfumato.plan.binding import entered
from sfumato.plan.plan import Plan
from sfumato.progress import quiet
from sfumato.release.classes import Exposed
from sfumato.release.copies import over_copies
from sfumato.release.large import everybody_of
from sfumato.release.measured import measure_run
from sfumato.release.run import run_plan, run_steps
from tests.methods.tables import PEOPLE_BOOK, people
from tests.release.scattered import Scattered

SECRET = bytes(range(32))
COUNTED = {"table_ratio", "replicated_uniques", "disclosive_correct"}
ROLES = {"g": Role.KEY, "h": Role.KEY, "town": Role.SENSITIVE}
LIMITS = [{"measure": name, "at_most": 0.9} for name in ("replicated_uniques", "disclosive_correct")]
NOISE = {"do": "noise", "columns": ["x", "n"], "by": ["g"], "share": 0.1}
BROADER = {"do": "recode", "columns": ["h"], "map": {"u": "uv", "v": "uv"}}
ALONE = {"do": "drop", "columns": ["house"]}
SOME = {"do": "synthesise", "columns": ["x", "town"], "where": "x > 9"}
STEPS = {
    "nothing": [],
    "noise": [NOISE],
    "rows left out": [
        NOISE,
        ALONE,
        {"do": "suppress_strata", "by": ["h", "area"], "min_count": 45, "max_suppressed": 0.9},
    ],
    "pram, cells": [
        {"do": "pram", "columns": ["town"], "retention": 0.8},
        {"do": "suppress_cells", "keys": ["g", "h"], "k": 40},
    ],
    "coarsened": [BROADER],
    "coarsened late": [{"do": "pram", "columns": ["town"], "retention": 0.8}, BROADER],
    "another type": [NOISE, {"do": "derive", "column": "area", "formula": "y > 1"}],
    "new ids": [NOISE, {"do": "pseudonymise", "columns": ["id"]}],
    "averaged": [{"do": "centroids", "columns": ["x", "y"], "k": 5, "by": ["g"]}],
    "some values, copies": [SOME | {"copies": 3}],
    "some values, a copy": [SOME | {"copies": 1}, BROADER],
    "nobody's, copies": [ALONE, {"do": "synthesise", "columns": "all", "copies": 2}],
    "nobody's": [ALONE, {"do": "synthesise", "columns": "all", "copies": 1}],
}


def table(n=200):
    """People with missing values, a code, and a list of categories."""
    some = pl.col("id") % 13
    return people(n).with_columns(
        n=pl.when(some != 0).then("n").otherwise(-9),
        h=pl.when(some != 1).then("h"),
        town=pl.when(some != 2).then("town").cast(pl.Enum(["P", "Q", "R", "S"])),
        y=pl.when(some != 3).then("y"),
    )


def plan_of(steps, limits=LIMITS):
    variables = {n: v.model_copy(update={"label": None}) for n, v in PEOPLE_BOOK.items()}
    variables |= {n: variables[n].model_copy(update={"role": role}) for n, role in ROLES.items()}
    return Plan(variables=variables, steps=steps, limits=limits)


def ran(plan, made):
    entering = entered(plan, made)
    plan = plan.bound(entering.codebook)
    return plan, run_plan(plan, entering, Draws(SECRET), quiet)


def counted(plan, run):
    """What is told of all records, or copy by copy, by counts."""

    def of(copy):
        subject = everybody_of(plan, run, copy, Measuring(), Exposed(()))
        wanted = [m for m in (measure_of(name) for name in sorted(COUNTED)) if m.can(subject) and m.wanted(subject)]
        return lambda progress: Findings.together([m.forms["folded"](subject) for m in wanted])

    return over_copies([of(copy) for copy in run.sides.copies()], run.disclosure, quiet)


def in_memory(plan, frame, only=COUNTED):
    entering = entered(plan, PolarsDataset(frame, Codebook()))
    plan = plan.bound(entering.codebook)
    done = run_steps(plan.steps, entering, Draws(SECRET), plan=plan.digest)
    return measure_run(plan, done, Measuring(), quiet, only=only).findings


def figures(findings):
    return {(f.measure, f.variable, f.group, f.at, f.attack): (f.value, f.baseline) for f in findings}


def same(told, memory):
    """All lines with their figures and baselines, and none beside them."""
    told, memory = figures(told), figures(memory)
    assert set(told) == set(memory)
    for key, pair in told.items():
        for one, other in zip(pair, memory[key], strict=True):
            assert (one is None) == (other is None), key
            assert one is None or one == pytest.approx(other, rel=1e-9, abs=1e-12), key


@pytest.mark.few(4)
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_it_is_what_memory_tells(steps):
    plan, frame = plan_of(steps), table()
    memory = in_memory(plan, frame)
    of_others = {*in_memory(plan, frame, {"nothing"}).notes}
    told = counted(*ran(plan, Scattered.of(frame)))
    assert {f.measure for f in told} == COUNTED
    same(told, memory)
    assert {*told.notes} - of_others == {*memory.notes} - of_others


def test_figures_of_people_are_told_of_nobody_s_records_or_where_a_limit_asks():
    told = [
        {f.measure for f in counted(*ran(plan_of(STEPS[name], limits), Scattered.of(table(60))))}
        for name, limits in (("noise", []), ("noise", LIMITS[1:]), ("nobody's", []))
    ]
    assert told == [{"table_ratio"}, {"table_ratio", "disclosive_correct"}, COUNTED]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["noise", "some values, copies"])
def test_large_tables_are_counted_as_groups(name, monkeypatch):
    """No table is small: the engine counts groups of codes."""
    monkeypatch.setattr(cells_folded, "_SMALL", 0)
    plan, frame = plan_of(STEPS[name], []), table()
    told = counted(*ran(plan, DuckDBDataset.of(frame, Codebook(), part_rows=90)))
    same(told, in_memory(plan, frame, {"table_ratio"}))


def test_tables_are_counted_as_long_as_their_cells_can_be_held(monkeypatch):
    """x and n have five and six cells, which together are all that is held; h and g stay, and need not be counted."""
    monkeypatch.setattr(cells_folded, "_SMALL", 0)
    monkeypatch.setattr(cells_folded, "_HELD", 13)
    plan, frame = plan_of(STEPS["noise"], []), table().select("id", "x", "h", "n", "g")
    plan = plan.model_copy(update={"variables": {n: v for n, v in plan.variables.items() if n in frame.columns}})
    told, memory = counted(*ran(plan, Scattered.of(frame))), in_memory(plan, frame, {"table_ratio"})
    for name in ("x", "n", "h", "g", "h × g"):
        expected = memory.of("table_ratio", variable=name).value
        assert told.of("table_ratio", variable=name).value == pytest.approx(expected), name
    gone = [f.variable for f in told if f.value is None]
    assert gone == ["x × h", "x × n", "x × g", "h × n", "n × g"]
    assert TOO_MANY_CELLS.format(tables=", ".join(gone)) in told.notes


def test_what_stays_is_not_counted_off_memory_a_second_time(monkeypatch):
    """Of two tables in which no value has changed only one is asked, and of pairs none."""
    asked = []
    own = cells_folded.Looked._margins
    monkeypatch.setattr(cells_folded.Looked, "_margins", lambda self, data, of: asked.append(of) or own(self, data, of))
    counted(*ran(plan_of(STEPS["averaged"], []), Scattered.of(table())))
    after, before = asked
    names = ["x", "y", "n", "g", "h", "area", "town", "rent"]
    assert {of for of in before if len(of) == 1} == {(j,) for j in range(len(names))}
    assert all(set(of) & {0, 1} for of in after)
    assert all(set(of) & {0, 1} for of in before if len(of) == 2)


def test_as_many_pairs_are_looked_at_as_in_memory(monkeypatch):
    monkeypatch.setattr(table_ratio, "_MOST_WORK", 400 * 3)
    plan, frame = plan_of(STEPS["noise"], []), table()
    told, memory = counted(*ran(plan, Scattered.of(frame))), in_memory(plan, frame, {"table_ratio"})
    same(told, memory)
    assert len(told.select("table_ratio", group=table_ratio.TWO_WAY)) == 1 + 3
    assert table_ratio.FEWER.format(columns=3) in told.notes


def test_rows_that_differ_in_no_compared_column_have_nothing():
    steps = [{"do": "pram", "columns": ["town"], "retention": 1.0}, {"do": "drop", "columns": ["y"]}]
    plan, frame = plan_of(steps, []), table()
    told = counted(*ran(plan, Scattered.of(frame)))
    same(told, in_memory(plan, frame, {"table_ratio"}))
    assert {f.value for f in told} == {0.0}


def refusing(monkeypatch, *columns):
    """An engine to which there are too many groups of some columns."""
    ask = Scattered.ask

    def refuse(self, query):
        if isinstance(query, Counts) and {*columns} <= {*query.by}:
            raise TooManyGroups(query.by, 5)
        return ask(self, query)

    monkeypatch.setattr(Scattered, "ask", refuse)


def test_a_column_with_too_many_categories_has_no_figure_and_is_named(monkeypatch):
    plan, frame = plan_of(STEPS["pram, cells"], []), table()
    memory = in_memory(plan, frame, {"table_ratio"})
    plan, run = ran(plan, Scattered.of(frame))
    refusing(monkeypatch, "town")
    told = counted(plan, run)
    without = {key: pair for key, pair in figures(told).items() if key[1] and "town" in key[1].split(" × ")}
    assert {value for value, _ in without.values()} == {None}
    assert TOO_MANY_CELLS.format(tables=", ".join(key[1] for key in without)) in told.notes
    for key, (value, _) in figures(memory).items():
        if key[1] and key not in without:
            assert figures(told)[key][0] == pytest.approx(value)
    there = [f.value for f in told.select("table_ratio", group="two-way") if f.variable and f.value is not None]
    assert told.of("table_ratio", variable=None, group="two-way").value == pytest.approx(sum(there) / len(there))


def test_too_many_keys_leave_the_figure_out_with_a_note(monkeypatch):
    plan, frame = plan_of(STEPS["noise"]), table()
    memory = in_memory(plan, frame)
    plan, run = ran(plan, Scattered.of(frame))
    with monkeypatch.context() as patch:
        refusing(patch, "g", "town")
        told = counted(plan, run)
    assert told.of("replicated_uniques").value == pytest.approx(memory.of("replicated_uniques").value)
    assert not told.select("disclosive_correct")
    assert any("disclosive_correct" in note and "g, h, town" in note for note in told.notes)
    refusing(monkeypatch, "g")
    told = counted(plan, run)
    assert not told.select("replicated_uniques")
    assert any("replicated_uniques" in note and "not met" in note for note in told.notes)


def test_copies_stand_alone():
    plan, frame = plan_of(STEPS["some values, copies"]), table()
    _, run = ran(plan, Scattered.of(frame))
    heights = [int(copy.after.ask(Counts(())).item(0, COUNT)) for copy in run.sides.copies()]
    assert heights == [200] * 3
    whole = run.after.whole.frame
    second = run.sides.copies()[1].after.whole.frame.sort("id")
    assert second.equals(whole.filter(pl.col("copy") == 2).drop("copy").sort("id"))
    assert run.sides.copies()[0].before is run.before
