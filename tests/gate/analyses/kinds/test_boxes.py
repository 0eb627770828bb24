import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from sfumato.draws import Draws
from sfumato.gate.analyses.fitting import exact_fit, protected_fit
from sfumato.gate.analyses.kinds.boxes import KIND, PROBABILITIES
from sfumato.gate.analyses.thresholds import unmet
from sfumato.gate.analyses.told import content_of_fit
from tests.gate.analyses.people import SECRET, asked, people

FRAME = people()


def wanted():
    groups = [FRAME.filter(pl.col("ward") == ward)["cost"].to_numpy() for ward in "abc"]
    return np.concatenate([np.quantile(group, PROBABILITIES) for group in groups])


def test_five_quantiles_of_each_group():
    np.testing.assert_allclose(exact_fit(asked("boxes", "cost ~ ward")).estimate, wanted(), rtol=1e-12)
    told = protected_fit(asked("boxes", "cost ~ ward"), Draws(SECRET), 4).told
    assert (np.abs(told.estimate - wanted()) <= 4 * told.se).all()
    assert not set(told.estimate) & set(FRAME["cost"])


def test_who_is_in_a_box_moves_five_ranks():
    """Their budget adds up: the five are told as one with a fifth of the variance."""
    made = protected_fit(asked("boxes", "cost ~ ward"), Draws(SECRET), 4)
    assert float(Fraction(made.noise)) == pytest.approx(made.told.tau**2 / 5)
    again = protected_fit(asked("boxes", "cost ~ ward"), Draws(SECRET), 4, made.noise)
    assert math.isclose(again.told.tau, made.told.tau)
    np.testing.assert_array_equal(again.told.estimate, made.told.estimate)


def test_a_box_has_twenty_people_or_more():
    own = asked("boxes", "cost ~ C(gp)")
    least = FRAME.group_by("gp").len()["len"].min()
    assert least > 4
    assert (unmet(own, KIND.limits(None), 4) == ("levels",)) is (least < 20)


def test_boxes_can_be_drawn():
    problem = asked("boxes", "cost ~ ward")
    fit = protected_fit(problem, Draws(SECRET), 4)
    content = content_of_fit("ward", problem, fit.told, fit)
    assert [box[0] for box in content["boxes"]] == ["a", "b", "c"]
    assert [row[0] for row in content["rows"][:2]] == ["ward[a] 5%", "ward[a] 25%"]
    for box in content["boxes"]:
        figures = [float(one) for one in box[1:]]
        assert figures == sorted(figures)
