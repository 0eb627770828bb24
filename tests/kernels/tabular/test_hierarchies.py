"""Sets of margins against brute force."""

from itertools import combinations

import numpy as np
import pytest

from sfumato.kernels.tabular.hierarchies import down_sets, held, maximal


@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_set_of_margins_that_none_holds_another_comes_once(n):
    sets = set()
    for many in range(1, 1 << n):
        for own in combinations(range(1 << n), many):
            if not any(a & b in (a, b) for a, b in combinations(own, 2)):
                sets.add(frozenset(own))
    sets.add(frozenset([(1 << n) - 1]))
    found = [frozenset(one) for one in down_sets(n)]
    assert len(found) == len(set(found))
    assert set(found) == sets
    assert found[0] == {0}  # the grand total


def test_five_variables_at_most():
    with pytest.raises(ValueError, match="5"):
        list(down_sets(6))


def test_what_a_margin_holds_is_all_its_parts():
    for margins in ([0b101], [0b110, 0b011], [0]):
        parts = {part for m in margins for part in range(8) if part & m == part}
        assert held(margins, 3) == sum(1 << part for part in parts)


@pytest.mark.parametrize("bits", [8, 63, 64, 90])
def test_maximal_sets_lie_in_no_other(bits):
    rng = np.random.default_rng(bits)
    sets = list({sum(1 << int(i) for i in rng.choice(bits, int(rng.integers(1, 6)))) for _ in range(80)})
    expected = [i for i, one in enumerate(sets) if not any(one & other == one and one != other for other in sets)]
    assert maximal(sets) == expected
