"""The terminal: compact, complete when asked, and safe to print."""

from __future__ import annotations

import io
from dataclasses import replace

from rich.console import Console

from sfumato.data.finding import Finding, Findings
from sfumato.render.text import show, summary
from sfumato.report.external import external
from tests.render import reports


def printed(write, *args, **kwargs) -> str:
    out = io.StringIO()
    write(*args, Console(file=out, width=110, force_terminal=False), **kwargs)
    return out.getvalue()


def many() -> Findings:
    lines = [Finding("class_size", group=f"ward={i}", value=float(i)) for i in range(1, 301)]
    return Findings((*lines, Finding("risk1", value=0.04, baseline=1.0, limit=0.05, ok=True)), ("A note.",))


def test_many_groups_fold_to_the_worst():
    text = printed(show, many())
    assert text.count("\n") < 15
    assert "ward=1 " in text
    assert "ward=5 " not in text
    assert "and 296 less extreme" in text
    assert "A note." in text


def test_everything_is_there_when_asked_for():
    text = printed(show, many(), verbose=True)
    assert all(f"ward={i} " in text for i in range(1, 301))


def test_a_line_that_breaks_its_limit_is_never_folded():
    lines = [Finding("delta", variable=f"v{i}", value=0.5 + i, ok=None) for i in range(20)]
    lines.append(Finding("delta", variable="bad", value=0.1, limit=0.05, ok=False))
    text = printed(show, Findings(tuple(lines)))
    assert "bad" in text
    assert "exceeded" in text


def test_figures_stand_beside_baseline_and_limit():
    line = next(row for row in printed(show, many()).splitlines() if "risk1" in row)
    assert line.split() == ["risk1", "all", "records", "4%", "100%", "at", "most", "5%", "✓"]


def test_labels_are_neither_markup_nor_control_codes():
    text = printed(show, Findings((Finding("delta", variable="C(Pclass)[T.2][bold]\x1b[31m", value=1.0),)))
    assert "C(Pclass)[T.2][bold]" in text
    assert "\x1b" not in text


def test_a_summary_says_all_parts():
    text = " ".join(printed(summary, reports.report()).split())
    for part in ("Wards & <fares>", "! The id", "2. centroids", "The risk", "What was lost", "What to try"):
        assert part in text
    assert text.endswith("Limit exceeded: brought_by_a_plugin, class_size.")


def test_verdicts():
    held = Findings((Finding("risk1", value=0.0, limit=0.1, ok=True),))
    for findings, words in ((Findings(), "No limits were set."), (held, "All limits hold.")):
        assert printed(summary, replace(reports.report(), findings=findings)).strip().endswith(words)


def test_a_high_figure_without_a_limit_stands_beside_limits_that_hold():
    lines = (
        Finding("risk1", value=0.0, limit=0.1, ok=True),
        Finding("linkage_nearest", group="overall", value=0.6),
    )
    said = " ".join(printed(summary, replace(reports.report(), findings=Findings(lines))).split())
    assert said.endswith(
        "All limits hold, but no limit speaks of this: Many records are found by somebody who knows the exact original "
        "values."
    )


def test_what_is_refused_is_said_in_place_of_limits_that_hold():
    held = Findings((Finding("risk1", value=0.0, limit=0.1, ok=True),))
    said = " ".join(
        printed(summary, replace(reports.report(), findings=held, refusals=("nothing protects age",))).split()
    )
    assert said.endswith("Refused: nothing protects age.")
    assert "All limits hold" not in said


def test_a_public_summary_holds_nothing_planted():
    text = printed(summary, external(reports.report()))
    assert not any(planted in text for planted in reports.PLANTED)


def test_a_limit_without_a_figure_is_not_called_exceeded():
    line = Finding("h_rank", at=2.5, limit=0.1, ok=False)
    said = printed(summary, replace(reports.report(), findings=Findings((line,))))
    assert "Limit that could not be measured: h_rank" in said
    assert "exceeded" not in said
    assert "not measured" in printed(show, Findings((line,)))


def test_a_published_verdict_whose_figure_is_kept_back_is_exceeded():
    line = Finding("brought_by_a_plugin", value=3.0, limit=0.1, ok=False)
    said = printed(summary, external(replace(reports.report(), findings=Findings((line,)))))
    assert "Limit exceeded: brought_by_a_plugin" in said
