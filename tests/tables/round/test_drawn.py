"""Rounding at random: right on average over secrets, within 4 standard errors."""

import numpy as np

from sfumato.draws import Draws, units
from sfumato.tables.round.drawn import barnardised, rounded_at_random

SECRETS = [i.to_bytes(16, "big") for i in range(300)]
VALUE = np.array([0.0, 1.0, 2.0, 7.0, 9.0, 10.0])


def test_random_rounding_is_right_on_average():
    unit = units(list(range(6)))
    runs = np.array([rounded_at_random(VALUE, 5, unit, Draws(secret)) for secret in SECRETS])
    rest = VALUE % 5
    error = np.sqrt(rest * (5 - rest) / len(runs))  # of two values r below and 5 - r above
    assert np.all(np.abs(runs.mean(0) - VALUE) <= 4 * error)


def test_barnardisation_is_right_on_average_and_keeps_zeros():
    unit = units(list(range(6)))
    runs = np.array([barnardised(VALUE, 0.8, unit, Draws(secret)) for secret in SECRETS])
    assert not runs[:, 0].any()
    error = np.sqrt(0.2 / len(runs))
    assert np.all(np.abs(runs.mean(0) - VALUE) <= 4 * error)
    assert np.abs(runs - VALUE).max() == 1


def test_cells_are_drawn_by_themselves():
    # two cells of the same count go apart about half of the time
    unit = units(["a", "b"])
    apart = [np.ptp(rounded_at_random(np.array([2.0, 2.0]), 4, unit, Draws(secret))) > 0 for secret in SECRETS]
    assert abs(np.mean(apart) - 0.5) <= 4 * 0.5 / np.sqrt(len(apart))
