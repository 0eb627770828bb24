"""The screens of `risk` and `compare`: the figure that says most first, all on one small terminal, nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from sfumato.data.finding import Finding, Findings
from sfumato.render.layout import Following
from sfumato.render.measured import screen_of_loss, screen_of_risk

NEXT = Following((("sfumato init", "a.csv", "--out plan.yaml"),))
BY_ALL = Finding("uniques_sample", group="released", value=0.81)
BY_KEYS = Finding("uniques_sample", group="keys", value=0.1)
ALL = tuple("abcdefgh")
FOUND = Finding("linkage_nearest", group="released", value=0.13, baseline=0.88)
KEPT = Finding("columns_kept", at=12.0, value=0.75)
SHIFT = Finding("relations_shift", value=0.02)


def risk(*lines, alone=True, **classes):
    return screen_of_risk(Findings(lines, classes=classes), "titanic", NEXT, alone=alone)


def loss(*lines):
    return screen_of_loss(Findings(lines), NEXT)


def fits(lines):
    return len(lines) <= 24 and all(cell_len(line) <= 80 for line in lines)


def test_who_stands_alone_by_all_columns_and_by_the_keys():
    lines = risk(BY_ALL, BY_KEYS, released=ALL, keys=("Sex", "Age"))
    assert lines[0] == "RISK  81% of the people stand alone by all 8 columns, 10% by Sex and Age."
    assert lines[-2:] == ["Next:", "  sfumato init a.csv --out plan.yaml"]
    assert not any("After" in line for line in lines), "one file has no figure after protection"


def test_the_same_columns_are_said_once():
    (first, *_) = risk(BY_ALL, replace(BY_KEYS, value=0.81), released=("Sex",), keys=("Sex",))
    assert first == "RISK  81% of the people stand alone by Sex."


def test_figures_that_are_asked_for_stand_in_the_table():
    special = Finding("special_uniques", group="keys", value=3.0)
    found = Findings((BY_KEYS, special), classes={"keys": ("Sex",)})
    told = [screen_of_risk(found, "titanic", NEXT, alone=True, asked=asked) for asked in ((), ("special_uniques",))]
    assert ["Records alone by few" in "".join(lines) for lines in told] == [False, True]


def test_braces_in_names_are_text():
    assert risk(BY_KEYS, keys=("{0}", "a{"))[0] == "RISK  10% of the people stand alone by {0} and a{."


def test_where_nobody_is_counted_the_first_attack_says_most():
    lines = risk(FOUND, alone=False)
    assert lines[0] == "RISK  At most 13% of the people are found, 88% without protection."
    assert any("Before  After" in line for line in lines)


def test_of_a_protected_file_it_is_said_first_who_is_found():
    """That few stand alone in it does not help those who are found by what is like them."""
    lines = risk(BY_KEYS, FOUND, alone=False, keys=("Sex",))
    assert lines[0] == "RISK  At most 13% of the people are found, 88% without protection."


def test_limits_make_a_verdict():
    kept, broken = replace(FOUND, limit=0.2, ok=True), replace(FOUND, limit=0.09, ok=False)
    assert risk(kept, alone=False)[0] == "HOLDS  titanic: at most 13% of the people are found; the limit is 20%."
    lines = risk(broken, alone=False)
    assert lines[0] == "EXCEEDED  titanic: 13% of the people are found; the limit is 9%."
    assert any(line.endswith("exceeded") for line in lines)


def test_a_limit_that_nothing_was_measured_of_is_said():
    lines = risk(Finding("h_rank", at=2.0, limit=0.1, ok=False))
    assert lines[0] == "EXCEEDED  titanic: h_rank could not be measured."


@pytest.mark.parametrize(
    ("lines", "alone", "says"),
    [
        ((BY_KEYS,), True, "no category is sensitive"),
        ((FOUND,), False, "--control FILE"),
        ((Finding("l_distinct", "ill", "keys", value=1.0),), True, "has the same ill"),
        ((Finding("l_distinct", "ill", "keys", value=3.0),), True, "at least 3 different values of ill"),
        ((Finding("inference", "ill", "risk", value=0.15),), False, "15%"),
    ],
)
def test_what_can_be_guessed_stands_beside_it(lines, alone, says):
    assert says in " ".join(" ".join(risk(*lines, alone=alone, keys=("Sex",))[1:4]).split())


def test_many_attacks_and_long_names_fit():
    many = [Finding("l_distinct", f"{'長い' * 30}{i}", "keys", value=2.0, limit=3.0, ok=False) for i in range(30)]
    lines = risk(
        BY_KEYS, *many, Finding("l_distinct", "x" * 90, "keys", value=1.0), keys=("x" * 90, "y" * 90, "z" * 90)
    )
    assert fits(lines)
    assert any(line.startswith(" … and 20 more") for line in lines)


def test_the_loss_that_is_largest_comes_first_and_once():
    lines = loss(KEPT, SHIFT)
    assert lines[0] == "LOST  3 of 12 columns are gone."
    assert "columns left" not in "".join(lines)
    assert "Lost: Correlations move by .02 on average." in lines
    lines = loss(replace(KEPT, value=1.0), replace(SHIFT, value=0.3))
    assert lines[0] == "LOST  correlations move by .30 on average."
    assert "Lost: 12 of 12 columns left." in lines


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (Finding("records_kept", value=0.75), "25% of the records are gone"),
        (Finding("cells_deleted", value=0.04), "4% of the cells are deleted"),
        (Finding("u_main", value=0.05), "a model tells released from original records: .05"),
        (Finding("standardised_difference", "bmi", value=1.5), "1 of 1 coefficients of the model move"),
        (Finding("records_kept", value=1.0), "nothing of what was measured"),
    ],
)
def test_what_may_be_the_largest_loss(line, says):
    assert loss(line)[0].startswith(f"LOST  {says}")


def test_moves_are_sorted_by_how_far_in_units_of_their_column():
    spread = Finding("sd", "Fare", value=50.0, baseline=50.0)
    lines = loss(
        spread,
        Finding("mean", "Fare", value=35.0, baseline=30.0),
        Finding("quantile", "Fare", at=0.5, value=20.0, baseline=15.1),
        Finding("quantile", "Fare", at=0.95, value=90.0, baseline=80.0),
        Finding("correlation", "Age × Fare", value=-0.4, baseline=0.1),
        Finding("values_kept", "Age", value=9.0, baseline=80.0),
        Finding("mean", "Age", value=29.0, baseline=29.0),
    )
    start = next(i for i, line in enumerate(lines) if line.startswith(" What moved most"))
    table = [line.split() for line in lines[start + 1 : lines.index("", start)]]
    assert [row[0] for row in table] == ["Correlation", "Quantiles", "Mean"]
    assert [row[-2:] for row in table] == [["0.1", "−0.4"], ["80", "90"], ["30", "35"]]


def test_at_most_twelve_moves_fit():
    many = [Finding("mean", "列" * 40 + str(i), value=2.0 + i, baseline=1.0) for i in range(30)]
    lines = loss(KEPT, *many, *(Finding("values_kept", f"c{i}", value=1.0, baseline=9.0) for i in range(30)))
    assert fits(lines)


def test_a_limit_on_loss_that_is_exceeded_is_said():
    lines = loss(replace(SHIFT, limit=0.01, ok=False))
    assert lines[0].startswith("LOST  correlations move")
    assert "Exceeded: " in lines[1]
    assert "the limit is 0.01" in lines[1]
