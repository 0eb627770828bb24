"""Tables for the tests of suppression, built plainly: every cell of the cross product, equal cells merged."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Small:
    """The distinct cells of a table, M a = 0, with what the rules need to know."""

    matrix: sp.csr_array
    value: NDArray[np.float64]
    count: NDArray[np.int64]
    largest: NDArray[np.float64]
    second: NDArray[np.float64]
    cost: NDArray[np.float64]
    name: list[tuple[str, ...]]

    def p_percent(self, p: float = 10, threshold: int = 3) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Primary cells (fewer than `threshold` contributors, or p%), and their levels."""
        level = p / 100 * self.largest - (self.value - self.largest - self.second)
        primary = (self.count < threshold) | (level > 1e-9)
        return primary, np.where(primary, np.maximum(level, 0), 0.0)


def table(records: list[tuple[str, ...]], values: list[float], parents: list[list[dict[str, str]]]) -> Small:
    """Build the table of records (finest codes), with its hierarchies per variable (child to parent, up to `Total`)."""
    cells: dict[tuple[str, ...], list[float]] = {}
    for codes, value in zip(records, values, strict=True):
        above = []
        for code, trees in zip(codes, parents, strict=True):
            seen = [code]
            for tree in trees:
                up = code
                while up != "Total":
                    up = tree[up]
                    if up not in seen:
                        seen.append(up)
            above.append(seen)
        for cell in product(*above):
            cells.setdefault(cell, []).append(value)
    names = sorted(cells)
    at = {name: i for i, name in enumerate(names)}
    rows: list[dict[int, int]] = []
    for j, trees in enumerate(parents):
        for tree in trees:
            for name in names:
                kids = [at[n] for c, p in tree.items() if p == name[j] and (n := (*name[:j], c, *name[j + 1 :])) in at]
                if kids:
                    rows.append({at[name]: -1, **dict.fromkeys(kids, 1)})
    stand = list(range(len(names)))

    def find(i: int) -> int:
        while stand[i] != i:
            i = stand[i]
        return i

    merged = True
    while merged:  # a total of one part is that part; merging may make other totals such
        merged = False
        new = []
        for row in rows:
            joined: dict[int, int] = {}
            for i, sign in row.items():
                joined[find(i)] = joined.get(find(i), 0) + sign
            joined = {i: s for i, s in joined.items() if s}
            if len(joined) == 2 and sorted(joined.values()) == [-1, 1]:
                a, b = sorted(joined)
                stand[b] = a
                merged = True
            elif joined:
                new.append(joined)
        rows = new
    keep = sorted({find(i) for i in range(len(names))})
    place = {i: k for k, i in enumerate(keep)}
    distinct = sorted({tuple(sorted((place[find(i)], s) for i, s in row.items())) for row in rows})
    data = [(r, i, s) for r, row in enumerate(distinct) for i, s in row]
    r, c, s = (np.array(x, dtype=np.int64) for x in zip(*data, strict=True)) if data else (np.zeros(0, int),) * 3
    matrix = sp.csr_array((s, (r, c)), shape=(len(distinct), len(keep)))
    parts = [sorted(cells[names[i]], reverse=True) for i in keep]
    copies = np.zeros(len(keep))
    for i, name in enumerate(names):
        copies[place[find(i)]] += sum(cells[name])
    return Small(
        matrix,
        np.array([sum(p) for p in parts]),
        np.array([len(p) for p in parts]),
        np.array([p[0] for p in parts]),
        np.array([p[1] if len(p) > 1 else 0.0 for p in parts]),
        copies,
        [names[i] for i in keep],
    )


def flat(codes: list[str]) -> list[dict[str, str]]:
    """One level under the total."""
    return [dict.fromkeys(codes, "Total")]


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a file."""
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def nested(rows: list[dict[str, str]], columns: str) -> list[dict[str, str]]:
    """The hierarchy of columns `coarse>…>fine`, whose codes are made distinct by their column."""
    levels = columns.split(">")
    tree: dict[str, str] = {}
    for row in rows:
        for k, level in enumerate(levels):
            tree[f"{level}={row[level]}"] = "Total" if k == 0 else f"{levels[k - 1]}={row[levels[k - 1]]}"
    return [tree]


def of_file(path: Path, by: list[str], value: str) -> Small:
    """The table of a file of microdata, every row its own contributor."""
    rows = read(path)
    finest = [columns.split(">")[-1] for columns in by]
    records = [tuple(f"{f}={row[f]}" for f in finest) for row in rows]
    return table(records, [float(row[value]) for row in rows], [nested(rows, columns) for columns in by])


def grid(
    rng: np.random.Generator, shape: tuple[int, ...], share: float = 0.1, empty: float = 0.0
) -> tuple[Small, NDArray[np.bool_], NDArray[np.float64]]:
    """A random table without hierarchies, with primary cells inside and levels of a tenth."""
    cells = [c for c in np.ndindex(*shape) if rng.random() >= empty]
    values = np.round(np.exp(rng.normal(3, 1.5, len(cells)))) + 1
    names = [tuple(f"{k:03d}" for k in c) for c in cells]
    small = table(names, list(values), [flat([f"{k:03d}" for k in range(n)]) for n in shape])
    inner = np.array(["Total" not in name for name in small.name])
    primary = inner & (rng.random(len(inner)) < share)
    return small, primary, np.where(primary, np.ceil(small.value * 0.1), 0.0)
