import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.gate.analyses.fitting import exact_fit, protected_fit
from sfumato.gate.analyses.problem import problem_of
from sfumato.gate.analyses.request import read_analysis
from tests.gate.analyses.people import SECRET, people, records
from tests.late import late

sm = late("statsmodels.api")

FRAME = people()
DATA = records(FRAME)
DRAWS = Draws(SECRET)


def problem(kind="logistic", formula="died ~ age + sex", data=DATA, **more):
    return problem_of(data, read_analysis(data, kind, formula, **more))


def protected(*args, secret=DRAWS, **more):
    return protected_fit(problem(*args, **more), secret, 4)


def test_unprotected_fits_are_those_of_statsmodels():
    own = problem()
    wanted = sm.Logit(own.y, own.design[1]).fit(disp=0)
    found = exact_fit(own)
    np.testing.assert_allclose(found.estimate, wanted.params, rtol=1e-8)
    np.testing.assert_allclose(found.se, wanted.bse, rtol=1e-8)


def test_asked_again_it_is_the_same_and_spelled_otherwise_too():
    one = protected()
    for other in (protected(), protected(formula="died ~ sex + C(sex) + age")):
        np.testing.assert_array_equal(one.told.estimate, other.told.estimate)


def test_rows_in_another_order_give_the_same():
    shuffled = records(FRAME.sample(fraction=1.0, shuffle=True, seed=3))
    one, other = protected(), protected(data=shuffled)
    assert one.noise == other.noise
    np.testing.assert_allclose(one.told.estimate, other.told.estimate, rtol=1e-9)


def test_another_secret_gives_other_noise():
    one, other = protected(), protected(secret=Draws(bytes(32)))
    assert (one.told.estimate != other.told.estimate).any()


def test_the_strength_is_remembered_as_its_square():
    told = protected()
    assert math.isclose(math.sqrt(Fraction(told.noise)), told.told.tau)


def test_a_known_strength_is_kept():
    own = problem()
    free = protected_fit(own, DRAWS, 4)
    again = protected_fit(own, DRAWS, 4, free.noise)
    np.testing.assert_array_equal(free.told.estimate, again.told.estimate)
    assert protected_fit(own, DRAWS, 4, "81").told.tau == 9


def test_other_strengths_have_other_noise():
    """With equal noise e two strengths would give the plain estimate: z1 + (z1 - z2) t1 / (t2 - t1)."""
    own = problem()
    plain = exact_fit(replace(own, request=own.request)).estimate
    one, two = (protected_fit(own, DRAWS, 4, noise).told for noise in ("4", "16"))
    guess = one.estimate - (two.estimate - one.estimate) * 2 / (4 - 2)
    assert np.abs((guess - plain) / one.se_added).max() > 0.2


def test_without_keys_there_is_no_noise():
    frame = FRAME.drop("id")
    from sfumato.gate.reading import records_of

    data = records_of(frame)
    with pytest.raises(DataError, match="record"):
        protected_fit(problem(data=data), DRAWS, 4)
    with pytest.raises(DataError, match="secret"):
        protected_fit(problem(), None, 4)


def test_another_data_set_has_other_noise():
    own = problem()
    one, other = (protected_fit(own, DRAWS, 4, dataset=name).told for name in ("ward", "ward2"))
    assert (one.estimate != other.estimate).any()
