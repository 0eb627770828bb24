"""The screen of `protect`: the verdict first, all on one small terminal, and nothing twice."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from rich.cells import cell_len

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.measures.measure import Measure
from sfumato.render import layout
from sfumato.render.layout import Following
from sfumato.render.screen import clause, details, screen, screen_of_tables, warned
from sfumato.report.report import Assumed, Report, StepDone, TablesReport
from tests.render import reports

FOUND = Finding("linkage_nearest", group="released", value=0.13, baseline=0.88, limit=0.2, ok=True)
BROKEN = replace(FOUND, value=0.33, ok=False)
OPEN = Following((("open", "release/report.html"),))
COPIED = ("unknown:", '  - {columns: [Fare, town], because: "?"}')


def report(*lines, title="titanic", **more):
    more = {"verdict": "holds"} | more
    return Report(title, datetime.date(2026, 1, 2), "1", (), Disclosure(), Findings(lines), "", "ab", True, **more)


def fits(lines):
    return len(lines) <= 24 and all(cell_len(line) <= 80 for line in lines)


def test_a_release_that_holds():
    alone = Finding("k_anonymity", group="keys", value=9.0, baseline=1.0, limit=5.0, ok=True)
    assert screen(report(FOUND, alone), OPEN, written=True) == [
        "HOLDS  titanic: at most 13% of the people are found; the limit is 20%.",
        "",
        " Who attacks     Knows                 Before  After  Limit",
        " nearest record  all released columns     88%    13%    20%",
        " smallest group  the keys                   1      9  min 5",
        "",
        "Next:",
        "  open release/report.html",
    ]


def test_a_release_that_exceeds_a_limit_says_so_in_words_and_what_to_try():
    lines = screen(
        report(BROKEN, title="birthwt", verdict="exceeded"), Following((("sfumato", "protect"),)), written=False
    )
    assert lines[0] == "EXCEEDED  birthwt: 33% of the people are found; the limit is 20%. Nothing"
    assert lines[1] == "          written."
    assert lines[4].endswith("88%    33%    20%  exceeded")
    assert lines[-1] == "  sfumato protect"
    assert any(line.startswith("Next: ") for line in lines)
    assert not any("exceeded: " in line for line in lines), "what the table says is not said again"


def test_an_undecided_release_says_on_which_columns_it_hangs_and_what_to_write():
    more = tuple(f"x{i}" for i in range(4))
    lines = screen(
        report(BROKEN, verdict="undecided", undecided=("Fare", "town", *more)), Following((), COPIED), written=False
    )
    assert " ".join(" ".join(lines[:2]).split()) == (
        "UNDECIDED titanic: holds only if nobody knows Fare, town, x0 and 3 more. Nothing written."
    )
    assert lines[-3:] == [
        "Next (if nobody knows them, write why):",
        "  unknown:",
        '    - {columns: [Fare, town], because: "?"}',
    ]


def test_what_is_written_all_the_same_is_said_to_be():
    lines = screen(report(BROKEN, verdict="exceeded"), OPEN, written=True)
    assert lines[:2] == [
        "EXCEEDED  titanic: 33% of the people are found; the limit is 20%. Written all",
        "          the same.",
    ]
    assert lines[-2:] == ["Next:", "  open release/report.html"]


def test_what_can_be_guessed_stands_below_the_verdict():
    guess = Finding("inference", "race", "risk", value=0.15, limit=0.2, ok=True)
    lines = screen(report(FOUND, guess, replace(guess, variable="sex", value=0.05)), OPEN, written=True)
    assert lines[1] == "       Their own records add at most 15% to what can be guessed; limit 20%."
    assert sum("guess" in line for line in lines) == 1


def test_the_worst_of_those_who_find_people_is_told():
    """`at most` would be wrong where an attack that no limit speaks of finds more."""
    more = Finding("linkage_one_to_one", group="released", value=0.4)
    assert clause(FOUND, Findings((FOUND,))) == "at most 13% of the people are found"
    assert clause(FOUND, Findings((FOUND, more))) == "13% of the people are found (nearest record)"
    unknown = replace(more, group="everything")
    assert clause(FOUND, Findings((FOUND, unknown))) == "at most 13% of the people are found"


def test_what_the_verdict_counts_on_stands_beside_it():
    told = Assumed(unknown=((("asthma", "income"), "asked by our own interviewers"), (("score",), "the same")))
    lines = screen(report(FOUND, assumed=told), OPEN, written=True)
    assert lines[1] == "       This counts on nobody knowing asthma, income and score."
    assert not any("interviewers" in line for line in lines)


def test_without_limits_a_high_figure_is_told_of():
    lines = screen(report(Finding("linkage_nearest", group="overall", value=0.6)), OPEN, written=True)
    assert lines[0] == "HOLDS  titanic: no limit is set."
    assert "No limit speaks of this: Many records are found" in " ".join(lines)


def test_a_limit_without_a_figure_is_not_called_exceeded():
    line = Finding("h_rank", at=2.5, limit=0.1, ok=False)
    lines = screen(report(line, verdict="exceeded"), OPEN, written=False)
    assert "h_rank could not be measured" in lines[0]
    assert any(line.endswith("not measured") for line in lines)
    assert not any(line.endswith("exceeded") for line in lines)


def test_a_refusal_is_the_verdict_where_all_limits_hold_and_stands_below_where_they_do_not():
    refusals = ("nothing protects age", "nothing protects sex")
    lines = screen(report(FOUND, verdict="exceeded", refusals=refusals), OPEN, written=False)
    assert lines[:2] == ["EXCEEDED  titanic: nothing protects age. Nothing written.", "Refused: nothing protects sex."]
    lines = screen(report(BROKEN, verdict="exceeded", refusals=refusals), OPEN, written=False)
    assert lines[2:4] == [f"Refused: {refusal}." for refusal in refusals]


def test_ids_that_leave_are_named_where_nothing_else_decides():
    lines = screen(report(FOUND, verdict="exceeded", open_ids=("farm",)), OPEN, written=False)
    assert lines[0] == "EXCEEDED  titanic: ids leave unchanged: farm. Nothing written."


@pytest.mark.parametrize("verdict", ["holds", "exceeded", "undecided"])
def test_it_fits_a_small_terminal_whatever_there_is(monkeypatch, verdict):
    name = "a_variable_with_a_name_of_more_than_forty_letters"
    sentence = f"{name} has 2 values (of 1,034). " * 9
    loss = Measure(layout.LOST, 1, "", frozenset(), (), lambda subject: Findings(), say=lambda found, share: sentence)
    monkeypatch.setattr(layout, "measures", lambda: {"loss": loss, "more": loss})
    lines = [replace(BROKEN if verdict != "holds" else FOUND, group=f"{name}={i}") for i in range(50)]
    full = report(
        *lines,
        title=name * 3,
        verdict=verdict,
        undecided=tuple(f"{name}{i}" for i in range(60)),
        refusals=tuple(f"nothing protects {name}{i}, and so on and so forth" for i in range(9)),
        assumed=Assumed(unknown=((tuple(f"{name}{i}" for i in range(60)), "because nobody asks for it"),)),
    )
    copied = ("unknown:", f'  - {{columns: [{", ".join(full.undecided)}], because: "?"}}')
    for written in (False, True):
        shown = screen(full, Following((("sfumato init", "a.csv"),), copied), written=written)
        assert fits(shown), "\n".join(shown)
        assert shown[0].startswith(verdict.upper())
        assert any("… and" in line for line in shown)
        assert shown[-1] == "  sfumato init a.csv"


def test_the_report_of_every_kind_of_finding_fits():
    full = replace(reports.report(), verdict="exceeded")
    lines = screen(full, OPEN, written=False)
    assert fits(lines)
    assert "brought_by_a_plugin" in " ".join(lines)


def tables(**more):
    both = {"people": report(FOUND), "visits": report(BROKEN, verdict="exceeded")} | more
    return TablesReport("Farms", datetime.date(2026, 1, 2), "1", both, (), "", "ab", True)


def test_several_tables_have_one_first_line_and_each_its_own():
    lines = screen_of_tables(tables(), Following((("sfumato", "protect"),)), {}, written=False)
    assert lines[0] == "EXCEEDED  Farms: visits may not leave. Nothing written."
    assert "HOLDS  people: at most 13% of the people are found; the limit is 20%." in lines
    assert "EXCEEDED  visits: 33% of the people are found; the limit is 20%." in lines
    assert sum(line.startswith(" Who attacks") for line in lines) == 2
    assert any(line.startswith("Next: visits: ") for line in lines)
    assert fits(lines)


def test_tables_that_join_are_refused_together():
    joined = replace(tables(), refusals=("records of people and visits can be put together by farm", "and by day"))
    lines = screen_of_tables(joined, OPEN, {}, written=False)
    assert "can be put together by farm" in " ".join(lines[:2])
    assert "Refused: and by day." in lines


def test_of_several_tables_the_lines_to_copy_stand_under_the_name_of_theirs():
    undecided = replace(tables(visits=report(BROKEN, verdict="undecided", undecided=("Fare",))))
    lines = screen_of_tables(undecided, Following(), {"people": (), "visits": COPIED}, written=False)
    assert lines[0].startswith("UNDECIDED  Farms: holds only if nobody knows visits.Fare.")
    assert lines[-4:] == [
        "Next (if nobody knows them, write why):",
        "  Table visits:",
        *(f"  {line}" for line in COPIED),
    ]


@pytest.mark.parametrize("more", [2, 6, 12, 40])
def test_many_tables_fit(more):
    """Where not all can be shown, those that may not leave are."""
    told = Assumed(unknown=((("asthma",), "asked by our own interviewers"),))
    held = {f"t{i}": report(FOUND, assumed=told) for i in range(more)}
    many = replace(tables(), tables=held | dict(tables().tables))
    lines = screen_of_tables(many, OPEN, {}, written=False)
    assert fits(lines)
    assert any(line.startswith("EXCEEDED  visits: ") for line in lines)
    assert any(line.startswith("… and ") for line in lines) == (more == 40)


def test_few_warnings_are_told_unless_all_are_asked_for():
    said = tuple(f"Warning {i}." for i in range(5))
    one = report(FOUND, warnings=said)
    assert warned(one) == [*said[:3], "2 more warnings: --verbose shows them."]
    assert warned(one, every=True) == list(said)
    assert warned(tables(people=one))[0] == "people: Warning 0."


def test_details_hold_steps_notes_and_what_else_to_try():
    step = StepDone("centroids", True, "age: averaged.", ("7 values were clipped.",))
    told = details(replace(reports.report(), steps=(step,), verdict="exceeded"))
    assert told[:2] == ["1. centroids: age: averaged.", "   7 values were clipped."]
    assert f"Record {reports.RECORD} was left out." in told
    assert any(line.startswith("The limit on ") for line in told)
    assert details(tables(people=replace(report(FOUND), steps=(step,))))[0] == "people: 1. centroids: age: averaged."
