import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from sfumato.draws import Draws
from sfumato.errors import DataError
from sfumato.gate.analyses.fitting import exact_fit, protected_fit
from sfumato.gate.analyses.problem import problem_of
from sfumato.gate.analyses.request import read_analysis
from sfumato.gate.margin import Node
from tests.gate.analyses.people import SECRET, people, records

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


def test_scopes_of_the_same_people_share_the_subsample():
    """How many are looked at tells: all records by another spelling leave out the same ones."""
    from sfumato.gate.analyses.fitting import _subsample

    spelled = problem(where={Node("sex"): ["F", "M"]})
    kept = _subsample(problem(), DRAWS, DATA.words)
    np.testing.assert_array_equal(kept, _subsample(spelled, DRAWS, DATA.words))
    np.testing.assert_array_equal(kept, _subsample(problem(formula="died ~ ward"), DRAWS, DATA.words))
    other = _subsample(problem(formula="gone ~ age + sex"), DRAWS, DATA.words)
    assert (kept != other).any()
    share = kept.mean()
    assert abs(share - 0.95) < 4 * math.sqrt(0.95 * 0.05 / len(kept))


def test_whole_clusters_are_left_out():
    from sfumato.gate.analyses.fitting import _subsample

    own = problem("mixed", "cost ~ age", cluster="gp")
    kept = _subsample(own, DRAWS, DATA.words)
    by_cluster = pl.DataFrame({"c": own.cluster, "kept": kept}).group_by("c").agg(pl.col("kept").n_unique())
    assert by_cluster["kept"].max() == 1
    assert not kept.all()


def test_people_of_a_line_of_counts_are_drawn_apart():
    from sfumato.gate.analyses.fitting import _subsample
    from sfumato.gate.reading import records_of

    frame = pl.DataFrame({"y": ["a", "b"] * 2, "x": ["p", "p", "q", "q"], "n": [3000, 2000, 1000, 4000]})
    data = records_of(frame, count="n", secret=SECRET)
    kept = _subsample(problem("logistic", "y ~ x", data), DRAWS, data.words)
    for line in np.split(kept, [3000, 5000, 6000]):
        assert abs(line.mean() - 0.95) < 5 * math.sqrt(0.95 * 0.05 / len(line))


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
