"""Which attacks the terminal's table shows, in which order, and in which words."""

from __future__ import annotations

import random

import pytest

from sfumato.data.finding import Finding, Findings
from sfumato.measures.measure import KNOWN
from sfumato.measures.registry import figures
from sfumato.render.attacks import attack, by_weight, deciding, in_short, to_show
from sfumato.render.words import word

RELEASED = Finding("linkage_nearest", group="released", value=0.33, baseline=0.97, limit=0.2, ok=False)
STRATUM = Finding("linkage_nearest", group="stratum", value=0.1, baseline=0.97, limit=0.2, ok=True)
ALONE = Finding("uniques_sample", group="released", value=0.07, baseline=0.9)
SMALLEST = Finding("k_anonymity", group="keys", value=3.0, baseline=1.0, limit=5.0, ok=False)


def test_limits_that_are_exceeded_come_first_then_the_others_then_what_no_limit_speaks_of():
    lines = [ALONE, STRATUM, SMALLEST, RELEASED]
    for seed in range(6):
        shuffled = random.Random(seed).sample(lines, len(lines))
        assert by_weight(shuffled) == [RELEASED, SMALLEST, STRATUM, ALONE]


def test_what_could_not_be_measured_comes_after_what_is_exceeded():
    unmeasured = Finding("linkage_nearest", group="gone", limit=0.2, ok=False)
    assert by_weight([unmeasured, SMALLEST]) == [SMALLEST, unmeasured]
    assert attack(unmeasured).mark == "not measured"
    assert attack(SMALLEST).mark == "exceeded"


def test_a_limit_from_below_says_so():
    assert attack(SMALLEST).limit == "min 5"
    assert attack(RELEASED).limit == "20%"
    turned = Finding("risk1", value=0.01, limit=0.05, ok=False)  # a limit `at_least` on what is better low
    assert attack(turned).limit == "min 5%"


def test_of_an_attack_without_a_limit_the_worst_line_is_shown():
    free = [Finding("linkage_nearest", group=g, value=v) for g, v in (("overall", 0.1), ("stratum", 0.4))]
    single = Finding("linkage_nearest", group="ward=7", value=0.9)
    assert to_show(Findings((*free, single))) == [free[1]]


def test_an_attack_at_several_thresholds_is_shown_at_the_least():
    lines = [Finding("h_rank", group="all", at=t, attack="worst", value=t / 20) for t in (0.0, 1.0, 10.0)]
    lines += [Finding("h_rank", group="centre 10", at=0.0, attack="worst", value=0.9)]
    assert to_show(Findings(tuple(lines))) == [lines[0]]


def test_what_the_plan_calls_unknown_stands_beside_the_limit_that_does_not_bind_it():
    known = Finding("linkage_nearest", group="everything", value=0.6)
    assert to_show(Findings((STRATUM, known))) == [STRATUM, known]
    assert attack(known).knows == KNOWN["everything"]


def test_what_can_be_guessed_stands_in_the_table_only_where_it_is_exceeded():
    """Else it has a line of its own below the verdict."""
    kept = Finding("inference", "race", "risk", value=0.15, limit=0.2, ok=True)
    broken = Finding("inference", "race", "risk", value=0.25, limit=0.2, ok=False)
    assert to_show(Findings((kept,))) == []
    assert [attack(line).who for line in to_show(Findings((broken,)))] == ["guess of a value: race"]
    assert attack(broken).after == "25%"


def test_a_figure_that_is_no_attack_stands_by_its_title():
    line = Finding("u_trees", value=0.0651, limit=0.05, ok=False)
    shown = attack(line)
    assert shown.who == word("u_trees").title
    assert (shown.after, shown.limit) == ("0.0651", "0.05")


def test_the_worst_of_those_that_say_the_same_decides():
    together = Finding("linkage_one_to_one", group="stratum", value=0.17, limit=0.2, ok=True)
    assert deciding(Findings((STRATUM, together))) == together
    assert deciding(Findings((STRATUM, together, RELEASED))) == RELEASED
    assert deciding(Findings((ALONE,))) is None


@pytest.mark.parametrize(("value", "text"), [(0.131, "13%"), (0.004, "0.4%"), (0.0, "0%"), (1.0, "100%")])
def test_shares_in_short(value, text):
    assert in_short(word("linkage_nearest"), value) == text


def test_what_every_figure_says_of_attackers_fits_the_table():
    for said in figures().values():
        assert len(said.attacker) <= 24, said.name
        assert all(len(text) <= 27 for text in said.knows.values()), said.name


def test_who_knows_all_rows_of_a_household_stands_beside_who_knows_one():
    lines = [
        Finding("linkage_nearest", group="released", attack=a, value=v)
        for a, v in (("nearest", 0.1), ("household", 0.4))
    ]
    told = [(each.who, each.knows, each.after) for each in map(attack, to_show(Findings(tuple(lines))))]
    assert told == [
        ("nearest household", "all released columns", "40%"),
        ("nearest record", "all released columns", "10%"),
    ]
