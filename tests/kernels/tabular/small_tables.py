"""Small builder of hierarchical tables for tests: records in; cells, equations and primaries out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

from tests.real_data import real_data

TOTAL = "Total"


@dataclass(frozen=True)
class Built:
    """Cells (ordered by code, totals first) and the equations between them."""

    codes: list[tuple[str, ...]]
    matrix: sp.csr_array
    value: np.ndarray
    records: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def primary(self, n: int, p: float | None = None) -> np.ndarray:
        """Fewer than n records, or what is left of the second largest less than p% of the largest."""
        risky = self.records < n
        if p is not None:
            risky |= (self.value - self.first - self.second < p / 100 * self.first) & (self.value > 0)
        return risky

    def at(self, *codes: str) -> int:
        """Place of a cell."""
        return self.codes.index(codes)


def _tree(codes: Sequence[str], parents: Mapping[str, str]) -> tuple[list[str], np.ndarray]:
    """Codes of a hierarchy in the order of its tree, and each one's parent as a number (-1: the top)."""
    children: dict[str, list[str]] = {}
    for code in sorted({*codes, *parents}):
        children.setdefault(parents.get(code, TOTAL), []).append(code)
    order, stack = [], [TOTAL]
    while stack:
        code = stack.pop()
        order.append(code)
        stack += reversed(children.get(code, []))
    number = {code: i for i, code in enumerate(order)}
    return order, np.array([-1] + [number[parents.get(code, TOTAL)] for code in order[1:]])


def build(
    columns: Sequence[Sequence[str]],
    value: Sequence[float] | None = None,
    hierarchies: Sequence[Mapping[str, str]] | None = None,
    *,
    merge: bool = True,
) -> Built:
    """Build the table of every level of each column."""
    n = len(columns[0])
    amount = np.ones(n) if value is None else np.asarray(value, float)
    trees = [_tree(list(c), h) for c, h in zip(columns, hierarchies or [{}] * len(columns), strict=True)]
    shape = [len(order) for order, _ in trees]
    codes = [
        np.array([{c: i for i, c in enumerate(t[0])}[v] for v in col]) for col, t in zip(columns, trees, strict=True)
    ]
    key, record = np.ravel_multi_index(codes, shape), np.arange(n)
    stride = np.cumprod([1, *shape[:0:-1]])[::-1]
    for d, (_, parent) in enumerate(trees):
        keys, records = [key], [record]
        while len(key):
            at = key // stride[d] % shape[d]
            up = parent[at] >= 0
            key, record = key[up] + (parent[at[up]] - at[up]) * stride[d], record[up]
            keys.append(key)
            records.append(record)
        key, record = np.concatenate(keys), np.concatenate(records)
    cells, cell = np.unique(key, return_inverse=True)
    order = np.lexsort((-amount[record], cell))
    start = np.searchsorted(cell[order], np.arange(len(cells)))
    sorted_amount = np.append(amount[record][order], 0)
    count = np.bincount(cell)
    second = np.where(count > 1, sorted_amount[start + 1], 0)
    first = sorted_amount[start]
    total = np.bincount(cell, weights=amount[record])
    rows, cols, signs, base = [], [], [], 0
    for d, (_, parent) in enumerate(trees):
        at = cells // stride[d] % shape[d]
        child = np.flatnonzero(parent[at] >= 0)
        above = np.searchsorted(cells, cells[child] + (parent[at[child]] - at[child]) * stride[d])
        tops, row = np.unique(above, return_inverse=True)
        rows += [row + base, np.arange(len(tops)) + base]
        cols += [child, tops]
        signs += [np.ones(len(child), int), -np.ones(len(tops), int)]
        base += len(tops)
    matrix = sp.csr_array((np.concatenate(signs), (np.concatenate(rows), np.concatenate(cols))), (base, len(cells)))
    names = [tuple(t[0][c // s % k] for t, s, k in zip(trees, stride, shape, strict=True)) for c in cells]
    if not merge:
        return Built(names, matrix, total, count, first, second)
    return _merged(names, matrix, total, count, first, second)


def _merged(names: list, matrix: sp.csr_array, *columns: np.ndarray) -> Built:
    """Make one cell of a total and its only child."""
    lone = np.flatnonzero(np.diff(matrix.indptr) == 2)
    pairs = np.array([matrix.indices[matrix.indptr[r] : matrix.indptr[r + 1]] for r in lone]).reshape(-1, 2)
    n = len(names)
    graph = sp.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), (n, n))
    _, group = sp.csgraph.connected_components(graph, directed=False)
    kept, new = np.unique(group, return_index=True)[1], None
    order = np.sort(kept)
    new = np.searchsorted(order, kept)[group]
    keep = np.setdiff1d(np.arange(matrix.shape[0]), lone)
    coo = matrix[keep].tocoo()
    matrix = sp.csr_array((coo.data, (coo.row, new[coo.col])), (len(keep), len(order)))
    dense_rows = {
        tuple(zip(matrix.indices[a:b], matrix.data[a:b], strict=True)): i
        for i, (a, b) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True))
    }
    matrix = sp.csr_array(matrix[sorted(dense_rows.values())])
    return Built([names[i] for i in order], matrix, *(c[order] for c in columns))


def _parents(frame: pl.DataFrame, levels: Sequence[str]) -> dict[str, str]:
    """Child → parent of nested columns, names made distinct by their level."""
    pairs: dict[str, str] = {}
    for up, down in zip([None, *levels[:-1]], levels, strict=True):
        for row in frame.select([c for c in (up, down) if c]).unique().iter_rows():
            pairs[f"{down}={row[-1]}"] = TOTAL if up is None else f"{up}={row[0]}"
    return pairs


def insee(*variables: Sequence[str], merge: bool = True) -> Built:
    """Turnover of the firms of `insee_indiv_dt` by nested columns."""
    frame = pl.read_csv(real_data() / "tables" / "insee_indiv_dt.csv", infer_schema_length=None)
    columns = [[f"{v[-1]}={c}" for c in frame[v[-1]]] for v in variables]
    return build(columns, frame["TURNOVER"].to_numpy(), [_parents(frame, v) for v in variables], merge=merge)


def synth(size: str, *, merge: bool = True) -> Built:
    """Turnover of `synth_S`, `M` or `L` by activity, geography and size."""
    folder = real_data() / "tables"
    frame = pl.read_csv(folder / f"synth_{size}.csv", infer_schema_length=None)
    trees = [dict(pl.read_csv(folder / f"synth_{size}_{v}.csv").iter_rows()) for v in ("act", "geo", "size")]
    return build([frame[v].to_list() for v in ("act", "geo", "size")], frame["turnover"].to_numpy(), trees, merge=merge)
