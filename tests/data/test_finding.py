import json

import polars as pl
import pytest

from sfumato.data.finding import Finding, Findings

FOUND = Findings((
    Finding("risk1", at=0.01, value=0.04, baseline=1.0, limit=0.05, ok=True),
    Finding("delta", variable="Age", value=0.01),
    Finding("delta", variable="Fare", value=None),
    Finding("linkage_one_to_one", group="overall", attack="one-to-one", value=0.2, interval=(0.1, 0.3)),
), ("a note",))  # fmt: skip
KEYS = ["measure", "variable", "group", "at", "attack", "value", "interval", "baseline", "limit", "ok"]


def test_the_ten_fixed_keys_in_json_and_as_columns():
    assert [list(f.to_plain()) for f in FOUND] == [KEYS] * 4
    assert FOUND.tidy().columns == KEYS
    assert FOUND.tidy()["interval"].to_list() == [None, None, None, [0.1, 0.3]]
    assert json.loads(json.dumps(FOUND[3].to_plain()))["interval"] == [0.1, 0.3]


def test_no_findings_have_the_same_columns():
    assert Findings().tidy().columns == KEYS
    assert Findings().tidy().schema["value"] == pl.Float64
    assert Findings().ok


def test_lines_are_found_by_what_they_are():
    assert FOUND.of("delta", variable="Fare").value is None
    assert len(FOUND.select("delta")) == 2
    with pytest.raises(LookupError, match="delta, linkage_one_to_one, risk1"):
        FOUND.of("risk2")


def test_notes_that_several_share_stand_once():
    together = Findings.together([FOUND, FOUND])
    assert (len(together), together.notes) == (8, ("a note",))
    assert together == (FOUND + FOUND)
    assert FOUND[1:3].notes == ("a note",)


def test_one_broken_limit_is_enough():
    assert FOUND.ok
    assert not (FOUND + Findings((Finding("u_main", ok=False),))).ok


def test_notebooks_get_a_table():
    assert "<table" in FOUND._repr_html_()
