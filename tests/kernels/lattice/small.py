"""Small random tables with hierarchies, and what is right for them, written out with dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import log2, prod

import numpy as np

from sfumato.kernels.lattice.criteria.criterion import Block, Criterion
from sfumato.kernels.lattice.levels import Levels
from sfumato.kernels.lattice.patterns import Patterns, grouped


def hierarchy(rng: np.random.Generator, leaves: int, height: int) -> Levels:
    """A random tree; groups are numbered at random, so that those which join need not be neighbours."""
    levels = [np.arange(leaves)]
    for _ in range(height - 1):
        groups = levels[-1].max() + 1
        merged = np.unique(rng.integers(0, max(groups // 2, 1) + 1, groups), return_inverse=True)[1]
        levels.append(merged[levels[-1]])
    return Levels((*levels, np.zeros(leaves, dtype=np.int64)))


def table(seed: int, sensitive: int = 0, missing: bool = False, keys: int = 3) -> tuple[Patterns, list[Levels]]:
    """Some 60 records; with leaves that do not occur."""
    rng = np.random.default_rng(seed)
    hierarchies = [hierarchy(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4))) for _ in range(keys)]
    n = int(rng.integers(20, 100))
    codes = np.stack([np.minimum(rng.geometric(0.4, n) - 1, h.leaves - 1) for h in hierarchies], axis=1)
    if not sensitive:
        return grouped(codes)[0], hierarchies
    values = rng.integers(-1 if missing else 0, 4, (n, sensitive))
    values[:4] = np.arange(4)[:, None]
    return grouped(codes, values)[0], hierarchies


def nodes(hierarchies):
    return product(*(range(h.height + 1) for h in hierarchies))


def classes_at(patterns, hierarchies, levels):
    """Rows of each class, by a dictionary of generalised patterns."""
    found = defaultdict(list)
    for i, row in enumerate(patterns.codes):
        found[tuple(int(h.groups[v][x]) for h, v, x in zip(hierarchies, levels, row, strict=True))].append(i)
    return found


def block_of(patterns, rows):
    """One class, as criteria see it."""
    histograms = {}
    whole = [_counted(column, patterns.counts) for column in patterns.values.T]
    for j, column in enumerate(patterns.values.T):
        histograms[j] = _counted(column[rows], patterns.counts[rows])[None, :]
    return Block(np.array([patterns.counts[rows].sum()]), histograms, whole)


def _counted(column, counts):
    """Records with each of four values."""
    return np.array([counts[column == v].sum() for v in range(4)])


def outcome(patterns, hierarchies, levels, criteria):
    """Kept classes and suppressed rows at a node; None where all that is kept fails as a whole."""
    kept, gone = {}, []
    for name, rows in classes_at(patterns, hierarchies, levels).items():
        block = block_of(patterns, rows)
        if any(c.fails(block)[0] for c in criteria if isinstance(c, Criterion)):
            gone += rows
        else:
            kept[name] = rows
    sizes = np.array([patterns.counts[rows].sum() for rows in kept.values()], dtype=np.int64)
    overall = [c for c in criteria if not isinstance(c, Criterion)]
    return None if kept and any(c.fails_all(sizes) for c in overall) else (kept, gone)


def loss_by_formula(name, patterns, hierarchies, levels, kept, gone, weights):
    """The losses as they are written."""
    n, m, counts = int(patterns.counts.sum()), len(hierarchies), patterns.counts
    suppressed = int(sum(counts[i] for i in gone))
    sizes = [int(counts[rows].sum()) for rows in kept.values()]
    if name == "discernibility":
        return sum(s * s for s in sizes) + n * suppressed
    if name == "average-class-size":
        return n / (len(sizes) + (suppressed > 0))
    w = [x * m / sum(weights) for x in weights]
    if name == "precision":
        shares = [((n - suppressed) * v / h.height + suppressed) / n for v, h in zip(levels, hierarchies, strict=True)]
        return sum(a * b for a, b in zip(w, shares, strict=True)) / m
    if name.endswith("entropy"):
        return sum(w[j] * _entropy(name, patterns, h, levels[j], j, gone) for j, h in enumerate(hierarchies))
    ys = []
    for j, h in enumerate(hierarchies):
        group = h.groups[levels[j]]
        x = suppressed + sum(
            counts[i] * (group == group[patterns.codes[i, j]]).sum() / h.leaves for rows in kept.values() for i in rows
        )
        ys.append(max(0.0, (x - n / h.leaves) / (n - n / h.leaves)))
    if name == "loss-arithmetic":
        return sum(a * y for a, y in zip(w, ys, strict=True)) / m
    return prod((1 + y) ** (a / m) for a, y in zip(w, ys, strict=True)) - 1


def _entropy(name, patterns, h, level, j, gone):
    fine, coarse, lost = Counter(), Counter(), Counter()
    for x, count in zip(patterns.codes[:, j], patterns.counts, strict=True):
        fine[x] += int(count)
        coarse[h.groups[level][x]] += int(count)
    for i in gone:
        lost[h.groups[level][patterns.codes[i, j]]] += int(patterns.counts[i])
    total = -sum(c * log2(c / coarse[h.groups[level][x]]) for x, c in fine.items())
    if name == "entropy":
        total -= sum(c * log2(c / lost.total()) for c in lost.values())
    return total


def outcomes(patterns, hierarchies, criteria):
    """Of every node."""
    return {levels: outcome(patterns, hierarchies, levels, criteria) for levels in nodes(hierarchies)}


def best(patterns, hierarchies, every, limit_records, loss, weights=None):
    """The best of all nodes' outcomes: score to ten digits, sum of levels, levels; None where none will do."""
    found = []
    for levels, made in every.items():
        if made is None or sum(patterns.counts[i] for i in made[1]) > limit_records:
            continue
        score = loss_by_formula(loss, patterns, hierarchies, levels, *made, weights or [1.0] * len(hierarchies))
        found.append((float(f"{score:.10g}"), sum(levels), levels))
    return min(found, default=None)
