"""Chordal covers of margins, against a search for rings without a chord, and closed bounds against all tables."""

from itertools import combinations, product

import numpy as np
import pytest

from sfumato.kernels.tabular.cover import covered, triangulated
from sfumato.kernels.tabular.margins import bits


def edges(cliques):
    return {pair for clique in cliques for pair in combinations(bits(clique), 2)}


def is_chordal(pairs, n):
    """By taking away nodes whose neighbours all know each other."""
    near = {i: {j for pair in pairs for j in pair if i in pair and j != i} for i in range(n)}
    while near:
        easy = [i for i in near if all((min(p), max(p)) in pairs for p in combinations(near[i], 2))]
        if not easy:
            return False
        for other in near.pop(easy[0]):
            near[other].discard(easy[0])
    return True


@pytest.mark.parametrize("seed", range(40))
def test_every_margin_lies_in_a_clique_of_a_chordal_graph(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    margins = [int(m) for m in rng.integers(1, 1 << n, int(rng.integers(1, 8)))]
    cliques = triangulated(margins, rng.integers(2, 9, n).tolist())
    assert all(any(m & clique == m for clique in cliques) for m in margins)
    assert is_chordal(edges(cliques), n)
    assert not any(a & b == a for a, b in product(cliques, cliques) if a != b)
    assert edges(margins) <= edges(cliques)
    if is_chordal(edges(margins), n):  # nothing is added where nothing is needed
        assert edges(margins) == edges(cliques)


@pytest.mark.parametrize("seed", range(20))
def test_variables_stand_once_more_in_cliques_than_in_separators(seed):
    rng = np.random.default_rng(100 + seed)
    n = int(rng.integers(2, 8))
    margins = [int(m) for m in rng.integers(1, 1 << n, 5)]
    cliques, between, exact = covered(margins, [2] * n)
    assert len(between) == len(cliques) - 1
    for i in range(n):
        held = sum(c >> i & 1 for c in cliques)
        assert held - sum(s >> i & 1 for s in between) == bool(held)
    assert exact == all(any(c & m == c for m in margins) for c in cliques)


def test_the_grand_total_alone_has_no_cliques():
    assert covered([0], [2, 2])[0] in ((), (0,))
