"""What a policy may ask."""

import hashlib

import pytest
from pydantic import ValidationError

from sfumato.errors import DataError
from sfumato.gate.margin import canonical_json
from sfumato.gate.policy import PRESETS, Policy, of_criteria


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"preset": "none"},
        {"interval": {"count": 4, "width": 4}},
        {"interval": {"count": 0, "width": 4}},
        {"interval": {"count": 4}},
        {"attribution": {"variables": []}},
        {"attribution": {"variables": ["a"], "rule": "some"}},
        {"dominance": ["p(0)"]},
        {"dominance": ["n(3)"]},
        {"preset": "research", "dominance": []},
        {"dominance": ["nk(2,85) or p(10)"]},
        {"interval": {"count": 1, "width": 2}, "extra": 1},
        {"noise": {"mu_at_most": 3}},
        {"interval": {"count": 1, "width": 2}, "noise": {"mu_at_most": float("nan")}},
    ],
)
def test_policies_that_are_none(wrong):
    with pytest.raises(ValidationError):
        Policy(**wrong)


def test_presets_and_what_stands_beside_them():
    assert Policy(preset="public").interval.model_dump() == {"count": 9, "width": 20}
    assert Policy(preset="public", interval={"count": 1, "width": 2}).interval.width == 2
    assert [rule.name for rule in Policy(preset="acro").rules] == ["nk", "p"]
    assert all(Policy(preset=name) for name in PRESETS)


def test_the_digest_is_of_what_is_asked():
    same = Policy(interval=PRESETS["research"]["interval"])
    assert Policy(preset="research").digest == same.digest
    others = [
        Policy(preset="public"),
        Policy(preset="research", noise={"mu_at_most": 0.1}),
    ]
    assert len({same.digest, *(one.digest for one in others)}) == 3


OLD = {
    "preset": "research", "interval": {"count": 4, "width": 10}, "attribution": None, "dominance": ["p(10)"],
    "sap": None, "grants_per_day": None, "requests_per_day": None, "noise": None, "perturbed": None,
    "simulatable": False, "public": None,
}  # fmt: skip
"""A policy as stores of earlier versions have it."""


def test_what_went_is_refused_with_the_reason():
    for value in (True, False):
        with pytest.raises(ValueError, match="`simulatable` went, since it refused everything"):
            Policy(preset="research", simulatable=value)


def test_policies_of_earlier_stores_are_read_and_have_the_digest_that_their_entries_name():
    policy = Policy.from_plain(OLD)
    assert policy == Policy(preset="research", dominance=["p(10)"])
    before = canonical_json({name: one for name, one in OLD.items() if name != "preset"})
    assert policy.digest == hashlib.sha256(before).hexdigest()


def test_an_earlier_policy_that_refused_everything_goes_on_so():
    policy = Policy.from_plain({**OLD, "interval": None, "perturbed": {"variance": "0.5"}, "simulatable": True})
    assert policy.perturbed is None
    assert policy.interval.width > 10**6
    assert Policy.from_plain(policy.to_plain()) == policy


def test_criteria_of_one_call():
    assert of_criteria(None).interval.count == 4
    assert of_criteria(None, {"a": "any"}).interval is None
    with pytest.raises(DataError, match="one rule"):
        of_criteria(None, {"a": "any", "b": "positive"})
