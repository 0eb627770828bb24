"""Attacks in short; the notes' figures with as many repetitions as they had are in `tests/recovery`."""

import pytest
from scipy import stats

from tests.kernels.protected.attacks import all_others_known, standard_errors, told_apart


@pytest.mark.slow
def test_who_knows_all_others_learns_no_more_than_the_accounting_says():
    """Φ(1 / √2) = .76 at τ = 1; of 150 against 150 an AUC's error is .03."""
    assert 0.6 < all_others_known(500, 1.0, 150) < stats.norm.cdf(0.5**0.5) + 0.06


@pytest.mark.slow
def test_standard_errors_do_not_tell_of_a_record_far_out():
    """The notes: .54 with weight 0, .94 without; the largest of six AUCs of 80 against 80 is about .55 by chance."""
    assert told_apart(standard_errors(500, 30, False, 80), 2) < 0.63
    assert told_apart(standard_errors(500, 30, True, 80), 2) > 0.8
