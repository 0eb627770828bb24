"""What is offered instead: coarser before smaller, three at most, each decided."""

from sfumato.gate.margin import Margin, Node
from sfumato.gate.offers import MOST, Offer, offered
from sfumato.gate.structure import Structure

TOWN = Structure(
    {"town": ("Bath", "Leeds", "Wells", "York"), "sex": ("f", "m"), "age": ("0", "1", "2")},
    {("town", "area"): ("S", "N", "S", "N"), ("town", "all"): ("x",) * 4, ("town", "three"): ("a", "b", "c", "a")},
)
ASKED = Margin.of([Node("town"), Node("sex"), Node("age")])


def told(offers):
    return [(offer.kind, offer.margin.label) for offer in offers]


def test_what_loses_least_comes_first_and_a_level_of_one_group_never():
    tried = []
    offers = offered(TOWN, ASKED, lambda margin: tried.append(margin.label) or True)
    assert len(offers) == MOST
    assert told(offers)[:2] == [("coarser", "age,sex,town@three"), ("coarser", "age,sex,town@area")]
    assert told(offers)[2] == ("smaller", "age,town")  # without the variable of fewest codes
    assert tried == [label for _, label in told(offers)]


def test_only_what_is_granted_is_offered():
    assert told(offered(TOWN, ASKED, lambda margin: Node("town") not in margin.nodes)) == [
        ("coarser", "age,sex,town@three"),
        ("coarser", "age,sex,town@area"),
        ("smaller", "age,sex"),
    ]
    assert offered(TOWN, ASKED, lambda margin: False) == ()


def test_a_table_of_one_variable_gets_no_smaller_one():
    assert offered(TOWN, Margin.of([Node("sex")]), lambda margin: True) == ()


def test_sums_and_versions_stay():
    offers = offered(TOWN, Margin.of([Node("sex"), Node("age")], "cost", version="v2"), lambda margin: True)
    assert {(offer.margin.value, offer.margin.version) for offer in offers} == {("cost", "v2")}


def test_a_model_is_offered_with_all_that_asks_for_it():
    fit = '{"complete":["a","y"],"formula":"y ~ a","kind":"logistic","where":[["r","area",["N","S"]],["s","",["F"]]]}'
    plain = Offer("analysis", Margin(version="v2", noise="4", fit=fit)).to_plain()
    assert plain["kind"] == "analysis"
    assert plain["analysis"]["where"] == {"r@area": ["N", "S"], "s": ["F"]}
    assert (plain["analysis"]["formula"], plain["analysis"]["version"]) == ("y ~ a", "v2")
