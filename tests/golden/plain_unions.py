"""Unions of hidden cells whose sum is told, from the published file, its hierarchies and the records; nothing else.

A published total less its published parts is the sum of its hidden parts: a union. A hidden total in it may be replaced
by its own hidden parts, for the published ones are known. Each union must be safe by the rules that cells are judged
by, with all that one contributor (or holding) has in it taken together: fewer than n contribute, or the largest could
be estimated by the second largest to within p percent. And so must what is left of a union for a contributor who knows
the hidden cells that are his alone; nor may the whole system determine an unsafe cell for him.
"""

from itertools import permutations

import numpy as np
import polars as pl
from scipy.optimize import linprog

from tests.golden.plain_reader import TOTAL, parts_of, sums_of

NOISE = 1e-9


def owners(records):
    """Who each record belongs to: its holding, else its contributor, else itself."""
    columns = [n for n in ("holding", "firm") if n in records.columns]
    kind = [pl.lit(f"{n} ") + pl.col(n) for n in columns]
    rows = pl.int_range(pl.len()).cast(pl.String)
    return records.select(pl.coalesce(*kind, pl.lit("record ") + rows)).to_series().to_list()


def holdings_of_cells(published, trees, records, value):
    """By cell what each owner has in it."""
    above = []
    for at, name in enumerate(published.variables):
        ways = {}
        for number, parts in parts_of(published, trees):
            if number == at:
                ways.setdefault(at, []).append({code: top for top, codes in parts.items() for code in codes})
        above.append((name, ways[at]))
    out = {cell: {} for cell in published.value}
    lines = records.select(published.variables).rows()
    for codes, amount, owner in zip(lines, records[value].to_list(), owners(records), strict=True):
        cells = [()]
        for (_, ways), code in zip(above, codes, strict=True):
            held = {code, TOTAL}
            for way in ways:
                at = code
                while at != TOTAL and at in way:
                    at = way[at]
                    held.add(at)
            cells = [(*cell, one) for cell in cells for one in held]
        for cell in cells:
            if cell in out:
                out[cell][owner] = out[cell].get(owner, 0.0) + amount
    return out


def unsafe(shares, fewest, percent):
    """Whether a cell or union with these owners and what they have is unsafe by n(fewest) or p(percent)."""
    if not shares:
        return False
    sizes = sorted(shares.values(), reverse=True)
    rest = sum(sizes[2:])
    return len(sizes) < fewest or rest < percent / 100 * sizes[0] - NOISE * sum(sizes)


def unions(published, trees):
    """Each set of hidden cells whose sum is told: of every equation, in every order of the ways to replace totals."""
    sums = sums_of(published, trees)
    hidden = set(published.hidden)
    parts = {(way, total): listed for way, total, listed in sums}
    ways = sorted({way for way, _, _ in sums})
    found = set()
    for _, total, listed in sums:
        own = frozenset(listed) & hidden
        if total in hidden or not own:
            continue
        found.add(own)
        for order in permutations(ways):
            found.add(frozenset(end for cell in own for end in _ends(cell, order, parts, hidden)))
    return found


def _ends(cell, order, parts, hidden):
    """A hidden cell's hidden parts, down to those that are no totals of anything listed."""
    way = next((way for way in order if (way, cell) in parts), None)
    if way is None:
        return [cell]
    return [end for part in parts[way, cell] if part in hidden for end in _ends(part, order, parts, hidden)]


def merged(cells, held):
    out = {}
    for cell in cells:
        for owner, amount in held[cell].items():
            out[owner] = out.get(owner, 0.0) + amount
    return out


def unsafe_unions(published, trees, records, value, fewest, percent):
    """Unions that are unsafe; and those that are for an owner who knows what is his alone, with that owner."""
    held = holdings_of_cells(published, trees, records, value)
    alone = {}
    for cell in published.hidden:
        if len(held[cell]) == 1:
            alone.setdefault(next(iter(held[cell])), set()).add(cell)
    outside, inside = [], []
    for union in unions(published, trees):
        if unsafe(merged(union, held), fewest, percent):
            outside.append(union)
        for owner in {next(iter(held[cell])) for cell in union if len(held[cell]) == 1}:
            left = union - alone[owner]
            if left and unsafe(merged(left, held), fewest, percent):
                inside.append((owner, left))
    return outside, inside


def insiders(published, trees, records, value, cells):
    """Owners with the cells, of some, that each can work out who knows the hidden cells that are his alone.

    A linear program each for the least and the most of a cell; what another program moved is not asked for again.
    """
    held = holdings_of_cells(published, trees, records, value)
    alone = {}
    for cell in published.hidden:
        if len(held[cell]) == 1:
            owner, amount = next(iter(held[cell].items()))
            alone.setdefault(owner, {})[cell] = amount
    sums = sums_of(published, trees)
    scale = max([1.0, *(abs(x) for x in published.value.values() if x is not None)])
    out = []
    for owner, own in alone.items():
        known = {cell: own.get(cell, told) for cell, told in published.value.items()}
        left = [cell for cell, told in known.items() if told is None]
        place = {cell: i for i, cell in enumerate(left)}
        matrix, right = np.zeros((len(sums), len(left))), np.zeros(len(sums))
        for row, (_, total, parts) in enumerate(sums):
            for cell, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                if known[cell] is None:
                    matrix[row, place[cell]] += sign
                else:
                    right[row] -= sign * known[cell]
        live = np.any(matrix != 0, axis=1)
        seen = []
        for cell in (c for c in cells if c in place):
            for sign in (1.0, -1.0):
                if seen and np.ptp([one[place[cell]] for one in seen]) > 1e-6 * scale:
                    break
                cost = np.zeros(len(left))
                cost[place[cell]] = sign
                free = [(0.0, 10 * scale)] * len(left)  # an end, so that each program has a table for its answer
                found = linprog(cost, A_eq=matrix[live], b_eq=right[live], bounds=free)
                assert found.status == 0, found.message
                seen.append(found.x)
            if np.ptp([one[place[cell]] for one in seen]) <= 1e-6 * scale:
                out.append((owner, cell))
    return out
