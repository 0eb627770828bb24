"""Laws are broken by methods and measures that were made to break them."""

import itertools
from dataclasses import replace
from typing import Literal

import polars as pl
import pytest

from sfumato.data.disclosure import Coarsened
from sfumato.data.finding import Finding, Findings
from sfumato.data.query import Counts
from sfumato.errors import PlugInError
from sfumato.measures.registry import measures
from sfumato.methods.base import Method, Stage
from sfumato.methods.drop import Drop
from sfumato.testing import PEOPLE, laws, with_missing
from sfumato.testing.measures import MeasureLaws
from sfumato.testing.methods import StepLaws
from sfumato.testing.subjects import CATEGORY, subjects_for

X = pl.col("x")
RUNS = itertools.count()


class Broken(Method):
    """Does what a test has it do."""

    do: Literal["broken"] = "broken"
    columns: tuple[str, ...] = ("x",)
    way: str

    def check(self, codebook):
        return []

    def stage(self, codebook, states):
        run = next(RUNS)
        ways = {
            "order": X + pl.int_range(pl.len()),
            "parts": X - X.mean(),
            "again": X + run,
            "other column": X.alias("y"),
        }
        queries = (Counts(("g",)),) if self.way == "asks" else ()
        stage = Stage(lambda batch, state, draws: batch.with_columns(ways.get(self.way, X)), queries)
        return stage if len(states) <= len(queries) else None

    def disclose(self, states):
        return (Coarsened(self.columns, "by 987,654.3" if self.way == "loud" else "somehow"),)


@pytest.mark.parametrize(
    ("way", "law", "told"),
    [
        ("order", "order_changes_nothing", "in another order: other values of 'x'"),
        ("parts", "partition_changes_nothing", "in parts of 7 rows: other values of 'x'"),
        ("parts", "every_engine_gives_the_same", "with rows that do not fit into memory: other values of 'x'"),
        ("again", "same_secret_same_release", "made again: other values of 'x'"),
        ("other column", "ids_and_other_columns_survive", "what the step does not change: other values of 'y'"),
        ("asks", "it_asks_and_gathers_as_it_says", "it asks more often than `passes` says"),
        ("loud", "no_value_is_in_a_sentence", "a value of the data is in a sentence that is published"),
    ],
)
def test_a_method_that_breaks_a_law_is_found(way, law, told):
    held = StepLaws(Broken(way=way), with_missing(), PEOPLE)
    with pytest.raises(AssertionError) as broken:
        getattr(held, law)()
    assert str(broken.value).endswith(told)


def test_a_method_that_does_not_look_for_its_columns_is_found(monkeypatch):
    monkeypatch.setattr(Drop, "check", lambda step, codebook: [])
    with pytest.raises(AssertionError, match="a table without 'x' is not refused"):
        StepLaws(Drop(columns=["x"]), with_missing(), PEOPLE).a_missing_column_is_refused()


def told(*lines):
    return lambda subject: Findings(lines)


GOOD = Finding("values_moved", variable="x", value=0.5)


@pytest.mark.parametrize(
    ("lines", "law"),
    [
        ((), "every_figure_has_lines"),
        ((replace(GOOD, measure="il1s"),), "every_line_is_one_of_its_figures_and_told_once"),
        ((GOOD, GOOD), "every_line_is_one_of_its_figures_and_told_once"),
        ((replace(GOOD, value=float("nan")),), "a_figure_is_a_number_or_none"),
        ((replace(GOOD, value=1.5),), "a_figure_is_a_number_or_none"),
        ((replace(GOOD, interval=(0.6, 0.7)),), "a_figure_is_a_number_or_none"),
        ((replace(GOOD, ok=True),), "a_figure_is_a_number_or_none"),
        ((replace(GOOD, variable=CATEGORY),), "categories_name_single_classes_and_coefficients_only"),
        ((replace(GOOD, group=CATEGORY),), "categories_name_single_classes_and_coefficients_only"),
    ],
)
def test_a_measure_that_breaks_a_law_is_found(lines, law):
    il1s = measures()["il1s"]
    figure = replace(il1s.figures[0], name="values_moved", form="share")
    with pytest.raises(AssertionError):
        getattr(MeasureLaws(replace(il1s, figures=(figure,), compute=told(*lines)), "averaged"), law)()
    kept = MeasureLaws(replace(il1s, figures=(figure,), compute=told(GOOD)), "averaged")
    getattr(kept, law)()


def test_figures_that_hang_on_the_order_or_the_engine_are_found():
    def first_value(subject):
        return Findings((Finding("il1s", value=subject.released["x"][0]),))

    held = MeasureLaws(replace(measures()["il1s"], compute=first_value), "averaged")
    with pytest.raises(AssertionError, match="in another order: another figure of il1s"):
        held.order_changes_nothing()


def test_a_measure_that_says_a_value_is_found():
    il1s = measures()["il1s"]
    with pytest.raises(AssertionError, match="a value of the data is in a message"):
        MeasureLaws(replace(il1s, doing=f"looking at {CATEGORY}"), "averaged").no_value_is_in_a_message()
    with pytest.raises(AssertionError, match="`doing` begins with a small letter"):
        MeasureLaws(replace(il1s, doing="Looking"), "averaged").words_are_complete()
    with pytest.raises(AssertionError, match="il1s: `what` is a sentence"):
        figure = replace(il1s.figures[0], what="what it is")
        MeasureLaws(replace(il1s, figures=(figure,)), "averaged").words_are_complete()


def test_laws_are_for_what_is_installed():
    with pytest.raises(PlugInError, match=r"'sfumato\.methods' leads to this method"):
        laws(Broken(way="order"))
    with pytest.raises(PlugInError, match=r"'sfumato\.measures' leads to this measure"):
        laws(replace(measures()["il1s"], place=1000))
    with pytest.raises(PlugInError, match="can be tried on: noisy, averaged"):
        laws(measures()["reconstruction"], on="alone")


def test_each_law_has_a_name():
    for many in (laws(Drop(columns=["x"])), laws(measures()["il1s"])):
        names = [str(law) for law in many]
        assert len(set(names)) == len(names) > 10
    assert subjects_for(measures()["il1s"])[0] == "noisy"
