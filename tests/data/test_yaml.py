import pytest

from sfumato.data import yaml
from sfumato.data.yaml import MAX_BYTES, dump_yaml, load_yaml
from sfumato.errors import PlanError


def test_lines_of_keys_and_items():
    value, lines = load_yaml(
        "sfumato: 1\nvariables:\n  Age: {role: key}\nsteps:\n  - do: drop\n    columns: [a,\n      b]\n"
    )
    assert value["steps"] == [{"do": "drop", "columns": ["a", "b"]}]
    assert lines[("variables", "Age")] == 3
    assert lines[("steps", 0)] == 5
    assert lines[("steps", 0, "columns")] == 6
    assert lines[("steps", 0, "columns", 1)] == 7


BOMB = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (BOMB, "line 1: anchors"),
        ("a: 1\nb: *a\n", "line 2"),
        ("a: !!python/object:os.system ls\n", "line 1: tags"),
        ("a: !secret x\n", "line 1: tags"),
        ("a: [1\nb: 2\n", "this is not YAML"),
        ("a: 1\na: 2\n", "line 2: a key stands twice"),
        ("[" * 100 + "]" * 100, "nested too deeply"),
        ("x" * (MAX_BYTES + 1), "larger than"),
        ("a: \x00", "not YAML"),
        ("a: 1\nb:\n  <<: {x: 1}\n  y: 2\n", "line 3: merge keys"),
        ("a: 1\n<<: [1]\n", "line 2: merge keys"),
        ("%YAML 1.1\n---\na: yes\n", "line 1: directives"),
        ("# a\n%TAG ! tag:x,2000:\n---\na: 1\n", "line 2: directives"),
        ("...\n%FOO bar\n---\na: 1\n", "line 2: directives"),
        ("a: 1\n? [1, 2]\n: 3\n", "line 2: a key"),
        ("a: 1\nnull: 3\n", "line 2: a key"),
        ("? {a: [1]}\n: 3\n", "a key must be"),
        ("2020-01-01: 3\n", "line 1: a key"),
        ("a: 2020-13-45\n", "a date or a number"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(PlanError, match=says):
        load_yaml(text)


def test_too_many_values_are_refused(monkeypatch):
    assert yaml._MAX_NODES <= 100_000  # seconds, not minutes
    monkeypatch.setattr(yaml, "_MAX_NODES", 1_000)
    with pytest.raises(PlanError, match="too large"):
        load_yaml("a: [" + "1," * 1_500 + "]")


def test_text_that_looks_like_a_trick_stands_in_quotes():
    value = {"<<": "<<", "%YAML": "%TAG"}
    assert load_yaml(dump_yaml(value))[0] == value
    assert load_yaml('a: "%x\n  y"\n')[0] == {"a": "%x y"}


def test_what_is_dumped_reads_back():
    value = {
        "title": "a: b # c",
        "variables": {"yes": {"role": "key"}, "é ": {}},
        "steps": [{"x": [1, None, True, "1"]}],
    }
    assert load_yaml(dump_yaml(value))[0] == value
