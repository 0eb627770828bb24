"""Pictures have their words, and figures read as people write them."""

from __future__ import annotations

import pytest

from sfumato.data.finding import Finding
from sfumato.render import words
from tests.render import reports


def test_an_unknown_measure_keeps_its_name():
    assert words.word("brought_by_a_plugin").title == "brought_by_a_plugin"


def test_every_picture_is_explained():
    for picture in reports.pictures():
        title, how = words.how_to_read(picture)
        assert title
        assert how.endswith(".")


@pytest.mark.parametrize(
    ("line", "value", "text"),
    [
        (Finding("risk1"), 0.0, "0%"),
        (Finding("risk1"), 1.0, "100%"),
        (Finding("risk1"), 0.000012345, "0.00123%"),
        (Finding("u_main"), 0.0001167, "0.000117"),
        (Finding("delta"), 12345.6, "12346"),
        (Finding("k_anonymity"), 32.0, "32"),
        (Finding("mean"), -1234.5678, "−1234.6"),
        (Finding("mean"), None, "–"),
    ],
)
def test_figures(line, value, text):
    assert words.figure(line, value, internal=True) == text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Finding("k_anonymity", value=7, limit=5, ok=True), "at least 5"),
        (Finding("k_anonymity", value=5, limit=5, ok=True), "at least 5"),
        (Finding("k_anonymity", value=7, limit=5, ok=False), "at most 5"),
        (Finding("risk1", value=0.2, limit=0.05, ok=False), "at most 5%"),
        (Finding("risk1", value=None, limit=0.05, ok=False), "at most 5%"),
        (Finding("mean", value=0.1, ok=True), "set"),
        (Finding("mean", value=0.1), ""),
    ],
)
def test_bounds_tell_their_direction(line, text):
    assert words.bound(line) == text


def test_a_published_rung_does_not_turn_a_limit_round():
    """k = 7 is published as at least 5, below the limit of 6, which it keeps."""
    assert words.bound(Finding("k_anonymity", value=5, limit=6, ok=True), internal=False) == "at least 6"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (Finding("u_main", group="overall"), "all records"),
        (Finding("k_anonymity", group="keys"), "smallest group, released keys, none masked"),
        (Finding("class_size", group="ward=7"), "ward=7"),
        (Finding("linkage_nearest", group="stratum"), "attacker knows the group"),
        (Finding("unchanged", variable="age"), "age"),
        (Finding("t_equal", variable="HIV", group="strata"), "HIV, worst group, strata of the masking steps"),
        (Finding("class_size"), "mean of all groups"),
        (Finding("class_size", group="keys"), "mean of all groups, released keys, none masked"),
        (Finding("interval_disclosure", at=0.05), "all records, ± 0.05"),
    ],
)
def test_what_a_line_is_about(line, text):
    assert words.of_what(line) == text


def test_tables_are_folded_but_for_their_mean():
    pairs = [Finding("table_ratio", f"a × c{i}", "two-way", value=float(i)) for i in range(50)]
    shown, folded = words.fold([Finding("table_ratio", group="two-way", value=2.0), *pairs], 3)
    assert [f.variable for f in shown] == [None, "a × c47", "a × c48", "a × c49"]
    assert folded == 47


def test_folding_keeps_the_whole_and_the_worst():
    lines = [Finding("t_equal", group=f"g={i}", value=i / 100) for i in range(50)]
    lines += [Finding("t_equal", group="overall", value=0.1), Finding("t_equal", group="g=x", value=0.0, ok=False)]
    shown, folded = words.fold(lines, 3)
    assert [line.group for line in shown] == ["g=48", "g=49", "overall", "g=x"]
    assert folded == 48
