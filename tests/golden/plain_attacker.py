"""An attacker that knows a table as it is handed out, and nothing of this project: codes, values, which is in which.

One linear program for each end of each interval, with an equation for every total whose parts are listed. What is not
listed is empty.
"""

from itertools import product

import numpy as np
from scipy.sparse import csr_array

from tests.ends import Ends

TOTAL = "Total"
NONE = 1e-6


def groupings(tables, trees):
    """By variable its sums: a code and its parts, for each way to group; flat where no tree is given."""
    out = {}
    for table in tables:
        for name in (n for n in table.columns if n not in ("status", "lower", "upper", "_value")):
            codes = set(table[name]) - {TOTAL}
            sums = out.setdefault(name, {})
            if name not in trees:
                sums.setdefault((TOTAL, 0), set()).update(codes)
            for number, tree in enumerate(trees.get(name, ())):
                for code, parent in tree.items():
                    sums.setdefault((parent, number), set()).add(code)
    return out


def equations(tables, trees):
    """Cells by their codes without totals, and the sums between them."""
    cells = {}
    for table in tables:
        names = [n for n in table.columns if n not in ("status", "lower", "upper", "_value")]
        for row in table.iter_rows(named=True):
            key = frozenset((n, row[n]) for n in names if row[n] != TOTAL)
            cells[key] = row["_value"] if row["_value"] is not None else cells.get(key)
    sums = []
    for name, ways in groupings(tables, trees).items():
        for (code, _), parts in ways.items():
            for key in cells:
                held = dict(key)
                if held.get(name, TOTAL) != code:
                    continue
                rest = frozenset(pair for pair in key if pair[0] != name)
                found = [rest | {(name, part)} for part in parts]
                if any(one in cells for one in found):
                    sums.append((key, [one for one in found if one in cells]))
    return cells, sums


def bounds(tables, trees=None, least=0.0, only=None):
    """The interval of each hidden cell (or of those in `only`), by a frozenset of its pairs of variable and code."""
    cells, sums = equations(tables, trees or {})
    hidden = [key for key, value in cells.items() if value is None]
    place = {key: i for i, key in enumerate(hidden)}
    rows, columns, signs, right = [], [], [], []
    for number, (total, parts) in enumerate(sums):
        rest = 0.0
        for key, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
            if key in place:
                rows.append(number), columns.append(place[key]), signs.append(sign)
            else:
                rest += sign * cells[key]
        right.append(-rest)
    matrix = csr_array((signs, (rows, columns)), shape=(len(sums), len(hidden)))
    scale = max([1.0, *(abs(v) for v in cells.values() if v is not None)])
    ends = Ends(matrix, np.array(right) / scale, least / scale, np.inf)
    asked = hidden if only is None else [k for k in hidden if k in only]
    return {key: tuple(end * scale for end in ends.of(place[key])) for key in asked}


def brute(tables, most, trees=None):
    """The values of each hidden count in all tables of whole numbers up to `most` that add up."""
    cells, sums = equations(tables, trees or {})
    hidden = [key for key, value in cells.items() if value is None]
    seen = {key: set() for key in hidden}
    for values in product(range(most + 1), repeat=len(hidden)):
        full = cells | dict(zip(hidden, values, strict=True))
        if all(full[total] == sum(full[part] for part in parts) for total, parts in sums):
            for key, value in zip(hidden, values, strict=True):
                seen[key].add(value)
    return seen
