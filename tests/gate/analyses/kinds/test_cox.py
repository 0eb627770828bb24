import numpy as np
import pytest

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people
from tests.late import late

cox = late("statsmodels.duration.hazard_regression")

FRAME = people()


@pytest.mark.slow
def test_as_statsmodels_has_it():
    own = asked("cox", "days ~ age + sex", event="gone")
    status = (FRAME["gone"] == "yes").to_numpy().astype(int)
    X = np.column_stack([FRAME["age"], FRAME["sex"] == "M"]).astype(float)
    wanted = cox.PHReg(FRAME["days"].to_numpy(), X, status=status, ties="efron").fit(disp=0)
    fit = exact_fit(own)
    assert own.design[0] == ("age", "sex[T.M]")
    np.testing.assert_allclose(fit.estimate, wanted.params, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(fit.se, wanted.bse, rtol=1e-4)
    near("cox", "days ~ age + sex", wanted.params, event="gone")


def test_both_sides_of_every_level_need_people_enough():
    from sfumato.gate.analyses.registry import KINDS
    from sfumato.gate.analyses.thresholds import unmet

    own = asked("cox", "days ~ ward", event="gone")
    assert unmet(own, KINDS["cox"].limits(None), 4) == ()
    assert unmet(own, KINDS["cox"].limits(None), 900) == ("levels",)
