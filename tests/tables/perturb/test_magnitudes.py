import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.tables.perturb.magnitudes import Flex, magnitude_noise, steps

KEYS = (np.arange(20_000) + 0.5) / 20_000
NONE = np.zeros(len(KEYS), dtype=bool)


def noise(value, largest, flex=None, unsafe=NONE, variance=2.0):
    own = [np.full(len(KEYS), float(x)) for x in largest]
    return magnitude_noise(np.full(len(KEYS), float(value)), own, KEYS, steps(5, variance), flex or Flex(), unsafe)


def test_noise_is_as_large_as_a_share_of_the_largest_contribution():
    # 5000 of 100,000: far above five units, so that the symmetric row holds; the share by hand from Giessing and Tent
    share = 0.03 * (1 + (0.3 * 5000 - 30) / 30 * (2000 / 6000) ** 3)
    got = noise(100_000, [5000])
    assert got.mean() == pytest.approx(0, abs=0.002 * 5000 * share)
    assert got.var() == pytest.approx(2.0 * (share * 5000) ** 2, rel=0.01)


def test_shares_fall_from_the_small_to_the_large_one_without_a_leap():
    flex = Flex(small=0.2, large=0.03, point=1000, power=2)
    assert flex.of(np.array([1.0, 999.999, 1000.001])) == pytest.approx([0.2] * 3, rel=1e-5)
    assert flex.of(np.array([1e12]))[0] == pytest.approx(0.03, rel=1e-3)


@pytest.mark.parametrize("value", [3.0, 100.0, 2500.0])
def test_no_sum_passes_through_nothing(value):
    got = noise(value, [value, value / 3], Flex(shares=(1.0, 0.5), extra=2.0), ~NONE)
    assert (value + got).min() >= 0
    assert noise(-value, [value])[7] == pytest.approx(-noise(value, [value])[7])


def test_a_single_contributor_has_noise_without_a_tendency():
    got = noise(500, [500])
    assert got.mean() == pytest.approx(0, abs=0.01 * got.std())
    assert got.std() > 0.3 * 500


def test_nothing_stays_nothing_and_small_ones_get_the_floors_noise():
    assert not noise(0, [0]).any()
    assert noise(20, [4], Flex(floor=40.0)).std() > 5 * noise(20, [4]).std()


def test_unsafe_cells_move_by_the_extra_at_least():
    got = noise(10_000, [100], Flex(extra=1.0), ~NONE)
    assert np.abs(got).min() >= 30 - 1e-9  # a unit is 0.3 of 100
    assert got.mean() == pytest.approx(0, abs=2)


@pytest.mark.parametrize("wrong", [{"small": 2.0}, {"large": 0.0}, {"power": 1.0}, {"shares": ()}, {"extra": -1.0}])
def test_numbers_outside_their_range(wrong):
    with pytest.raises(DataError):
        Flex(**wrong)
