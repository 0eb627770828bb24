"""Unions as further cells of a suppression problem, and the loop that asks for them."""

import numpy as np
import scipy.sparse as sp

from sfumato.tables.equations import System
from sfumato.tables.suppress.choose import suppress
from sfumato.tables.suppress.result import Suppression
from sfumato.tables.unions import Judged, Union
from sfumato.tables.unions.enforced import protected_against_unions, widened

NONE = np.empty(0, dtype=np.int64)
ROW = System(sp.csr_array([[1, 1, 1, 1, -1]]), np.array([2.0, 3.0, 4.0, 5.0, 14.0]))
GIVEN = {"cost": ROW.value, "lower": np.zeros(5), "upper": np.full(5, np.inf)}
PRIMARY = np.array([1, 0, 0, 0, 0]) > 0
UNION = Union(np.array([0, 1]), 5.0, 1.0, 2.0, NONE)


def solved(unions):
    wide = widened(ROW, PRIMARY, GIVEN, unions)
    return wide.narrowed(suppress(wide.system, wide.primary, method="optimal", insiders=wide.insiders, **wide.given))


def test_a_union_that_is_asked_for_is_told_no_more():
    assert np.flatnonzero(solved(()).secondary).tolist() == [1]  # the cheapest beside the 2
    assert np.flatnonzero(solved([UNION]).secondary).tolist() == [2]  # 2 + 3 is no sum of all that is hidden


def test_a_contributor_who_knows_a_cell_finds_nothing_in_it():
    """Whoever knows the 3 would know the 2, so another cell is hidden beside it."""
    known = Union(np.array([0]), 2.0, 0.0, 0.0, np.array([1]))
    assert np.flatnonzero(solved([known]).secondary).tolist() == [2]


def test_further_cells_have_what_each_option_says_of_none():
    more = {
        "lower_level": np.ones(5),
        "upper_level": None,
        "sliding_level": np.zeros(5),
        "forbidden": PRIMARY,
        "preferred": None,
    }
    wide = widened(ROW, PRIMARY, GIVEN | {"lower": np.ones(5)} | more, [UNION])
    assert {name: part if part is None else part[5:].tolist() for name, part in wide.given.items()} == {
        "cost": [0.0],
        "lower": [2.0],  # two cells of 1 or more
        "upper": [np.inf],
        "lower_level": [1.0],
        "upper_level": None,
        "sliding_level": [0.0],
        "forbidden": [False],
        "preferred": None,
    }
    alone = widened(ROW, PRIMARY, {"sliding_level": np.zeros(5)}, [UNION])
    assert alone.given["sliding_level"][5:].tolist() == [3.0]


def test_what_cannot_be_protected_is_told_of_cells_alone():
    found = Suppression(
        np.array([False, True, False, False, False, False]),
        unprotected=np.array([0, 5]),
        reason=("bounds", "forbidden"),
    )
    told = widened(ROW, PRIMARY, GIVEN, [UNION]).narrowed(found)
    assert (told.unprotected.tolist(), told.reason, len(told.secondary)) == ([0], ("bounds",), 5)


def test_unions_stay_asked_for_until_none_is_new():
    other = Union(np.array([1, 2]), 7.0, 0.0, 0.0, NONE)
    rounds = iter([(UNION,), (other,), (other,)])
    asked = []

    def solve(unions):
        asked.append(unions)
        return Suppression(PRIMARY)

    _, told, held = protected_against_unions(solve, lambda _: Judged(1, next(rounds), 0))
    assert asked == [(), (UNION,), (UNION, other)]
    assert held == (UNION, other)
    assert told.unsafe == (other,)  # no pattern protects it, so it is still told
