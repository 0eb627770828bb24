"""Edits of text: what they mean is worked out on plain values, and what lines they may touch is told by the writer."""

import random
import re
from copy import deepcopy

import pytest

from sfumato.data.yaml import MAX_BYTES, load_yaml
from sfumato.errors import PlanError
from sfumato.plan.editing.edits import add, move, remove, set_value
from sfumato.plan.editing.off import switch_off
from tests.plan.editing.styles import Writer, plan, step, text, variable


def _at(value, path):
    for part in path:
        value = value[part]
    return value


def _paths(value, path=()):
    """Every path below a value."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def _value(draw):
    return draw.choice([5, 0.25, None, True, [], {}, text(draw), ["a", text(draw)], step(draw, 8), variable(draw)])


def _edit(draw, value, written):
    """A random edit: the new text, the value that it should mean, and which lines it may touch."""
    wanted = deepcopy(value)
    paths = list(_paths(value))
    lists = [path for path in paths if isinstance(_at(value, path), list)]
    full = [path for path in lists if _at(value, path)]
    maps = [(), *(path for path in paths if isinstance(_at(value, path), dict))]
    op = draw.choice(["set", "new", "add", "move", "remove", "off"])
    if op == "set":
        path = draw.choice(paths)
        new = _value(draw)
        _at(wanted, path[:-1])[path[-1]] = new
        return set_value(written.text, path, new), wanted, {path}
    if op == "new":
        path, new = draw.choice(maps), _value(draw)
        key = draw.choice(["limits2", "new key", "1"])
        _at(wanted, path)[key] = new
        return set_value(written.text, (*path, key), new), wanted, {path} if _bracketed(written, path) else set()
    if op == "add":
        path, new = draw.choice(lists or [("knows",)]), _value(draw)
        old = _at(wanted, path) if lists else wanted.setdefault("knows", [])
        at = draw.choice([None, draw.randrange(len(old) + 1)])
        touched = {path} if not old or _bracketed(written, path) else set()
        old.insert(len(old) if at is None else at, new)
        return add(written.text, path, at, new), wanted, touched
    if op == "move" and full:
        path = draw.choice(full)
        old = _at(wanted, path)
        i, to = draw.randrange(len(old)), draw.randrange(len(old))
        old.insert(to, old.pop(i))
        return move(written.text, (*path, i), to), wanted, {path}
    if op == "off" and full:
        path = draw.choice([p for p in full if p in (("steps",), ("limits",))] or full)
        old = _at(wanted, path)
        i = draw.randrange(len(old))
        del old[i]
        return (
            switch_off(written.text, (*path, i)),
            wanted,
            {path if _bracketed(written, path) or not old else (*path, i)},
        )
    path = draw.choice(paths)
    above = _at(wanted, path[:-1])
    del above[path[-1]]
    emptied = path[:-1] if not above or _bracketed(written, path[:-1]) else path
    beside = {(*path[:-1], key) for key in list(above)[:1]} if isinstance(above, dict) else set()  # `- do: x`
    return remove(written.text, path), wanted, {emptied, *beside}


def _bracketed(written, path):
    """Whether a path is in brackets, or is what stands in them."""
    return any(path[:i] in written.brackets for i in range(len(path) + 1))


def _touched(written, path):
    while path and path not in written.lines:  # in brackets: lines are those of what holds it
        path = path[:-1]
    return written.lines.get(path, (0, -1))


def _try(seed):
    draw = random.Random(seed)
    value = plan(draw)
    written = Writer(draw, value)
    assert load_yaml(written.text)[0] == value
    try:
        made, wanted, paths = _edit(draw, value, written)
    except PlanError as error:
        if "by itself" not in str(error):
            raise
        return False
    assert load_yaml(made)[0] == wanted, f"{seed}\n{written.text}\n--\n{made}"
    _others_stand(written, made, paths, seed)
    return True


def _others_stand(written, made, paths, seed):
    """All lines that the edit has no business with stand there as they were, and in their order."""
    old, new = written.text.splitlines(), made.splitlines()
    spans = [_touched(written, path) for path in paths]
    may = {i for first, last in spans for i in range(first, last + 1)}
    for first, _ in spans:  # comments above go with it
        while first and re.match(r" *#", old[first - 1]):
            first -= 1
            may.add(first)
    left = iter(new)
    for i, line in enumerate(old):
        if i not in may and line.strip():
            assert line in left, f"{seed}: line {i + 1}\n{written.text}\n--\n{made}"
    assert made.count("\n") == made.count(written.eol)
    assert made.count("\r") == (made.count("\n") if written.eol == "\r\n" else 0)
    assert made.endswith(("\n", "\r")) == written.text.endswith(("\n", "\r"))


@pytest.mark.slow
def test_random_edits_mean_what_was_asked_and_leave_other_lines():
    done = [_try(seed) for seed in range(40)]
    assert sum(done) > 0.9 * len(done)  # the rest is refused: what is off has lines of its own


@pytest.mark.nightly(of="tests/plan/editing/test_edits.py::test_random_edits_mean_what_was_asked_and_leave_other_lines")
@pytest.mark.parametrize("hundred", range(40))
def test_thousands_of_random_edits(hundred):
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        _try(seed)


@pytest.mark.slow
def test_thirty_edits_on_one_text_and_all_of_them_parse():
    """Edits on what edits made, in which styles mix."""
    for seed in range(2):
        draw = random.Random(seed)
        value = plan(draw)
        made = Writer(draw, value).text
        for _ in range(30):
            path = draw.choice(list(_paths(value)))
            new = _value(draw)
            if isinstance(_at(value, path), list) and draw.random() < 0.7:
                made = add(made, path, None, new)
                _at(value, path).append(new)
            elif draw.random() < 0.2 and path != ("sfumato",):
                made = remove(made, path)
                del _at(value, path[:-1])[path[-1]]
            else:
                made = set_value(made, path, new)
                _at(value, path[:-1])[path[-1]] = new
            assert load_yaml(made)[0] == value


DRAFT = """\
# A first plan.
sfumato: 1
title: Titanic   # the ship
variables:
  Age:  {role: key, kind: continuous}  # a number
  Name: {role: identifier}

