import pytest

from sfumato.data.yaml import load_yaml
from sfumato.errors import PlanError
from sfumato.plan.editing.apply import apply

TEXT = "sfumato: 1\nsteps:\n  - {do: a, k: 3}\n  - {do: b}\n  # off: - {do: c}\n"


@pytest.mark.parametrize(
    ("edit", "steps"),
    [
        ({"op": "set", "path": ["steps", 0, "k"], "value": 5}, [{"do": "a", "k": 5}, {"do": "b"}]),
        ({"op": "set", "path": ["steps", 0, "k"], "value": None}, [{"do": "a", "k": None}, {"do": "b"}]),
        (
            {"op": "add", "path": ["steps"], "at": 1, "value": {"do": "x"}},
            [{"do": "a", "k": 3}, {"do": "x"}, {"do": "b"}],
        ),
        ({"op": "add", "path": ["steps"], "value": {"do": "x"}}, [{"do": "a", "k": 3}, {"do": "b"}, {"do": "x"}]),
        ({"op": "move", "path": ["steps", 1], "to": 0}, [{"do": "b"}, {"do": "a", "k": 3}]),
        ({"op": "remove", "path": ["steps", 0]}, [{"do": "b"}]),
        ({"op": "off", "path": ["steps", 0]}, [{"do": "b"}]),
        ({"op": "on", "path": ["steps"], "number": 0}, [{"do": "a", "k": 3}, {"do": "b"}, {"do": "c"}]),
        ({"op": "on", "path": ["steps"]}, [{"do": "a", "k": 3}, {"do": "b"}, {"do": "c"}]),
    ],
)
def test_each_edit(edit, steps):
    assert load_yaml(apply(TEXT, edit))[0]["steps"] == steps


def _deep(times):
    value = 1
    for _ in range(times):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (None, "an edit is an object"),
        ([], "an edit is an object"),
        ({}, "`op` must be one of set, add, move, remove, off, on"),
        ({"op": "sat", "path": ["a"]}, "`op` must be"),
        ({"op": ["set"], "path": ["a"]}, "`op` must be"),
        ({"op": "set", "path": ["a"]}, "set needs `value`"),
        ({"op": "move"}, "move needs `path`, `to`"),
        ({"op": "remove", "path": ["steps", 0], "value": 1}, "does not take"),
        ({"op": "remove", "path": "steps"}, "`path` is a list"),
        ({"op": "remove", "path": []}, "`path` is a list"),
        ({"op": "remove", "path": ["a"] * 31}, "`path` is a list"),
        ({"op": "remove", "path": [None]}, "`path` holds"),
        ({"op": "remove", "path": [["a"]]}, "`path` holds"),
        ({"op": "remove", "path": ["a" * 1001]}, "`path` holds"),
        ({"op": "remove", "path": ["steps", -1]}, "no item -1"),
        ({"op": "remove", "path": ["steps", "0"]}, "no item 0"),
        ({"op": "remove", "path": ["steps", 0.0]}, "no item 0.0"),
        ({"op": "move", "path": ["steps", 0], "to": "1"}, "no position 1"),
        ({"op": "move", "path": ["steps", 0], "to": True}, "no position True"),
        ({"op": "add", "path": ["steps"], "at": 0.5, "value": 1}, "no position 0.5"),
        ({"op": "add", "path": ["steps"], "at": {}, "value": 1}, "no position"),
        ({"op": "on", "path": ["steps"], "number": "0"}, "no item 0 that"),
        ({"op": "set", "path": ["title"], "value": _deep(21)}, "nested"),
        ({"op": "set", "path": ["title"], "value": _deep(100_000)}, "nested"),
        ({"op": "set", "path": ["title"], "value": [1] * 20_001}, "nested"),
        ({"op": "set", "path": ["title"], "value": "x" * 1_000_000}, "larger than"),
        ({"op": "set", "path": ["title"], "value": float("inf")}, "finite"),
        ({"op": "set", "path": ["\ud800"], "value": 1}, "half a character"),
    ],
)
def test_what_is_refused(edit, says):
    with pytest.raises(PlanError, match=says):
        apply(TEXT, edit)
