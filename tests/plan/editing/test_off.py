import random

import pytest

from sfumato.data.yaml import load_yaml
from sfumato.errors import PlanError
from sfumato.plan.editing.edits import add, move, remove
from sfumato.plan.editing.off import switch_off, switch_on, switched_off
from tests.plan.editing.styles import Writer, plan

TEXT = """\
sfumato: 1
steps:
  # Names leave first.
  - {do: drop, columns: [Name]}  # all of them
  - do: noise
    formula: |
      # off: - not this

      a + b

    # how much
    sd: 0.5
  # last
  - {do: sample}
# What must hold.
limits:
- {measure: k_anonymity, at_least: 3}
"""
STEPS = load_yaml(TEXT)[0]["steps"]


@pytest.mark.parametrize("eol", ["\n", "\r\n"])
@pytest.mark.parametrize("number", range(3))
def test_off_and_on_again_are_the_same_bytes(eol, number):
    text = TEXT.replace("\n", eol)
    off = switch_off(text, ["steps", number])
    assert load_yaml(off)[0]["steps"] == [step for i, step in enumerate(STEPS) if i != number]
    (found,) = switched_off(off, ["steps"])
    assert (found.at, found.value) == (number, STEPS[number])
    assert off.splitlines()[found.line - 1].lstrip().startswith("# off: - ")
    assert switch_on(off, ["steps"]) == text


def test_all_off_in_any_order_and_on_again():
    for seed in range(6):
        draw = random.Random(seed)
        text = TEXT
        for left in (3, 2, 1):
            text = switch_off(text, ["steps", draw.randrange(left)])
        assert load_yaml(text)[0]["steps"] == []
        assert [off.value for off in switched_off(text, ["steps"])] == STEPS
        for left in (3, 2, 1):
            text = switch_on(text, ["steps"], draw.randrange(left))
        assert text == TEXT


def test_what_is_off_in_texts_and_in_other_lists_is_not_found():
    assert switched_off(TEXT, ["steps"]) == switched_off(TEXT, ["knows"]) == switched_off(TEXT, ["sfumato"]) == ()
    off = switch_off(TEXT, ["limits", 0])
    assert switched_off(off, ["steps"]) == ()
    assert [each.value for each in switched_off(off, ["limits"])] == [{"measure": "k_anonymity", "at_least": 3}]
    assert load_yaml(off)[0]["limits"] == []


def test_other_edits_go_round_what_is_off():
    off = switch_off(switch_off(TEXT, ["steps", 2]), ["steps", 0])
    made = add(off, ["steps"], None, {"do": "new"})
    assert [each.at for each in switched_off(made, ["steps"])] == [0, 1]
    assert switch_on(switch_on(made, ["steps"], 1), ["steps"]).index("do: sample") < made.index("do: new") + 100
    assert load_yaml(switch_on(made, ["steps"], 1))[0]["steps"][1:] == [STEPS[2], {"do": "new"}]
    moved = move(made, ["steps", 1], 0)
    assert [each.value for each in switched_off(moved, ["steps"])] == [STEPS[0], STEPS[2]]
    empty = remove(remove(moved, ["steps", 0]), ["steps", 0])
    assert load_yaml(empty)[0]["steps"] == []
    assert [each.value for each in switched_off(empty, ["steps"])] == [STEPS[0], STEPS[2]]
    assert load_yaml(add(empty, ["steps"], None, {"do": "new"}))[0]["steps"] == [{"do": "new"}]


def test_a_list_in_brackets_is_written_in_lines_first():
    text = "sfumato: 1\nsteps: [{do: a, by: [x]}, {do: 'b'},]  # both\nlimits: []\n"
    off = switch_off(text, ["steps", 0])
    assert off == "sfumato: 1\nsteps:  # both\n  # off: - {do: a, by: [x]}\n  - {do: 'b'}\nlimits: []\n"
    assert load_yaml(switch_on(off, ["steps"]))[0] == load_yaml(text)[0]


def test_lines_that_were_indented_anew_come_back_in_their_list():
    text = "steps:\n    - {do: a}\n# off: - do: b\n# off:   k: 3\n"
    assert switch_on(text, ["steps"]) == "steps:\n    - {do: a}\n    - do: b\n      k: 3\n"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda: switch_off(TEXT, ["steps"]), "only an item of a list"),
        (lambda: switch_off(TEXT, ["steps", 3]), "steps has no item 3"),
        (lambda: switch_off("a: [[1, 2], 3]\n", ["a", 0, 0]), "by itself"),
        (lambda: switch_off("a: [1, # one\n 2]\n", ["a", 0]), "by itself"),
        (lambda: switch_off("a:\n- - 1\n  - 2\n", ["a", 0, 0]), "by itself"),
        (lambda: switch_on(TEXT, ["steps"]), "steps has no item 0 that is switched off"),
        (lambda: switch_on(TEXT, ["steps"], True), "switched off"),
        (lambda: switch_on(TEXT, ["more"]), "no key 'more'"),
        (lambda: switch_on("a:\n  - 1\n  # off: - {b\n", ["a"]), "by itself"),
        (lambda: switch_on("a:\n  - 1\n  # off: - &x 2\n", ["a"]), "by itself|anchors"),
    ],
)
def test_what_is_refused(edit, says):
    with pytest.raises(PlanError, match=says):
        edit()


def test_any_style_comes_back_as_it_was():
    tried = 0
    for seed in range(60):
        draw = random.Random(seed)
        value = plan(draw)
        written = Writer(draw, value)
        if value.get("steps") and ("steps",) not in written.brackets:
            tried += 1
            number = draw.randrange(len(value["steps"]))
            off = switch_off(written.text, ["steps", number])
            assert switched_off(off, ["steps"])[0].value == value["steps"][number]
            assert switch_on(off, ["steps"]) == written.text
    assert tried > 10
