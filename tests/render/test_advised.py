"""The screen of advice: what changes on one line each, within 24 lines of 80 columns."""

import datetime

from sfumato.data.disclosure import Disclosure
from sfumato.data.finding import Finding, Findings
from sfumato.render.advised import screen_of_advice
from sfumato.render.layout import Following
from sfumato.report.report import Report
from sfumato.tuning.advising import Advised

VERDICT = ["EXCEEDED  ward: 33% of the people are found; the limit is 20%. Nothing written."]
NEXT = Following((("sfumato protect", "plan2.yaml", "ward.csv", "--out release"),))


def report():
    found = (
        Finding("linkage_nearest", group="released", value=0.14, limit=0.2, ok=True),
        Finding("columns_kept", at=10.0, value=1.0),
        Finding("records_kept", value=1.0),
    )
    return Report("ward", datetime.date(2024, 5, 1), "1", (), Disclosure(), Findings(found), "", "ab", True)


def screen(before, after, edits=("group 5 in step 2 (swap)",), written="plan2.yaml"):
    return screen_of_advice(Advised(edits, before, after, report()), VERDICT, NEXT, written)


def test_verdict_edit_change_cost_and_command():
    assert screen("steps:\n  - {k: 3}\n", "steps:\n  - {k: 5}\n") == [
        *VERDICT,
        "",
        "ADVICE  one edit holds: at most 14% of the people are found (limit 20%).",
        "        plan2.yaml is written.",
        "        group 5 in step 2 (swap)",
        "",
        "-   - {k: 3}",
        "+   - {k: 5}",
        "Costs: 10 of 10 columns and all records left.",
        "",
        "Next:",
        "  sfumato protect plan2.yaml ward.csv --out release",
    ]


def test_of_a_long_line_the_part_that_differs_is_shown():
    names = ", ".join(f"column{i}" for i in range(40))
    lines = screen(f"  - {{do: swap, columns: [{names}], group: 3}}", f"  - {{do: swap, columns: [{names}], group: 5}}")
    assert any(line.startswith("- ") and line.endswith("group: 3}") for line in lines)
    assert any(line.startswith("+ ") and line.endswith("group: 5}") for line in lines)
    assert max(map(len, lines)) <= 80


def test_many_lines_that_change_leave_room_for_the_command():
    lines = screen("", "\n".join(f"line{i}: {i}" for i in range(99)), edits=("one", "two", "three", "four"))
    assert len(lines) <= 24
    assert "4 edits together hold" in lines[2]
    assert any(line.startswith("… and ") for line in lines)
    assert lines[-1] == "  sfumato protect plan2.yaml ward.csv --out release"
