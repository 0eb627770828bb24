import numpy as np
import pytest

from sfumato.draws import Draws
from sfumato.methods.at_random import round_at_random
from sfumato.methods.base import StepDraws


def draws(secret=bytes(16), method="top_code"):
    return StepDraws(Draws(secret), method, None)


def rounded(exact, grid, secret=bytes(16), column="x", n=9):
    return round_at_random(exact, grid, column, "mean", n, draws(secret))


@pytest.mark.parametrize(("exact", "grid"), [(31.4, 10.0), (-7.1, 0.3), (0.01, 5.0), (123456.7, 23.0)])
def test_it_is_one_of_the_two_next_multiples_and_right_on_average(exact, grid):
    found = np.array([rounded(exact, grid, i.to_bytes(16, "big")) for i in range(2000)])
    low = np.floor(exact / grid)
    assert {round(v / grid, 9) for v in found} == {low, low + 1}
    assert abs(found.mean() - exact) < 4 * grid / 2 / np.sqrt(2000)
    assert all(v == float(f"{v:.12g}") for v in found)


def test_it_hangs_on_the_figure_its_grid_column_and_count_and_not_on_last_bits():
    assert len({rounded(31.4 * (1 + i * 2**-52), 10.0) for i in range(9)}) == 1
    others = [
        [rounded(31.4, 10.0, i.to_bytes(16, "big"), **more) for i in range(60)]
        for more in ({}, {"column": "y"}, {"n": 10})
    ]
    assert len({tuple(each) for each in others}) == 3


def test_a_multiple_stays():
    assert rounded(30.0, 10.0) == 30.0
