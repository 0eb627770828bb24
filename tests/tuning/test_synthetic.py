"""Settings of a synthetic copy are tried, and chosen by what they cost."""

from __future__ import annotations

from itertools import pairwise

import pytest

from sfumato.data.codebook import Codebook
from sfumato.data.profile import profile
from sfumato.examples import cohort
from sfumato.plan.plan import Plan
from sfumato.plan.synthetic import SETTINGS, Settings
from sfumato.plan.wishes import Wishes
from sfumato.tuning.drafts import draft_copy_for
from sfumato.tuning.synthetic import Trial, the_chosen


def chosen(*figures):
    trials = [Trial(s, r, r, 1.0, m, i, h) for s, (r, m, i, h) in zip(SETTINGS, figures, strict=True)]
    (one,) = [each for each in the_chosen(trials) if each.chosen]
    return SETTINGS.index(one.settings)


def test_the_lowest_membership_of_those_that_lose_little():
    assert chosen((0.7, 0.61, 0.1, True), (0.75, 0.54, 0.1, True), (0.72, 0.51, 0.0, True)) == 2
    assert chosen((0.9, 0.62, 0.1, True), (1.56, 0.53, 0.1, True), (5.1, 0.50, 0.0, True)) == 0


def test_what_exceeds_a_limit_is_taken_only_where_all_do():
    assert chosen((0.7, 0.70, 0.1, False), (0.8, 0.60, 0.1, True), (0.7, 0.50, 0.3, False)) == 1
    assert chosen((0.7, 0.70, 0.1, False), (0.8, 0.67, 0.3, False), (1.0, 0.68, 0.3, False)) == 1


def test_the_best_ratio_is_that_of_those_that_hold():
    assert chosen((0.1, 0.70, 0.1, False), (0.8, 0.60, 0.1, True), (1.1, 0.55, 0.1, True)) == 2


def test_without_figures_the_first_is_taken():
    assert [one.chosen for one in the_chosen([Trial(s, because="too few") for s in SETTINGS])] == [True, False, False]
    assert chosen((0.7, None, None, False), (0.8, 0.6, None, True), (0.7, None, None, False)) == 1


@pytest.mark.slow
def test_three_are_tried_and_the_plan_has_the_chosen_one_without_a_figure():
    frame = cohort(400).select("id", "sex", "region", "smoker", "bmi", "asthma", "income")
    guesses = profile(frame, Codebook())
    tried, _ = draft_copy_for(frame, Codebook(), guesses, "t", Wishes(sensitive=("asthma",)), trying=True)
    again, _ = draft_copy_for(frame[::-1], Codebook(), guesses, "t", Wishes(sensitive=("asthma",)), trying=True)
    assert [one.settings for one in tried.trials] == list(SETTINGS)
    assert sum(one.chosen for one in tried.trials) == 1
    figures = [(t.table_ratio, t.worst, t.pmse_ratio, t.membership, t.inference) for t in tried.trials]
    assert all(value is not None for row in figures for value in row)
    assert all(one != other for one, other in pairwise(figures))
    assert [(t.membership, t.chosen) for t in again.trials] == [(t.membership, t.chosen) for t in tried.trials]
    step = Plan.from_yaml(tried.drafted.text).steps[-1]
    assert Settings(step.method, step.min_leaf, step.smooth) == tried.settings
    plain, _ = draft_copy_for(frame, Codebook(), guesses, "t", Wishes(sensitive=("asthma",)))
    shorter = {
        line
        for line in tried.drafted.text.splitlines()
        if not line.lstrip().startswith(("#", "method", "min_leaf", "smooth"))
    }
    assert shorter <= set(plain.drafted.text.splitlines()), "nothing else of the plan hangs on figures"
