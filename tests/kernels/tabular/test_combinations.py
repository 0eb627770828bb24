"""What can be together, against going through every combination of codes of all variables."""

from itertools import product

import numpy as np
import pytest

from sfumato.kernels.tabular.combinations import TooManyCombinations, projected


@pytest.mark.parametrize("seed", range(60))
def test_groups_can_be_together_where_codes_in_them_can(seed):
    rng = np.random.default_rng(seed)
    names = [chr(ord("a") + i) for i in range(int(rng.integers(2, 6)))]
    sizes = {name: int(rng.integers(1, 4)) for name in names}
    rules = []
    for _ in range(int(rng.integers(1, 6))):
        own = tuple(sorted(rng.choice(names, min(len(names), int(rng.integers(1, 4))), replace=False).tolist()))
        rules.append((own, rng.random([sizes[name] for name in own]) < 0.7))
    kept = [name for name in names if rng.random() < 0.6]
    groups = {}
    for name in kept:  # every group has a code
        many = int(rng.integers(1, sizes[name] + 1))
        place = np.concatenate([np.arange(many), rng.integers(0, many, sizes[name] - many)])
        groups[name] = rng.permutation(place), many
    expected = set()
    for codes in product(*(range(sizes[name]) for name in names)):
        at = dict(zip(names, codes, strict=True))
        if all(can[tuple(at[name] for name in own)] for own, can in rules):
            expected.add(tuple(int(groups[name][0][at[name]]) for name in kept))
    found = projected(rules, groups)
    for cell in product(*(range(groups[name][1]) for name in kept)):
        at = dict(zip(kept, cell, strict=True))
        assert all(bool(can[tuple(at[name] for name in own)]) for own, can in found) == (cell in expected)
    assert all(set(own) <= set(kept) and not can.all() for own, can in found)


def test_rules_that_concern_nothing_kept_say_nothing():
    rule = (("a", "b"), np.array([[True, False], [True, True]]))
    assert projected([rule], {}) == []
    assert projected([], {"a": (np.arange(2), 2)}) == []


def test_a_variable_that_others_leave_open_brings_nothing():
    """Of every code of `c` something remains of `x`, so that nothing is left that `a` or `b` would be about."""
    first = ("a", "x"), np.array([[True, True, False], [True, True, True]])
    second = ("b", "x"), np.array([[False, True, True], [True, True, True]])
    third = ("a", "b"), np.array([[True, True], [True, False]])
    own = np.arange(2), 2
    assert [(names, can.tolist()) for names, can in projected([first, second, third], {"a": own, "b": own})] == [
        (("a", "b"), [[True, True], [True, False]])
    ]
    assert projected([first, second], {"b": own}) == []
    assert projected([first], {}) == []


def test_more_than_is_allowed_is_an_error_of_its_own():
    own = np.arange(3), 3
    rules = [(("a", "x"), np.eye(3, dtype=bool)), (("b", "x"), np.eye(3, dtype=bool))]
    assert projected(rules, {"a": own, "b": own}, 27)[0][1].tolist() == np.eye(3, dtype=bool).tolist()
    with pytest.raises(TooManyCombinations):
        projected(rules, {"a": own, "b": own}, 26)


def test_what_is_left_is_about_as_few_variables_as_say_the_same():
    """Whoever has a, or c, has d; nobody who has b does: b excludes a, and c, and no more is said of the three."""
    only = np.array([[True, True], [False, True]])  # whoever has it has d
    none = np.array([[True, True], [True, False]])  # nobody who has it has d
    own = np.arange(2), 2
    found = projected([(("a", "d"), only), (("b", "d"), none), (("c", "d"), only)], {"a": own, "b": own, "c": own})
    assert [names for names, _ in found] == [("a", "b"), ("b", "c")]
    assert all((can == [[True, True], [True, False]]).all() for _, can in found)
    parity = np.indices((2, 2, 2)).sum(axis=0) % 2 == 0  # here all three are needed
    (whole,) = projected([(("a", "b", "c"), parity)], {"a": own, "b": own, "c": own})
    assert whole[0] == ("a", "b", "c")
    assert (whole[1] == parity).all()
