import pytest

from sfumato.errors import DataError
from sfumato.measures.intruding import SCENARIOS, Intruding, Knowledge


def test_an_intruder_who_is_not_described_knows_all_keys():
    known = Intruding(SCENARIOS, knows={"claim": Knowledge(("age",))})
    assert known.knowledge("claim").keys == ("age",)
    assert known.knowledge("neighbour") == Knowledge()


@pytest.mark.parametrize("present", [0.0, -0.5, 1.01, float("nan")])
def test_a_share_outside_0_to_1_is_refused(present):
    with pytest.raises(DataError, match="above 0 and at most 1"):
        Intruding(("cross_match",), present)


def test_an_unknown_scenario_is_refused():
    with pytest.raises(DataError, match="no scenario 'burglar'. Scenarios: neighbour, cross_match, trawl, claim"):
        Intruding(("neighbour", "burglar"))


def test_the_same_knowledge_has_the_same_word():
    assert Knowledge(error={"a": 1.0, "b": 2.0}).word == Knowledge(error={"b": 2.0, "a": 1.0}).word
