"""The lattice of tables: a circle for each, a line for each step, and states that differ in shape."""

import itertools
import xml.etree.ElementTree as ET

from sfumato.render.lattice import lattice, letters


def tables(names):
    return [frozenset(own) for many in range(1, len(names) + 1) for own in itertools.combinations(names, many)]


def test_every_table_and_every_step_is_drawn():
    names = ["a", "b", "c"]
    root = ET.fromstring(lattice(names, dict.fromkeys(tables(names), "possible"), {}))
    assert len(list(root.iter("circle"))) == 7
    assert len(list(root.iter("line"))) == 9  # each pair has two singles, the whole three pairs


def test_states_differ_in_shape():
    states = {frozenset("a"): "granted", frozenset("b"): "possible", frozenset("ab"): "closed"}
    root = ET.fromstring(lattice(["a", "b"], states, {frozenset("a"): 7}))
    fills = [one.attrib["fill"] for one in root.iter("circle")]
    assert len({fills[0], fills[1]}) == 2
    assert sum(one.attrib.get("stroke-width") == "1.5" for one in root.iter("line")) == 1  # the cross
    assert "7" in [one.text for one in root.iter("text")]


def test_letters_follow_the_order_of_variables():
    assert letters(["z", "a"]) == {"z": "A", "a": "B"}
