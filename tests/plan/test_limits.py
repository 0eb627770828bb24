import pytest
from pydantic import ValidationError

from sfumato.data.finding import Finding, Findings
from sfumato.errors import DataError
from sfumato.plan.limits import USUAL, Limit, apply_limits, attacking_for, unmeasured

FOUND = Findings(
    (
        Finding("delta", variable="Age", value=0.01),
        Finding("delta", variable="Fare", value=0.2),
        Finding("k_anonymity", value=4),
        Finding("risk1", at=0.01, value=None),
    )
)


def test_a_limit_binds_every_line_of_its_measure():
    judged = apply_limits(FOUND, [Limit(measure="delta", at_most=0.1)])
    assert [f.ok for f in judged] == [True, False, None, None]
    assert judged[1].limit == 0.1
    assert not judged.ok


def test_unless_it_is_narrowed():
    assert apply_limits(FOUND, [Limit(measure="delta", variable="Age", at_most=0.1)]).ok


def test_the_bound_itself_is_allowed():
    assert apply_limits(FOUND, [Limit(measure="k_anonymity", at_least=4)]).ok
    assert not apply_limits(FOUND, [Limit(measure="k_anonymity", at_least=5)]).ok


def test_what_has_no_value_does_not_meet_a_limit():
    assert not apply_limits(FOUND, [Limit(measure="risk1", at_most=1)]).ok


def test_a_limit_on_nothing_is_not_met_and_says_so():
    judged = apply_limits(FOUND, [Limit(measure="u_main", at_most=0.1)])
    assert not judged.ok
    assert "u_main" in judged.notes[0]


def test_of_two_limits_the_broken_one_shows():
    judged = apply_limits(FOUND, [Limit(measure="k_anonymity", at_least=5), Limit(measure="k_anonymity", at_least=2)])
    assert judged.of("k_anonymity").limit == 5


@pytest.mark.parametrize("wrong", [{}, {"at_least": 1, "at_most": 2}, {"at_most": 1, "colour": "red"}])
def test_a_limit_has_one_bound(wrong):
    with pytest.raises(ValidationError):
        Limit(measure="risk1", **wrong)


def test_attackers_are_the_usual_ones_and_those_that_limits_name():
    named = [
        Limit(measure="h_rank", attack="averaging:2", at=3, at_most=0.1),
        Limit(measure="h_rank", attack="worst", at=2, at_most=0.1),
        Limit(measure="h_rank", attack="nearest", at=2.5, at_most=0.1),
        Limit(measure="risk1", at=0.01, attack="nobody", at_most=0.1),
    ]
    needed = attacking_for(named)
    assert needed.attacks == ("nearest", "predicted", "averaging:2")
    assert needed.at == (2, 3)  # P(h <= 2.5) is no figure of its own
    assert needed.sample == USUAL.sample
    assert attacking_for([Limit(measure="attribute_nearest", at_most=0.1)]) == USUAL


def test_without_a_limit_on_attackers_none_are_needed():
    assert attacking_for([Limit(measure="risk1", at_most=0.1)]) is None
    assert attacking_for([]) is None


def test_an_attack_that_there_is_not_is_refused():
    with pytest.raises(DataError, match="There is no attack 'magic'"):
        attacking_for([Limit(measure="h_rank", attack="magic", at_most=0.1)])


def test_what_has_no_figure_is_told_from_what_has_a_bad_one():
    judged = apply_limits(FOUND, [Limit(measure="delta", at_most=0.1), Limit(measure="u_main", at_most=0.1)])
    assert [f.measure for f in judged if unmeasured(f)] == ["u_main"]


def test_last_bits_decide_nothing():
    """One in five, summed in any order, is one in five."""
    fifth = sum([0.1, 0.1, 0.1]) - 0.1
    assert fifth != 0.2
    assert Limit(measure="risk1", at_most=0.2).holds(Finding("risk1", value=fifth))
    assert Limit(measure="risk1", at_least=fifth).holds(Finding("risk1", value=0.2))
    assert not Limit(measure="risk1", at_most=0.2).holds(Finding("risk1", value=0.2001))
    assert not Limit(measure="risk1", at_most=0).holds(Finding("risk1", value=1e-9))