steps:
  # Names leave first.
  - {do: drop, columns: [Name]}
  # Averages.
  - do: centroids
    columns: [Age]

    # how many
    k: 3   # at least
# What must hold.
limits:
- {measure: k_anonymity, at_least: 3}
"""


def _changed(old, new):
    """The lines that are gone, and those that are new."""
    before, after = old.splitlines(), new.splitlines()
    return [x for x in before if x not in after], [x for x in after if x not in before]


@pytest.mark.parametrize(
    ("edit", "gone", "new"),
    [
        (lambda t: set_value(t, ["steps", 1, "k"], 5), ["    k: 3   # at least"], ["    k: 5   # at least"]),
        (lambda t: set_value(t, ["title"], "A: b"), ["title: Titanic   # the ship"], ['title: "A: b"   # the ship']),
        (lambda t: set_value(t, ["steps", 1, "blur"], 0.5), [], ["    blur: 0.5"]),
        (
            lambda t: set_value(t, ["variables", "Age", "role"], "other"),
            ["  Age:  {role: key, kind: continuous}  # a number"],
            ["  Age:  {role: other, kind: continuous}  # a number"],
        ),
        (lambda t: set_value(t, ["variables", "Fare", "role"], "key"), [], ["  Fare: {role: key}"]),
        (lambda t: set_value(t, ["order"], "input"), [], ["order: input"]),
        (lambda t: set_value(t, ["steps", 1, "by"], ["Sex"]), [], ["    by: [Sex]"]),
        (lambda t: add(t, ["steps"], 1, {"do": "noise"}), [], ["  - {do: noise}"]),
        (lambda t: add(t, ["limits"], None, {"measure": "risk1"}), [], ["- {measure: risk1}"]),
        (lambda t: remove(t, ["steps", 1, "k"]), ["    # how many", "    k: 3   # at least"], []),
        (lambda t: remove(t, ["steps", 0]), ["  # Names leave first.", "  - {do: drop, columns: [Name]}"], []),
        (lambda t: remove(t, ["limits", 0]), ["limits:", "- {measure: k_anonymity, at_least: 3}"], ["limits: []"]),
        (lambda t: remove(t, ["variables", "Name"]), ["  Name: {role: identifier}"], []),
        (lambda t: move(t, ["steps", 1], 0), [], []),
    ],
)
def test_one_edit_changes_its_own_lines(edit, gone, new):
    assert _changed(DRAFT, edit(DRAFT)) == (gone, new)
    assert _changed(DRAFT.replace("\n", "\r\n"), edit(DRAFT.replace("\n", "\r\n"))) == (gone, new)


def test_a_step_is_put_where_it_was_asked_for_and_takes_its_comments_along():
    lines = move(DRAFT, ["steps", 1], 0).splitlines()
    assert lines.index("  # Averages.") < lines.index("    k: 3   # at least") < lines.index("  # Names leave first.")
    lines = add(DRAFT, ["steps"], 1, {"do": "noise"}).splitlines()
    assert lines[9:12] == ["  - {do: drop, columns: [Name]}", "  - {do: noise}", "  # Averages."]
    assert add(DRAFT, ["steps"], 2, {"do": "noise"}).splitlines()[16:18] == ["  - {do: noise}", "# What must hold."]


def test_there_and_back_are_the_same_bytes():
    assert move(move(DRAFT, ["steps", 0], 1), ["steps", 1], 0) == DRAFT
    assert remove(add(DRAFT, ["steps"], 2, {"do": "noise"}), ["steps", 2]) == DRAFT
    assert remove(set_value(DRAFT, ["steps", 0, "reason"], "no: use"), ["steps", 0, "reason"]) == DRAFT
    assert set_value(DRAFT, ["steps", 1, "k"], 3) == DRAFT


@pytest.mark.parametrize("empty", ["steps:\n", "steps: []\n", "steps: ~\n", "steps: []  # none\n", "", "steps:\r\n"])
def test_the_first_step(empty):
    eol = "\r\n" if "\r" in empty else "\n"
    text = f"sfumato: 1{eol}{empty}limits: []"
    made = add(text, ["steps"], 0, {"do": "drop"})
    assert load_yaml(made)[0] == {"sfumato": 1, "steps": [{"do": "drop"}], "limits": []}
    if "~" not in empty:
        assert f"{eol}  - {{do: drop}}{eol}limits" in made


def test_a_section_that_is_not_there_is_written_in_its_place():
    made = set_value("sfumato: 1\nsteps: []\n", ["variables", "age of x", "role"], "key")
    assert made == 'sfumato: 1\nvariables:\n  "age of x": {role: key}\nsteps: []\n'
    made = add("sfumato: 1\ntables:\n  a:\n    file: a.csv\n", ["tables", "a", "steps"], None, {"do": "drop"})
    assert made == "sfumato: 1\ntables:\n  a:\n    file: a.csv\n    steps:\n      - {do: drop}\n"


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (lambda t: set_value(t, ["steps", 7, "k"], 5), "line 8: steps has no item 7; items: 0 to 1"),
        (lambda t: set_value(t, ["steps", True, "k"], 5), "no item True"),
        (lambda t: set_value(t, ["title", "x"], 5), "title has no key 'x'"),
        (lambda t: set_value(t, ["variables", "new", 0], 5), "variables has no key 'new'"),
        (lambda t: set_value(t, [], 5), "at least one key"),
        (lambda t: set_value(t, ["title"], float("nan")), "finite"),
        (lambda t: set_value(t, ["title"], "\ud800"), "half a character"),
        (lambda t: set_value(t, ["title"], {1, 2}), "a value is a text"),
        (lambda t: set_value(t, ["title"], "x" * MAX_BYTES), "larger than"),
        (lambda t: add(t, ["steps"], 3, {}), "steps has no position 3; positions: 0 to 2"),
        (lambda t: add(t, ["steps"], -1, {}), "no position -1"),
        (lambda t: add(t, ["title"], 0, {}), "title is no list"),
        (lambda t: add(t, ["a", "b"], 0, {}), "the plan has no key 'a'"),
        (lambda t: move(t, ["steps", 0], 2), "no position 2"),
        (lambda t: move(t, ["title"], 0), "title is no item of a list"),
        (lambda t: remove(t, ["titles"]), "the plan has no key 'titles'"),
        (lambda t: remove(t, []), "at least one key"),
        (lambda t: set_value("- a\n", ["b"], 1), "a plan is a mapping"),
        (lambda t: set_value("", ["b"], 1), "a plan is a mapping"),
        (lambda t: set_value("a: [", ["b"], 1), "this is not YAML"),
        (lambda t: set_value("a: &x 1\nb: *x\n", ["a"], 2), "anchors"),
        (lambda t: set_value("a: !!str 1\n", ["a"], 2), "tags"),
        (lambda t: set_value("a: " + "[" * 500, ["a"], 2), "nested too deeply|cannot be parsed"),
    ],
)
def test_what_is_refused(edit, says):
    with pytest.raises(PlanError, match=says):
        edit(DRAFT)


@pytest.mark.slow
def test_what_a_value_holds_cannot_become_anything_else():
    """Text from a form that looks like YAML, turns lines round or breaks them."""
    for said in [
        "a\n- {do: x}",
        "}, k: 9, {",
        "# c",
        "!!x",
        "*a",
        "\u2028- b",
        "\u202egnp",
        "null",
        "0x1F",
        "\t",
        "'\"\\",
    ]:
        for path in (["title"], ["variables", "Age", "label"], ["variables", said, "label"], ["steps", 1, "formula"]):
            assert load_yaml(set_value(DRAFT, path, said))[0] != load_yaml(DRAFT)[0]
            value = load_yaml(set_value(DRAFT, path, said))[0]
            assert _at(value, path) == said
    assert "\u202e" not in set_value(DRAFT, ["title"], "a\u202eb")
