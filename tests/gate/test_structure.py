"""Codes, levels and impossible combinations, against going through all codes."""

from itertools import product

import numpy as np
import pytest

from sfumato.errors import DataError
from sfumato.gate.margin import Margin, Node
from sfumato.gate.structure import KNOWN, LIFE, MISSING, Structure

CODES = {"r": ("a", "b", "c", "d"), "s": ("F", "M"), "t": ("x",)}
LEVELS = {
    ("r", "area"): ("N", "N", "S", "S"),
    ("r", "side"): ("E", "W", "E", "W"),
    ("r", "north"): ("yes", "yes", "no", "no"),
    ("r", "all"): ("land",) * 4,
}
PLACE = Structure(CODES, LEVELS)
NODES = [Node("r"), *(Node(*key) for key in LEVELS), Node("s"), Node("t")]


def group(node, code):
    return LEVELS[node.variable, node.level][CODES[node.variable].index(code)] if node.level else code


def determines(known, node):
    seen = {}
    for code in CODES[node.variable]:
        key = tuple(group(n, code) for n in known if n.variable == node.variable)
        seen.setdefault(key, set()).add(group(node, code))
    return all(len(one) == 1 for one in seen.values())


@pytest.mark.parametrize("seed", range(30))
def test_what_nodes_tell(seed):
    rng = np.random.default_rng(seed)
    known = [NODES[i] for i in rng.choice(len(NODES), int(rng.integers(0, 4)), replace=False)]
    for node in NODES:
        assert PLACE.tells(known, node) == determines(known, node)
    one = Margin.of(known)
    least = PLACE.canonical(one)
    assert PLACE.covers(least, one)
    assert PLACE.covers(one, least)
    for node in least.nodes:
        assert not determines([n for n in least.nodes if n != node], node)
    cells = {tuple(group(n, code) for n in known if n.variable == "r") for code in CODES["r"]}
    assert PLACE.joint_cells(n for n in known if n.variable == "r") == len(cells)


def test_the_largest_margins_give_all_others():
    both = [Margin.of([Node("r", "area")]), Margin.of([Node("r"), Node("s")]), Margin(), Margin.of([Node("s")])]
    assert PLACE.largest(both) == (Margin.of([Node("r"), Node("s")]),)
    apart = [Margin.of([Node("s")]), Margin.of([Node("s")], version="v2"), Margin.of([Node("s")], value="r")]
    assert set(PLACE.largest(apart)) == {apart[1], apart[2]}  # a sum brings the counts of its cells


@pytest.mark.parametrize(
    ("has", "asked", "gives"),
    [
        (Margin((Node("s"),), "r"), Margin((Node("s"),)), True),
        (Margin((Node("s"),)), Margin((Node("s"),), "r"), False),
        (Margin((Node("s"),), "r"), Margin((), "r"), True),
        (Margin((Node("s"),), "r", "w"), Margin((Node("s"),), "r"), False),
        (Margin((Node("s"),), "r", "w"), Margin((Node("s"),), "", "w"), False),
        (Margin((Node("s"),), "", "w"), Margin((Node("s"),)), True),
        (Margin((Node("s"),), version="v2"), Margin((Node("s"),)), False),
    ],
)
def test_sums_weights_and_versions(has, asked, gives):
    assert PLACE.covers(has, asked) == gives


def test_impossible_cells_are_those_without_a_possible_combination_of_codes():
    never = ({"r": "a", "s": "M"}, {"r": "b", "s": "M"}, {"r": "c", "s": "F"})
    told = Structure(CODES, LEVELS, never)
    for own in ([Node("r")], [Node("r", "area")], [Node("r", "side")], [Node("r", "area"), Node("r", "side")]):
        nodes = [*own, Node("s")]
        cells = told.impossible(nodes)
        place = told.refinement(own)[0]
        can = np.zeros(cells.shape, dtype=bool)
        for (i, r), (j, s) in product(enumerate(CODES["r"]), enumerate(CODES["s"])):
            can[place[i], j] |= {"r": r, "s": s} not in never
        assert (cells == ~can).all()
        # who knows both is given their combination, where something of it cannot be
        assert any({Node("s"), *own} <= held for held in told.given(nodes)) == bool(cells.any())


def test_versions_are_a_variable_of_which_versions_a_row_stands_in():
    told = PLACE.over(("v2", "v1"))
    assert PLACE.over(("v1",)) is PLACE
    assert told is PLACE.over(("v1", "v2"))
    assert told.codes[LIFE] == ("1", "2", "3")
    assert told.joint_cells([Node(LIFE, "v1"), Node(LIFE, "v2")]) == 3
    assert told.joint_cells([Node(LIFE, "v1")]) == 2


@pytest.mark.parametrize(
    ("levels", "never"),
    [
        ({("q", "x"): ("1",)}, ()),
        ({("s", "x"): ("1",)}, ()),
        ({}, ({"q": "1"},)),
        ({}, ({"s": "secret"},)),
    ],
)
def test_what_the_data_do_not_have(levels, never):
    with pytest.raises(DataError) as caught:
        Structure(CODES, levels, never)
    assert "secret" not in str(caught.value)


def test_every_variable_has_a_level_that_says_whether_it_is_known():
    own = Structure({"x": ("1", "9", MISSING), "y": ("a",)}, missing={"x": frozenset({"9", MISSING})})
    node = Node("x", KNOWN)
    assert own.groups(node) == (KNOWN, MISSING)
    assert own.place(node).tolist() == [0, 1, 1]
    assert own.size(Node("y", KNOWN)) == 1
    assert own.tells([Node("x")], node)
    assert not own.tells([node], Node("x"))
    assert own.canonical(Margin.of([Node("x"), node, Node("y", KNOWN)])) == Margin.of([Node("x")])


def test_a_fit_follows_from_itself_alone():
    own = Structure({"x": ("1", "2")})
    fit = Margin(version="v1", noise="4", fit='{"kind":"mean"}')
    assert own.covers(fit, fit)
    assert not own.covers(Margin.of([Node("x")]), fit)
    assert not own.covers(fit, Margin())
    assert own.canonical(fit) == fit
