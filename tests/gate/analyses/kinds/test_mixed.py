import numpy as np

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people
from tests.late import late

smf = late("statsmodels.formula.api")

FRAME = people()


def test_as_statsmodels_has_it():
    own = asked("mixed", "cost ~ age", cluster="gp")
    model = smf.mixedlm("cost ~ age", FRAME.to_pandas(), groups=FRAME["gp"].to_numpy())
    wanted = model.fit(reml=True)
    fit = exact_fit(own)
    np.testing.assert_allclose(fit.estimate, wanted.fe_params, rtol=1e-4)
    np.testing.assert_allclose(fit.se, wanted.bse_fe, rtol=2e-3)
    near("mixed", "cost ~ age", wanted.fe_params, cluster="gp")
