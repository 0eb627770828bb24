"""Speed of what happens while a plan is edited, beside parsing its text as plain YAML."""

from __future__ import annotations

import time
from collections.abc import Callable
from io import StringIO
from statistics import median

from ruamel.yaml import YAML

from sfumato.plan.editing.apply import apply
from sfumato.plan.editing.completing import complete
from sfumato.plan.plan import Plan


def _text(variables: int) -> str:
    """A plan as `init` drafts it, of so many variables."""
    why = "# perhaps: its name is that of something that others may know"
    said = [f"  column_{i}: {{role: key, kind: integer, range: [0, null]}}  {why}" for i in range(variables)]
    steps = [
        "  # They leave first.",
        "  - {do: drop, columns: [column_1]}",
        "  - {do: noise, columns: [column_2], sd: 3}",
    ]
    return "\n".join(["sfumato: 1", "variables:", *said, "steps:", *steps, "limits: []"]) + "\n"


def _seconds(run: Callable[[int], object]) -> float:
    """CPU seconds, median of nine."""
    taken = []
    for i in range(9):
        before = time.process_time()
        run(i)
        taken.append(time.process_time() - before)
    return median(taken)


def rows() -> list[tuple[str, str, str, bool]]:
    """What was measured, the figure, the bar, and whether it holds."""
    found = []
    for variables in (20, 1000):
        text = _text(variables)
        Plan.from_yaml(text)
        last = [text]

        def edit(i: int, last: list[str] = last) -> None:
            last[0] = apply(last[0], {"op": "set", "path": ["steps", 1, "sd"], "value": i})

        plain = _seconds(lambda _, text=text: YAML(typ="safe", pure=True).load(StringIO(text)))
        edited = _seconds(edit)
        checked = _seconds(lambda _, text=text: Plan.from_yaml(text))
        line = text.count("\n") - 1
        told = _seconds(lambda _, text=text, line=line: complete(text, line, 12, ["a"]))
        bars = (("an edit", edited, 1.5), ("its validation", checked, 4), ("completion", told, 1))
        found += [
            (
                f"{what}, plan of {variables} variables",
                f"{1000 * s:.0f} ms, {s / plain:.1f} × plain YAML",
                f"≤ {bar} ×",
                s <= bar * plain,
            )
            for what, s, bar in bars
        ]
    return found


if __name__ == "__main__":
    for row in rows():
        print(*row, sep=" | ")
