"""What a draft does, as plain values."""

from __future__ import annotations

import json

from sfumato.plan.drafted import DraftedPlan, LeftOut, Tried


def test_it_is_plain_and_holds_no_plan():
    left = (LeftOut("name", "names of people"),)
    tried = Tried(0.1, 0.02, 0.15, 2000)
    made = DraftedPlan("sfumato: 1", "public-use", "swap", ("sex",), ("q1",), ("sex", "q1"), left, 12, tried)
    told = made.with_next(["sfumato protect plan.yaml"]).to_dict()
    assert json.loads(json.dumps(told)) == {
        "for": "public-use",
        "known": ["sex"],
        "unknown": ["q1"],
        "kept": ["sex", "q1"],
        "left_out": [{"column": "name", "because": "names of people"}],
        "method": "swap",
        "group": 12,
        "tried": {
            "linkage_nearest": 0.1,
            "uniques_kept": 0.02,
            "inference": 0.15,
            "records": 2000,
            "relations_shift": None,
        },
        "next": ["sfumato protect plan.yaml"],
    }


def test_why_nothing_can_be_released_is_told():
    assert DraftedPlan("", "public-use", "keys", (), (), (), because="nobody shares a key").to_dict()["because"]
