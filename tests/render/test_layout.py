"""The parts of screens: never wider than a terminal, and what is pasted or copied is read back as it was."""

from __future__ import annotations

import shlex

import pytest
from rich.cells import cell_len

from sfumato.data.finding import Finding, Findings
from sfumato.data.yaml import load_yaml
from sfumato.measures.measure import Measure
from sfumato.plan.spelling import yaml_list
from sfumato.render import layout
from sfumato.render.layout import Following, command_lines, cut, headline, lost_lines, next_lines, table

LONG = "a_variable_with_a_name_that_nobody_would_ever_want_to_type"


def wide(lines):
    return [line for line in lines if cell_len(line) > 80]


def test_a_table_of_more_than_fits_says_how_many_more():
    lines = [Finding("class_size", group=f"ward={i}", value=float(i), limit=90.0, ok=False) for i in range(40)]
    shown = table(lines, 12)
    assert len(shown) == 13
    assert shown[-1].strip() == "… and 29 more (--json)"
    assert sum("exceeded" in line for line in shown) == 11
    assert table(lines[:12], 12)[-1].endswith("exceeded")
    assert len(table(lines[:12], 12)) == 13


def test_long_names_are_cut_and_columns_stay_below_one_another():
    lines = [
        Finding("l_distinct", variable=LONG, group="keys", value=1.0, baseline=2.0, limit=2.0, ok=False),
        Finding("class_size", group=f"{LONG}={LONG}", value=3.0, limit=5.0, ok=False),
    ]
    shown = table(lines)
    assert not wide(shown)
    assert shown[1].count("…") == 1
    ends = {line.index("exceeded") for line in shown[1:]}
    assert len(ends) == 1
    assert shown[0].index("After") + len("After") == shown[1].index("1 ") + 1


def test_a_long_title_leaves_room_for_what_decides():
    lines = headline("exceeded", "A study of " + "very " * 40 + "long titles", "33% of the people are found.")
    assert not wide(lines)
    assert lines[0].startswith("EXCEEDED  A study of very")
    assert " ".join(" ".join(lines).split()).endswith("…: 33% of the people are found.")


def test_a_command_is_pasted_as_it_was():
    command = ("sfumato protect", "plan.yaml", "'my data.csv'", f"--out {LONG}", "--secret-file key", f"--model {LONG}")
    lines = command_lines(command)
    assert not wide(lines)
    assert len(lines) > 1
    assert shlex.split("\n".join(lines).replace("\\\n", " ")) == shlex.split(" ".join(command))


@pytest.mark.parametrize("names", [["town", "kids"], [f'no {i}, "quoted"  twice' for i in range(8)], ["ä ö"] * 3])
def test_lines_to_copy_are_read_back_as_they_were(names):
    lines = next_lines(Following((), ("unknown:", f'  - {{columns: {yaml_list(names)}, because: "?"}}')))
    assert lines[0] == "Next (if nobody knows them, write why):"
    assert not wide(lines)
    assert load_yaml("\n".join(lines[1:]))[0] == {"unknown": [{"columns": names, "because": "?"}]}


def test_of_very_many_columns_the_word_for_all_of_them_is_copied():
    copied = (
        "unknown:",
        f'  - {{columns: {yaml_list(f"{LONG}{i}" for i in range(40))}, because: "?"}}',
        "Give new ids.",
    )
    lines = next_lines(Following((), copied))
    assert lines[1:] == ["  unknown:", '    - {columns: others, because: "?"}', "  Give new ids."]


def test_advice_is_kept_short():
    lines = next_lines(Following(), "Take more. " * 60)
    assert len(lines) == 4
    assert lines[-1].endswith("…")
    assert not wide(lines)


def test_without_lines_for_the_plan_nobody_is_asked_who_knows_what():
    assert next_lines(Following((), ("Give new ids.",))) == ["Next:", "  Give new ids."]


def test_wide_letters_count_twice():
    assert cell_len(cut("統計的開示制御", 9)) <= 9
    assert cut("統計", 4) == "統計"


def told(place, sentence):
    return Measure(
        layout.LOST, place, "", frozenset(), (), lambda subject: Findings(), say=lambda found, share: sentence
    )


def test_what_was_lost_is_what_its_measures_say_on_five_lines(monkeypatch):
    said = {"a": told(1, "8 of 8 columns left."), "b": told(2, None), "c": told(3, "No cell deleted.")}
    monkeypatch.setattr(layout, "measures", lambda: said)
    assert lost_lines(Findings()) == ["Lost: 8 of 8 columns left. No cell deleted."]
    long = {str(i): told(i, "much is gone " * 30) for i in range(9)}
    monkeypatch.setattr(layout, "measures", lambda: long)
    lines = lost_lines(Findings())
    assert len(lines) == 5
    assert not wide(lines)
    assert lines[-1].endswith("…")


def test_nothing_is_said_of_what_was_not_measured():
    assert lost_lines(Findings((Finding("delta", variable="age", value=0.4),))) == []
