import numpy as np

from sfumato.gate.analyses.fitting import exact_fit
from tests.gate.analyses.people import asked, near, people

FRAME = people()


def test_of_two_numbers():
    wanted = np.corrcoef(FRAME["cost"], FRAME["age"])[0, 1]
    np.testing.assert_allclose(exact_fit(asked("correlation", "cost ~ age")).estimate, [wanted], rtol=1e-10)
    near("correlation", "cost ~ age", [wanted])
