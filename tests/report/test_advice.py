"""Findings in plain words."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import sfumato as sf
from sfumato.data.aim import Aim
from sfumato.data.codebook import Codebook
from sfumato.data.disclosure import Additive, Averaged, Disclosure, Misclassified, Sampled
from sfumato.data.finding import Finding, Findings
from sfumato.draws import Draws
from sfumato.engines.polars import PolarsDataset
from sfumato.plan.binding import entered
from sfumato.release.run import run_plan
from sfumato.report.advice import Advice, advice
from sfumato.report.remedy import Methods
from sfumato.report.report import StepDone
from tests.render import reports


def said(*lines: Finding) -> Advice:
    return advice(Findings(lines))


def test_nothing_measured_is_said_to_be_unknown():
    found = said()
    assert "nothing can be said" in found.risk
    assert "nothing can be said" in found.loss
    assert found.to_try == ()


def test_a_record_that_is_alone_is_said_first():
    found = said(Finding("k_anonymity", group="keys", value=1.0), Finding("k_anonymity", group="strata", value=9.0))
    assert found.risk.startswith("Somebody who knows what is released unmasked of a person (the keys) may find that")
    assert "at least one record is alone" in found.risk
    assert "recode" in found.to_try[0]


@pytest.mark.parametrize(("k", "few"), [(3.0, True), (5.0, False)])
def test_small_groups_are_called_small_below_five(k, few):
    found = said(Finding("k_anonymity", group="strata", value=k))
    assert f"at least {k:.0f} records" in found.risk
    assert ("which is few" in found.risk) == few
    assert bool(found.to_try) == few


@pytest.mark.parametrize(
    ("value", "words", "try_it"),
    [(0.372, "This is high", True), (0.15, "below the 20%", False), (0.05, "below the 9%", False)],
)
def test_linkage_stands_beside_its_baseline_and_the_usual_bounds(value, words, try_it):
    found = said(Finding("linkage_nearest", group="stratum", value=value, baseline=0.846))
    assert "exact original values and group" in found.risk
    assert "(without protection: 85%)" in found.risk
    assert words in found.risk
    assert any("mdav" in sentence for sentence in found.to_try) == try_it


def test_the_worst_attacker_is_told_of():
    found = said(
        Finding("linkage_nearest", group="overall", value=0.1),
        Finding("linkage_nearest", group="unscaled", value=0.6),
        Finding("linkage_one_to_one", group="overall", value=0.9),
        Finding("linkage_one_to_one", group="stratum", value=0.7),
    )
    assert "60% are found by undoing the restored spread" in found.risk
    assert "70% are found by assigning" in found.risk
    assert "90%" not in found.risk


def test_one_outcome_for_everyone():
    found = said(Finding("l_distinct", variable="HIV", group="keys", value=1.0))
    assert "everyone has the same HIV" in found.risk
    assert found.to_try[0].startswith("Everyone in at least one group has the same HIV")


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (Finding("risk1", value=0.2), "larger `k`"),
        (Finding("risk2", value=0.02), "larger `k`"),
        (Finding("unchanged", variable="a", value=0.5), "`distinct: true`"),
        (Finding("delta", variable="a", value=0.4), "smaller `k`"),
        (Finding("standardised_difference", variable="a", value=1.4), "smaller `k`"),
        (Finding("out_of_range", variable="a", value=0.01, baseline=0.0), "`clip"),
    ],
)
def test_a_bad_figure_gets_its_remedy_and_a_good_one_none(line, remedy):
    assert remedy in said(line).to_try[0]
    good = Finding(line.measure, line.variable, value=0.0, baseline=0.0)
    assert said(good).to_try == ()


def test_limits_that_are_exceeded_come_first():
    found = said(
        Finding("unchanged", variable="a", value=0.5),
        Finding("ci_overlap", variable="a", value=0.2, limit=0.8, ok=False),
    )
    assert [sentence.split(":")[0] for sentence in found.to_try] == [
        "The limit on ci_overlap is exceeded",
        "Many values of a are exactly what they were",
    ]


@pytest.mark.parametrize(
    "line",
    [
        Finding("k_anonymity", group="keys", value=1.0),
        Finding("linkage_nearest", group="overall", value=0.6),
        Finding("h_rank", group="all", at=0.0, attack="worst", value=0.6),
    ],
)
def test_a_high_risk_is_in_the_headline_unless_a_limit_speaks_of_it(line):
    assert len(said(line).high) == 1
    assert said(replace(line, limit=0.9, ok=True)).high == ()
    assert said(replace(line, value=None)).high == ()


def test_a_limit_on_something_else_does_not_quieten_the_headline():
    found = said(
        Finding("k_anonymity", group="keys", value=7.0, limit=5, ok=True),
        Finding("linkage_nearest", group="stratum", value=0.6),
    )
    assert found.high == ("Many records are found by somebody who knows the exact original values",)


def step(do, **parameters):
    return StepDone(do, True, "", parameters={"columns": ["age"], **parameters})


def averaged(grouping="mdav"):
    told = {"rescaled": False, "recentred": True, "rounded": False, "clipped": False}
    return Disclosure([Averaged(columns=("age",), k=3, grouping=grouping, **told)])


@pytest.mark.parametrize(
    ("line", "before", "after"),
    [
        (Finding("mean", "age", value=3.0, baseline=1.0, limit=2.0, ok=False), {"recentre": False}, {"recentre": True}),
        (Finding("sd", "age", value=3.0, baseline=1.0, limit=2.0, ok=False), {"rescale": False}, {"rescale": True}),
        (Finding("unchanged", "age", value=0.5), {"distinct": False}, {"distinct": True}),
        (Finding("k_anonymity", group="strata", value=2.0), {"by": ["sex"]}, {"by": ["sex"], "on_small": "merge"}),
    ],
)
def test_what_the_plan_has_already_is_not_proposed(line, before, after):
    (key, value) = list(after.items())[-1]
    word = f"`{key}: {str(value).lower()}`"
    told = averaged("knn" if key == "distinct" else "mdav")
    texts = [" ".join(advice(Findings((line,)), told, steps=[step("centroids", **p)]).to_try) for p in (before, after)]
    assert [word in text for text in texts] == [True, False]
    assert texts[1]


def test_groups_that_share_no_record_are_not_told_to_share_none():
    line = Finding("linkage_nearest", group="overall", value=0.6)
    texts = [" ".join(advice(Findings((line,)), averaged(how)).to_try) for how in ("knn", "mdav")]
    assert ["mdav" in text for text in texts] == [True, False]
    assert all("larger `k`" in text for text in texts)


def test_a_step_without_strata_is_not_told_to_leave_some_out():
    line = Finding("delta", "age", value=0.6)
    texts = [
        " ".join(advice(Findings((line,)), averaged(), steps=[step("centroids", by=by)]).to_try) for by in ([], ["sex"])
    ]
    assert ["`by`" in text for text in texts] == [False, True]


def test_a_remedy_is_not_given_twice():
    found = said(Finding("risk1", value=0.2, limit=0.1, ok=False), Finding("linkage_nearest", value=0.5))
    assert len(found.to_try) == 1


def test_a_limit_on_an_unknown_measure_still_gets_a_sentence():
    assert "brought_by_a_plugin" in advice(reports.findings()).to_try[1]


def test_impossible_values_that_were_there_before_are_not_blamed_on_protection():
    assert "impossible" not in said(Finding("out_of_range", variable="a", value=0.01, baseline=0.01)).loss


def test_loss_says_what_is_left_and_what_moved_and_nothing_twice():
    found = said(
        Finding("columns_kept", at=303.0, value=288 / 303),
        Finding("records_kept", value=1.0),
        Finding("values_kept", variable="time", value=2.0, baseline=1034.0),
        Finding("values_kept", variable="sex", value=2.0, baseline=2.0),
        Finding("cells_deleted", value=0.0),
        Finding("cells_filled", value=0.0),
        Finding("relations_shift", value=0.0312),
        Finding("coefficients_moved", at=5.0, value=0.4),
        Finding("u_trees", value=0.004),
        Finding("delta", variable="fare", value=0.0473),
        Finding("standardised_difference", variable="age", value=0.2),
        Finding("suppressed_cells", variable="fare", value=0.2),
    )
    assert found.loss == (
        "288 of 303 columns and all records left. `time` has 2 values (of 1,034). No cell deleted or filled in. "
        "Correlations move by .03 on average; 2 of 5 coefficients by over 1 SE."
    )


def test_nothing_is_called_anonymous_and_lone_values_do_not_break_it():
    for line in reports.findings():
        found = said(line)
        assert "anonymous" not in (found.risk + found.loss + "".join(found.to_try)).lower()
    for measure in {line.measure for line in reports.findings()}:
        assert said(Finding(measure)) == said()


def hidden(value, group="all", at=0.0, attack="worst"):
    return Finding("h_rank", group=group, at=at, attack=attack, value=value, baseline=0.001)


def test_the_h_rank_stands_beside_the_k_that_would_hide_as_well():
    said = advice(Findings((hidden(0.02), hidden(0.01, attack="nearest"), hidden(0.03, at=2.0))))
    assert "2% are found by the best of the attackers, as a group of 50 alike" in said.risk
    assert said.to_try == ()


def test_people_who_stand_apart_get_noise_that_grows():
    (try_this,) = advice(Findings((hidden(0.02), hidden(0.5, group="worst")))).to_try
    assert "grow" in try_this
    assert "clip" in try_this


def test_remedies_speak_of_noise_where_there_is_noise():
    lines = (hidden(0.5), Finding("linkage_nearest", group="overall", value=0.5), Finding("delta", value=0.3))
    said = " ".join(advice(Findings(lines)).to_try)
    assert "add more noise" in said
    assert "`k`" not in said


def test_a_category_that_can_be_read_off_is_said():
    line = Finding("attribute_posterior", "smoke", "all", value=0.87, baseline=0.5)
    assert "87% (50% by guessing" in advice(Findings((line,))).risk


SAMPLED = Disclosure([Additive(("bmi",), [[0.1]]), Sampled(fraction=0.1)])


def test_a_figure_of_a_sample_says_that_it_is_and_is_judged_for_those_in_it():
    """1.7% of people who may be in the file are 17% of those who are in it (a tenth of them)."""
    lines = Findings((hidden(0.017), hidden(0.05, group="worst")))
    whole = advice(lines)
    assert "2% are found" not in whole.risk
    assert "may or may not be in the file" not in whole.risk
    assert "usual bound for published data" in whole.risk
    part = advice(lines, SAMPLED)
    assert "may or may not be in the file (sampled 10%), 1.7% are found" in part.risk
    assert "known to be in the file 17%, as a group of 6 alike" in part.risk
    assert "above the 9% for published data" in part.risk
    assert "those who stand apart from the others, 50%" in part.risk
    assert any("stand apart" in sentence for sentence in part.to_try)
    assert not any("stand apart" in sentence for sentence in whole.to_try)


def test_a_limit_that_nothing_measured_is_not_called_exceeded():
    line = Finding("h_rank", at=2.5, limit=0.1, ok=False)
    (sentence,) = advice(Findings((line,)), SAMPLED).to_try
    assert "could not be measured" in sentence
    assert "noise" not in sentence
    (published,) = advice(Findings((line,)), SAMPLED, published=True).to_try
    assert "exceeded" in published  # there the figure is kept back


def test_values_that_stay_are_spoken_of_in_the_words_of_their_method():
    told = Disclosure(
        [
            Additive(("age",), [[0.1]], bounds={"age": (0, 100)}),
            Additive(("inc",), [[0.1]], rounded={"inc": 10.0}),
            Misclassified("code", [[0.9, 0.1], [0.1, 0.9]]),
        ]
    )
    lines = tuple(Finding("unchanged", name, value=0.8, baseline=1.0) for name in ("age", "inc", "code"))
    clipped, rounded = advice(Findings(lines), told).to_try
    assert clipped.startswith("Many values of age are")
    assert "`clip` out" in clipped
    assert rounded.startswith("Many values of inc are")
    assert "`round_to`" in rounded


def test_a_broken_limit_names_the_remedies_of_all_its_columns():
    told = Disclosure([Additive(("age",), [[0.1]]), Misclassified("code", [[0.9, 0.1], [0.1, 0.9]])])
    lines = tuple(Finding("unchanged", name, value=0.8, limit=0.1, ok=False) for name in ("age", "code"))
    said = advice(Findings(lines), told).to_try
    assert [("noise" in s, "`retention`" in s) for s in said] == [(True, False), (False, True)]


def test_what_is_said_of_the_keys_is_of_the_keys():
    """Whoever knows all that leaves finds a smaller group, of which another sentence speaks."""
    lines = [
        Finding("k_anonymity", group=g, value=v, limit=3.0, ok=True) for g, v in (("keys", 18.0), ("released", 5.0))
    ]
    assert "at least 18 records" in said(*lines).risk


STEPS = {
    "centroids": {"columns": ["x", "y"], "by": ["sex"], "k": 5, "grouping": "mdav", "blur": 0.1, "on_small": "merge"},
    "centroids of neighbours": {"columns": ["x", "y"], "k": 5, "grouping": "knn"},
    "noise": {"columns": ["x"], "share": 0.2},
    "noise that is clipped": {"columns": ["x"], "sd": 0.4, "clip": {"x": [0, 60]}},
    "pram": {"columns": ["sex"], "retention": 0.8},
    "swap": {"columns": ["x"], "window": 0.1},
    "synthesise": {"columns": ["x"], "min_leaf": 5},
}


def run_of(plan, data):
    """What became of the data, nothing of it measured."""
    entering = entered(plan, PolarsDataset(data, Codebook()))
    return run_plan(plan.bound(entering.codebook), entering, Draws(bytes(16)))


@pytest.mark.parametrize("named", STEPS)
def test_no_change_that_is_offered_is_refused(named):
    """As a button of the studio makes it: on one step, with everything said of the column that a run can say."""
    data = pl.DataFrame({"x": [float(i * 7 % 60) for i in range(60)], "y": [float(i) for i in range(60)]})
    data = data.with_columns(sex=pl.Series(["f", "m"] * 30), id=pl.int_range(60))
    do = {"do": named.partition(" ")[0], **STEPS[named]}
    variables = {"id": {"role": "record"}, "sex": {"role": "key"}}
    variables |= {n: {"role": "sensitive", "kind": "continuous"} for n in ("x", "y")}
    ran = run_of(sf.Plan(variables=variables, steps=[do]), data)
    methods = Methods(ran.disclosure, steps=ran.steps)
    edits = [edit for aim in Aim for column in (None, *do["columns"]) for edit in methods.edits(aim, column)]
    assert edits or named == "centroids of neighbours"
    for edit in edits:
        parameter, *column = edit.path[2:]
        changed = do | {parameter: {**do[parameter], column[0]: edit.value} if column else edit.value}
        if edit.value is None:  # which a button takes out of the plan
            del changed[parameter]
        run_of(sf.Plan(variables=variables, steps=[changed]), data)


def test_whole_households_have_remedies_of_their_own():
    line = Finding("linkage_nearest", group="keys", attack="household", value=0.6, baseline=1.0, limit=0.2, ok=False)
    said = advice(Findings((line,)))
    assert said.to_try[0].startswith(
        "The limit on linkage_nearest is exceeded for somebody who knows all rows of a household"
    )
    assert "swap_households" in said.to_try[0]
    assert "in all rows of a household finds 60% of the people" in said.risk
