"""What the others of its group say of a record: against the normal regression of u on their mean."""

import numpy as np
import pytest

from sfumato.inference.covariates.between import expected_between


def test_it_is_the_regression_on_the_others():
    """Slope 1 of u on û (three standard errors: 0.1 for 200 groups), and 0 for records that are alone."""
    rng = np.random.default_rng(2)
    group = np.append(np.repeat(np.arange(200), 8), [200])
    u = rng.normal(size=201)[group]
    expected = expected_between(u + rng.normal(0, 1.5, 1601), group)
    assert np.polyfit(expected, u, 1)[0] == pytest.approx(1.0, abs=0.1)
    assert expected[-1] == 0


def test_nothing_where_groups_do_not_differ():
    rng = np.random.default_rng(3)
    assert expected_between(rng.normal(size=400), np.arange(400) % 40) is None
    assert expected_between(np.zeros(4), np.array([0, 0, 1, 1])) is None
