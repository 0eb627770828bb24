"""A reader of a published table, who has its file alone, and knows nothing of this project.

The file lists cells by their codes, `Total` where a variable is summed over; hidden cells have no value and a letter,
`u` or `x`. A cell that is not listed is empty. Hidden counts are whole and 1 or more, and where both letters are told
and the threshold k is published `u` is below k and `x` is not. Every total is the sum of its parts, in every grouping.

All hidden cells must be whole together, so each question is a program in whole numbers: the least and the most that a
cell can be. A cell is told where they are the same.
"""

import csv
import io
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

TOTAL = "Total"
FIGURES = ("status", "lower", "upper")


@dataclass(frozen=True)
class Published:
    """What the file says: cells by their codes, those hidden with their letter and what the file bounds them by."""

    variables: tuple
    value: dict
    letter: dict
    ends: dict

    @property
    def hidden(self):
        return [cell for cell, value in self.value.items() if value is None]


def read(text, value="count"):
    """The published table from the text of its file."""
    rows = list(csv.DictReader(io.StringIO(text)))
    names = tuple(n for n in rows[0] if n != value and n not in FIGURES)
    cells = {tuple(row[n] for n in names): row for row in rows}
    assert len(cells) == len(rows)
    told = {cell: None if row[value] == "" else float(row[value]) for cell, row in cells.items()}
    assert all((told[cell] is None) == (row["status"] in ("u", "x")) for cell, row in cells.items())
    ends = {
        cell: (_end(row.get("lower"), -np.inf), _end(row.get("upper"), np.inf))
        for cell, row in cells.items()
        if told[cell] is None
    }
    return Published(names, told, {cell: row["status"] for cell, row in cells.items()}, ends)


def _end(text, unknown):
    return unknown if not text else float(text.lower().replace("inf", "infinity"))


def parts_of(published, trees):
    """By variable and grouping, the parts of each code; a variable without a tree has all its codes under `Total`."""
    out = []
    for at, name in enumerate(published.variables):
        codes = dict.fromkeys(cell[at] for cell in published.value if cell[at] != TOTAL)
        for tree in trees.get(name) or [dict.fromkeys(codes, TOTAL)]:
            parts = {}
            for code, parent in tree.items():
                parts.setdefault(parent or TOTAL, []).append(code)
            out.append((at, parts))
    return out


def sums_of(published, trees):
    """Every listed total with its listed parts: the variable and grouping, the total, the parts."""
    out = []
    for number, (at, parts) in enumerate(parts_of(published, trees)):
        for cell in published.value:
            found = [(*cell[:at], code, *cell[at + 1 :]) for code in parts.get(cell[at], ())]
            listed = [part for part in found if part in published.value]
            if listed:
                out.append((number, cell, listed))
    return out


class Reader:
    """What can be worked out of the hidden counts of a published table.

    Parameters
    ----------
    published
        The table.
    trees
        By variable its groupings, each with the parent of every code.
    threshold
        Published with the table: an unsafe count is below it. It bounds cells only where both letters are told.
    """

    def __init__(self, published, trees, threshold=None):
        self.cells = published.hidden
        self.at = {cell: i for i, cell in enumerate(self.cells)}
        low, high = np.ones(len(self.cells)), np.full(len(self.cells), np.inf)
        letters = [published.letter[cell] for cell in self.cells]
        if threshold is not None and "u" in letters:
            high = np.array([threshold - 1.0 if letter == "u" else np.inf for letter in letters])
            low = np.array([1.0 if letter == "u" else threshold for letter in letters])
        self.low = np.fmax(low, [published.ends[cell][0] for cell in self.cells])
        self.high = np.fmin(high, [published.ends[cell][1] for cell in self.cells])
        rows, right = [], []
        for _, total, parts in sums_of(published, trees):
            row = np.zeros(len(self.cells))
            known = 0.0
            for cell, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                if published.value[cell] is None:
                    row[self.at[cell]] += sign
                else:
                    known += sign * published.value[cell]
            if row.any():
                rows.append(row)
                right.append(-known)
            else:
                assert known == 0, "published totals differ from the sums of their parts"
        self.matrix = csr_array(np.array(rows).reshape(len(rows), len(self.cells)))
        self.right = np.array(right)
        self.seen = []

    def end(self, cell, sign):
        """The least (sign 1) or the most (sign -1) that a cell can be; infinite where there is no end."""
        cost = np.zeros(len(self.cells))
        cost[self.at[cell]] = sign
        rules = [LinearConstraint(self.matrix, self.right, self.right)] if len(self.right) else []
        found = milp(cost, constraints=rules, integrality=np.ones(len(cost)), bounds=Bounds(self.low, self.high))
        if found.status in (3, 4) and found.x is None:  # HiGHS cannot always tell unbounded from infeasible
            return -sign * np.inf
        assert found.status == 0, found.message
        whole = np.round(found.x)
        assert np.array_equal(self.matrix @ whole, self.right)
        self.seen.append(whole)
        return whole[self.at[cell]]

    def interval(self, cell):
        return self.end(cell, 1), self.end(cell, -1)

    def told(self, cells):
        """Those of some cells that can be one number alone."""
        out = []
        for cell in cells:
            if len({table[self.at[cell]] for table in self.seen}) > 1:
                continue  # two tables were met that fit, in which it differs
            low, high = self.interval(cell)
            if low == high:
                out.append(cell)
        return out
