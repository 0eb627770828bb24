"""Sets of margins: counts of chordal graphs that are published, and decomposability by its definition."""

from __future__ import annotations

import itertools

import pytest

from sfumato.kernels.tabular.margins import bits, chordal_graphs, largest, spanning, split


@pytest.mark.parametrize(("n", "many"), [(1, 1), (2, 2), (3, 8), (4, 61), (5, 822)])
def test_labelled_chordal_graphs(n: int, many: int) -> None:
    # OEIS A058862; ours may leave out the complete one
    found = len(list(chordal_graphs(n)))
    assert found in (many, many - 1)


def reducible_by_hand(margins: tuple[int, ...]) -> bool:
    """Graham's reduction: variables of one margin alone go, then margins that others hold, until nothing is left."""
    left = list(margins)
    while True:
        before = list(left)
        left = [sum(1 << i for i in bits(m) if sum(o >> i & 1 for o in left) > 1) for m in left]
        left = list(largest(left))
        if not any(left):
            return True
        if sorted(left) == sorted(before):
            return False


def test_decomposable_is_what_grahams_reduction_empties() -> None:
    masks = range(1, 16)
    for many in (1, 2, 3):
        for margins in itertools.combinations(masks, many):
            if len(largest(margins)) == many:
                assert spanning(largest(margins))[1] == reducible_by_hand(margins), margins


def test_a_ring_is_not_taken_apart_and_a_chain_is() -> None:
    ring = (0b011, 0b110, 0b101)
    assert split(ring, ring)[0] == (0b111,)
    parts, between = split((0b011, 0b110), (0b011, 0b110))
    assert sorted(parts) == [0b011, 0b110]
    assert between == (0b010,)
