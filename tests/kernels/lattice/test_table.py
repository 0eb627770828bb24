from collections import Counter

import numpy as np
import pytest

from sfumato.kernels.lattice.patterns import Patterns
from sfumato.kernels.lattice.table import planes, renumbered
from tests.kernels.lattice import small


def by_regrouping(patterns, hierarchies, levels):
    """Sizes of the classes of the first keys, from the start."""
    sizes = Counter()
    for row, count in zip(patterns.codes, patterns.counts, strict=True):
        sizes[tuple(int(h.groups[v][x]) for h, v, x in zip(hierarchies, levels, row[: len(levels)], strict=False))] += (
            int(count)
        )
    return sizes


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("leap", [False, True])
def test_rolling_up_is_regrouping(seed, leap):
    """At every node, key by key, level by level or several at once: classes, sizes, groups, sensitive values."""
    given, trees = small.table(seed, sensitive=seed % 3, keys=3)
    patterns, hierarchies = renumbered(given, trees)
    laid, root = planes(patterns, hierarchies)
    for levels in small.nodes(hierarchies):
        table, names = root.copy(), [()]
        for depth, level in enumerate(levels):
            for step in [level] if leap else range(level + 1):
                table.raised(step)
            classes = table.classes()
            names = [(*names[p], int(g)) for p, g in zip(classes.parent, classes.group, strict=True)]
            right = by_regrouping(patterns, hierarchies, levels[: depth + 1])
            assert dict(zip(names, classes.sizes.tolist(), strict=True)) == right
            assert np.bincount(classes.which, weights=table.count).tolist() == classes.sizes.tolist()
            if depth + 1 < len(levels):
                table = table.below(classes, laid[depth + 1])
        _sensitive_values_follow(patterns, hierarchies, levels, table, classes, names)


def _sensitive_values_follow(patterns, hierarchies, levels, table, classes, names):
    values = table.plane.sensitive[table.suffix]
    found = Counter()
    for c, row, count in zip(classes.which, values.tolist(), table.count, strict=True):
        found[names[c], tuple(row)] += int(count)
    right = Counter()
    for name, rows in small.classes_at(patterns, hierarchies, levels).items():
        for i in rows:
            right[name, tuple(patterns.values[i].tolist())] += int(patterns.counts[i])
    assert found == right


def test_renumbering_keeps_groups_and_puts_neighbours_together():
    patterns, hierarchies = small.table(3)
    again, levels = renumbered(patterns, hierarchies)
    for j, (old, new) in enumerate(zip(hierarchies, levels, strict=True)):
        for fine, coarse in zip(old.groups, new.groups, strict=True):
            pairs = set(zip(fine[patterns.codes[:, j]], coarse[again.codes[:, j]], strict=True))
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
            assert (np.diff(coarse) >= 0).all()


def test_more_keys_than_a_word_holds():
    """Forty keys of 50 values: patterns are numbered, not packed."""
    rng = np.random.default_rng(0)
    trees = [small.hierarchy(rng, 50, 2) for _ in range(40)]
    patterns = Patterns(rng.integers(0, 50, (30, 40)), rng.integers(1, 4, 30))
    patterns, hierarchies = renumbered(patterns, trees)
    laid, table = planes(patterns, hierarchies)
    for depth in range(40):
        table.raised(1)
        classes = table.classes()
        if depth < 39:
            table = table.below(classes, laid[depth + 1])
    assert sorted(classes.sizes) == sorted(by_regrouping(patterns, hierarchies, [1] * 40).values())
