import pytest

from sfumato.errors import DataError
from sfumato.measures.measuring import Measuring, wildcard


@pytest.mark.parametrize(
    ("rule", "alpha"), [("category", None), ("wildcard", 1), ("wildcard:.25", 0.25), ("wildcard:0", 0)]
)
def test_rules_on_missing_keys(rule, alpha):
    assert wildcard(rule) == alpha


@pytest.mark.parametrize("rule", ["", "Wildcard", "wildcard:", "wildcard:1.5", "wildcard:-1", "wildcard:nan", "0.5"])
def test_other_rules_are_refused(rule):
    with pytest.raises(DataError, match="wildcard:ALPHA"):
        Measuring(missing=rule)


@pytest.mark.parametrize("fraction", [0, -0.1, 1.01, float("nan"), float("inf")])
def test_a_fraction_is_a_share(fraction):
    with pytest.raises(DataError, match="fraction"):
        Measuring(fraction=fraction)
    assert Measuring(fraction=1).fraction == 1
