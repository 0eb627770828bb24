"""What is parsed in part is what is parsed whole, whatever is changed in a text of whatever style."""

import random

import pytest
from ruamel.yaml.nodes import MappingNode, SequenceNode

from sfumato.plan.editing.again import parsed, parsed_again
from tests.plan.editing.styles import Writer, plan

PIECES = (
    "\n",
    "  ",
    "- ",
    "# ",
    ": ",
    "a: 1\n",
    "  b: |\n",
    '"',
    "'",
    "[",
    "}",
    "\r\n",
    "---\n",
    "? ",
    "|+",
    "\n\n",
    "\t",
)


def _seen(node):
    """What a node means, and where it stands, as far as edits look at it."""
    if isinstance(node, MappingNode | SequenceNode):
        parts = [part for pair in node.value for part in pair] if isinstance(node, MappingNode) else node.value
        ends = (node.end_mark.index,) if node.flow_style else ()
        at = (node.start_mark.index, node.start_mark.column)
        return (type(node).__name__, str(node.tag), node.flow_style, at, ends, [_seen(part) for part in parts])
    if not node.value and node.style is None:
        return (str(node.tag), node.value)
    begin, end = node.start_mark, node.end_mark
    return (str(node.tag), node.value, node.style, begin.index, begin.column, end.index)


def _whole(text):
    try:
        return parsed(text)
    except Exception:
        return None


def _changed(draw, text):
    """A text with a piece put in, taken out or moved, of letters or of lines."""
    lines = text.splitlines(keepends=True)
    i, j = sorted(draw.randrange(len(lines) + 1) for _ in range(2))
    a = draw.randrange(len(text) + 1)
    b = min(len(text), a + draw.choice([0, 0, 1, 2, 9]))
    kind = draw.randrange(5)
    if kind == 0:
        return "".join(lines[:i] + lines[i + 1 :])
    if kind == 1:
        return "".join([*lines[:i], *lines[j : j + 2], *lines[i:]])
    if kind == 2:
        return "".join([*lines[:i], "# off: " if draw.random() < 0.5 else "  ", *lines[i:]])
    return text[:a] + draw.choice(["", "", *PIECES, str(draw.randrange(99))]) + text[b:]


def _tried(seed):
    """How many of a text's changes were parsed in part."""
    draw = random.Random(seed)
    text = Writer(draw, plan(draw)).text
    root, done = _whole(text), 0
    assert root is not None
    for _ in range(12):
        new = _changed(draw, text)
        if any(trick in new for trick in "&*!%"):
            continue
        made, whole = parsed_again(new, text, root), _whole(new)
        if made is not None:
            assert whole is not None, seed
            assert _seen(made) == _seen(whole), seed
            done += 1
        if isinstance(whole, MappingNode):
            text, root = new, made or whole
    return done


@pytest.mark.slow
def test_random_changes_of_texts_in_every_style():
    assert sum(_tried(seed) for seed in range(15)) > 40


@pytest.mark.nightly(of="tests/plan/editing/test_again.py::test_random_changes_of_texts_in_every_style")
@pytest.mark.parametrize("hundred", range(20))
def test_thousands_of_random_changes(hundred):
    for seed in range(1000 + 100 * hundred, 1100 + 100 * hundred):
        _tried(seed)


def test_what_was_parsed_before_stays_as_it_is():
    text = "a:\n  - {b: 1}\n  - c\nd: 2\n"
    root = parsed(text)
    said = _seen(root)
    made = parsed_again(text.replace("b: 1", "b: 1000"), text, root)
    assert made is not None
    assert _seen(root) == said == _seen(parsed(text))
