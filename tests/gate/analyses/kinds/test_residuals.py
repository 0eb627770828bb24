import pytest

from sfumato.gate.analyses.footprint import footprint
from sfumato.gate.analyses.kinds.residuals import KIND
from sfumato.gate.analyses.request import read_analysis
from tests.gate.analyses.people import records


@pytest.mark.parametrize("formula", ["cost ~ sex", "cost ~ stay"])
def test_it_is_never_exact(formula):
    data = records()
    assert footprint(data, read_analysis(data, "residuals", formula)) is None


def test_its_model_is_looked_at_as_a_linear_one():
    assert {one.name for one in KIND.limits(None)} == {"residual_df", "parameters", "levels"}
