"""What is told of a protected table, in sentences and figures."""

from dataclasses import replace

import polars as pl
import pytest

from sfumato.report.tabular.papers import papers_of_judged, papers_of_protected, title_of
from sfumato.tables.protect import protect
from sfumato.tables.table import Table

ROWS = pl.DataFrame(
    {
        "town": [t for t in ("Total", "a", "b", "c") for _ in range(3)],
        "kind": ["Total", "x", "y"] * 4,
        "turnover": [100.0, 50, 50, 40, 20, 20, 30, 15, 15, 30, 15, 15],
        "contributors": [12.0, 6, 6, 3, 1, 2, 5, 3, 2, 4, 2, 2],
        "largest": [20.0, 20, 12, 20, 20, 12, 9, 9, 9, 11, 11, 11],
        "second": [12.0, 9, 11, 8, None, 8, 8, 4, 6, 9, 4, 4],
    }
)


@pytest.fixture(scope="module")
def done():
    return protect(Table.of(ROWS, "turnover"), ["n(2)", "p(12.5)", "nk(2,88.25)"])


def test_thresholds_are_told_and_parameters_of_rules_on_shares_are_not(done):
    papers = papers_of_protected(done)
    said = " ".join([*papers.sentences, papers.rules])
    assert "fewer than 2 contribute" in said
    assert papers.rules == "n(2) or p or nk"
    assert "12.5" not in said
    assert "88.25" not in said


def test_the_sum_of_hidden_values_is_not_told(done):
    assert "secondary_value" not in papers_of_protected(done).figures
    assert "useless" not in papers_of_protected(done).audit
    assert papers_of_judged(done).figures["secondary_value"] == done.secondary_value


def test_what_an_attacker_should_try_is_told_to_the_custodian_alone(done):
    noted = replace(done, audit=replace(done.audit, notes=("Somebody who knows the third can work out one.",)))
    assert "Somebody" not in " ".join(papers_of_protected(noted).sentences)
    assert "Somebody" in " ".join(papers_of_judged(noted).sentences)


def test_what_the_audit_took_as_known_is_told():
    counts = pl.DataFrame({"town": ["Total", "a", "b", "c", "d"], "count": [20, 1, 4, 7, 8]})
    for lower in (None, 2.0):
        told = " ".join(papers_of_protected(protect(Table.of(counts), "n(4)", lower=lower)).sentences)
        assert f"hidden values are {lower or 1:g} or more; that they are whole numbers" in told
    letters = papers_of_protected(protect(Table.of(counts), "n(2)", tell_unsafe=True)).sentences
    assert "status x are 2 or more; that those with status u are below 2" in " ".join(letters)


def test_how_good_the_pattern_is_is_the_custodians_alone(done):
    found = replace(done.suppression, optimal=False, gap=0.12345)
    noted = replace(done, suppression=found)
    assert papers_of_judged(noted).proof == "It is proved that no other set of cells is cheaper by more than 13%."
    assert papers_of_protected(noted).proof is None
    assert "gap" not in papers_of_protected(noted).figures


def test_it_is_told_whether_the_choice_of_cells_hangs_on_a_secret(done):
    plain, keyed = (" ".join(papers_of_protected(replace(done, keyed=k)).sentences) for k in (False, True))
    assert "hangs on the values alone" in plain
    assert "custodian’s secret" in keyed


def test_that_sums_of_hidden_cells_are_safe_is_said_only_where_it_holds(done):
    """Without ids nothing is known of them; for an outsider nothing is prevented; forced out they may be unsafe."""
    told = {"judged": 3, "unsafe": 0, "left": 0}

    def said(**more):
        return " ".join(papers_of_protected(replace(done, **more)).sentences)

    assert done.reader.contributor
    assert "these sums are as safe" in said(unions=told)
    assert "these sums are as safe" not in said(unions=None)
    assert "these sums are as safe" not in said(unions=told | {"unsafe": 1})
    outside = replace(done.reader, contributor=False)
    assert "these sums are as safe" not in said(unions=told, reader=outside)
    assert "No reader was taken to be a contributor" in said(unions=told, reader=outside)


def test_without_levels_it_is_told_what_was_not_asked(done):
    assert "not how closely" in " ".join(papers_of_protected(replace(done, levels=None)).sentences)
    assert "not how closely" not in " ".join(papers_of_protected(done).sentences)
    unproved = replace(done.audit, levels=replace(done.audit.levels, unproved=1))
    assert "equations alone" in " ".join(papers_of_protected(replace(done, levels=None, audit=unproved)).sentences)


def test_titles():
    assert title_of(Table.of(ROWS, "turnover")) == "turnover by town and kind"
    assert (
        title_of(Table.of(pl.DataFrame({"a": ["x"], "b": ["x"], "c": ["x"], "count": [1]}))) == "Counts by a, b and c"
    )
