"""What leaves the house: every planted value must be gone, and what stays must be right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfumato.data.finding import Finding, Findings
from sfumato.measures.risk.h_rank.measure import FRACTION
from sfumato.render.html import render
from sfumato.report.external import at_least, external
from sfumato.report.picture import Risky, Strata
from sfumato.report.report import Report
from tests.render import reports


@pytest.fixture(scope="module")
def report() -> Report:
    return reports.report()


def only(report: Report, *lines: Finding) -> Findings:
    return external(replace(report, findings=Findings(lines))).findings


def test_planted_values_are_in_the_custodians_report_and_not_in_the_public_one(report):
    said, public = (repr(r) + repr(r.pictures) for r in (report, external(report)))
    for planted in (reports.CATEGORY, reports.RECORD, str(reports.VALUE), str(reports.COUNT)):
        assert planted in said
        assert planted not in public


def test_it_is_marked_as_public_and_once_is_enough(report):
    public = external(report)
    assert not public.internal
    assert external(public) is public
    assert (public.title, public.fingerprint, public.disclosure) == (
        report.title,
        report.fingerprint,
        report.disclosure,
    )


def test_steps_keep_their_public_sentence(report):
    public = external(report)
    assert [s.sentence for s in public.steps] == [s.sentence for s in report.steps]
    assert all(s.notes == () for s in public.steps)
    assert (public.plan_yaml, public.warnings, public.findings.notes) == ("", (), ())


def test_pictures_for_the_custodian_go(report):
    kinds = {type(p) for p in report.pictures}
    assert kinds - {type(p) for p in external(report).pictures} == {Risky, Strata}


@pytest.mark.parametrize(
    ("count", "rung"),
    [(0, 0), (0.7, 0), (1, 1), (2, 2), (4, 3), (9, 5), (10, 10), (32, 20), (99, 50), (100, 100), (1e6, 1e6)],
)
def test_counts_become_the_largest_rung_they_reach(count, rung):
    assert at_least(count) == rung


def test_a_count_keeps_its_limit_and_verdict(report):
    line = external(report).findings.of("k_anonymity")
    assert (line.value, line.baseline, line.limit, line.ok) == (20_000, 20_000, 5, True)


def test_rates_keep_three_digits(report):
    found = external(report).findings
    assert found.of("risk1").value == 0.0426
    assert found.of("linkage_one_to_one").interval == (0.241, 0.31)
    assert found.of("ci_overlap").value == 0.877


def test_figures_of_single_strata_go_and_their_verdict_stays(report):
    found = external(report).findings
    assert {f.group for f in found} == {None, "overall", "stratum"}
    sizes = found.select("class_size")
    assert [(f.value, f.limit, f.ok) for f in sizes] == [(None, 20, False)]
    assert external(report).ok == report.ok is False


def test_a_verdict_is_not_said_twice(report):
    one = Finding("risk1", value=0.01, limit=0.05, ok=True)
    strata = replace(one, group="ward=7")
    assert len(only(report, one, strata)) == 1
    assert [f.ok for f in only(report, one, replace(strata, ok=False))] == [True, False]


def test_an_unknown_measure_keeps_its_verdict_only(report):
    line = external(report).findings.of("brought_by_a_plugin")
    assert (line.value, line.limit, line.ok) == (None, 9.0, False)
    assert not only(report, Finding("another", value=3.0))


def test_means_and_spreads_become_changes_in_original_sds(report):
    found = external(report).findings
    # (4810.5 − 4815.1623) / 50 and (48.5 − 50) / 50
    assert (found.of("mean").value, found.of("sd").value) == (-0.09, -0.03)
    assert found.of("mean").limit is found.of("mean").baseline is None
    assert found.of("mean").ok is True
    assert found.of("correlation").value == -0.06


def test_quantiles_are_not_published(report):
    """A released quantile less a rounded change would be the original's, which is some record's value."""
    sd = Finding("sd", variable="a", value=1.0, baseline=1.0)
    lines = [Finding("quantile", variable="a", at=t, value=2.0, baseline=1.66) for t in (0.01, 0.5, 0.99)]
    assert not only(report, sd, *lines).select("quantile")


def test_a_change_without_its_unit_is_left_out(report):
    assert not only(report, Finding("mean", variable="a", value=2.0, baseline=1.0))
    assert not only(report, Finding("quantile", variable="a", at=0.5, value=2.0, baseline=1.0))


def test_coefficients_go_by_public_names(report):
    found = external(report).findings.select("standardised_difference")
    assert {f.variable: f.value for f in found} == {"ward, category 2 of 2": 0.167, "age": 1.25}


def test_coefficients_that_no_picture_vouches_for_are_left_out(report):
    blind = replace(report, pictures=())
    assert not external(blind).findings.select("standardised_difference")
    assert not only(report, Finding("ci_overlap", variable="C(street)[T.High Street]", value=1.0))


@pytest.mark.slow
def test_the_note_that_figures_hold_for_a_sample_stays(report):
    told = replace(report, findings=Findings((Finding("risk1", value=0.1),), (FRACTION, "Record RID-90210.")))
    assert external(told).findings.notes == (FRACTION,)
    assert "multiplied by the sampling fraction" in render(external(told))["report.html"].decode()


def tables_of(*pairs: str) -> list[Finding]:
    lines = [Finding("table_ratio", name, "two-way", value=1.23456, baseline=None) for name in pairs]
    return [Finding("table_ratio", group="two-way", value=1.23456), *lines]


def test_of_single_tables_only_their_mean_is_published(report):
    """U of one table of two cells, with the release beside it, is an equation that tells the original's count."""
    found = only(report, *tables_of("a × b", "a × c", "b × c"))
    assert [(f.variable, f.value) for f in found] == [(None, 1.23)]


def test_a_mean_of_few_tables_is_kept_back(report):
    assert not only(report, *tables_of("a × b"))
    assert not only(report, *tables_of("a × b", "a × c"))


def test_tables_that_are_as_they_were_hide_nothing_in_a_mean(report):
    """Where one column was changed, the mean of ten tells that one's figure."""
    kept = [Finding("table_ratio", name, "one-way", value=0.0) for name in "cdefgh"]
    changed = [Finding("table_ratio", name, "one-way", value=0.5) for name in "ab"]
    mean = Finding("table_ratio", group="one-way", value=0.125)
    assert not only(report, mean, *changed, *kept)
    assert only(report, mean, *changed, replace(kept[0], value=0.5), *kept[1:])


def test_a_limit_on_single_tables_keeps_its_verdict(report):
    lines = [replace(f, limit=1.0, ok=False) for f in tables_of("a × b")]
    (verdict,) = only(report, *lines)
    assert (verdict.variable, verdict.value, verdict.limit, verdict.ok) == (None, None, 1.0, False)
