"""Random tables for readers: few records, uneven trees, codes with one part, two groupings at times."""

import numpy as np
import polars as pl

TOTAL = "Total"


def tree(rng, name, variables):
    """The parent of each code: two or three on top, some of them with parts, perhaps with a single one."""
    parents = {}
    for i in range(int(rng.integers(2, 5 if variables == 2 else 4))):
        top = f"{name}{i}"
        parents[top] = TOTAL
        for j in range(
            int(rng.choice([0, 1, 2, 3], p=[0.4, 0.2, 0.3, 0.1] if variables == 2 else [0.6, 0.2, 0.2, 0.0]))
        ):
            parents[f"{top}{j}"] = top
            if rng.random() < 0.1:
                parents[f"{top}{j}0"] = f"{top}{j}"
    return parents


def finest(parents):
    return [code for code in parents if code not in parents.values()]


def regrouped(rng, name, leaves):
    """Another grouping of the finest codes."""
    groups = {code: f"{name}g{rng.integers(2)}" for code in leaves}
    return {**dict.fromkeys(groups.values(), TOTAL), **groups}


def codes(rng, variables, records, two_groupings=True):
    """Records with a code of each variable, most of them in few codes; and by variable its groupings."""
    columns, trees = {}, {}
    for name in "abc"[:variables]:
        own = tree(rng, name, variables)
        leaves = finest(own)
        trees[name] = [own]
        if two_groupings and len(leaves) > 3 and rng.random() < 0.2:
            trees[name].append(regrouped(rng, name, leaves))
        columns[name] = rng.choice(leaves, records, p=rng.dirichlet(np.full(len(leaves), 0.8)))
    return pl.DataFrame(columns), trees


def people(rng):
    """Records of a table of counts."""
    return codes(rng, int(rng.integers(2, 4)), int(rng.integers(20, 121)))


def firms(rng, holdings):
    """Records of a table of sums: firms in several cells, and holdings that own some of them."""
    records = int(rng.integers(20, 90))
    frame, trees = codes(rng, 2 if rng.random() < 0.8 else 3, records, two_groupings=False)
    firm = rng.integers(0, max(8, records // 2), records)
    frame = frame.with_columns(
        value=pl.Series(np.ceil(rng.lognormal(2, 1.3, records))), firm=pl.Series([f"f{i:02}" for i in firm])
    )
    if holdings:
        owner = [None if rng.random() < 0.5 else f"h{rng.integers(5)}" for _ in range(firm.max() + 1)]
        frame = frame.with_columns(holding=pl.Series([owner[i] for i in firm], dtype=pl.String))
    return frame, trees
