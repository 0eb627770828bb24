import subprocess

import pytest

from sfumato.data.unseen import has_unseen, seen, shell_word
from sfumato.data.yaml import dump_yaml
from sfumato.plan.editing.written import flow
from sfumato.plan.plan import Plan
from sfumato.plan.spelling import yaml_text

UNSEEN = "\x00\x07\x1b\x7f\x85\u00ad\u061c\u200b\u200e\u2028\u202e\u2066\ufeff\ufffe"
"""Codes that YAML takes for ends of lines, that terminals obey, and marks of direction and of the order of bytes."""


@pytest.mark.parametrize("character", UNSEEN)
def test_what_is_not_seen_is_written_out(character):
    assert has_unseen(f"a{character}b")
    assert seen(f"a{character}b") == f"a\\u{ord(character):04X}b" == seen(f"a{character}b", lines=True)


@pytest.mark.parametrize("text", ["größe", "a b", "می\u200cخواهم", "סדר", "12\u00a0kg", "😀", "C:\\users\\x86", "a\\b"])
def test_what_is_seen_stays(text):
    assert not has_unseen(text)
    assert seen(text) == text


def test_ends_of_lines_stay_in_texts_of_several():
    assert seen("a\nb\tc\rd", lines=True) == "a\nb\tc\\u000Dd"
    assert seen("a\nb\tc\rd") == "a\\u000Ab\\u0009c\\u000Dd"


def test_what_python_has_quoted_is_written_alike():
    assert seen(f"no column {'age' + chr(0x202E)!r}, {chr(7)!r}") == "no column 'age\\u202E', '\\u0007'"
    assert seen(repr("a\\u202e")) == repr("a\\u202e"), "which is no such character but these six"


@pytest.mark.parametrize("character", [c for c in UNSEEN if c not in "\x00\ufffe"])
def test_a_plan_reads_back_what_is_written_out(character):
    name = f"a{character}b"
    variables = f"variables:\n  {yaml_text(name)}: {{role: key, kind: {flow('integer')}}}\n"
    steps = f"steps:\n  - {{do: drop, columns: [{flow(name)}]}}\n"
    plan = Plan.from_yaml(f"sfumato: 1\ntitle: {flow(name)}\n{variables}{steps}")
    assert (list(plan.variables), plan.title, plan.steps[0].columns) == ([name], name, (name,))
    text = plan.to_yaml()
    assert character not in text
    assert Plan.from_yaml(text) == plan


def test_a_dump_writes_them_out_in_keys_and_texts_at_every_depth():
    name = "a\u202eb"
    text = dump_yaml({name: name, "tables": {name: {"title": name}}, "x": {name: [name, {name: [name]}]}})
    assert "\u202e" not in text
    assert text.count("\\u202E") == 8


@pytest.mark.parametrize("text", ["a\u202eb", "a'b\x07", "a\\\u202e$x`y`", "a\nb", "plain"])
def test_a_shell_reads_back_what_is_written_out(text):
    told = subprocess.run(
        ["bash", "-c", f"printf %s {shell_word(text)}"], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"}
    )
    assert told.stdout.decode() == text
