import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.order_statistics import from_ordered, ordered, quantile

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, min_size=2, max_size=30))
def test_bits_stand_in_the_order_of_values_and_lead_back(values):
    x = np.array(values)
    words = ordered(x)
    assert np.array_equal(np.argsort(words, kind="stable"), np.argsort(x, kind="stable"))
    assert np.array_equal(from_ordered(words), x)


def test_both_zeros_are_one():
    assert len(set(ordered(np.array([0.0, -0.0])).tolist())) == 1


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_those_of_numpy(values, prob):
    x = np.sort(values) + 0.0
    assert quantile(x, prob) == pytest.approx(np.quantile(x, prob), rel=1e-15, abs=1e-300)


def test_nothing_has_no_quantile():
    assert quantile(np.array([]), 0.5) is None
