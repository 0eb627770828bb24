"""All findings on the terminal: complete, and safe to print."""

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


def test_everything_is_there():
    text = printed(show, many())
    assert all(f"ward={i} " in text for i in range(1, 301))
    assert "A note." not in text, "notes go to stderr"


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
