import numpy as np
import pytest

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people

FRAME = people()


@pytest.mark.parametrize("probability", [0.25, 0.5, 0.9])
def test_a_quantile(probability):
    wanted = np.quantile(FRAME["cost"].to_numpy(), probability)
    options = {"probability": probability}
    np.testing.assert_allclose(exact_fit(asked("quantile", "cost ~ 1", options=options)).estimate, [wanted], rtol=1e-12)
    near("quantile", "cost ~ 1", [wanted], options=options)


def test_no_value_of_anybody_is_told():
    from sfumato.draws import Draws
    from sfumato.gate.analyses.fitting import protected_fit
    from tests.gate.analyses.people import SECRET

    told = protected_fit(asked("quantile", "cost ~ 1"), Draws(SECRET), 4).told
    assert told.estimate[0] not in set(FRAME["cost"])
