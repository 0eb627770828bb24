"""The laws that every measure keeps (`sfumato.testing`), run over the whole registry, and over small subjects."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import get_args

import pytest

from sfumato.data.finding import Findings
from sfumato.measures.measure import Need
from sfumato.measures.registry import figures, measures
from sfumato.measures.risk.linkers.linkers import LINKERS
from sfumato.measures.subject import KEYS, KEYS_AND_OTHERS, STRATA
from sfumato.release.measure import measure
from sfumato.testing.measures import MeasureLaws, same_findings
from sfumato.testing.subjects import PLANTED, PROVIDES, SUBJECTS, subjects_for

TELLING = {"reconstruction": "averaged", "inference": "exchanged"}
"""The subject that a measure is tried on at each change, where that is not the first that it can be computed on."""


def of_measure(name: str) -> list[str]:
    """The subjects that a measure can be computed on."""
    return subjects_for(measures()[name])


def telling(name: str) -> str | None:
    """The subject that a measure is tried on at each change."""
    return TELLING.get(name, next(iter(of_measure(name)), None))


CASES = [
    pytest.param(name, case, id=f"{name}-{case}", marks=() if case == telling(name) else pytest.mark.slow)
    for name in measures()
    for case in of_measure(name)
]
each_measure = pytest.mark.parametrize(("name", "case"), CASES)


@cache
def held(name: str, case: str) -> MeasureLaws:
    """A measure and what it finds, found once for all laws."""
    return MeasureLaws(measures()[name], case)


def test_every_measure_is_held_to_the_laws():
    """One that is brought tomorrow too, on one subject at each change; the others are slow."""
    assert [p.values[0] for p in CASES if not p.marks] == list(measures())
    assert TELLING.keys() <= measures().keys()
    assert {need for m in measures().values() for need in m.needs} <= set(get_args(Need))


@pytest.mark.parametrize("case", SUBJECTS)
def test_a_subject_has_what_is_said_of_it(case):
    """So no measure that could be computed on it goes without."""
    subject = SUBJECTS[case]().subject()
    assert subject.provides == PROVIDES[case]
    assert all(each.can(subject) == (case in of_measure(name)) for name, each in measures().items())


@pytest.mark.parametrize("name", measures())
def test_every_figure_has_lines(name):
    held(name, telling(name)).every_figure_has_lines()


@each_measure
def test_law_1_every_line_is_one_of_its_figures_and_told_once(name, case):
    held(name, case).every_line_is_one_of_its_figures_and_told_once()


@each_measure
def test_law_2_a_figure_is_a_number_or_none(name, case):
    held(name, case).a_figure_is_a_number_or_none()


@each_measure
def test_law_3_no_value_is_in_a_message(name, case):
    held(name, case).no_value_is_in_a_message()


@each_measure
def test_law_3_categories_stand_in_names_of_single_classes_and_coefficients_only(name, case):
    held(name, case).categories_name_single_classes_and_coefficients_only()


@each_measure
def test_law_4_what_is_published_hides_what_was_planted(name, case):
    """And speaks of groups that are no single class's."""
    held(name, case).what_is_published_hides_what_was_planted()
    everywhere = {"all", "overall", "stratum", "unscaled", "wrong record", "sd", "relative", "relative unscaled"}
    everywhere |= {*LINKERS, "risk", "attack", "control", "auc", "advantage"}
    everywhere |= {"one-way", "two-way", "main", "interactions", "trees", "released"}
    assert {f.group for f in held(name, case).published} <= {None, KEYS, STRATA, KEYS_AND_OTHERS, *everywhere}


@each_measure
def test_law_4_each_figure_is_published_as_its_file_says(name, case):
    held(name, case).each_figure_is_published_as_it_says()


@each_measure
def test_law_4_a_figure_that_no_file_speaks_of_is_kept_back(name, case):
    held(name, case).what_nothing_speaks_of_is_kept_back()


@pytest.mark.parametrize("name", measures())
def test_law_5_words_are_complete(name):
    held(name, telling(name)).words_are_complete()
    assert measures()[name].family != "other"


@each_measure
def test_law_5_lines_are_told_in_words(name, case):
    held(name, case).lines_are_told_in_words()


@each_measure
def test_law_6_limits_can_name_it(name, case):
    held(name, case).limits_can_name_it()


@each_measure
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_law_7_order_changes_nothing(name, case, seed):
    held(name, case).order_changes_nothing(seed)


@each_measure
def test_law_8_every_engine_gives_the_same_figures(name, case):
    held(name, case).every_engine_gives_the_same()


@pytest.mark.parametrize(
    "case", [c if c in ("noisy", "surveyed") else pytest.param(c, marks=pytest.mark.slow) for c in SUBJECTS]
)
def test_law_9_what_is_measured_together_is_what_each_gives(case):
    """A measure leaves nothing behind that another one would see, and progress names no value."""
    told = []
    whole = measure(
        replace(SUBJECTS[case]().subject(), asked=frozenset(figures())), lambda what, share: told.append(what)
    )
    parts = [f for name, each in (p.values for p in CASES) if each == case for f in held(name, case).found]
    same_findings(Findings(whole.lines), Findings(tuple(parts)), "measured one by one")
    assert not [text for text in told for planted in PLANTED if planted in text]


@pytest.mark.parametrize("name", measures())
def test_law_10_without_what_it_needs_it_is_passed_over(name):
    held(name, telling(name)).without_what_it_needs_it_is_skipped()
