import numpy as np

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people
from tests.late import late

sm = late("statsmodels.api")

FRAME = people()


def test_as_statsmodels_has_it():
    own = asked("poisson", "visits ~ age + sex")
    wanted = sm.Poisson(FRAME["visits"].to_numpy().astype(float), own.design[1]).fit(disp=0)
    fit = exact_fit(own)
    np.testing.assert_allclose(fit.estimate, wanted.params, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(fit.se, wanted.bse, rtol=1e-6)
    near("poisson", "visits ~ age + sex", wanted.params)


def test_who_lacks_a_value_is_left_out():
    known = FRAME["smoker"].is_not_null().to_numpy()
    own = asked("poisson", "visits ~ smoker")
    assert own.n == known.sum()
    assert own.design[0] == ("Intercept", "smoker[T.yes]")
