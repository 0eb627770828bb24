"""The terminal: compact, complete when asked, and safe to print."""

from __future__ import annotations

import io

from rich.console import Console

from sfumato.data.finding import Finding, Findings
from sfumato.render.text import show


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


def test_a_limit_without_a_figure_is_not_called_exceeded():
    line = Finding("h_rank", at=2.5, limit=0.1, ok=False)
    said = printed(show, Findings((line,)))
    assert "not measured" in said
    assert "exceeded" not in said
