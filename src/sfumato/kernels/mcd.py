"""Robust centre and covariance: the minimum covariance determinant, without any random number.

Among all subsets of h records (about half of them) the MCD takes the one whose covariance has the smallest
determinant, so that up to half of the table may be outliers. The search is that of Rousseeuw & Van Driessen (1999),
doi:10.1080/00401706.1999.10485670: from many starts, concentrate ("C-step": keep the h records closest in the
current metric) a little, then concentrate the best until nothing changes. Starts are the deterministic ones of
Hubert, Rousseeuw & Verdonck (2012), doi:10.1080/10618600.2012.672100, and small subsets fixed in advance.

Records are first put in an order that hangs on their values alone, so the result is a function of the records and not
of their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are first used
from numpy.typing import NDArray

from sfumato.kernels.rows import row_hash, scatter

__all__ = ["RobustScatter", "fast_mcd"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STARTS = 500  # small subsets; in the nested search spread over the groups
_KEEP = 10  # starts that are carried on after two C-steps
_STEPS = 200  # most C-steps until nothing changes
_NESTED = 5_000  # above this many records: five groups of a fifth each, their union, then all records
_GROUPS = 5
_STEPS_ALL = 50  # most C-steps on all records of a large table,
_TOLERANCE_ALL = 1e-9  # and the fall of the log-determinant below which they end
_BLOCK = 4_000_000  # floats held at once in a batch of starts
_PRODUCT = 200_000  # multiplications in one matrix product: below this BLAS starts no threads, which then spin
# Up to these numbers of records, p = 1, 2, …, 9, the small-sample formulas do not hold (negative or far off).
_TOO_FEW = (2, 6, 10, 13, 16, 18, 20, 20, 20)

_CLASSICAL = "the classical covariance stands in for the robust one"
_SINGULAR = f"more than half of the records agree in a column or lie on one plane, so {_CLASSICAL}"
_SMALL = f"there are too few records for a robust covariance, so {_CLASSICAL}"
_ALIASED = "columns that follow from the others were left out"
_NOTHING = "no column varies, so there is no distance"


@dataclass(frozen=True)
class RobustScatter:
    """Centre and covariance of the bulk of a table.

    Parameters
    ----------
    center
        Reweighted centre, shape (q,), of the columns that were used.
    covariance
        Reweighted covariance with consistency and small-sample factors, shape (q, q).
    criterion
        Log-determinant of the covariance of the h records found, without factors; NaN in a fallback.
    h
        Number of records in the subset; 0 in a fallback.
    kept
        Records with weight one in the reweighting, shape (n,), bool; all of them in a fallback.
    columns
        Positions of the q columns that were used; constant ones, and in need aliased ones, are left out.
    fallback
        What was done instead, where the robust covariance cannot be had from all columns; else None.
    """

    center: Floats
    covariance: Floats
    criterion: float
    h: int
    kept: NDArray[np.bool_]
    columns: tuple[int, ...]
    fallback: str | None


def fast_mcd(X: Floats) -> RobustScatter:
    """Estimate centre and covariance of a table so that outliers have no say.

    h = (n + p + 1) // 2; five deterministic starts and 500 fixed (p + 1)-subsets; two C-steps each, the best ten
    until nothing changes. The raw covariance takes the consistency factor and the small-sample factor of Pison,
    Van Aelst & Willems (2002), doi:10.1007/s001840200191; records within its 0.975 quantile of chi-squared are kept,
    and their covariance takes its own two factors. One column is solved exactly. Above 5,000 records the search is
    nested: five fixed groups of 1,000, their union, then all records.

    Where the covariance is singular, columns that follow from others are left out; where that does not help, the
    classical covariance is given, and `fallback` says so. There is never an exception for what the values are.

    Parameters
    ----------
    X : ndarray, shape (n, p)
        Finite values, one row a record.

    Returns
    -------
    RobustScatter

    Examples
    --------
    >>> import numpy as np
    >>> x = np.column_stack([np.arange(60.0), np.arange(60.0) * 7 % 13])
    >>> x[-3:] = 1e6
    >>> bool(np.all(fast_mcd(x).center < 60))
    True
    """
    X = np.asarray(X, dtype=np.float64)
    order = np.argsort(row_hash(X))  # rows that tie are equal
    columns = np.flatnonzero(np.ptp(X, axis=0) > 0) if len(X) else np.empty(0, dtype=np.int64)
    if not columns.size:
        none = np.zeros(len(X), dtype=bool)
        return RobustScatter(np.empty(0), np.empty((0, 0)), np.nan, 0, none, (), _NOTHING)
    Z = X[np.ix_(order, columns)]
    middle, scale = np.median(Z, axis=0), Z.std(axis=0)
    Z = (Z - middle) / scale
    found = _scatter(Z)
    used = columns[list(found.columns)]
    middle, scale = middle[list(found.columns)], scale[list(found.columns)]
    kept = np.empty(len(X), dtype=bool)
    kept[order] = found.kept
    return RobustScatter(
        found.center * scale + middle,
        found.covariance * np.outer(scale, scale),
        found.criterion + 2 * float(np.log(scale).sum()),
        found.h,
        kept,
        tuple(int(j) for j in used),
        found.fallback,
    )


def _scatter(Z: Floats) -> RobustScatter:
    """Estimate on scaled values; fall back where the robust covariance is singular."""
    n, p = Z.shape
    robust = _robust(Z, tuple(range(p)), None)
    if robust is not None:
        return robust
    independent = _independent(Z)
    notes: tuple[str, ...] = ()
    if len(independent) < p:
        notes = (_ALIASED,)
        robust = _robust(Z, independent, _ALIASED)
        if robust is not None:
            return robust
    notes = (*notes, _SINGULAR if _enough(n, len(independent)) else _SMALL)
    Z = Z[:, independent]
    covariance = np.atleast_2d(np.cov(Z, rowvar=False))
    kept = np.ones(n, dtype=bool)
    return RobustScatter(Z.mean(axis=0), covariance, np.nan, 0, kept, independent, "; ".join(notes))


def _robust(Z: Floats, columns: tuple[int, ...], fallback: str | None) -> RobustScatter | None:
    """Estimate from some columns; None where there are too few records or the covariance is singular."""
    Z = Z[:, columns]
    if not _enough(*Z.shape):
        return None
    best = _best_subset(Z)
    return None if best is None else _reweighted(Z, best, columns, fallback)


def _enough(n: int, p: int) -> bool:
    """Tell whether the small-sample factors hold for n records and p columns."""
    return n > _TOO_FEW[p - 1] if p <= len(_TOO_FEW) else n >= 2 * p


def _independent(Z: Floats) -> tuple[int, ...]:
    """Positions of the columns that do not follow linearly from those before them."""
    R = np.atleast_2d(np.corrcoef(Z, rowvar=False))
    chosen: list[int] = []
    for j in range(len(R)):
        b = R[chosen, j]
        left = 1.0 - (b @ np.linalg.solve(R[np.ix_(chosen, chosen)], b) if chosen else 0.0)
        if left > 1e-10:
            chosen.append(j)
    return tuple(chosen)


def _reweighted(Z: Floats, best: _Sets, columns: tuple[int, ...], fallback: str | None) -> RobustScatter | None:
    """Correct the raw covariance, drop the outliers, and correct the covariance of those that are kept."""
    n, p = Z.shape
    h = best.rows.shape[1]
    raw = _consistency(p, h / n) * _small_sample_raw(p, n)
    W = _whiten(best.cov)[0][0]
    d2 = np.square((Z - best.mean[0]) @ W).sum(axis=1) / raw
    kept = d2 < 2 * scipy.special.gammaincinv(p / 2, 0.975)
    final = _sets(Z, np.flatnonzero(kept)[None])
    if not np.isfinite(final.logdet[0]):
        return None
    share = float(kept.mean())
    factor = 1.0 if share == 1.0 else _consistency(p, share) * _small_sample_reweighted(p, n)
    return RobustScatter(final.mean[0], final.cov[0] * factor, float(best.logdet[0]), h, kept, columns, fallback)


# --- the search ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sets:
    """Subsets of h records, shape (s, h), with mean (s, p), covariance (s, p, p) and its log-determinant (s,)."""

    rows: Ints
    mean: Floats
    cov: Floats
    logdet: Floats

    def at(self, which: NDArray[Any]) -> _Sets:
        """Some of the subsets."""
        return _Sets(self.rows[which], self.mean[which], self.cov[which], self.logdet[which])

    def lowest(self, count: int) -> _Sets:
        """The `count` subsets with the lowest determinants."""
        return self.at(np.argsort(self.logdet, kind="stable")[:count])


def _best_subset(Z: Floats) -> _Sets | None:
    """Give the h records with the smallest covariance determinant; None where it is zero."""
    n, p = Z.shape
    h = (n + p + 1) // 2
    if p == 1:
        found = _sets(Z, _shortest_window(Z[:, 0], h)[None])
    elif n <= _NESTED:
        found = _search(Z, h)
    else:
        found = _nested(Z, h)
    found = found.lowest(1)
    return found if np.isfinite(found.logdet).any() else None


def _search(Z: Floats, h: int) -> _Sets:
    """Take two C-steps from every start, then go on with the best ten until nothing changes."""
    first = _concentrate(Z, _sets(Z, _closest(Z, *_starts(Z, _STARTS), h)), 2)
    return _concentrate(Z, first.lowest(_KEEP), _STEPS)


def _nested(Z: Floats, h: int) -> _Sets:
    """Search in five fixed groups, then in their union, then on all records; no subset where it is singular."""
    n, p = Z.shape
    none = _sets(Z, np.empty((0, h), dtype=np.int64))
    rows = _scattered(n, _NESTED)
    metrics, singular = [], 0
    for group in np.split(rows, _GROUPS):
        G = Z[group]
        found = _concentrate(G, _sets(G, _closest(G, *_starts(G, _STARTS // _GROUPS), (len(G) + p + 1) // 2)), 2)
        regular = np.isfinite(found.logdet)
        singular += not (regular.size and regular.all())
        metrics.append(found.at(regular).lowest(_KEEP))
    if singular > _GROUPS // 2:  # one group may be so by chance, most of them are not
        return none
    U = Z[np.sort(rows)]
    mean, cov = np.concatenate([m.mean for m in metrics]), np.concatenate([m.cov for m in metrics])
    found = _concentrate(U, _sets(U, _closest(U, mean, cov, (len(U) + p + 1) // 2)), 2)
    found = _concentrate(U, found.lowest(_KEEP), _STEPS).lowest(2)
    if not np.isfinite(found.logdet).all():
        return none
    found = _concentrate(Z, _sets(Z, _closest(Z, found.mean, found.cov, h)), 2)
    return _concentrate(Z, found.lowest(1), _STEPS_ALL, _TOLERANCE_ALL)


def _concentrate(Z: Floats, sets: _Sets, steps: int, tolerance: float = 1e-12) -> _Sets:
    """Take up to `steps` C-steps from each subset, until its log-determinant falls by no more than `tolerance`.

    A subset whose covariance is singular stays as it is: its determinant cannot fall.
    """
    rows, mean, cov, logdet = sets.rows.copy(), sets.mean.copy(), sets.cov.copy(), sets.logdet.copy()
    active = np.flatnonzero(np.isfinite(logdet))
    for _ in range(steps):
        if not active.size:
            break
        now = _sets(Z, _closest(Z, mean[active], cov[active], rows.shape[1]))
        falls = np.isfinite(now.logdet) & (now.logdet < logdet[active] - tolerance)
        rows[active], mean[active], cov[active], logdet[active] = now.rows, now.mean, now.cov, now.logdet
        active = active[falls]
    return _Sets(rows, mean, cov, logdet)


def _closest(Z: Floats, mean: Floats, cov: Floats, h: int) -> Ints:
    """Positions of the h records closest to each mean in the metric of its covariance, shape (s, h)."""
    n, p = Z.shape
    W, _ = _whiten(cov)
    out = np.empty((len(mean), h), dtype=np.int64)
    for part in _batches(len(mean), Z.size, _BLOCK):
        d2 = np.empty((len(W[part]), n))
        for rows in _batches(n, p * p, _PRODUCT):
            Y = Z[rows] @ W[part] - mean[part][:, None, :] @ W[part]
            d2[:, rows] = np.einsum("snp,snp->sn", Y, Y)
        out[part] = np.argpartition(d2, h - 1, axis=1)[:, :h]
    return np.sort(out, axis=1)


def _sets(Z: Floats, rows: Ints) -> _Sets:
    """Mean, covariance and log-determinant of each subset."""
    s, h = rows.shape
    p = Z.shape[1]
    mean, cov = np.empty((s, p)), np.zeros((s, p, p))
    for part in _batches(s, h * p, _BLOCK):
        D = Z[rows[part]]
        mean[part] = np.einsum("shp->sp", D) / h
        D -= mean[part][:, None, :]
        for some in _batches(h, p * p, _PRODUCT):
            cov[part] += np.swapaxes(D[:, some], 1, 2) @ D[:, some] / (h - 1)
    return _Sets(rows, mean, cov, _whiten(cov)[1])


def _whiten(cov: Floats) -> tuple[Floats, Floats]:
    """Give W with W W' = C⁻¹ and the log-determinant of each covariance C; 0 and −inf where C is singular.

    Singular means: a variance below 1e-24 of the column's variance over the table, or a correlation matrix with an
    eigenvalue below 1e-12.
    """
    variance = np.einsum("spp->sp", cov)
    flat = variance < 1e-24
    sd = np.sqrt(np.where(flat, 1.0, variance))
    value, vector = np.linalg.eigh(cov / (sd[:, :, None] * sd[:, None, :]))
    singular = flat.any(axis=1) | (value[:, 0] < 1e-12)
    value[singular] = 1.0
    W = vector / sd[:, :, None] / np.sqrt(value)[:, None, :]
    W[singular] = 0.0
    logdet = np.log(value).sum(axis=1) + 2 * np.log(sd).sum(axis=1)
    logdet[singular] = -np.inf
    return W, logdet


def _batches(count: int, each: int, most: int) -> Iterator[slice]:
    """Slices of `count` items that cost `each`, so that a batch costs about `most`."""
    size = max(1, most // max(each, 1))
    for start in range(0, count, size):
        yield slice(start, start + size)


def _shortest_window(z: Floats, h: int) -> Ints:
    """The h values next to each other with the smallest variance: the exact answer for one column."""
    order = np.argsort(z, kind="stable")
    z = z[order]
    total, squares = np.cumsum(np.append(0.0, z)), np.cumsum(np.append(0.0, z * z))
    sums = (squares[h:] - squares[:-h]) - (total[h:] - total[:-h]) ** 2 / h
    return order[int(np.argmin(sums)) :][:h]


# --- starts ----------------------------------------------------------------------------------------------------------


def _starts(Z: Floats, count: int) -> tuple[Floats, Floats]:
    """Mean and covariance of the five deterministic starts and of `count` small ones, those that are regular."""
    sets = [_sets(Z, _deterministic_halves(Z)), _small_starts(Z, count)]
    mean, cov = np.concatenate([s.mean for s in sets]), np.concatenate([s.cov for s in sets])
    regular = np.isfinite(_whiten(cov)[1])
    return mean[regular], cov[regular]


def _small_starts(Z: Floats, count: int) -> _Sets:
    """Fixed subsets of p + 1 records; a singular one takes in more until it is regular."""
    n, p = Z.shape
    size, most = p + 1, max(64, 8 * (p + 1))
    pick = (
        (scatter(np.arange(1, count * most + 1, dtype=np.uint64)) % np.uint64(n)).astype(np.int64).reshape(count, most)
    )
    found = _sets(Z, pick[:, :size])
    mean, cov, logdet = found.mean, found.cov, found.logdet
    singular = np.flatnonzero(np.isneginf(logdet))
    while singular.size and size < most:
        size = min(2 * size, most)
        more = _sets(Z, pick[singular, :size])
        mean[singular], cov[singular], logdet[singular] = more.mean, more.cov, more.logdet
        singular = singular[np.isneginf(more.logdet)]
    return _Sets(pick, mean, cov, logdet)


def _deterministic_halves(Z: Floats) -> Ints:
    """Half of the records around each of the five starts of DetMCD, shape (5, n // 2 + 1).

    Each start is a set of directions: the eigenvectors of the correlations of tanh(z), of ranks and of normal scores,
    of the spatial signs' covariance, and of the covariance of the half nearest the median. Spread along each
    direction, and the centre, are then measured robustly.
    """
    n, _ = Z.shape
    half = n // 2 + 1
    z = (Z - np.median(Z, axis=0)) / _spread(Z)
    ranks = np.column_stack([_ranks(column) for column in z.T])
    length = np.sqrt(np.square(z).sum(axis=1))
    signs = z / np.where(length > 0, length, 1.0)[:, None]
    inner = z[np.argsort(length, kind="stable")[: (n + 1) // 2]]
    shapes = [
        _correlation(np.tanh(z)),
        _correlation(ranks),
        _correlation(scipy.special.ndtri((ranks - 1 / 3) / (n + 1 / 3))),
        signs.T @ signs,
        np.atleast_2d(np.cov(inner, rowvar=False)),
    ]
    out = np.empty((len(shapes), half), dtype=np.int64)
    for i, shape in enumerate(shapes):
        P = np.linalg.eigh(shape)[1]
        spread = _spread(z @ P)
        center = np.median(z @ P / spread, axis=0) * spread  # in the coordinates P
        d2 = np.square((z @ P - center) / spread).sum(axis=1)
        out[i] = np.argpartition(d2, half - 1)[:half]
    return np.sort(out, axis=1)


def _spread(z: Floats) -> Floats:
    """Robust spread of each column: median absolute deviation, or the standard deviation where that is zero."""
    mad = np.median(np.abs(z - np.median(z, axis=0)), axis=0)
    sd = z.std(axis=0)
    return np.where(mad > 0, mad / scipy.special.ndtri(0.75), np.where(sd > 0, sd, 1.0))


def _correlation(z: Floats) -> Floats:
    sd = z.std(axis=0)
    z = (z - z.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    return z.T @ z / len(z)


def _ranks(z: Floats) -> Floats:
    """Ranks 1, …, n; equal values share their mean rank."""
    _, inverse, count = np.unique(z, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return (last - (count - 1) / 2)[inverse]


def _scattered(n: int, count: int) -> Ints:
    """Positions of `count` of n records, the same for every table of that length, in scattered order."""
    order = scatter(np.arange(1, n + 1, dtype=np.uint64))
    chosen = np.argpartition(order, count)[:count]
    return chosen[np.argsort(order[chosen])].astype(np.int64)


# --- factors ---------------------------------------------------------------------------------------------------------


def _consistency(p: int, a: float) -> float:
    """a / P(Gamma(p/2 + 1) ≤ χ²_a / 2): makes the covariance of the inner share `a` that of a normal population."""
    return float(a / scipy.special.gammainc(p / 2 + 1, float(scipy.special.gammaincinv(p / 2, a))))


def _small_sample_raw(p: int, n: int) -> float:
    """Factor of the raw covariance (alpha = 1/2)."""
    if p == 1:
        return _power_law(0.262024211897096, 0.604756680630497, n)
    if p == 2:
        return _power_law(0.673292623522027, 0.691365864961895, n)
    return _interpolated(p, n, (-1.42764571687802, 1.26263336932151), (-1.06141115981725, 1.28907991440387))


def _small_sample_reweighted(p: int, n: int) -> float:
    """Factor of the reweighted covariance (alpha = 1/2)."""
    if p == 1:
        return _power_law(1.11098143415027, 1.5182890270453, n)
    if p == 2:
        return _power_law(3.11101712909049, 1.91401056721863, n)
    return _interpolated(p, n, (-1.02842572724793, 1.67659883081926), (-0.26800273450853, 1.35968562893582))


def _power_law(a: float, b: float, n: int) -> float:
    return float(1 / (1 - np.exp(a) / n**b))


def _interpolated(p: int, n: int, two: tuple[float, float], three: tuple[float, float]) -> float:
    """Solve for the power law in n from its fitted values at n = 2 p² and n = 3 p²."""
    y2, y3 = np.log(-two[0]) - two[1] * np.log(p), np.log(-three[0]) - three[1] * np.log(p)
    b = (y2 - y3) / np.log(3 / 2)
    return _power_law(float(y2 + b * np.log(2 * p * p)), float(b), n)
