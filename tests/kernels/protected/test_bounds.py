"""How far out records lie: closed forms."""

import numpy as np
import pytest
from scipy import stats

from sfumato.kernels.protected.bounds import ends, leverage, thin, up, within
from sfumato.kernels.protected.fitted import Unfit


def test_numbers_far_out_are_found_and_others_stay():
    """A normal's percentiles are ∓ 2.33: ends are ∓ 6.98."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=100_000)
    low, high = ends(x)
    far = 3 * stats.norm.ppf(0.99)
    assert (low, high) == (pytest.approx(-far, rel=0.02), pytest.approx(far, rel=0.02))
    x[:3] = 6.5, 30.0, -30.0
    assert np.flatnonzero(~within(x[:, None])).tolist() == [1, 2]


@pytest.mark.parametrize("share", [0.5, 0.02, 0.005])
def test_indicators_are_never_far_out(share):
    x = (np.arange(10_000) < share * 10_000).astype(float)
    assert within(np.column_stack([np.ones(10_000), x, -x])).all()


def test_a_column_that_is_mostly_zero_keeps_its_numbers():
    x = np.zeros(10_000)
    x[:60] = np.linspace(1, 5, 60)
    x[60] = 1e6
    assert np.flatnonzero(~within(x[:, None])).tolist() == [60]


def test_a_response_loses_ten_records_at_most():
    rng = np.random.default_rng(2)
    y = np.exp(rng.normal(size=100_000))
    assert (~within(y[:, None])).sum() > 100
    assert (~within(y[:, None], thin(len(y)))).sum() <= 10


@pytest.mark.parametrize(("x", "expected"), [(4.4999, 4.5), (4.5, 4.5), (0.0231, 0.024), (99.1, 100.0), (0.3, 0.3)])
def test_up(x, expected):
    assert up(x) == pytest.approx(expected, rel=1e-12)


def test_leverage_by_hand():
    """Two columns: J is diagonal, 1 and 1.36."""
    E = np.column_stack([np.ones(100), np.append(np.tile([-1.0, 1.0], 48), [-np.sqrt(10)] * 2 + [np.sqrt(10)] * 2)])
    found = leverage(E)
    np.testing.assert_allclose(found.L, np.diag([1.0, np.sqrt(1.36)]), atol=1e-12)
    np.testing.assert_allclose(found.a[[0, 99]], [np.sqrt(1 + 1 / 1.36), np.sqrt(1 + 10 / 1.36)])
    assert found.m == 2.9
    np.testing.assert_allclose(found.w, 1.0)
    assert leverage(np.append(E, [[1.0, 9.0]], axis=0)).w[-1] < 1


def test_columns_that_hang_on_each_other_are_refused():
    with pytest.raises(Unfit, match="determine each other"):
        leverage(np.zeros((5, 2)))
