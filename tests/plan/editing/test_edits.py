"""Edits of text: what they mean is worked out on plain values, and what lines they may touch is told by the writer."""

import random
import re
from copy import deepcopy

import pytest

from sfumato.data.yaml import MAX_BYTES, load_yaml
from sfumato.errors import PlanError
from sfumato.plan.editing.edits import add, move, remove, set_value
from sfumato.plan.editing.off import switch_off, switch_on, switched_off
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
    """A random edit: the new text, the value that it should mean, and which lines it may touch (None: any of a list's)."""
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
        return switch_off(written.text, (*path, i)), wanted, {path if _bracketed(written, path) or not old else (*path, i)}
    path = draw.choice(paths)
    above = _at(wanted, path[:-1])
    del above[path[-1]]
    emptied = path[:-1] if not above or _bracketed(written, path[:-1]) else path
    return remove(written.text, path), wanted, {emptied}


def _bracketed(written, path):
    """Whether a path is in brackets, or is what stands in them."""
    return any(path[:i] in written.brackets for i in range(len(path) + 1))


def _touched(written, path):
    while path and path not in written.lines:  # in brackets: lines are those of what holds it
        path = path[:-1]
    return written.lines.get(path, (0, 10**9))


def _try(seed):
    draw = random.Random(seed)
    value = plan(draw)
    written = Writer(draw, value)
    assert load_yaml(written.text)[0] == value
    try:
        made, wanted, paths = _edit(draw, value, written)
    except PlanError as error:
        assert "by itself" in str(error)
        return False
    assert load_yaml(made)[0] == wanted, f"{seed}\n{written.text}\n--\n{made}"
    _others_stand(written, made, paths, seed)
    return True


def _others_stand(written, made, paths, seed):
    """All lines that the edit has no business with stand there as they were, and in their order."""
    old, new = written.text.splitlines(keepends=True), made.splitlines(keepends=True)
    spans = [_touched(written, path) for path in paths]
    may = {i for first, last in spans for i in range(first, last + 1)}
    for first, _ in spans:  # comments above go with it
        while first and re.match(r" *#", old[first - 1]):
            first -= 1
            may.add(first)
    left = iter(new)
    for i, line in enumerate(old):
        if i not in may and i + 1 < len(old):
            assert line in left, f"{seed}: line {i + 1}\n{written.text}\n--\n{made}"
    ends = {line[len(line.rstrip("\r\n")) :] for line in new[:-1]}
    assert ends <= {written.eol}
    assert made.endswith(("\n", "\r")) == written.text.endswith(("\n", "\r"))
