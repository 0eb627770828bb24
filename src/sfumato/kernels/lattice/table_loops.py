"""Loops over a table of classes and what is left of their patterns: roll up, count, part.

A row is a class of the keys that have their levels already (`prefix`), the current key's group (`group`), the pattern
of the keys that come after (`suffix`) and a number of records. Rows are in the order of prefix, suffix, group. Groups
are numbered so that those which join at the next level stand side by side; so a roll-up joins neighbouring rows, and
every loop here is one pass without a comparison of patterns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.kernels.compiled import compiled

__all__ = ["arrange", "roll_up", "tally"]

Shorts = NDArray[np.int32]
Ints = NDArray[np.int64]


@compiled
def roll_up(prefix: Shorts, suffix: Shorts, group: Shorts, count: Ints, rows: int, up: Shorts) -> int:
    """Put each group into that of a higher level, in place, and give the number of rows that are left."""
    last = -1
    for i in range(rows):
        g = up[group[i]]
        if last >= 0 and group[last] == g and suffix[last] == suffix[i] and prefix[last] == prefix[i]:
            count[last] += count[i]
        else:
            last += 1
            prefix[last] = prefix[i]
            suffix[last] = suffix[i]
            group[last] = g
            count[last] = count[i]
    return last + 1


@compiled
def _sort(met: Shorts, found: int, number: Shorts) -> None:
    """Sort the groups that were met: few by insertion, many by looking which of all groups have a number."""
    if found > 12:
        found = 0
        for g in range(len(number)):
            if number[g] >= 0:
                met[found] = g
                found += 1
        return
    for i in range(1, found):
        g = met[i]
        j = i
        while j > 0 and met[j - 1] > g:
            met[j] = met[j - 1]
            j -= 1
        met[j] = g


@compiled
def tally(
    prefix: Shorts,
    group: Shorts,
    count: Ints,
    rows: int,
    groups: int,
    which: Shorts,
    parent: Shorts,
    of_group: Shorts,
    total: Ints,
    height: Ints,
) -> int:
    """Find the classes of prefix and group, in that order; `which` of them each row is in.

    Fills of each class its prefix, its group, its records and its number of rows, and gives the number of classes.
    """
    number = np.full(groups, -1, dtype=np.int32)
    met = np.empty(groups, dtype=np.int32)
    classes = 0
    start = 0
    while start < rows:
        p = prefix[start]
        found = 0
        end = start
        while end < rows and prefix[end] == p:
            g = group[end]
            if number[g] < 0:
                number[g] = 0
                met[found] = g
                found += 1
            end += 1
        _sort(met, found, number)
        for i in range(found):
            number[met[i]] = classes + i
            parent[classes + i] = p
            of_group[classes + i] = met[i]
            total[classes + i] = 0
            height[classes + i] = 0
        for i in range(start, end):
            c = number[group[i]]
            which[i] = c
            total[c] += count[i]
            height[c] += 1
        for i in range(found):
            number[met[i]] = -1
        classes += found
        start = end
    return classes


@compiled
def arrange(
    which: Shorts,
    suffix: Shorts,
    count: Ints,
    rows: int,
    height: Ints,
    classes: int,
    leaf: Shorts,
    after: Shorts,
    prefixes: Shorts,
    suffixes: Shorts,
    groups: Shorts,
    counts: Ints,
) -> None:
    """Write the rows in the order of their new class, each suffix parted into the next key's leaf and what is after."""
    place = np.empty(classes, dtype=np.int64)
    at = 0
    for c in range(classes):
        place[c] = at
        at += height[c]
    for i in range(rows):
        c = which[i]
        j = place[c]
        place[c] = j + 1
        prefixes[j] = c
        s = suffix[i]
        suffixes[j] = after[s]
        groups[j] = leaf[s]
        counts[j] = count[i]
