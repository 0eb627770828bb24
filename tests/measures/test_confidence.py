from importlib import import_module

import pytest

from sfumato.measures.confidence import wilson


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (1, 1), (0, 40), (3, 40), (20, 40), (40, 40), (150, 1000)])
def test_equals_statsmodels(hits, n):
    proportion = import_module("statsmodels.stats.proportion")
    assert wilson(hits, n) == pytest.approx(proportion.proportion_confint(hits, n, method="wilson"), abs=1e-12)


def test_takes_expected_numbers():
    low, high = wilson(2.5, 10)
    assert wilson(2, 10)[0] < low < 0.25 < high < wilson(3, 10)[1]
