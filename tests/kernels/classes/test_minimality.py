"""Guesses of values that were taken out, against the definition written out record by record."""

from collections import Counter

import numpy as np
import pytest

from sfumato.kernels.classes.minimality import guess_suppressed


def by_the_definition(released, true, k, strata):
    """Each record with one gap, each value: count what would match it."""
    found = []
    for i, row in enumerate(released):
        gaps = [j for j, v in enumerate(row) if v < 0]
        if len(gaps) != 1 or true[i][gaps[0]] < 0:
            continue
        (j,) = gaps
        near = [r for r, s in zip(released, strata, strict=True) if s == strata[i]]
        usual = Counter(r[j] for r in near if r[j] >= 0)

        def matches(value, i=i, j=j, near=near):
            full = [*released[i]]
            full[j] = value
            return sum(all(a == b or b < 0 for a, b in zip(full, r, strict=True)) for r in near)

        fit = [r for r in near if all(b < 0 or a == b for n, (a, b) in enumerate(zip(row, r, strict=True)) if n != j)]
        alike = Counter(r[j] for r in fit if r[j] >= 0)
        plain = chance(alike or usual, true[i][j])
        left = {v: n for v, n in usual.items() if matches(v) < k}
        found.append((i, chance(left, true[i][j]) if left else plain, plain))
    return found


def chance(counts, truth):
    """Of the most frequent each is as likely taken."""
    most = [v for v, n in counts.items() if n == max(counts.values())]
    return (truth in most) / len(most) if most else 0.0


@pytest.mark.parametrize("seed", range(60))
def test_guesses_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 60)), int(rng.integers(1, 5))
    true = rng.integers(0, rng.integers(2, 7), (n, m))
    true[rng.random((n, m)) < rng.choice([0, 0.05])] = -1
    released = np.where(rng.random((n, m)) < rng.choice([0.05, 0.2, 0.5]), -1, true)
    strata = rng.integers(0, rng.integers(1, 4), n)
    k = int(rng.integers(2, 8))
    wanted = by_the_definition(released.tolist(), true.tolist(), k, strata.tolist())
    found = guess_suppressed(released, true, k, strata)
    assert found.rows.tolist() == [i for i, _, _ in wanted]
    np.testing.assert_allclose(found.chance, [c for _, c, _ in wanted], atol=1e-12)
    np.testing.assert_allclose(found.plain, [p for _, _, p in wanted], atol=1e-12)


def test_the_cases_say_something():
    """The definition is met with right and wrong guesses, ties, and gaps with nothing left."""
    released = np.array([[0, 0], [0, 0], [0, -1], [0, -1], [0, -1], [1, 1], [1, 2], [1, -1]])
    true = np.where(released < 0, [[0, 1]], released)
    found = guess_suppressed(released, true, 3)
    assert found.rows.tolist() == [2, 3, 4, 7]
    # Three gaps match whatever stands there: all is ruled out, and the plain guess 0 is wrong. In the last row nothing
    # is ruled out (two match 1, two match 2), 0 is the most frequent in the release; the plain guess is 1 or 2.
    assert found.chance.tolist() == [0.0, 0.0, 0.0, 0.0]
    assert found.plain.tolist() == [0.0, 0.0, 0.0, 0.5]


def test_nothing_was_taken_out():
    whole = np.array([[0, 1], [1, 1]])
    assert not len(guess_suppressed(whole, whole, 3).rows)
    empty = np.full((2, 1), -1)
    found = guess_suppressed(empty, np.array([[0], [1]]), 3)
    assert found.chance.tolist() == found.plain.tolist() == [0.0, 0.0]


def test_many_records_are_no_matter():
    """Each gap against each record would be 10^10 comparisons."""
    rng = np.random.default_rng(1)
    true = rng.integers(0, 40, (200_000, 5))
    released = true.copy()
    rows = rng.choice(len(true), 50_000, replace=False)
    released[rows, rng.integers(0, 5, len(rows))] = -1
    assert len(guess_suppressed(released, true, 3).rows) == len(rows)
