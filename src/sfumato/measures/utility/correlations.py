"""Correlations before and after."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfumato.data.aim import Aim
from sfumato.data.finding import Finding, Findings
from sfumato.data.pair import Pair, numbers
from sfumato.data.query import Folded, Moments
from sfumato.measures.folds.asking import Asking, Question
from sfumato.measures.folds.moves import NO_SPREAD, rounded
from sfumato.measures.folds.reading import compared, learnt, remembered, scales
from sfumato.measures.measure import Figure, Measure
from sfumato.measures.subject import Subject

__all__ = ["MEASURE", "correlation", "findings", "pearson", "products"]

Floats = NDArray[np.float64]
_ROWS = 1 << 16  # that are looked at together
NOT_VARYING = "{columns}: a column that does not vary has no correlation."


def correlation(x: Floats, y: Floats) -> float | None:
    """Pearson's correlation of two columns over the rows that have both values, −1 to 1.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        NaN where missing.

    Returns
    -------
    float or None
        None where a column does not vary over these rows. The same to 1e-15 whatever the order of the rows.

    Examples
    --------
    >>> round(correlation(np.array([1.0, 2.0, 3.0]), np.array([6.0, 4.0, 2.0])), 9)
    -1.0
    """
    both = ~(np.isnan(x) | np.isnan(y))
    a, b = _unit(x[both]), _unit(y[both])
    if a is None or b is None:
        return None
    return float(np.clip(a @ b, -1.0, 1.0))


def _unit(x: Floats) -> Floats | None:
    """`x` centred and brought to length 1; None where it does not vary."""
    if len(x) < 2 or x.min() == x.max():
        return None
    centred = x - x.mean()
    centred /= np.abs(centred).max()
    return np.asarray(centred / np.linalg.norm(centred))


def findings(pair: Pair) -> Findings:
    """Give `correlation` of every two of the pair's columns: the release's, with the original's as baseline.

    The variable is written `Age × Fare`.

    Parameters
    ----------
    pair
        Original and released table; they need not be joined.
    """
    lines, notes = [], []
    for i, j in itertools.combinations(range(len(pair.columns)), 2):
        old, new = correlation(pair.x[:, i], pair.x[:, j]), correlation(pair.z[:, i], pair.z[:, j])
        variable = f"{pair.columns[i]} × {pair.columns[j]}"
        lines.append(Finding("correlation", variable=variable, value=new, baseline=old))
        if old is None or new is None:
            notes.append(NOT_VARYING.format(columns=variable))
    return Findings(tuple(lines), tuple(notes))


def _compute(subject: Subject) -> Findings:
    return findings(subject.two.tables)


def _folded(subject: Subject) -> Asking:
    """Of all records, by sums over parts."""
    columns = compared(subject)
    if len(columns) < 2:
        return Findings()
    sides = subject.everybody
    yield from learnt(sides, Moments(columns))
    scaled = [scales(data, columns) for data in remembered(sides)]
    asked = [
        Question(data, products(columns, partial(numbers, columns=columns, codebook=sides.codebook), *scale))
        for data, scale in zip((sides.before, sides.after), scaled, strict=True)
    ]
    old, new = (pearson(answer, len(columns)) for answer in (yield asked))
    names = [f"{a} × {b}" for a, b in itertools.combinations(columns, 2)]
    lines = [Finding("correlation", variable=n, value=z, baseline=x) for n, z, x in zip(names, new, old, strict=True)]
    notes = tuple(NOT_VARYING.format(columns=n) for n, z, x in zip(names, new, old, strict=True) if None in (z, x))
    return Findings(tuple(lines), notes)


def products(columns: Sequence[str], values: Callable[[pl.DataFrame], Floats], middle: Floats, sd: Floats) -> Folded:
    """The question for sums and products of every two columns, over the rows that have both values.

    Parameters
    ----------
    columns
        What is looked at.
    values
        Makes numbers of rows, shape (n, p), NaN where missing.
    middle, sd : ndarray, shape (p,)
        About where each of them is, and how large.
    """
    p = len(middle)

    def f(batch: pl.DataFrame) -> pl.DataFrame:
        sums = dict.fromkeys(("n", "x", "xx", "xy"), np.zeros((p, p)))
        for rows in batch.iter_slices(_ROWS):
            x = (values(rows) - middle) / sd  # about 0 and of size 1: nothing cancels below
            there = (~np.isnan(x)).astype(np.float64)
            x = np.nan_to_num(x)
            more = {"n": there.T @ there, "x": x.T @ there, "xx": np.square(x).T @ there, "xy": x.T @ x}
            sums = {n: sums[n] + more[n] for n in sums}
        pair = pl.Series("pair", np.arange(p**2))
        return pl.DataFrame([pair, *(pl.Series(n, table.ravel()) for n, table in sums.items())])

    def merge(frames: pl.DataFrame) -> pl.DataFrame:
        return frames.group_by("pair").agg(pl.all().sum()).sort("pair")

    return Folded(tuple(columns), f, merge)


def pearson(told: pl.DataFrame, p: int) -> list[float | None]:
    """Correlations of every two of so many columns, of the answer to `products`; None where one does not vary."""
    n, x, xx, xy = (told[name].to_numpy().reshape(p, -1) for name in ("n", "x", "xx", "xy"))
    pairs = itertools.combinations(range(p), 2)
    return [_r(n[i, j], x[i, j], x[j, i], xx[i, j], xx[j, i], xy[i, j]) for i, j in pairs]


def _r(n: float, a: float, b: float, aa: float, bb: float, ab: float) -> float | None:
    """A correlation of sums of two columns, both about 0 and of size 1; None where one does not vary."""
    if n < 2:
        return None
    first, second = aa / n - (a / n) ** 2, bb / n - (b / n) ** 2
    if min(first, second) <= NO_SPREAD:
        return None
    r = (ab / n - a * b / n**2) / math.sqrt(first * second)
    return rounded(float(np.clip(r, -1.0, 1.0)))


MEASURE = Measure(
    family="summaries",
    place=20,
    doing="correlations",
    needs=frozenset({"pair"}),
    figures=(
        Figure(
            "correlation",
            title="Correlation",
            what="How two columns go together, from −1 to 1.",
            better="near",
            published="change",
            baseline="Original",
            of="pair",
            aim=Aim.GENTLER,
        ),
    ),
    compute=_compute,
    forms={"folded": _folded},
)
